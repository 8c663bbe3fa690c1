/* SPDX-License-Identifier: Apache-2.0 */
/* tt_index_text.c: elements of tiles of indices, as C of the reader: masks and ramps of compute (tt_index.c), whose
 * pages it writes, and index vectors of its own loads (tt_rows.c), of which it asks one element after the other.
 *
 * An element is one expression of its place, made anew from what the tile is made of; a load of an index vector is read
 * where it lies in L1, and any other load from the argument's memory, a page of which is kept in L1 (tw_element). So
 * come
 * tiles whose load moves no whole pages, and numbers that are read from memory; and so go stores of such tiles. */
#include "target/tenstorrent/tt_emit.h"

enum { MOST_INDEX_STEPS = 100000 };

typedef struct Indices {
    Role *role;
    const TtIndexTile *tile; /* of compute; NULL: an index vector of this very role */
    const Op *user;
    int left; /* steps that may still be taken */
} Indices;

static const char *index_text(Indices *at, Ref ref, const char *const *place);

/* The place of the operand's element from which the op makes the one at `place`. */
static void inner_place(Tt *tt, const Op *op, const char *const *place, const char *inner[MAX_RANK]) {
    const Type *from = ir_type(tt->k, op->operands[0]), *to = ir_type(tt->k, op->results[0]);
    if (op->code == OP_PERMUTE) {
        for (int d = 0; d < to->rank; d++) inner[op_attr(op, AT_DIMS)->list.at[d]] = place[d];
    } else if (op->code == OP_EXPAND || op->code == OP_RESHAPE) { /* new or dropped extents of 1 */
        for (int i = 0, j = 0; i < from->rank; i++) {
            while (from->extent[i] != 1 && j < to->rank && to->extent[j] == 1) j++;
            bool fits = j < to->rank && from->extent[i] == to->extent[j];
            if (!fits && from->extent[i] != 1) tt_refuse(tt, op, "a mask in another order of elements");
            inner[i] = from->extent[i] == 1 ? "0" : fits ? place[j] : "0";
            j += fits;
        }
    } else {
        for (int d = 0; d < from->rank; d++) inner[d] = from->extent[d] == 1 ? "0" : place[d];
    }
}

/* Elements from the start of the parameter's memory on. */
static const char *base_text(Indices *at, Ref pointer, const char *const *place) {
    Tt *tt = at->role->tt;
    const Op *op = ref_is_value(pointer) ? ir_value(tt->k, pointer)->op : NULL;
    if (!op) return "0";
    if (op->code == OP_SPLAT || op->code == OP_EXPAND || op->code == OP_BROADCAST || op->code == OP_RESHAPE) {
        const Type *type = ir_type(tt->k, op->operands[0]);
        const char *inner[MAX_RANK];
        inner_place(tt, op, place, inner);
        return base_text(at, op->operands[0], type->rank ? inner : NULL);
    }
    if (op->code != OP_PTR_ADD) {
        tt_refuse(tt, at->user, "an address made by `%s`; places are computed from arguments, indices and numbers of "
                  "memory",
                  op_info[op->code].mnemonic);
        return "0";
    }
    return arena_printf(tt->arena, "%s + (i64)%s", base_text(at, op->operands[0], place),
                        index_text(at, op->operands[1], place));
}

/* The place of the element along a dimension. */
static const char *along_text(Indices *at, const Op *access, int d, const char *const *place) {
    Tt *tt = at->role->tt;
    const Type *tile = ir_type(tt->k, access->code == OP_TLOAD ? access->results[0] : op_operand(access, 1));
    Ref offset = op_list(access, 0).at[d];
    int axis = box_axis(access, ir_type(tt->k, access->operands[0])->rank, tile->rank, d);
    const Type *type = ir_type(tt->k, offset);
    if (type->rank) return index_text(at, offset, type->rank == tile->rank || axis < 0 ? place : &place[axis]);
    const char *start = index_text(at, offset, NULL);
    return axis < 0 ? arena_printf(tt->arena, "(i64)%s", start) : arena_printf(tt->arena, "((i64)%s + %s)", start,
                                                                               place[axis]);
}

typedef struct Spot { /* of an element */
    const char *index, *inside; /* from the start of the parameter's memory; is it one of the tensor that the mask
                                   lets through? */
} Spot;

static Spot spot_of(Indices *at, const Op *access, const char *const *place) {
    Role *role = at->role;
    if (access->code == OP_LOAD || access->code == OP_STORE) {
        Ref test = op_operand(access, access->code == OP_LOAD ? 1 : 2);
        return (Spot){base_text(at, op_operand(access, 0), place), test ? index_text(at, test, place) : "true"};
    }
    Tt *tt = role->tt;
    const Value *tensor = ir_value(tt->k, access->operands[0]);
    const Op *made = tensor->op && tensor->op->code == OP_TENSOR ? tensor->op : NULL;
    Text index = text_new(tt->arena), inside = text_new(tt->arena);
    Ref mask = op_operand(access, access->code == OP_TLOAD ? 1 : 2);
    text_add(&index, "%s", made ? base_text(at, op_operand(made, 0), NULL) : "0");
    for (int d = 0; d < tensor->type->rank; d++) {
        const char *along = along_text(at, access, d, place), *extent, *stride;
        Ref bound = made ? op_list(made, 0).at[d] : REF_NONE;
        if (made) {
            extent = bound ? index_text(at, bound, NULL) : NULL;
            stride = index_text(at, op_list(made, 1).at[d], NULL);
        } else {
            const char *name = tensor->name ? tensor->name : "t";
            extent = role_arg(role, ARG_EXTENT, arena_printf(tt->arena, "%s_extent%d", name, d), tensor->index, d);
            stride = role_arg(role, ARG_STRIDE, arena_printf(tt->arena, "%s_stride%d", name, d), tensor->index, d);
            stride = arena_printf(tt->arena, "(i32)%s", stride);
        }
        if (extent && box_wraps(access, d))
            along = arena_printf(tt->arena, "tw_wrap(%s, %s)", along, extent);
        else if (extent)
            text_add(&inside, "%s(u64)%s < (u64)tw_max((i64)%s, (i64)0)", inside.length ? " && " : "", along, extent);
        else if (ir_type(tt->k, op_list(access, 0).at[d])->rank)
            text_add(&inside, "%s%s != TW_NOWHERE", inside.length ? " && " : "", along);
        text_add(&index, " + %s * (i64)%s", along, stride);
    }
    if (mask) text_add(&inside, "%s%s", inside.length ? " && " : "", index_text(at, mask, place));
    return (Spot){index.at, inside.length ? inside.at : "true"};
}

/* The element of a load: of memory, or its fill. */
static const char *load_text(Indices *at, const Op *load, const char *const *place) {
    Role *role = at->role;
    Tt *tt = role->tt;
    Elem elem = ir_type(tt->k, load->results[0])->elem;
    int buffer = tt_plain_buffer(tt, load);
    if (buffer < 0) return "0";
    bool is_box = load->code == OP_TLOAD;
    const Attr *fill = is_box ? op_attr(load, AT_FILL) : NULL;
    Ref fallback = fill ? fill->ref : is_box ? REF_NONE : op_operand(load, 2);
    Spot spot = spot_of(at, load, place);
    const char *type = cs_memory_type(elem), *other = fallback ? index_text(at, fallback, place) : "0";
    const char *read = arena_printf(tt->arena, "tw_element<%s>(%s, %s)", type, role_elements(role, buffer), spot.index);
    if (elem_is_float(elem) && elem != EL_F32) read = arena_printf(tt->arena, "tw_f32(%s)", read);
    return arena_printf(tt->arena, "(%s ? %s : (%s)%s)", spot.inside, read, cs_register_type(&role->p, elem), other);
}

/* Is the number there, under its name? What compute has of its own is computed anew from what both roles know. */
static bool is_there(const TtIndexTile *tile, const Value *v) {
    return ty_is_scalar(v->type) && (!tile || !role_around(v->op ? v->op : v->region->owner));
}

/* The element at the given place; of a scalar its value. */
static const char *index_text(Indices *at, Ref ref, const char *const *place) {
    Role *role = at->role;
    const TtIndexTile *tile = at->tile;
    Tt *tt = role->tt;
    if (--at->left == 0)
        tt_refuse(tt, at->user, "indices that take more than %d steps to compute", MOST_INDEX_STEPS);
    if (at->left <= 0) return "0";
    if (!ref_is_value(ref)) return role_literal(role, ref);
    const Value *v = ir_value(tt->k, ref);
    const Op *op = v->op;
    if (is_there(tile, v)) return role_ref(role, ref);
    if (!op) {
        const Op *loop =
            tile && v->index == 0 && v->region->owner->code == OP_FOR ? tt_matching_loop(tile, v->region->owner) : NULL;
        if (loop) return cs_name(&role->p, loop->regions[0]->args[0]);
        tt_refuse(tt, at->user,
                  "indices that depend on a carried value, or on a loop that loads "
                  "nothing" FIX "compute them from the loop's variable, beside the load");
        return "0";
    }
    const char *texts[3] = {0}, *inner[MAX_RANK];
    switch (op->code) {
    case OP_EXTENT:
    case OP_STRIDE:
    case OP_NUM_PROGRAMS: return arena_printf(tt->arena, "(%s)", role_scalar_text(role, op));
    case OP_IOTA: return arena_printf(tt->arena, "(%s + %lld)", place[0], (long long)op_int(op, AT_BEGIN, 0));
    case OP_TLOAD:
        if (tile || !tt_fetched(role, op)) return load_text(at, op, place);
        return arena_printf(tt->arena, v->type->elem == EL_I32 ? "%.0stw_index(%s, %s)" : "(%s)tw_index(%s, %s)",
                            elem_info[v->type->elem].text, tt_fetched(role, op), place[0]);
    case OP_SPLAT: return index_text(at, op->operands[0], place);
    case OP_LOAD: return load_text(at, op, place);
    case OP_REPEAT: {
        int axis = (int)op_int(op, AT_AXIS, 0);
        int64_t times = v->type->extent[axis] / ir_type(tt->k, op->operands[0])->extent[axis];
        for (int d = 0; d < v->type->rank; d++) inner[d] = place[d];
        inner[axis] = arena_printf(tt->arena, "(%s / %lld)", place[axis], (long long)times);
        return index_text(at, op->operands[0], inner);
    }
    case OP_PERMUTE:
    case OP_EXPAND:
    case OP_RESHAPE: inner_place(tt, op, place, inner); return index_text(at, op->operands[0], inner);
    default: break;
    }
    if (op->code != OP_BROADCAST && !cs_is_elementwise(op->code)) {
        tt_refuse(tt, at->user,
                  "indices that depend on the result of `%s`; the reader must be able "
                  "to compute them from arguments and loop variables",
                  op_info[op->code].mnemonic);
        return "0";
    }
    for (int i = 0; i < op->operand_count && i < 3; i++) { /* broadcast and elementwise */
        const Type *type = ir_type(tt->k, op->operands[i]);
        for (int d = 0; d < type->rank; d++) inner[d] = type->extent[d] == 1 ? "0" : place[d];
        texts[i] = index_text(at, op->operands[i], inner);
    }
    return op->code == OP_BROADCAST ? texts[0] : role_elementwise(role, op, texts);
}

const char *tt_vector_element(Role *role, const Op *user, Ref vector, const char *i) {
    Indices at = {role, NULL, user, MOST_INDEX_STEPS};
    return index_text(&at, vector, &i);
}

static void need(Role *role, const TtIndexTile *tile, Ref ref, Map *seen) {
    if (!ref_is_value(ref) || !map_meets(seen, role->tt->arena, ref)) return;
    const Value *v = ir_value(role->tt->k, ref);
    if (is_there(tile, v) && !v->type->pointer)
        role_need(role, ref);
    else if (v->op)
        for (int i = 0; i < v->op->operand_count; i++) need(role, tile, v->op->operands[i], seen);
}

void tt_need_indices(Role *role, const TtIndexTile *tile, Map *seen) { need(role, tile, tile->value, seen); }
void tt_need_vector(Role *role, Ref vector, Map *seen) { need(role, NULL, vector, seen); }
void tt_need_access(Role *role, const Op *access, Map *seen) {
    const Attr *fill = op_attr(access, AT_FILL);
    for (int i = 0; i < access->operand_count; i++) need(role, NULL, access->operands[i], seen);
    if (fill) need(role, NULL, fill->ref, seen);
}

/* The number that a role reads from memory itself. */
const char *tt_number_text(Role *role, const Op *load) {
    Indices at = {role, NULL, load, MOST_INDEX_STEPS};
    return load_text(&at, load, NULL);
}

/* ------------------------------------------------------------------------------------------------------- pages */

/* In the body of a page: lines that name the place of element (r, c) of page p of a tile, and whether it is one. */
static const char *open_place(Role *role, const Type *type, TtPaging paging, const char *place[MAX_RANK]) {
    Tt *tt = role->tt;
    int64_t rows, columns;
    tt_page_grid(type, paging, &rows, &columns);
    int rank = type->rank;
    place[0] = "0";
    if (!rank) return "r == 0 && c == 0";
    if (paging == PAGE_VECTOR) {
        role_line(role, "const i32 j = (i32)p * 1024 + r * 32 + c;");
        place[0] = "j";
        return arena_printf(tt->arena, "j < %lld", (long long)type->extent[0]);
    }
    bool is_column = rank == 1 && paging == PAGE_COLUMN;
    int64_t down = rank == 1 ? (is_column ? type->extent[0] : 1) : type->extent[rank - 2];
    int64_t across = is_column ? 1 : type->extent[rank - 1], pages_down = (down + PAGE_SIDE - 1) / PAGE_SIDE;
    const char *row = pages_down == 1 ? "r" : arena_printf(tt->arena, "(i32)(p / %lld%s) * 32 + r", (long long)columns,
                                                           rank > 2 ? arena_printf(tt->arena, " %% %lld",
                                                                                   (long long)pages_down)
                                                                    : "");
    role_line(role, "const i32 i = %s, j = (i32)(p %% %lld) * 32 + c;", row, (long long)columns);
    int64_t below = columns * pages_down;
    for (int d = rank - 3; d >= 0; d--) {
        place[d] = arena_printf(tt->arena, "(i32)(p / %lld %% %lld)", (long long)below, (long long)type->extent[d]);
        below *= type->extent[d];
    }
    if (rank == 1)
        place[0] = is_column ? "i" : "j";
    else
        place[rank - 2] = "i", place[rank - 1] = "j";
    return arena_printf(tt->arena, "i < %lld && j < %lld", (long long)down, (long long)across);
}

/* Pages of a tile, at `to` and behind: each element by itself. */
static void make_pages(Indices *at, Ref value, TtPaging paging, int cb) {
    Role *role = at->role;
    const TtCb *desc = &role->tt->plan->cbs.at[cb];
    const Type *type = ir_type(role->tt->k, value);
    const char *place[MAX_RANK], *number = NULL;
    role_open(role, (TtStep){.kind = STEP_BLOCK});
    role_step(role, (TtStep){.kind = STEP_POINTER, .hand = CB_RESERVE, .cb = cb, .text = "u32 to"});
    if (!type->rank) { /* a number: all over its page */
        number = cs_fresh(&role->p, "number");
        role_line(role, "const f32 %s = (f32)%s;", number, index_text(at, value, NULL));
    }
    role_open_text(role, STEP_FOR, "u32 p = 0; p < %u; ++p", desc->item_pages);
    role_open(role, (TtStep){.kind = STEP_MAKE_PAGE, .cb = cb, .text = "to"});
    if (number) {
        role_line(role, "return %s;", number);
    } else {
        const char *inside = open_place(role, type, paging, place), *fill = "0.0f";
        const Op *op = ir_value(role->tt->k, value)->op;
        const Attr *attr = op && op->code == OP_TLOAD ? op_attr(op, AT_FILL) : NULL;
        if (attr && ref_is_literal(attr->ref)) fill = arena_printf(role->tt->arena, "(f32)%s", role_literal(role,
                                                                                                            attr->ref));
        role_line(role, "return %s ? (f32)%s : %s;", inside, index_text(at, value, place), fill);
    }
    role_close(role);
    role_line(role, "to += %u;", desc->desc.page_bytes);
    role_close(role);
    role_close(role);
}

void tt_make_index_tile(Role *role, const TtIndexTile *tile) {
    Indices at = {role, tile, tile->user, MOST_INDEX_STEPS};
    role_hand(role, CB_RESERVE, tile->cb);
    make_pages(&at, tile->value, tt_paging(role->tt, tile->value), tile->cb);
    role_hand(role, CB_PUSH, tile->cb);
}

void tt_read_elements(Role *role, const Op *load, const TtField *field, int cb) {
    Indices at = {role, NULL, load, MOST_INDEX_STEPS};
    role_elements(role, tt_plain_buffer(role->tt, load)); /* declared before any lambda asks */
    make_pages(&at, load->results[0], field->paging, cb);
}

/* What an atomic update makes of the old element; the name of a function of the prelude. */
static const char *update_of(Tt *tt, const Op *store) {
    static const Word combines[] = {COMBINE_ADD, COMBINE_MAX, COMBINE_MIN, COMBINE_AND, COMBINE_OR, COMBINE_XOR,
                                    COMBINE_XCHG};
    static const char *const names[] = {"TwAdd", "TwMax", "TwMin", "TwAnd", "TwOr", "TwXor", "TwSet"};
    if (store->code != OP_TATOMIC) return NULL;
    for (int i = 0; i < 7; i++)
        if (op_word(store, AT_COMBINE, COMBINE_ADD) == combines[i] && op_word(store, AT_NAN, NAN_DROP) == NAN_DROP)
            return names[i];
    tt_refuse(tt, store, "the atomic update `%s`", word_info[op_word(store, AT_COMBINE, COMBINE_ADD)].text);
    return "TwAdd";
}

/* Of a value that the writer makes itself: element after element of its shape. */
static void write_made(Role *role, const Op *store, const char *elements, const char *update) {
    Tt *tt = role->tt;
    Indices at = {role, NULL, store, MOST_INDEX_STEPS};
    const Type *type = ir_type(tt->k, op_operand(store, 1));
    const char *place[MAX_RANK], *memory = cs_memory_type(type->elem);
    for (int d = 0; d < type->rank; d++) {
        place[d] = arena_printf(tt->arena, "i%d", d);
        role_open_text(role, STEP_FOR, "i32 i%d = 0; i%d < %lld; ++i%d", d, d, (long long)type->extent[d], d);
    }
    Spot spot = spot_of(&at, store, place);
    const char *value = index_text(&at, op_operand(store, 1), place);
    role_open_text(role, STEP_IF, "%s", spot.inside);
    if (update)
        role_line(role, "tw_update<%s, %s>(%s, %s, (%s)%s);", memory, update, elements, spot.index, memory, value);
    else
        role_line(role, "tw_put<%s>(%s, %s, (%s)%s);", memory, elements, spot.index, memory, value);
    role_close(role);
    for (int d = 0; d < type->rank; d++) role_close(role);
    role_line(role, "tw_flush(%s);", elements);
    role_step(role, (TtStep){.kind = STEP_BARRIER, .hand = CB_WAIT}); /* a later store may write the same elements */
}

void tt_write_elements(Role *role, const Op *store, const TtField *field) {
    Tt *tt = role->tt;
    Indices at = {role, NULL, store, MOST_INDEX_STEPS};
    int buffer = tt_plain_buffer(tt, store);
    const char *place[MAX_RANK], *update = update_of(tt, store);
    if (buffer < 0) return;
    const char *elements = role_elements(role, buffer);
    if (update) role_line(role, "tw_take_turn(%s, %s);", role_turn(role), elements);
    if (!field) {
        write_made(role, store, elements, update);
        return;
    }
    const TtCb *desc = &tt->plan->cbs.at[field->cb];
    role_open(role, (TtStep){.kind = STEP_BLOCK});
    role_step(role, (TtStep){.kind = STEP_POINTER, .hand = CB_WAIT, .cb = field->cb, .text = "u32 from"});
    role_open_text(role, STEP_FOR, "u32 p = 0; p < %u; ++p", desc->item_pages);
    role_open(role, (TtStep){.kind = STEP_PUT_PAGE,
                             .cb = field->cb,
                             .buffer = buffer,
                             .text = "from",
                             .page2 = update,
                             .number = elements});
    const char *inside = open_place(role, field->type, field->paging, place);
    Spot spot = spot_of(&at, store, place);
    role_line(role, "return %s && %s ? (i64)(%s) : -1;", inside, spot.inside, spot.index);
    role_close(role);
    role_line(role, "from += %u;", desc->desc.page_bytes);
    role_close(role);
    role_close(role);
}
