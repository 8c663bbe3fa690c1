/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_expr.c: loop nests, and the C expression of one element of a tile.
 *
 * A Nest is the loops over the index space of one op. cpu_element asks for an element of a tile
 * at given indices: a tile in memory is read there, an inline one is computed from its operands'
 * elements, down to loads and scalars. Each step becomes a `const` in the body of the outermost
 * loop that knows its indices, so what depends on the row alone is computed once a row; equal
 * elements at equal indices are computed once. Shape ops only change indices and leave no trace
 * in the code.
 *
 *     for (i64 i0 = 0; i0 < 16; i0++) {
 *         const f32 m = mx[i0];                       depth 1
 *         TW_VECTOR for (i64 i1 = 0; i1 < 64; i1++) {
 *             const f32 d = x[i0 * 64 + i1] - m;      depth 2 */
#include "target/cpu/cpu_internal.h"

#include <string.h>

/* --- small helpers --- */

/* A 0 of a float that registers hold as f32: its bits are 0 in every format. */
static const Expr *with_zero_bits(Emit *e, const Expr *x) { return ex_with_bits(e->arena, x, &expr_zero); }

const Expr *cpu_ref(Emit *e, Ref ref) {
    const Literal *number = ref_is_literal(ref) ? ir_literal(e->k, ref) : NULL;
    bool zero = number && elem_is_float(number->type->elem) && number->type->elem != EL_F64 && ir_is_zero(e->k, ref);
    const Expr *x = cs_ref(&e->p, ref);
    return zero ? with_zero_bits(e, x) : x;
}

const Expr *cpu_zero(Emit *e, const Type *type) {
    bool real = !type->pointer && elem_is_float(type->elem) && type->elem != EL_F64;
    const Expr *x = cs_zero(e->arena, type);
    return real ? with_zero_bits(e, x) : x;
}

const Expr *cpu_fresh(Emit *e, const char *hint, ...) {
    Text name = text_new(e->arena);
    va_list args;
    va_start(args, hint);
    text_vadd(&name, hint, args);
    va_end(args);
    return ex_name(e->arena, cs_fresh(&e->p, name.at));
}

bool cpu_unsupported(Emit *e, const Op *op, const char *why) {
    diag_emit(e->diag, DIAG_TARGET_OP, op->range, op_info[op->code].mnemonic, "cpu", why);
    e->failed = true;
    return false;
}

const Expr *cpu_memory(Emit *e, const Type *type, bool wide, int block, const char *hint) {
    const Expr *name = ex_name(e->arena, cs_fresh(&e->p, hint));
    const char *elem = type->pointer ? cs_value_type(&e->p, type)
                       : wide        ? cs_register_type(&e->p, type->elem)
                                     : cs_memory_type(type->elem);
    const char *gap = type->pointer ? "" : " ";
    cs_line(&e->p, "%s%s*const %p = (%s%s*)(scratch + %lld);", elem, gap, name, elem, gap,
            (long long)e->plan.blocks.at[block].offset);
    return name;
}

const char *cpu_memory_text(Emit *e, Ref ref) {
    const Type *type = ir_type(e->k, ref);
    bool wide = type->kind == TY_TILE && cpu_placed(&e->plan, ref)->wide;
    if (type->pointer) return cs_value_type(&e->p, type);
    return wide ? cs_register_type(&e->p, type->elem) : cs_memory_type(type->elem);
}

void cpu_declare(Emit *e, Ref tile) {
    const Placed *placed = cpu_placed(&e->plan, tile);
    const Value *value = ir_value(e->k, tile);
    cs_bind(&e->p, tile, cpu_memory(e, value->type, placed->wide, placed->block, value->name));
}

/* --- nests --- */

void nest_begin(Emit *e, Nest *nest, const Type *shape) {
    static const char *const names[MAX_RANK] = {"i0", "i1", "i2", "i3", "i4",  "i5",
                                                "i6", "i7", "i8", "i9", "i10", "i11"};
    *nest = (Nest){.rank = shape->rank};
    for (int d = 0; d < shape->rank; d++) {
        nest->order[d] = d;
        nest->extent[d] = shape->extent[d];
        nest->index[d] = shape->extent[d] == 1 ? ix_zero() : ix(ex_name(e->arena, names[d]), d + 1);
    }
}

void nest_inner(Nest *nest, int axis) {
    int n = 0;
    for (int d = 0; d < nest->rank; d++)
        if (d != axis) nest->order[n++] = d;
    nest->order[n] = axis;
    for (int p = 0; p < nest->rank; p++)
        if (nest->index[nest->order[p]].depth) nest->index[nest->order[p]].depth = p + 1;
}

void nest_add(Emit *e, Nest *nest, int depth, const char *format, ...) {
    va_list args;
    va_start(args, format);
    cs_vline_of(&e->p, &nest->body[depth], 0, format, args);
    va_end(args);
}

/* Axes that nothing in these tiles tells apart share a loop. */
static void nest_merge(Emit *e, Nest *nest, const Type *shape, const Ref *tiles, int count) {
    bool apart[MAX_RANK];
    cpu_axes_apart(&e->plan, shape, tiles, count, apart);
    for (int first = 0, last; first < nest->rank; first = last + 1) {
        for (last = first; last + 1 < nest->rank && !apart[last];) last++;
        if (last == first) continue;
        Ix head = nest->index[first];
        int64_t inner = 1;
        for (int d = last; d >= first; d--) {
            bool leads = d == first;
            nest->index[d] = (Ix){.x = leads ? head.x : NULL,
                                  .depth = leads ? head.depth : 0,
                                  .alone = cpu_digit(e, head.x, inner, nest->extent[d], leads),
                                  .alone_depth = head.depth};
            inner *= nest->extent[d];
        }
        nest->extent[first] = inner;
    }
}

void nest_end(Emit *e, Nest *nest, bool vector) {
    int opened = 0, innermost = -1;
    for (int p = 0; p < nest->rank; p++)
        if (nest->index[nest->order[p]].depth || nest->lo[nest->order[p]]) innermost = nest->order[p];
    cs_insert(&e->p, &nest->body[0]);
    for (int p = 0; p < nest->rank; p++) {
        int d = nest->order[p];
        if (nest->index[d].depth || nest->lo[d]) {
            const Expr *name = nest->index[d].depth ? nest->index[d].x : cpu_fresh(e, "once");
            const Expr *lo = nest->lo[d] ? nest->lo[d] : &expr_zero;
            const Expr *hi = nest->hi[d] ? nest->hi[d] : cs_number(e->arena, EL_I32, nest->extent[d]);
            bool mark = vector && d == innermost && !nest->rare, is_short = cpu_loop_is_short(nest->extent[d]);
            cs_open(&e->p, "%s%sfor (i64 %p = %p; %p < %p; %p++)", is_short ? "TW_SHORT " : "",
                    mark ? "TW_VECTOR " : "", name, lo, name, hi, name);
            if (nest->rare && d == innermost) cs_line(&e->p, "TW_RARE;");
            opened++;
        }
        cs_insert(&e->p, &nest->body[p + 1]);
    }
    while (opened--) {
        cs_close(&e->p);
        cs_insert(&e->p, &nest->after);
        nest->after.count = 0;
    }
}

/* --- indices --- */

static int deepest(const Ix *index, int rank) {
    int depth = 0;
    for (int d = 0; d < rank; d++)
        if (index[d].depth > depth) depth = index[d].depth;
    return depth;
}

/* The row-major number of the element. */
static Ix linear(Emit *e, const Type *type, const Ix *index) {
    const Expr *sum = NULL;
    int64_t inner = ty_elements(type), stride;
    for (int d = 0; d < type->rank; d++) {
        inner /= type->extent[d];
        if (ix_is_zero(index[d]) || ix_is_merged(index[d])) continue;
        stride = inner; /* .. of the last axis that shares its loop */
        int64_t passed = 1;
        for (int next = d + 1; next < type->rank; next++) {
            passed *= type->extent[next];
            if (ix_is_merged(index[next]))
                stride = inner / passed;
            else if (type->extent[next] > 1)
                break;
        }
        const Expr *term = stride == 1 ? index[d].x : ex(e->arena, "%p * %lld", index[d].x, (long long)stride);
        sum = ex_sum(e->arena, sum, term);
    }
    return sum ? ix(sum, deepest(index, type->rank)) : ix_zero();
}

const Expr *cpu_slot(Emit *e, const Type *type, const Expr *pointer, const Ix *index, int *depth) {
    Ix at = linear(e, type, index);
    if (depth) *depth = at.depth;
    return ex(e->arena, "%p[%p]", pointer, at.x);
}

Ix cpu_name(Emit *e, Nest *nest, const char *type, const Expr *x, int depth, const char *hint) {
    const char *name = cs_fresh(&e->p, hint);
    nest_add(e, nest, depth, "%s = %p;", cs_constant(&e->p, type, name), x);
    return ix(ex_name(e->arena, name), depth);
}

/* The bits of a small float get a name too: stored or cast to bits again it is not rounded a second time, and a NaN
 * keeps its payload. */
Ix cpu_name_bits(Emit *e, Nest *nest, const Type *type, const Expr *bits, int depth, const char *hint) {
    const char *reg = cs_value_type(&e->p, type);
    if (type->pointer) return cpu_name(e, nest, reg, bits, depth, hint);
    if (type->elem == EL_I1 || !cpu_is_wide_elem(type))
        return cpu_name(e, nest, reg, cs_unpack(&e->p, type->elem, bits), depth, hint);
    Ix packed = cpu_name(e, nest, cs_memory_type(type->elem), bits, depth, hint);
    Ix x = cpu_name(e, nest, reg, cs_unpack(&e->p, type->elem, packed.x), depth, hint);
    return ix(ex_with_bits(e->arena, x.x, packed.x), depth);
}

const Expr *cpu_digit(Emit *e, const Expr *number, int64_t behind, int64_t extent, bool first) {
    const Expr *high = behind == 1 ? number : ex(e->arena, "%p / %lld", number, (long long)behind);
    return first ? ex(e->arena, "(%p)", high) : ex(e->arena, "(%p %% %lld)", high, (long long)extent);
}

/* Indices of a reshape's operand for indices of its result. */
static void reshape_index(Emit *e, Nest *nest, const Type *from, const Type *to, const Ix *index, Ix *out) {
    int axis[MAX_RANK];
    if (cpu_reshape_axes(from, to, axis)) {
        for (int o = 0; o < from->rank; o++) out[o] = axis[o] < 0 ? ix_zero() : index[axis[o]];
        return;
    }
    Ix number = linear(e, to, index);
    number = cpu_name(e, nest, "i64", number.x, number.depth, "at");
    int64_t stride = ty_elements(from);
    for (int o = 0; o < from->rank; o++) {
        stride /= from->extent[o];
        bool first = stride * from->extent[o] == ty_elements(from);
        const Expr *x = cpu_digit(e, number.x, stride, from->extent[o], first);
        out[o] = from->extent[o] == 1 ? ix_zero() : ix(x, number.depth);
    }
}

static Ix add_offset(Emit *e, Ix index, Ref offset) {
    int64_t number = 0;
    if (ir_const_int(e->k, offset, &number) && number == 0) return index;
    const Expr *x = cpu_ref(e, offset);
    if (ix_is_zero(index)) return ix(ex(e->arena, "(i64)%p", x), index.depth);
    return ix(ex(e->arena, "((i64)%p + %p)", x, index.x), index.depth);
}

/* --- elements --- */

static Ix compute(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index);

static Ix read_memory(Emit *e, Nest *nest, Ref tile, const Ix *index) {
    const Type *type = ir_type(e->k, tile);
    int depth = 0;
    const Expr *slot = cpu_slot(e, type, cs_ref(&e->p, tile), index, &depth);
    const char *hint = ir_value(e->k, tile)->name;
    if (cpu_placed(&e->plan, tile)->wide) return cpu_name(e, nest, cs_value_type(&e->p, type), slot, depth, hint);
    return cpu_name_bits(e, nest, type, slot, depth, hint);
}

static bool is_aside(const Emit *e, const Op *load) {
    for (size_t i = 0; e->aside && i < e->aside->count; i++)
        if (e->aside->at[i] == load) return true;
    return false;
}

Ix cpu_element(Emit *e, Nest *nest, Ref tile, const Ix *index) {
    if (!ref_is_value(tile)) return ix(cpu_ref(e, tile), 0);
    const Placed *placed = cpu_placed(&e->plan, tile);
    const Value *value = ir_value(e->k, tile);
    if (value->type->rank == 0) return ix(cpu_ref(e, tile), 0);
    Text key = text_new(e->arena);
    text_add(&key, "%u", tile);
    for (int d = 0; d < value->type->rank; d++)
        text_add(&key, ",%s", ex_plain(e->arena, ix_is_merged(index[d]) ? index[d].alone : index[d].x));
    Ix *known = map_get(&nest->memo, key.at);
    if (known) return *known;
    Ix result = placed->storage == STORAGE_MEMORY || is_aside(e, value->op) ? read_memory(e, nest, tile, index)
                                                                            : compute(e, nest, tile, value->op, index);
    map_set(&nest->memo, e->arena, key.at, arena_copy(e->arena, &result, sizeof result));
    return result;
}

Ix cpu_operand(Emit *e, Nest *nest, Ref ref, const Ix *index) {
    const Type *type = ir_type(e->k, ref);
    Ix mine[MAX_RANK];
    for (int d = 0; d < type->rank; d++) mine[d] = type->extent[d] == 1 ? ix_zero() : index[d];
    return cpu_element(e, nest, ref, mine);
}

const Expr *cpu_pack(Emit *e, Elem elem, const Expr *value) {
    return value->bits ? value->bits : cs_pack(&e->p, elem, value);
}

static bool is_small_float(const Type *type) { return cpu_is_wide_elem(type) && type->elem != EL_I1; }

/* The bits that were named with the number; NULL: none. */
static const Expr *named_bits(const Expr *x) { return x->kind == EX_NAME ? x->bits : NULL; }

/* A bitcast or a select of small floats whose bits are known: no conversion at all. NULL: no. */
static const Expr *known_bits(Emit *e, const Op *op, const Expr *const *args) {
    const Type *type = ir_type(e->k, op->results[0]), *from = ir_type(e->k, op->operands[0]);
    if (op->code == OP_SELECT && is_small_float(type)) {
        const Expr *x = named_bits(args[1]), *y = named_bits(args[2]);
        return x && y ? ex(e->arena, "(%p ? %p : %p)", args[0], x, y) : NULL;
    }
    if (op->code != OP_BITCAST || from->pointer || type->pointer) return NULL;
    const Expr *x = named_bits(args[0]);
    return x ? ex(e->arena, "((%s)%p)", cs_memory_type(type->elem), x) : NULL;
}

static Ix compute_elementwise(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    const Expr *args[8] = {0};
    int depth = 0;
    for (int i = 0; i < op->operand_count && i < 8; i++) {
        if (op->operands[i] == REF_NONE) continue;
        Ix x = cpu_operand(e, nest, op->operands[i], index);
        args[i] = x.x;
        depth = deeper(depth, x.depth);
    }
    const Type *type = ir_type(e->k, tile);
    const char *hint = ir_value(e->k, tile)->name, *reg = cs_value_type(&e->p, type);
    const Expr *known = known_bits(e, op, args);
    if (known) return cpu_name_bits(e, nest, type, known, depth, hint);
    const Expr *x = cs_elementwise(&e->p, op, args), *bits = is_small_float(type) ? x->bits : NULL;
    if (bits && type->elem == EL_BF16 && bits->rounded) { /* in place: vectors stay as wide as they are */
        Ix named = cpu_name(e, nest, reg, ex(e->arena, "tw_round_bf16(%p)", bits->rounded), depth, hint);
        cpu_needs(e,
                  PART_FUNCTIONS); /* cpu.h has both; kept, so that texts (and what is cached of them) stay the same */
        return ix(ex_with_bits(e->arena, named.x, ex(e->arena, "tw_top_bf16(%p)", named.x)), depth);
    }
    if (bits) return cpu_name_bits(e, nest, type, bits, depth, hint);
    return cpu_name(e, nest, reg, x, depth, hint);
}

const Expr *cpu_guarded(Emit *e, Elem elem, const Expr *condition, const Expr *bits, const Expr *other) {
    return ex(e->arena, "%p ? %p : %p", condition, bits, cpu_pack(e, elem, other));
}

static Ix compute_load(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    const Type *type = ir_type(e->k, tile);
    Ix p = cpu_element(e, nest, op->operands[0], index);
    int depth = p.depth;
    const char *form = op_flag(op, AT_VOLATILE) ? "*(const volatile %s *)%p" : "*(const %s *)%p";
    const Expr *bits = ex(e->arena, form, cs_memory_type(type->elem), p.x);
    if (op->operand_count > 1 && op->operands[1]) {
        Ix mask = cpu_operand(e, nest, op->operands[1], index), other = ix(cpu_zero(e, type), 0);
        if (op->operand_count > 2 && op->operands[2]) other = cpu_operand(e, nest, op->operands[2], index);
        depth = deeper(depth, deeper(mask.depth, other.depth));
        bits = cpu_guarded(e, type->elem, mask.x, bits, other.x);
    }
    return cpu_name_bits(e, nest, type, bits, depth, ir_value(e->k, tile)->name);
}

static Ix compute_bload(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    Ref buffer = op->operands[0];
    const Type *whole = ir_type(e->k, buffer), *type = ir_type(e->k, tile);
    RefList offsets = op_list(op, 0);
    Ix at[MAX_RANK];
    int lead = whole->rank - type->rank;
    for (int d = 0; d < whole->rank; d++) at[d] = add_offset(e, d < lead ? ix_zero() : index[d - lead], offsets.at[d]);
    int depth = 0;
    const Expr *slot = cpu_slot(e, whole, cs_ref(&e->p, buffer), at, &depth);
    return cpu_name_bits(e, nest, type, slot, depth, ir_value(e->k, tile)->name);
}

static Ix compute_gather(Emit *e, Nest *nest, const Op *op, const Ix *index) {
    const Type *type = ir_type(e->k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    Ix where = cpu_element(e, nest, op->operands[1], index), at[MAX_RANK];
    memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
    const Expr *top = cs_number(e->arena, EL_I64, type->extent[axis] - 1);
    const Expr *inside = ex(e->arena, "tw_min_i64(tw_max_i64((i64)%p, 0), %p)", where.x, top);
    at[axis] = cpu_name(e, nest, "i64", inside, where.depth, "where");
    return cpu_element(e, nest, op->operands[0], at);
}

static Ix compute_join(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    int rank = ir_type(e->k, op->operands[0])->rank;
    Ix last = index[rank];
    if (ix_is_zero(last)) return cpu_element(e, nest, op->operands[0], index);
    Ix x = cpu_element(e, nest, op->operands[0], index), y = cpu_element(e, nest, op->operands[1], index);
    int depth = deeper(last.depth, deeper(x.depth, y.depth));
    const Expr *choice = ex(e->arena, "%p ? %p : %p", last.x, y.x, x.x);
    return cpu_name(e, nest, cs_value_type(&e->p, ir_type(e->k, tile)), choice, depth, "pair");
}

/* A reduce of two elements. */
static Ix compute_pair(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    int axis = (int)op_int(op, AT_AXIS, 0), rank = ir_type(e->k, op->operands[0])->rank;
    Ix at[MAX_RANK], x[2];
    for (int i = 0; i < 2; i++) {
        for (int d = 0, o = 0; d < rank; d++) at[d] = d == axis ? ix(ex_int(e->arena, i), 0) : index[o++];
        x[i] = cpu_element(e, nest, op->operands[0], at);
    }
    const Type *type = ir_type(e->k, tile);
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    return cpu_name(e, nest, cs_value_type(&e->p, type), cs_combine(&e->p, kind, type->elem, false, x[0].x, x[1].x),
                    deeper(x[0].depth, x[1].depth), ir_value(e->k, tile)->name);
}

static Ix compute(Emit *e, Nest *nest, Ref tile, const Op *op, const Ix *index) {
    Ix at[MAX_RANK];
    Ref x = op->operand_count ? op->operands[0] : REF_NONE;
    const Type *type = ir_type(e->k, tile), *from = x ? ir_type(e->k, x) : NULL;
    int axis = (int)op_int(op, AT_AXIS, 0);
    switch (op->code) {
    case OP_SPLAT: return ix(cpu_ref(e, x), 0);
    case OP_UNDEF: return ix(cpu_zero(e, type), 0);
    case OP_IOTA: {
        int64_t begin = op_int(op, AT_BEGIN, 0);
        Ix i = index[0].alone ? ix(index[0].alone, index[0].alone_depth) : index[0];
        const Expr *number =
            begin ? ex(e->arena, "(i32)(%p + (%lld))", i.x, (long long)begin) : ex(e->arena, "(i32)%p", i.x);
        return cpu_name(e, nest, "i32", number, i.depth, ir_value(e->k, tile)->name);
    }
    case OP_REDUCE: return compute_pair(e, nest, tile, op, index);
    case OP_EXPAND:
        for (int d = 0, o = 0; d < type->rank; d++)
            if (d != axis) at[o++] = index[d];
        return cpu_element(e, nest, x, at);
    case OP_BROADCAST:
    case OP_CONVERT: return cpu_operand(e, nest, x, index);
    case OP_RESHAPE: reshape_index(e, nest, from, type, index, at); return cpu_element(e, nest, x, at);
    case OP_PERMUTE:
        for (int d = 0; d < type->rank; d++) at[op_attr(op, AT_DIMS)->list.at[d]] = index[d];
        return cpu_element(e, nest, x, at);
    case OP_FLIP:
        memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
        if (!ix_is_zero(index[axis]))
            at[axis] =
                ix(ex(e->arena, "(%lld - %p)", (long long)type->extent[axis] - 1, index[axis].x), index[axis].depth);
        return cpu_element(e, nest, x, at);
    case OP_REPEAT:
        memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
        at[axis] = ix(ex(e->arena, "(%p / %lld)", index[axis].x, (long long)(type->extent[axis] / from->extent[axis])),
                      index[axis].depth);
        return cpu_element(e, nest, x, at);
    case OP_JOIN: return compute_join(e, nest, tile, op, index);
    case OP_SPLIT:
        memcpy(at, index, sizeof(Ix) * (size_t)type->rank);
        at[type->rank] = ix(ex_int(e->arena, ir_value(e->k, tile)->index ? 1 : 0), 0);
        return cpu_element(e, nest, x, at);
    case OP_SLICE:
        for (int d = 0; d < type->rank; d++) at[d] = add_offset(e, index[d], op_list(op, 0).at[d]);
        return cpu_element(e, nest, x, at);
    case OP_GATHER: return compute_gather(e, nest, op, index);
    case OP_LOAD: return compute_load(e, nest, tile, op, index);
    case OP_BLOAD: return compute_bload(e, nest, tile, op, index);
    case OP_TLOAD: return cpu_box_load(e, nest, op, index);
    default: return compute_elementwise(e, nest, tile, op, index);
    }
}

void cpu_emit_scalar(Emit *e, Op *op) {
    for (int i = 0; i < op->result_count; i++) {
        Nest nest;
        nest_begin(e, &nest, ir_type(e->k, op->results[i]));
        Ix x = compute(e, &nest, op->results[i], op, nest.index);
        nest_end(e, &nest, false);
        cs_bind(&e->p, op->results[i], x.x);
    }
}

/* --- into memory --- */

const Expr *cpu_pack_for(Emit *e, Ref tile, const Expr *value) {
    const Type *type = ir_type(e->k, tile);
    return type->pointer || cpu_placed(&e->plan, tile)->wide ? value : cpu_pack(e, type->elem, value);
}

static void fill_once(Emit *e, const Expr *pointer, bool wide, Ref tile, bool fast, bool rare) {
    const Type *type = ir_type(e->k, tile);
    Nest nest;
    nest_begin(e, &nest, type);
    nest_merge(e, &nest, type, &tile, 1);
    nest.fast = fast;
    nest.rare = rare;
    /* The tile itself may be planned as memory: that is what is filled here, so its op is computed. */
    const Value *value = ref_is_value(tile) ? ir_value(e->k, tile) : NULL;
    bool own = value && value->op && cpu_placed(&e->plan, tile)->storage == STORAGE_MEMORY &&
               cpu_is_inlinable(e->k, value->op) && pointer == e->p.values[tile];
    Ix x = own ? compute(e, &nest, tile, value->op, nest.index) : cpu_element(e, &nest, tile, nest.index);
    const Expr *slot = cpu_slot(e, type, pointer, nest.index, NULL);
    nest_add(e, &nest, nest.rank, "%p = %p;", slot, wide || type->pointer ? x.x : cpu_pack(e, type->elem, x.x));
    nest_end(e, &nest, true);
}

void cpu_fill(Emit *e, const Expr *pointer, bool wide, Ref tile) {
    FillPlan plan = cpu_fill_plan(&e->plan, tile, ref_is_value(tile) && pointer == e->p.values[tile], wide);
    if (plan.form != FILL_LOOP) {
        cpu_fill_turned(e, pointer, ir_type(e->k, tile), &plan);
        return;
    }
    const Expr *fast = cpu_fast_condition(e, &tile, 1, NULL);
    if (fast) {
        cs_open(&e->p, "if (%p)", fast);
        fill_once(e, pointer, wide, tile, true, false);
        cs_reopen(&e->p, "else");
        fill_once(e, pointer, wide, tile, false, false);
        cs_close(&e->p);
    } else
        fill_once(e, pointer, wide, tile, true, false);
}

void cpu_fill_tested(Emit *e, const Expr *pointer, Ref tile, bool rarely) {
    fill_once(e, pointer, false, tile, false, rarely);
}
