/* SPDX-License-Identifier: Apache-2.0 */
/* simt_moves.c: ops that move elements of tiles: join, split, cat, slice, insert, flip, gather,
 * scatter, reshapes of odd extents, and buffers.
 *
 * Where the layouts say that an element of the result is a register of the same thread
 * (layout_moves.c), a move is a copy of registers, which the compiler makes nothing of:
 *
 *     for (int r = 0; r < 16; r++) y[r] = r & 1 ? b[r >> 1] : a[r >> 1];          join a, b
 *
 * A flip of lanes is a shuffle. Everything else is staged in shared memory (simt_stage.c); offsets
 * and indices from run time are kept inside the tile, so that a wrong one reads a wrong element and
 * nothing else. A buffer is staged for good. */
#include "target/simt/simt.h"

#include <string.h>

static const Type *type_of(Emit *e, Ref ref) { return ir_type(e->k, ref); }

static const Expr *number(Emit *e, int64_t x) { return ex(e->arena, "%lld", (long long)x); }

/* --- registers alone --- */
static void emit_join(Emit *e, const Op *op) {
    Ref result = op->results[0];
    const char *array = emit_declare(e, result);
    bool tile = emit_is_tile(e, op->operands[0]);
    emit_unroll(e, "r", emit_layout(e, result)->registers, 1);
    const Expr *side[2];
    for (int i = 0; i < 2; i++)
        side[i] = stage_element(e, op->operands[i], emit_layout(e, op->operands[i]), ex(e->arena, "r >> 1"));
    const Expr *which = tile ? ex(e->arena, "r & 1") : place_coord(e, emit_layout(e, result), 0, &place_r);
    cs_line(&e->p, "%s[r] = %p ? %p : %p;", array, which, side[1], side[0]);
    cs_close(&e->p);
}

/* Register r of the part as a register of the whole: the bits that were cut off are those of `first`. */
static const Expr *uncut(Emit *e, const LinearLayout *whole, const LinearLayout *part, uint32_t first) {
    uint32_t masks[LL_MAX_BITS];
    int count = 0;
    LayoutPlace place;
    uint32_t kept = 0;
    for (int i = 0; i < whole->count[LL_REGISTER]; i++) {
        bool stays = true;
        for (int d = 0; d < whole->rank; d++)
            stays &= ll_coord(whole, whole->basis[LL_REGISTER][i], d) >> part->log2[d] == 0;
        if (!stays) continue;
        kept |= 1u << i;
        masks[count++] = 1u << i;
    }
    if (!ll_find(whole, first, &place)) ice(e->k->module->trap, "simt: a slice lacks an element");
    const Expr *bits = place_bits(e->arena, &place_r, count, masks);
    uint32_t fixed = place.at[LL_REGISTER] & ~kept;
    return fixed ? ex(e->arena, "%p + %u", bits, fixed) : bits;
}

static void emit_split(Emit *e, const Op *op) {
    Ref x = op->operands[0];
    const LinearLayout *whole = &emit_layout(e, x)->map;
    LinearLayout part;
    int64_t extent[MAX_RANK];
    for (int d = 0; d < whole->rank; d++) extent[d] = d == whole->rank - 1 ? 1 : type_of(e, x)->extent[d];
    if (!ll_cut(whole, extent, &part)) ice(e->k->module->trap, "simt: a split across threads");
    for (int i = 0; i < 2; i++) {
        const Expr *text = stage_element(e, x, emit_layout(e, x), uncut(e, whole, &part, (uint32_t)i));
        const Layout *layout = emit_layout(e, op->results[i]);
        if (!layout) { /* of two elements; an array of truth values holds them as they are */
            Elem elem = type_of(e, x)->elem;
            bool plain = type_of(e, x)->pointer || elem == EL_I1;
            emit_set(e, op->results[i], HOLD_SCALAR, plain ? text : cs_unpack(&e->p, elem, text));
            continue;
        }
        const char *array = emit_declare(e, op->results[i]);
        emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, "%s[r] = %p;", array, text);
        cs_close(&e->p);
    }
}

/* --- through shared memory --- */
/* A run-time place inside 0 .. most. */
static const Expr *kept_inside(Emit *e, const Expr *x, int64_t most) {
    return ex(e->arena, "(i32)tw_min(tw_max((i64)%p, 0ll), %lldll)", x, (long long)most);
}

/* Offsets of a box in something larger, as variables or numbers. */
void moves_offsets(Emit *e, RefList offsets, const Type *whole, const Type *box, const Expr **at) {
    int lead = whole->rank - box->rank;
    for (int d = 0; d < whole->rank; d++) {
        int64_t known, room = whole->extent[d] - (d < lead ? 1 : box->extent[d - lead]);
        if (ir_const_int(e->k, offsets.at[d], &known) && known >= 0 && known <= room) {
            at[d] = number(e, known);
            continue;
        }
        at[d] = ex_name(e->arena, cs_fresh(&e->p, "begin"));
        cs_note(&e->p, "where it begins, kept inside");
        cs_line(&e->p, "const i32 %p = %p;", at[d], kept_inside(e, emit_scalar(e, offsets.at[d]), room));
    }
}

static const Expr *sum(Emit *e, const Expr *x, const Expr *y) {
    if (ex_is_int(x, 0)) return y;
    return ex_is_int(y, 0) ? x : ex(e->arena, "(%p + %p)", x, y);
}

/* The result, a loop over its registers, and where register r lies in it. */
static void open_result(Emit *e, Ref result, const Expr **at) {
    const Layout *layout = emit_layout(e, result);
    emit_declare(e, result);
    cs_note(&e->p, "elements of %s that this thread holds: where they lie in shared memory", purpose_tile(e, result));
    emit_unroll(e, "r", layout->registers, 1);
    stage_coords(e, layout, type_of(e, result)->rank, at);
}

static void emit_cat(Emit *e, const Op *op) {
    Ref result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    const Type *type = type_of(e, result);
    int axis = (int)op_int(op, AT_AXIS, 0), count = op->operand_count;
    if (!op_attr(op, AT_AT)) {
        const char *array = emit_declare(e, result);
        int each = layout->registers / count;
        for (int i = 0; i < count; i++) {
            emit_unroll(e, "r", each, 1);
            cs_line(&e->p, "%s[r + %d] = %p;", array, i * each,
                    stage_element(e, op->operands[i], emit_layout(e, op->operands[i]), &place_r));
            cs_close(&e->p);
        }
        return;
    }
    int64_t offset = shared_offset(e, op), begin = 0;
    sync_before(e, op);
    for (int i = 0; i < count; i++) {
        const Expr *shift[MAX_RANK];
        for (int d = 0; d < type->rank; d++) shift[d] = d == axis ? number(e, begin) : &expr_zero;
        stage_store(e, op->operands[i], &(Stage){type, offset, NULL}, shift, 1);
        begin += type_of(e, op->operands[i])->extent[axis];
    }
    sync_step(e);
    const Expr *at[MAX_RANK];
    open_result(e, result, at);
    stage_load(e, result, &(Stage){type, offset, NULL}, at, 1);
    cs_close(&e->p);
}

static void stage_operand(Emit *e, const Op *op, Ref x) {
    sync_before(e, op);
    stage_store(e, x, &(Stage){type_of(e, x), shared_offset(e, op), NULL}, NULL, (int)op_int(op, AT_VECTOR, 1));
    sync_step(e);
}

static void emit_slice(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    const Type *whole = type_of(e, x), *part = type_of(e, result);
    uint32_t first;
    if (!op_attr(op, AT_AT)) {
        slice_stays(e->k, op, &first);
        const Expr *text = uncut(e, &emit_layout(e, x)->map, &layout->map, first);
        const char *array = emit_declare(e, result);
        emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, "%s[r] = %p;", array, stage_element(e, x, emit_layout(e, x), text));
        cs_close(&e->p);
        return;
    }
    const Expr *begin[MAX_RANK], *at[MAX_RANK];
    moves_offsets(e, op_list(op, 0), whole, part, begin);
    stage_operand(e, op, x);
    open_result(e, result, at);
    for (int d = 0; d < part->rank; d++) at[d] = sum(e, begin[d], at[d]);
    stage_load(e, result, &(Stage){whole, shared_offset(e, op), NULL}, at, 1);
    cs_close(&e->p);
}

static void emit_flip(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    const Type *type = type_of(e, x);
    LayoutPlace place;
    int axis = (int)op_int(op, AT_AXIS, 0);
    if (!op_attr(op, AT_AT)) {
        flip_stays(e->k, op, &place);
        const char *array = emit_declare(e, result);
        emit_unroll(e, "r", layout->registers, 1);
        const Expr *from = place.at[LL_REGISTER] ? ex(e->arena, "r ^ %u", place.at[LL_REGISTER]) : &place_r;
        const Expr *text = stage_element(e, x, layout, from);
        if (place.at[LL_LANE])
            text = ex(e->arena, type->pointer ? "(%s)tw_move_xor((u64)%p, %u)" : "%stw_move_xor(%p, %u)",
                      type->pointer ? cs_value_type(&e->p, type) : "", text, place.at[LL_LANE]);
        cs_line(&e->p, "%s[r] = %p;", array, text);
        cs_close(&e->p);
        return;
    }
    const Expr *at[MAX_RANK];
    stage_operand(e, op, x);
    open_result(e, result, at);
    at[axis] = ex(e->arena, "(%lld - %p)", (long long)type->extent[axis] - 1, at[axis]);
    stage_load(e, result, &(Stage){type, shared_offset(e, op), NULL}, at, 1);
    cs_close(&e->p);
}

/* x in its layout, and what lies in the box from the part. */
static void emit_insert(Emit *e, const Op *op) {
    Ref x = op->operands[0], part = op_operand(op, 1), result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    const Type *whole = type_of(e, x), *box = type_of(e, part);
    const Expr *begin[MAX_RANK], *at[MAX_RANK], *inner[MAX_RANK], *inside = NULL;
    moves_offsets(e, op_list(op, 0), whole, box, begin);
    if (emit_is_tile(e, part)) stage_operand(e, op, part);
    const char *array = emit_declare(e, result);
    emit_unroll(e, "r", layout->registers, 1);
    stage_coords(e, layout, whole->rank, at);
    int lead = whole->rank - box->rank;
    for (int d = 0; d < whole->rank; d++) {
        const Expr *own = ex_is_int(begin[d], 0) ? at[d] : ex(e->arena, "(%p - %p)", at[d], begin[d]);
        if (d >= lead) inner[d - lead] = own;
        long long extent = d < lead ? 1 : box->extent[d - lead];
        inside = ex_and(e->arena, inside, ex(e->arena, "(u32)%p < %lldu", own, extent));
    }
    cs_line(&e->p, "%s[r] = %p;", array, stage_element(e, x, layout, &place_r));
    if (emit_is_tile(e, part))
        cs_line(&e->p, "tw_lds_if(1, %p, %s + r, %p);", inside, array,
                stage_at(e, box, shared_offset(e, op), stage_flat(e, box, inner)));
    else
        cs_line(&e->p, "if (%p) %s[r] = %p;", inside, array, stage_element(e, part, NULL, &expr_zero));
    cs_close(&e->p);
}

static void emit_gather(Emit *e, const Op *op) {
    Ref x = op->operands[0], index = op->operands[1], result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    const Type *type = type_of(e, x);
    const Expr *at[MAX_RANK];
    int axis = (int)op_int(op, AT_AXIS, 0);
    stage_operand(e, op, x);
    open_result(e, result, at);
    const char *name = cs_fresh(&e->p, "index");
    cs_line(&e->p, "const i32 %s = %p;", name,
            kept_inside(e, elementwise_operand(e, index, layout, &place_r), type->extent[axis] - 1));
    at[axis] = ex_name(e->arena, name);
    stage_load(e, result, &(Stage){type, shared_offset(e, op), NULL}, at, 1);
    cs_close(&e->p);
}

/* Each element that a thread owns and that has a place in the tile: its place, and its own number, row by row. */
static void open_scattered(Emit *e, const Op *op, int64_t places) {
    Ref index = op->operands[1];
    const Layout *layout = emit_layout(e, index);
    const Type *type = type_of(e, index);
    const Expr *at[MAX_RANK], *owner = place_owner(e, &layout->map);
    emit_unroll(e, "r", layout->registers, 1);
    stage_coords(e, layout, type->rank, at);
    const Expr *inside = stage_inside(e, layout, type, owner);
    cs_line(&e->p, "const i64 place = (i64)%p;", elementwise_operand(e, index, layout, &place_r));
    cs_line(&e->p, "const i32 mine = %p;", stage_flat(e, type, at));
    cs_open(&e->p, "if (%p)", ex_and(e->arena, inside, ex(e->arena, "(u64)place < %lldull", (long long)places)));
}

static void close_scattered(Emit *e) {
    cs_close(&e->p);
    cs_close(&e->p);
}

/* One word for each place. */
static void fill_words(Emit *e, int64_t places, int64_t offset, int number) {
    cs_open(&e->p, "for (int j = %p; j < %lld; j += %d)", e->thread, (long long)places, e->lanes * e->group.warps);
    cs_line(&e->p, "const i32 none = (i32)%lldll;", (long long)number);
    cs_line(&e->p, "tw_sts(1, %lld + j * 4, &none);", (long long)offset);
    cs_close(&e->p);
}

/* Integers that are combined with what is there: together in a word for each place, first; minima as maxima of ~x, and
 * what has no sign by its place among those that have. */
static void emit_combining_scatter(Emit *e, const Op *op, Word kind) {
    Ref x = op->operands[0], part = op->operands[2], result = op->results[0];
    const Type *type = type_of(e, x);
    int64_t offset = shared_offset(e, op), places = ty_elements(type);
    bool adds = kind == COMBINE_ADD, turned = kind == COMBINE_MIN, top = type->elem == EL_U32 && !adds;
    sync_before(e, op);
    fill_words(e, places, offset, adds ? 0 : INT32_MIN);
    sync_step(e);
    open_scattered(e, op, places);
    const Expr *value = elementwise_operand(e, part, emit_layout(e, part), &place_r);
    value = ex(e->arena, top ? "(i32)((u32)%p ^ 0x80000000u)" : "(i32)%p", value);
    if (turned) value = ex(e->arena, "~(%p)", value);
    cs_line(&e->p, adds ? "tw_atomic_add_shared(%lld + (i32)place * 4, %p);"
                        : "tw_atomic_max_shared(%lld + (i32)place * 4, %p);",
            (long long)offset, value);
    close_scattered(e);
    sync_step(e);
    const Expr *at[MAX_RANK];
    open_result(e, result, at);
    const Layout *layout = emit_layout(e, result);
    const Expr *inside = stage_inside(e, layout, type, NULL);
    cs_line(&e->p, "i32 word = 0;");
    cs_line(&e->p, "tw_lds_if(1, %p, &word, %lld + (%p) * 4);", inside ? inside : &expr_true, (long long)offset,
            stage_flat(e, type, at));
    const Expr *old = elementwise_operand(e, x, layout, &place_r), *word = ex(e->arena, turned ? "~word" : "word");
    word = ex(e->arena, top ? "((u32)(%p) ^ 0x80000000u)" : "(%p)", word);
    word = ex(e->arena, "(%s)%p", elem_info[type->elem].text, word);
    const Expr *both = cs_combine(&e->p, kind, type->elem, false, old, word);
    if (!adds) both = ex(e->arena, "(word == (i32)-2147483648ll ? %p : %p)", old, both);
    cs_line(&e->p, "%p[r] = %p;", emit_hold(e, result)->by, both);
    cs_close(&e->p);
}

/* x is staged, the elements are stored over it, and it comes back. Where two may go to one place, threads agree before
 * on the last of those that do. */
static void emit_scatter(Emit *e, const Op *op) {
    Word kind = op_word(op, AT_COMBINE, WORD_NONE);
    if (kind) {
        emit_combining_scatter(e, op, kind);
        return;
    }
    Ref x = op->operands[0], part = op->operands[2], result = op->results[0];
    const Type *type = type_of(e, x), *given = type_of(e, part);
    int64_t offset = shared_offset(e, op), places = ty_elements(type), owners = offset + stage_bytes(type);
    bool meet = scatter_owners(e->k, op) > 0;
    sync_before(e, op);
    stage_store(e, x, &(Stage){type, offset, NULL}, NULL, (int)op_int(op, AT_VECTOR, 1));
    if (meet) {
        fill_words(e, places, owners, -1);
        sync_step(e);
        open_scattered(e, op, places);
        cs_line(&e->p, "tw_atomic_max_shared(%lld + (i32)place * 4, mine);", (long long)owners);
        close_scattered(e);
    }
    sync_step(e);
    open_scattered(e, op, places);
    if (meet) {
        cs_line(&e->p, "i32 last;");
        cs_line(&e->p, "tw_lds(1, &last, %lld + (i32)place * 4);", (long long)owners);
    }
    cs_line(&e->p, "const %s word = %p;", emit_array_type(e, given),
            stage_element(e, part, emit_layout(e, part), &place_r));
    const Expr *where = stage_at(e, type, offset, ex(e->arena, "(i32)place"));
    if (meet)
        cs_line(&e->p, "if (last == mine) tw_sts(1, %p, &word);", where);
    else
        cs_line(&e->p, "tw_sts(1, %p, &word);", where);
    close_scattered(e);
    sync_step(e);
    const Expr *at[MAX_RANK];
    open_result(e, result, at);
    stage_load(e, result, &(Stage){type, offset, NULL}, at, 1);
    cs_close(&e->p);
}

/* Row-major order is kept, so the flat index is. */
static void emit_reshape(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    const Expr *at[MAX_RANK];
    stage_operand(e, op, x);
    open_result(e, result, at);
    stage_load(e, result, &(Stage){type_of(e, result), shared_offset(e, op), NULL}, at, 1);
    cs_close(&e->p);
}

/* --- buffers --- */
/* What a product reads by itself, from where the box begins on. */
static void emit_view(Emit *e, const Op *op, const Stage *stage, const Expr *const *begin) {
    const SharedTile *tile = stage->tile;
    int last = stage->type->rank - 1;
    long long across = tile->panel * tile->elem_bytes / tile->width; /* bytes a column, of whole panels */
    const Expr *rows = stage_rows(e, stage->type, begin), *at = ex_int(e->arena, stage->offset);
    if (!ex_is_int(rows, 0)) at = ex(e->arena, "%p + (%p) * %d", at, rows, tile->width);
    if (!ex_is_int(begin[last], 0)) at = ex(e->arena, "%p + %p * %lld", at, begin[last], across);
    const char *name = cs_fresh(&e->p, "view");
    cs_note(&e->p, "where %s begins in shared memory", purpose_tile(e, op->results[0]));
    cs_line(&e->p, "const u32 %s = %p;", name, at);
    emit_set_name(e, op->results[0], HOLD_SHARED, name);
}

static void emit_bload(Emit *e, const Op *op) {
    Ref buffer = op->operands[0], result = op->results[0];
    const Type *whole = type_of(e, buffer), *box = ir_box_of(e->k, op);
    Stage stage = stage_of_buffer(e, buffer);
    const Expr *begin[MAX_RANK];
    moves_offsets(e, op_list(op, 0), whole, box, begin);
    sync_before(e, op);
    const Layout *layout = emit_layout(e, result);
    if (!layout) {
        const char *raw = cs_fresh(&e->p, "raw"), *name = cs_name(&e->p, result);
        cs_line(&e->p, "%s %s;", cs_memory_type(box->elem), raw);
        cs_line(&e->p, "tw_lds(1, &%s, %p);", raw, stage_place(e, &stage, begin));
        cs_line(&e->p, "const %s %s = %p;", cs_value_type(&e->p, box), name,
                cs_unpack(&e->p, box->elem, ex_name(e->arena, raw)));
        emit_set_name(e, result, HOLD_SCALAR, name);
        return;
    }
    if (layout->home == HOME_SHARED) {
        emit_view(e, op, &stage, begin);
        return;
    }
    int vector = (int)op_int(op, AT_VECTOR, 1), lead = whole->rank - box->rank;
    emit_declare(e, result);
    emit_unroll(e, "r", layout->registers, vector);
    for (int d = lead; d < whole->rank; d++) begin[d] = sum(e, begin[d], place_coord(e, layout, d - lead, &place_r));
    stage_load(e, result, &stage, begin, vector);
    cs_close(&e->p);
}

static void emit_bstore(Emit *e, const Op *op) {
    Ref buffer = op->operands[0], value = op_operand(op, 1);
    const Type *box = type_of(e, value);
    Stage stage = stage_of_buffer(e, buffer);
    const Expr *begin[MAX_RANK];
    moves_offsets(e, op_list(op, 0), stage.type, box, begin);
    sync_before(e, op);
    stage_store(e, value, &stage, begin, (int)op_int(op, AT_VECTOR, 1));
}

bool moves_emit(Emit *e, const Op *op) {
    switch (op->code) {
    case OP_JOIN: emit_join(e, op); return true;
    case OP_SPLIT: emit_split(e, op); return true;
    case OP_CAT: emit_cat(e, op); return true;
    case OP_SLICE: emit_slice(e, op); return true;
    case OP_FLIP: emit_flip(e, op); return true;
    case OP_INSERT: emit_insert(e, op); return true;
    case OP_GATHER: emit_gather(e, op); return true;
    case OP_SCATTER: emit_scatter(e, op); return true;
    case OP_BUF: return true;
    case OP_BLOAD: emit_bload(e, op); return true;
    case OP_BSTORE: emit_bstore(e, op); return true;
    case OP_RESHAPE:
        if (!op_attr(op, AT_AT)) return false;
        emit_reshape(e, op);
        return true;
    default: return false;
    }
}
