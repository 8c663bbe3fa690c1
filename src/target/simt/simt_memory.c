/* SPDX-License-Identifier: Apache-2.0 */
/* simt_memory.c: global memory: boxes of tensors, gathers and scatters.
 *
 * A box is moved in vectors along its contiguous dimension, as wide as what is known of base,
 * strides and offsets allows (layout_vector); its edges are handled by tw_load_row and
 * tw_store_row:
 *
 *     for (int r = 0; r < 32; r += 8) {
 *         const i64 i0 = m + (at0 + (r >> 3) * 16);
 *         const i64 i1 = kk + at1;
 *         tw_load_row(8, a + r, A + i0 * sa, i1, K, (u64)i0 < (u64)M, tw_f16(0.0f));
 *     }
 *
 * Indices have 64 bits, in which no sum wraps. Those that 32 bits hold have 32 where a thread moves one vector
 * (index_form): their way to an address is a third as long, and a kernel of few elements a thread is little else. The
 * addresses of several vectors are one sum of 64 bits and a distance in the instruction; from tw_mul_wide the compiler
 * makes one for each (a layer norm of 8192 columns took 78 registers for 66, and 5 % longer).
 *
 * Elements that several threads hold are stored by one of them. */
#include "base/numeric.h"
#include "ir/element.h"
#include "target/simt/simt_box.h"

#include <math.h>
#include <string.h>

/* Bounds are compared unsigned; an extent may be below 0, unless its tensor says that it is not (`natural`). */
static const Expr *extent_of(Emit *e, const Op *tensor, int dim) {
    Ref extent = op_list(tensor, 0).at[dim];
    const Attr *naturals = op_attr(tensor, AT_NATURALS);
    bool natural = ref_is_literal(extent);
    int64_t number;
    if (!extent) return NULL;
    if (ir_const_int(e->k, extent, &number) && number < 0) return &expr_zero;
    for (int i = 0; naturals && i < naturals->list.count; i++) natural |= naturals->list.at[i] == dim;
    const Expr *text = emit_scalar(e, extent);
    return natural ? text : ex(e->arena, "tw_max((i64)%p, (i64)0)", text);
}

TensorText memory_tensor(Emit *e, Ref tensor) {
    TensorText t = {.rank = ir_type(e->k, tensor)->rank};
    const Value *v = ir_value(e->k, tensor);
    if (v->op && v->op->code == OP_TENSOR) {
        RefList strides = op_list(v->op, 1);
        t.base = emit_scalar(e, op_operand(v->op, 0));
        for (int d = 0; d < t.rank; d++) {
            int64_t one = 0;
            t.extent[d] = extent_of(e, v->op, d);
            if (!ir_const_int(e->k, strides.at[d], &one) || one != 1) t.stride[d] = emit_scalar(e, strides.at[d]);
        }
        return t;
    }
    const char *name = cs_name(&e->p, tensor);
    t.base = ex_name(e->arena, name);
    for (int d = 0; d < t.rank; d++) {
        t.extent[d] = ex(e->arena, "%s_n%d", name, d);
        t.stride[d] = ex(e->arena, "%s_s%d", name, d);
    }
    return t;
}

/* --- one box --- */
void box_also(Emit *e, const Expr **condition, const Expr *also) { *condition = ex_and(e->arena, *condition, also); }

Box box_of(Emit *e, const Op *op, const Type *tile, const Layout *layout) {
    Box b = {.op = op, .tile = tile, .layout = layout};
    Access a = access_of(op);
    int rank = ir_type(e->k, op->operands[0])->rank;
    b.inner_dim = a.along >= 0 ? box_dim(op, rank, tile->rank, a.along) : -1;
    b.vector = a.vector;
    b.whole = a.whole;
    b.near = op_flag(op, AT_BOUNDED);
    b.tensor = memory_tensor(e, op->operands[0]);
    purpose_box(e, &b);
    return b;
}

/* The index that a vector gives register r of the tile along an axis. */
static const Expr *index_of(Emit *e, Ref vector, const Layout *tile, int axis) {
    const Hold *hold = emit_hold(e, vector);
    if (hold->kind == HOLD_SCALAR) return hold->by;
    if (hold->kind != HOLD_ARRAY) ice(e->k->module->trap, "simt: an index vector is in no register");
    return ex(e->arena, "%p[%p]", hold->by, place_along(e, vector, tile, axis, &place_r));
}

/* Where register r lies along axis t of the box (-1: none). */
static const Expr *place_in_box(Emit *e, const Box *b, int t) {
    const Expr *coord = t >= 0 ? place_coord(e, b->layout, t, &place_r) : &expr_zero;
    if (!b->places || t != b->tile->rank - 1) return coord;
    return ex(e->arena, "tw_tile_column(%p, %p, %d, %d)", place_coord(e, b->layout, 0, &place_r), coord,
              b->places->width, b->places->elem_bytes);
}

/* .. and along dimension d of the tensor. */
static const Expr *place_in_tensor(Emit *e, const Box *b, int d, int t) {
    Ref at = op_list(b->op, 0).at[d];
    if (emit_is_tile(e, at)) return ex(e->arena, "(i64)%p", index_of(e, at, b->layout, t));
    const Expr *offset = emit_scalar(e, at);
    const Expr *coord = place_in_box(e, b, t);
    if (ex_is_int(coord, 0)) return ex(e->arena, "(i64)%p", offset);
    return ex_is_int(offset, 0) ? ex(e->arena, "(i64)%p", coord) : ex(e->arena, "(i64)%p + %p", offset, coord);
}

static const Expr *place_in_32_bits(Emit *e, const Box *b, int d, int t) {
    const Expr *offset = emit_scalar(e, op_list(b->op, 0).at[d]);
    const Expr *coord = t >= 0 ? place_coord(e, b->layout, t, &place_r) : &expr_zero;
    if (ex_is_int(coord, 0)) return offset;
    return ex_is_int(offset, 0) ? coord : ex(e->arena, "tw_add(%p, %p)", offset, coord);
}

/* INDEX_OUTSIDE is a number of 64 bits. */
static bool may_be_outside(Emit *e, const Op *op, int d) {
    Ref at = op_list(op, 0).at[d];
    return emit_is_tile(e, at) && elem_info[ir_type(e->k, at)->elem].bits == 64;
}

static bool is_i32(Emit *e, Ref ref) { return ref_is_value(ref) && ir_type(e->k, ref)->elem == EL_I32; }

/* Does every thread come by once? Loops and roles have their addresses in sums of 64 bits that stay: tw_mul_wide is
 * not moved out of them. */
static bool is_straight(const Op *op) {
    const Op *owner = op->parent->owner;
    while (owner && owner->code == OP_IF) owner = owner->parent->owner;
    return !owner;
}

/* Is the extent an i32 that is not below 0? */
static bool bounds_32(Emit *e, const Op *tensor, int d) {
    const Attr *naturals = op_attr(tensor, AT_NATURALS);
    bool natural = false;
    for (int i = 0; naturals && i < naturals->list.count; i++) natural |= naturals->list.at[i] == d;
    return natural && is_i32(e, op_list(tensor, 0).at[d]);
}

typedef enum IndexForm { INDEX_64, INDEX_32, INDEX_32_TIMES } IndexForm; /* TIMES: by a stride of 32 bits, to 64 */

/* An offset of 32 bits and a coordinate of the tile (from 0, below 2^31), added in 32 bits: what is inside an extent of
 * 32 bits is so in both, and what is not, in neither: a sum that wraps around is negative. Without an extent it may not
 * wrap: then there has to be nothing to add. */
static IndexForm index_form(Emit *e, const Box *b, int d, int t) {
    const Op *tensor = ir_value(e->k, b->op->operands[0])->op;
    Ref at = op_list(b->op, 0).at[d];
    bool inner = d == b->inner_dim;
    int64_t number;
    bool first = ir_const_int(e->k, at, &number) && number == 0;
    if (!tensor || tensor->code != OP_TENSOR || !is_straight(b->op) || box_wraps(b->op, d) || (inner && !b->whole))
        return INDEX_64;
    if (b->places || (b->layout && b->layout->registers > b->vector)) return INDEX_64;
    if (!first && (!is_i32(e, at) || emit_is_tile(e, at))) return INDEX_64;
    bool alone = t < 0 || ex_is_int(place_coord(e, b->layout, t, &place_r), 0);
    if (!alone && !bounds_32(e, tensor, d)) return INDEX_64;
    if (b->tensor.stride[d] && !inner)
        return is_i32(e, op_list(tensor, 1).at[d]) && !(first && alone) ? INDEX_32_TIMES : INDEX_64;
    return alone ? INDEX_64 : INDEX_32;
}

/* Do the vectors of a thread step along the dimension, by a stride? Their rows are then a first one, found once, and
 * numbers of strides behind it: a product of 64 bits and a sum for each are most of what a kernel of many rows does
 * before it has asked for all of them. */
static bool steps_along(Emit *e, const Box *b, int d, int t) {
    return t >= 0 && d != b->inner_dim && b->tensor.stride[d] && b->layout && !b->places && is_straight(b->op) &&
           !box_wraps(b->op, d) && !emit_is_tile(e, op_list(b->op, 0).at[d]) &&
           !ex_is_int(place_register(e, &b->layout->map, t, &place_r), 0);
}

/* .. the row of register r, and the condition that it is inside: compared in 32 bits where index_form could. */
static void step_along(Emit *e, Box *b, int d, int t) {
    const Op *tensor = ir_value(e->k, b->op->operands[0])->op;
    Ref at = op_list(b->op, 0).at[d];
    const Expr *by = b->tensor.stride[d], *offset = emit_scalar(e, at), *extent = b->tensor.extent[d];
    const Expr *first = place_thread(e, &b->layout->map, t), *step = place_register(e, &b->layout->map, t, &place_r);
    int64_t number;
    bool known = ir_const_int(e->k, at, &number) && number == 0;
    bool small = tensor && tensor->code == OP_TENSOR && (known || is_i32(e, at)) && bounds_32(e, tensor, d);
    b->index[d] = ex(e->arena, "i%d", d);
    if (extent && !op_flag(b->op, AT_NOCHECK)) {
        const Expr *sum = small ? place_in_32_bits(e, b, d, t) : place_in_tensor(e, b, d, t);
        cs_line(&e->p, "const %s %p = %p;", small ? "i32" : "i64", b->index[d], sum);
        box_also(e, &b->condition,
                 ex(e->arena, small ? "(u32)%p < (u32)%p" : "(u64)%p < (u64)%p", b->index[d], extent));
    }
    box_also(e, &b->condition, place_inside(e, b->layout, b->tile, t, &place_r));
    const Expr *whole = known                 ? ex(e->arena, "(i64)%p", first)
                        : ex_is_int(first, 0) ? ex(e->arena, "(i64)%p", offset)
                                              : ex(e->arena, "((i64)%p + %p)", offset, first);
    b->row = ex(e->arena, "%p + %p * %p + (i64)(%p) * %p", b->row, whole, by, step, by);
}

/* Of an access that is `bounded`: is register r inside along dimension d? What all threads have in common is compared
 * once, in 64 bits; what is left is the place in the box. */
static void inside_near(Emit *e, Box *b, int d, int t) {
    const Expr *offset = emit_scalar(e, op_list(b->op, 0).at[d]), *extent = b->tensor.extent[d];
    if (extent && (d != b->inner_dim || b->whole))
        box_also(e, &b->condition,
                 ex(e->arena, "tw_near(%p, (i64)%p, (i64)%p)", place_in_box(e, b, t), offset, extent));
    if (t >= 0) box_also(e, &b->condition, place_inside(e, b->layout, b->tile, t, &place_r));
}

void box_part(Emit *e, Box *b, BoxPart part) {
    const Op *op = b->op;
    bool check = !op_flag(op, AT_NOCHECK);
    b->row = b->tensor.base;
    for (int d = 0; d < b->tensor.rank; d++) {
        if (part != BOX_ALL && (part == BOX_ALONG) != (d == b->inner_dim)) continue;
        int t = box_axis(op, b->tensor.rank, b->tile->rank, d);
        IndexForm form = index_form(e, b, d, t);
        if (b->near && form == INDEX_64) {
            inside_near(e, b, d, t);
            continue;
        }
        if (form == INDEX_64 && steps_along(e, b, d, t)) {
            step_along(e, b, d, t);
            continue;
        }
        const Expr *sum = form == INDEX_64 ? place_in_tensor(e, b, d, t) : place_in_32_bits(e, b, d, t);
        if (box_wraps(op, d) && b->tensor.extent[d])
            sum = ex(e->arena, "tw_mod((i64)(%p), (i64)%p)", sum, b->tensor.extent[d]);
        b->index[d] = ex(e->arena, "i%d", d);
        cs_line(&e->p, "const %s %p = %p;", form == INDEX_64 ? "i64" : "i32", b->index[d], sum);
        bool inner = d == b->inner_dim;
        bool small = form != INDEX_64 && bounds_32(e, ir_value(e->k, op->operands[0])->op, d);
        if (check && b->tensor.extent[d] && (!inner || b->whole))
            box_also(e, &b->condition,
                     ex(e->arena, small ? "(u32)%p < (u32)%p" : "(u64)%p < (u64)%p", b->index[d],
                        b->tensor.extent[d]));
        if (!b->tensor.extent[d] && may_be_outside(e, op, d))
            box_also(e, &b->condition, ex(e->arena, "%p != TW_OUTSIDE", b->index[d]));
        if (t >= 0) box_also(e, &b->condition, place_inside(e, b->layout, b->tile, t, &place_r));
        if (inner) continue;
        const Expr *by = b->tensor.stride[d];
        if (form == INDEX_32_TIMES) {
            b->row = ex(e->arena, "%p + tw_mul_wide(%p, %p)", b->row, b->index[d], by);
            continue;
        }
        b->row =
            by ? ex(e->arena, "%p + %p * %p", b->row, b->index[d], by) : ex(e->arena, "%p + %p", b->row, b->index[d]);
    }
}

void box_mask(Emit *e, Box *b, Ref mask) {
    if (mask)
        box_also(e, &b->condition,
                 b->layout ? elementwise_operand(e, mask, b->layout, &place_r) : emit_scalar(e, mask));
}

void box_indices(Emit *e, Box *b, Ref mask) {
    box_part(e, b, BOX_ALL);
    box_mask(e, b, mask);
}

int box_fill_bits(Emit *e, const Op *op, Elem elem) {
    const Attr *fill = op_attr(op, AT_FILL);
    if ((fill && !ref_is_literal(fill->ref)) || !elem_is_float(elem) || elem_info[elem].bits >= 32) return -1;
    double number = fill ? ir_literal(e->k, fill->ref)->f : 0.0;
    if (elem_info[elem].bits == 8 && !isfinite(number)) return -1; /* some of these types have no such number */
    return (int)float_narrow(elem_format(elem), number, false);
}

const Expr *box_fill(Emit *e, const Op *op, Elem elem) {
    const Attr *fill = op_attr(op, AT_FILL);
    int bits = box_fill_bits(e, op, elem);
    if (bits >= 0) /* that the compiler sees through, unlike a conversion */
        return ex(e->arena, elem_info[elem].bits == 8 ? "tw_as_%s(0x%02x)" : "tw_as_%s(0x%04x)", cs_memory_type(elem),
                  bits);
    const Expr *text = fill ? emit_scalar(e, fill->ref) : cs_zero(e->arena, &(Type){.elem = elem});
    if (elem == EL_I1) return ex(e->arena, "(u8)%p", text);
    return elem_is_float(elem) && elem_info[elem].bits < 32 ? cs_pack(&e->p, elem, text)
                                                            : ex(e->arena, "(%s)%p", cs_memory_type(elem), text);
}

/* As the prelude calls it; NULL: there is none. */
static const char *hint_of(const Op *op) {
    switch (op_word(op, AT_HINT, WORD_NONE)) {
    case HINT_EVICT_FIRST: return "TW_EVICT_FIRST";
    case HINT_EVICT_LAST: return "TW_EVICT_LAST";
    case HINT_CA: return "TW_CA";
    case HINT_CG: return "TW_CG";
    case HINT_CV: return "TW_CV";
    case HINT_CS: return "TW_CS";
    case HINT_WB: return "TW_WB";
    case HINT_WT: return "TW_WT";
    default: return NULL;
    }
}

const char *memory_hinted(const Op *op) { return hint_of(op) ? "_hinted" : ""; }

const Expr *memory_with_hint(Emit *e, const Op *op, const Expr *last) {
    const char *hint = hint_of(op);
    const Expr *both[] = {last, hint ? ex_name(e->arena, hint) : NULL};
    return hint ? ex_list(e->arena, both, 2) : last;
}

/* One vector, or `fill`. */
static void load_hinted(Emit *e, const Op *op, int vector, const Expr *condition, const Expr *to, const Expr *at,
                        const Expr *fill) {
    cs_line(&e->p, "tw_ldg_hinted(%d, %p, %p, %p, %p);", vector, condition ? condition : &expr_true, to, at,
            memory_with_hint(e, op, fill));
}

/* Is it a store from shared memory, which runs beside the threads? */
static bool goes_beside(const Op *op) {
    return op->code == OP_TSTORE && op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA;
}

void box_near(Emit *e, const Box *b, const Expr **base, const Expr **at) {
    RefList offsets = op_list(b->op, 0);
    *base = b->tensor.base, *at = NULL;
    for (int d = 0; d < b->tensor.rank; d++) {
        int t = box_axis(b->op, b->tensor.rank, b->tile->rank, d);
        const Expr *offset = emit_scalar(e, offsets.at[d]), *by = b->tensor.stride[d], *coord = place_in_box(e, b, t);
        if (!ex_is_int(offset, 0))
            *base = by ? ex(e->arena, "%p + (i64)%p * %p", *base, offset, by)
                       : ex(e->arena, "%p + (i64)%p", *base, offset);
        if (ex_is_int(coord, 0)) continue;
        const Expr *step = by ? ex(e->arena, "(u32)%p * (u32)%p", coord, by) : ex(e->arena, "(u32)%p", coord);
        *at = *at ? ex(e->arena, "%p + %p", *at, step) : step;
    }
    *at = ex(e->arena, "(%p) * %d", *at ? *at : &expr_zero, elem_info[b->tile->elem].bytes);
}

/* One vector of a load that tests by itself which lanes are inside; fill: what others get, if not 0. */
static void load_bounded(Emit *e, const Box *b, int vector, const Expr *to, const Expr *fill) {
    const Expr *base, *at;
    box_near(e, b, &base, &at);
    const Expr *on = b->condition ? b->condition : &expr_true;
    if (ir_fills_zero(e->k, b->op))
        cs_line(&e->p, "tw_ldg_bounded(%d, %p, %p, %p, %p);", vector, on, to, base, at);
    else
        cs_line(&e->p, "tw_ldg_bounded_or(%d, %p, %p, %p, %p, %p);", vector, on, to, base, at, fill);
}

/* A scalar: its variable in memory form first, then (between the two calls) what its address takes. */
static const char *open_scalar(Emit *e, const Op *op, const Expr *fill) {
    const char *raw = cs_fresh(&e->p, "raw");
    cs_line(&e->p, "%s %s = %p;", cs_memory_type(ir_type(e->k, op->results[0])->elem), raw, fill);
    emit_block(e);
    return raw;
}

/* Does the number, as it is or in another type, go on to the next trip of a loop? */
static bool goes_on(const Op *op) {
    Ref value = op->results[0];
    for (;;) {
        const Region *region = op->parent;
        for (const Op *user = op->next; user; user = user->next)
            if (user->code == OP_CAST && user->operands[0] == value) value = user->results[0];
        const Op *yield = region->last;
        int at = 0;
        while (at < yield->operand_count && yield->operands[at] != value) at++;
        op = region->owner;
        if (!op || at == yield->operand_count || op->code != OP_IF) break;
        value = op->results[at];
    }
    return op && op->code == OP_FOR && ir_op_uses(op->regions[0]->last, value);
}

/* All threads load the same number. Compilers keep that in a register of the warp, and wait for the load at once, to
 * move it there; one that goes on to the next trip is loaded by each thread for itself. */
static void load_scalar(Emit *e, const Op *op, const char *raw, const Expr *row, const Expr *condition) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const char *name = cs_name(&e->p, result);
    if (elem_is_float(type->elem) && goes_on(op)) row = ex(e->arena, "tw_own(%p)", row);
    if (hint_of(op))
        load_hinted(e, op, 1, condition, ex(e->arena, "&%s", raw), row, ex_name(e->arena, raw));
    else if (condition)
        cs_line(&e->p, "tw_ldg_if(1, %p, &%s, %p);", condition, raw, row);
    else
        cs_line(&e->p, "tw_ldg(1, &%s, %p);", raw, row);
    cs_close(&e->p);
    cs_line(&e->p, "const %s %s = %p;", cs_value_type(&e->p, type), name,
            cs_unpack(&e->p, type->elem, ex_name(e->arena, raw)));
    emit_set_name(e, result, HOLD_SCALAR, name);
}

/* Who does what is to be done once: each thread, where it speaks for itself. */
static const Expr *one_thread(Emit *e) {
    return e->threads ? &expr_true : ex(e->arena, "lane == 0 && warp == 0");
}

/* One thread reads what may be another number for each that looks, and tells the others, if they ask. */
static void load_volatile_scalar(Emit *e, const Op *op, const Expr *fill) {
    Ref result = op->results[0], mask = op_operand(op, 1);
    const Type *type = ir_type(e->k, result);
    const char *raw = cs_fresh(&e->p, "raw"), *name = cs_name(&e->p, result);
    long long at = e->uses[result] ? shared_offset(e, op) : 0;
    cs_line(&e->p, "%s %s = %p;", cs_memory_type(type->elem), raw, fill);
    if (e->uses[result]) sync_within(e, op);
    cs_open(&e->p, "if (%p)", one_thread(e));
    cs_line(&e->p, "tw_ldg_volatile(1, %p, &%s, %p);", mask ? emit_scalar(e, mask) : &expr_true, raw,
            emit_scalar(e, op->operands[0]));
    if (e->uses[result]) cs_line(&e->p, "tw_sts(1, %lld, &%s);", at, raw);
    cs_close(&e->p);
    if (!e->uses[result]) return;
    sync_step(e);
    cs_line(&e->p, "tw_lds(1, &%s, %lld);", raw, at);
    cs_line(&e->p, "const %s %s = %p;", cs_value_type(&e->p, type), name,
            cs_unpack(&e->p, type->elem, ex_name(e->arena, raw)));
    emit_set_name(e, result, HOLD_SCALAR, name);
}

void memory_tload(Emit *e, const Op *op) {
    Ref result = op->results[0], mask = op_operand(op, 1);
    const Type *type = ir_type(e->k, result);
    const Layout *layout = emit_layout(e, result);
    if (e->target->load && e->target->load(e, op)) return;
    sync_before(e, op);
    Box b = box_of(e, op, type, layout);
    const Expr *fill = box_fill(e, op, type->elem);
    if (!layout) {
        const char *raw = open_scalar(e, op, fill);
        box_indices(e, &b, mask);
        load_scalar(e, op, raw, b.row, b.condition);
        return;
    }
    bool flags = type->elem == EL_I1; /* bytes in memory, bool in registers */
    const char *pairs = pairs_declare(e, result), *array = pairs ? pairs : emit_declare(e, result);
    const Expr *to = ex(e->arena, pairs ? "%s + r / 2" : "%s + r", array);
    emit_unroll(e, "r", layout->registers, b.vector);
    if (op_attr(op, AT_LIVE)) box_also(e, &b.condition, ex(e->arena, "r < %d", (int)op_int(op, AT_LIVE, 0)));
    box_indices(e, &b, mask);
    if (flags) {
        cs_line(&e->p, "u8 raw[%d];", b.vector);
        to = ex_name(e->arena, "raw");
    }
    if (!b.whole) {
        cs_line(&e->p, "tw_load_row%s(%d, %p, %p, %p, %p, %p, %p);", memory_hinted(op), b.vector, to, b.row,
                b.index[b.inner_dim], b.tensor.extent[b.inner_dim], b.condition ? b.condition : &expr_true,
                memory_with_hint(e, op, fill));
    } else {
        const Expr *at = b.inner_dim >= 0 ? ex(e->arena, "%p + %p", b.row, b.index[b.inner_dim]) : b.row;
        if (hint_of(op)) {
            load_hinted(e, op, pairs ? b.vector / 2 : b.vector, b.condition, to, at, pairs ? pairs_fill(e, op) : fill);
        } else if (b.near) {
            load_bounded(e, &b, pairs ? b.vector / 2 : b.vector, to, pairs ? pairs_fill(e, op) : fill);
        } else if (pairs) {
            cs_line(&e->p, "tw_ldg_pairs(%d, %p, %p, %p, %p);", b.vector / 2, b.condition ? b.condition : &expr_true,
                    to, at, pairs_fill(e, op));
        } else if (b.condition && op_flag(op, AT_SINGLY)) {
            cs_line(&e->p, "tw_ldg_singly(%p, %p, %p, %p);", b.condition, to, at, fill);
        } else if (b.condition) {
            cs_line(&e->p, "tw_ldg_or(%d, %p, %p, %p, %p);", b.vector, b.condition, to, at, fill);
        } else {
            cs_line(&e->p, "tw_ldg(%d, %p, %p);", b.vector, to, at);
        }
    }
    if (flags) {
        cs_raw(&e->p, "#pragma unroll");
        cs_line(&e->p, "for (int j = 0; j < %d; j++) %s[r + j] = raw[j] != 0;", b.vector, array);
    }
    cs_close(&e->p);
    emit_find(e, op, FIND_LOAD_VECTORS, b.vector * elem_info[type->elem].bytes);
}

/* Address of `vector` registers of the value from r on, in memory type. */
static const Expr *stored(Emit *e, Ref value, const Layout *layout, int vector) {
    const Type *type = ir_type(e->k, value);
    const Hold *hold = emit_hold(e, value);
    bool straight = ref_is_value(value) && hold->kind == HOLD_ARRAY && type->elem != EL_I1 &&
                    ll_equal(&emit_layout(e, value)->map, &layout->map);
    if (straight) return ex(e->arena, "%p + r", hold->by);
    cs_line(&e->p, "%s word[%d];", cs_memory_type(type->elem), vector);
    if (hold->kind == HOLD_LATER) {
        cs_loop(&e->p, "#pragma unroll", "j", 0, vector, 1);
        cs_line(&e->p, "const int q = r + j;");
        const Expr *text = lean_element(e, value, ex_name(e->arena, "q"));
        cs_line(&e->p, "word[j] = %p;",
                type->elem == EL_I1 ? cs_pack(&e->p, EL_I1, text) : elementwise_packed(e, type->elem, text));
        cs_close(&e->p);
        lean_close(e);
        return ex_name(e->arena, "word");
    }
    for (int j = 0; j < vector; j++) {
        const Expr *r = j ? ex(e->arena, "(r + %d)", j) : &place_r;
        const Expr *text = elementwise_operand(e, value, layout, r);
        cs_line(&e->p, "word[%d] = %p;", j,
                type->elem == EL_I1 ? cs_pack(&e->p, EL_I1, text) : elementwise_packed(e, type->elem, text));
    }
    return ex_name(e->arena, "word");
}

void memory_tstore(Emit *e, const Op *op) {
    Ref value = op_operand(op, 1), mask = op_operand(op, 2);
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    if (goes_beside(op)) {
        e->target->op(e, op);
        return;
    }
    sync_before(e, op);
    Box b = box_of(e, op, type, layout);
    if (!layout) {
        cs_open(&e->p, "if (%p)", one_thread(e));
        box_indices(e, &b, mask);
        cs_line(&e->p, "%s word = %p;", cs_memory_type(type->elem), cs_pack(&e->p, type->elem, emit_scalar(e, value)));
        cs_line(&e->p, "tw_stg%s(1, %p, %p, %p);", hint_of(op) ? "_hinted" : "_if",
                b.condition ? b.condition : &expr_true, b.row, memory_with_hint(e, op, ex(e->arena, "&word")));
        cs_close(&e->p);
        return;
    }
    emit_unroll(e, "r", (int)op_int(op, AT_LIVE, layout->registers), b.vector);
    box_also(e, &b.condition, place_owner(e, &layout->map));
    box_indices(e, &b, mask);
    HoldKind held = ref_is_value(value) ? emit_hold(e, value)->kind : HOLD_NONE;
    bool pairs = held == HOLD_PAIRS || held == HOLD_WIDE;
    const Expr *from = pairs ? pairs_stored(e, value, b.vector) : stored(e, value, layout, b.vector);
    bool asks = access_of(op).tests;
    const char *how = asks ? "_asked" : memory_hinted(op);
    from = memory_with_hint(e, op, from);
    if (!b.whole) {
        cs_line(&e->p, "tw_store_row%s(%d, %p, %p, %p, %p, %p);", how, b.vector, b.row, b.index[b.inner_dim],
                b.tensor.extent[b.inner_dim], b.condition ? b.condition : &expr_true, from);
    } else if (b.near) {
        const Expr *base, *at;
        box_near(e, &b, &base, &at);
        cs_line(&e->p, "tw_stg_bounded(%d, %p, %p, %p, %p);", pairs ? b.vector / 2 : b.vector,
                b.condition ? b.condition : &expr_true, base, at, from);
    } else {
        const Expr *at = b.inner_dim >= 0 ? ex(e->arena, "%p + %p", b.row, b.index[b.inner_dim]) : b.row;
        cs_line(&e->p, "tw_stg%s%s(%d, %p, %p, %p);", asks || !*how ? "_if" : "", how,
                pairs && !asks ? b.vector / 2 : b.vector, b.condition ? b.condition : &expr_true, at, from);
    }
    cs_close(&e->p);
    emit_find(e, op, FIND_STORE_VECTORS, b.vector * elem_info[type->elem].bytes);
}

/* --- pointers --- */
void memory_load(Emit *e, const Op *op) {
    Ref result = op->results[0], mask = op_operand(op, 1), other = op_operand(op, 2);
    const Type *type = ir_type(e->k, result);
    const Layout *layout = emit_layout(e, result);
    sync_before(e, op);
    Elem elem = type->elem;
    const Expr *zero = box_fill(e, op, elem);
    if (!layout) {
        const Expr *fill = other ? cs_pack(&e->p, elem, emit_scalar(e, other)) : zero;
        if (op_flag(op, AT_VOLATILE) && !e->threads) {
            load_volatile_scalar(e, op, fill);
            return;
        }
        const char *raw = open_scalar(e, op, fill);
        load_scalar(e, op, raw, emit_scalar(e, op->operands[0]), mask ? emit_scalar(e, mask) : NULL);
        return;
    }
    const char *array = emit_declare(e, result);
    emit_unroll(e, "r", layout->registers, 1);
    const Expr *fill = other ? elementwise_operand(e, other, layout, &place_r) : NULL;
    fill = fill ? elem == EL_I1 ? cs_pack(&e->p, elem, fill) : elementwise_packed(e, elem, fill) : zero;
    const Expr *condition = mask ? elementwise_operand(e, mask, layout, &place_r) : NULL;
    const Expr *inside = NULL;
    for (int d = 0; d < type->rank; d++) box_also(e, &inside, place_inside(e, layout, type, d, &place_r));
    if (condition) box_also(e, &inside, condition);
    cs_line(&e->p, "%s raw = %p;", cs_memory_type(elem), fill);
    const Expr *at = elementwise_operand(e, op->operands[0], layout, &place_r);
    if (hint_of(op))
        load_hinted(e, op, 1, inside, ex(e->arena, "&raw"), at, ex_name(e->arena, "raw"));
    else
        cs_line(&e->p, "%s(1, %p, &raw, %p);", op_flag(op, AT_VOLATILE) ? "tw_ldg_volatile" : "tw_ldg_if",
                inside ? inside : &expr_true, at);
    cs_line(&e->p, elem == EL_I1 ? "%s[r] = raw != 0;" : "%s[r] = raw;", array);
    cs_close(&e->p);
    if (op_flag(op, AT_VOLATILE) && e->uses[result]) atomic_hand_on(e, op, array);
    emit_find(e, op, FIND_LOAD_ELEMENTS);
}

static void open_scatter(Emit *e, const Op *op, const Type *type, const Layout *layout, Ref mask) {
    const Expr *condition = NULL;
    if (!layout) {
        box_also(e, &condition, one_thread(e));
        if (mask) box_also(e, &condition, emit_scalar(e, mask));
    } else {
        emit_unroll(e, "r", layout->registers, 1);
        box_also(e, &condition, place_owner(e, &layout->map));
        for (int d = 0; d < type->rank; d++) box_also(e, &condition, place_inside(e, layout, type, d, &place_r));
        if (mask) box_also(e, &condition, elementwise_operand(e, mask, layout, &place_r));
    }
    (void)op;
    cs_open(&e->p, "if (%p)", condition ? condition : &expr_true);
}

void memory_store(Emit *e, const Op *op) {
    Ref pointer = op->operands[0], value = op_operand(op, 1), mask = op_operand(op, 2);
    const Layout *layout = emit_layout(e, pointer);
    const Type *type = ir_type(e->k, pointer);
    Elem elem = type->elem;
    sync_before(e, op);
    open_scatter(e, op, type, layout, mask);
    const Expr *text = layout ? elementwise_operand(e, value, layout, &place_r) : emit_scalar(e, value);
    const Expr *at = layout ? elementwise_operand(e, pointer, layout, &place_r) : emit_scalar(e, pointer);
    text = elem == EL_I1 ? cs_pack(&e->p, elem, text) : elementwise_packed(e, elem, text);
    cs_line(&e->p, "const %s word = %p;", cs_memory_type(elem), text);
    if (hint_of(op))
        cs_line(&e->p, "tw_stg_hinted(1, true, %p, %p);", at, memory_with_hint(e, op, ex(e->arena, "&word")));
    else
        cs_line(&e->p, "tw_stg(1, %p, &word);", at);
    cs_close(&e->p);
    if (layout) cs_close(&e->p);
}

/* Several elements that lie side by side, each added by itself. */
static void add_vectors(Emit *e, const Op *op, Box *b) {
    Ref value = op_operand(op, 1);
    emit_unroll(e, "r", b->layout->registers, b->vector);
    box_also(e, &b->condition, place_owner(e, &b->layout->map));
    box_indices(e, b, op_operand(op, 2));
    const Expr *from = stored(e, value, b->layout, b->vector);
    cs_line(&e->p, "tw_red_add%s(%d, %p, %p + %p, %p);", atomic_reach(op), b->vector,
            b->condition ? b->condition : &expr_true, b->row, b->index[b->inner_dim], from);
    cs_close(&e->p);
    emit_find(e, op, FIND_ATOMIC_VECTORS, b->vector * elem_info[b->tile->elem].bytes);
}

void memory_tatomic(Emit *e, const Op *op) {
    Ref value = op_operand(op, 1);
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    atomic_begin(e, op);
    Box b = box_of(e, op, type, layout);
    if (layout && b.vector > 1) {
        add_vectors(e, op, &b);
        return;
    }
    b.inner_dim = -1;
    if (layout)
        emit_unroll(e, "r", layout->registers, 1);
    else
        emit_block(e);
    box_also(e, &b.condition, layout ? place_owner(e, &layout->map) : one_thread(e));
    box_indices(e, &b, op_operand(op, 2));
    cs_open(&e->p, "if (%p)", b.condition ? b.condition : &expr_true);
    const Expr *text = layout ? elementwise_operand(e, value, layout, &place_r) : emit_scalar(e, value);
    atomic_element(e, op, type->elem, b.row, text);
    cs_close(&e->p);
    cs_close(&e->p);
}
