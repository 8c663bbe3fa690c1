/* SPDX-License-Identifier: Apache-2.0 */
/* raise_index.c: where an access of an element loop lies.
 *
 *     A[m + i, j]              a box at [m, 0]
 *     A[tok[i], j], A[7 - i, j]    a box with an index vector along a dimension
 *     A[i, i], A[2 * i + j]    none of these: tensors by pointers, buffers by places that are counted row by row
 *
 * Boxes are the best: one number says where all of it lies. An index is looked at as a sum (affine.h); what it moves
 * with, and how, makes the difference. */
#include "pass/raise/raise_loop.h"

#include <string.h>

/* --- forms --- */

/* How an index moves, if it is a sum of steps of the loop variables and of what is uniform (in signed integers of 32
 * bits or more, where an index that wraps around lies outside of everything, as the exact sum does). */
static Move find_move(Loop *loop, Ref index, Poly *start, unsigned *moves, int *axis) {
    const Affine *form = affine_of(loop->affine, index);
    *start = form->start;
    *moves = 0;
    *axis = -1;
    if (!form->known || start->bad) {
        *start = poly_ref(loop->cx->scratch, index);
        *moves = raise_axes(loop, index);
    }
    bool steps = true;
    for (int i = 0; i < start->count; i++) {
        const Term *term = &start->at[i];
        unsigned set = 0;
        for (int j = 0; j < term->count; j++) set |= raise_axes(loop, term->factor[j]);
        bool step = term->count == 1 && term->scale == 1 && raise_variable(loop, term->factor[0]) >= 0;
        steps = steps && (!set || step);
        *moves |= set;
    }
    if (!*moves) return MOVE_NOT;
    if (*moves & (*moves - 1)) return MOVE_ANY;
    *axis = __builtin_ctz(*moves);
    return steps ? MOVE_STEP : MOVE_ALONE;
}

void raise_place(Loop *loop, const Op *op, Reach *place) {
    RefList indices = op_list(op, 0);
    *place = (Reach){.rank = indices.count};
    bool apart = true, steps = true;
    for (int d = 0; d < indices.count; d++) {
        unsigned moves;
        place->move[d] = find_move(loop, indices.at[d], &place->start[d], &moves, &place->axis[d]);
        apart = apart && place->move[d] != MOVE_ANY && !(place->moves & moves);
        steps = steps && (place->move[d] == MOVE_NOT || place->move[d] == MOVE_STEP);
        place->moves |= moves;
    }
    place->kind = !apart ? PLACE_ANY : steps ? PLACE_BOX : PLACE_VECTORS;
}

bool raise_same_place(const Reach *a, const Reach *b) {
    for (int d = 0; d < a->rank; d++)
        if (!poly_equal(a->start[d], b->start[d])) return false;
    return a->rank == b->rank;
}

int raise_place_axes(const Reach *place, int *axes) {
    int count = 0;
    for (int d = 0; d < place->rank; d++)
        if (place->axis[d] >= 0) axes[count++] = place->axis[d];
    return count;
}

/* dims = the tensor dimensions that the tile covers, unless they are the last ones */
void raise_set_dims(Loop *loop, Op *op, const Reach *place, int count) {
    int64_t *dims = ARENA_ARRAY(loop->k->module->arena, int64_t, MAX_RANK);
    int n = 0;
    bool last = true;
    for (int d = 0; d < place->rank; d++) {
        if (place->axis[d] < 0) continue;
        last = last && d == place->rank - count + n;
        dims[n++] = d;
    }
    if (!last) op_set(loop->k, op, (Attr){.id = AT_DIMS, .list = {n, dims}});
}

/* --- where a box begins --- */

static bool is_zero(const Loop *loop, Ref ref) {
    int64_t number;
    return ir_const_int(loop->k, ref, &number) && number == 0;
}

static Ref at_first(Loop *loop, Ref ref);

/* The op with its operands of the first iteration. */
static Ref op_at_first(Loop *loop, const Op *op) {
    Ref *at = ARENA_ARRAY(loop->cx->scratch, Ref, op->operand_count);
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && !(at[i] = at_first(loop, op->operands[i]))) return REF_NONE;
    if ((op->code == OP_ADD || op->code == OP_SUB) && is_zero(loop, at[1])) return at[0];
    if (op->code == OP_ADD && is_zero(loop, at[0])) return at[1];
    if (op->code == OP_MUL && (is_zero(loop, at[0]) || is_zero(loop, at[1]))) return at[!is_zero(loop, at[0])];
    Op *made = ir_begin(&loop->b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(&loop->b, made, at[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    return ir_end(&loop->b, made, given ? ir_type(loop->k, op->results[0]) : NULL);
}

/* What the value is in the first iteration; REF_NONE: that cannot be said. */
static Ref at_first(Loop *loop, Ref ref) {
    int variable = raise_variable(loop, ref);
    if (variable >= 0) return ir_literal_int(loop->k, ir_type(loop->k, ref), loop->low[variable]);
    const Op *op = raise_body_op(loop, ref);
    Raised value;
    if (!op || !op_has(op->code, TRAIT_ELEMENTWISE))
        return raise_value(loop, ref, &value) && !value.count ? value.ref : REF_NONE;
    MapEntry *known = map_find_number(&loop->first, ref);
    if (known) return (Ref)(uintptr_t)known->value;
    Ref first = op_at_first(loop, op);
    map_put_number(&loop->first, loop->cx->scratch, ref, (void *)(uintptr_t)first);
    return first;
}

bool raise_offsets(Loop *loop, const Op *op, Reach *place) {
    RefList indices = op_list(op, 0);
    for (int d = 0; d < place->rank; d++) {
        if (place->move[d] == MOVE_ALONE) {
            Raised vector;
            if (!raise_value(loop, indices.at[d], &vector)) return false;
            if (vector.count != 1) return raise_fail(loop, op, "index %d is no function of one loop variable", d + 1);
            place->offset[d] = vector.ref;
        } else if (!(place->offset[d] = at_first(loop, indices.at[d]))) {
            return raise_fail(loop, op, "where index %d begins cannot be told", d + 1);
        }
    }
    return true;
}

/* --- how large an index may be --- */

static bool range_of_op(const Loop *loop, const Op *op, int depth, int64_t *least, int64_t *most);

static bool range_of(const Loop *loop, Ref ref, int depth, int64_t *least, int64_t *most) {
    const Type *type = ir_type(loop->k, ref);
    if (ir_const_int(loop->k, ref, least)) {
        *most = *least;
        return true;
    }
    int variable = raise_variable(loop, ref);
    if (variable >= 0) {
        *least = loop->low[variable], *most = loop->low[variable] + loop->extent[variable] - 1;
        return true;
    }
    const Op *op = ref_is_value(ref) ? ir_value(loop->k, ref)->op : NULL;
    const Region *region = ref_is_value(ref) ? ir_value(loop->k, ref)->region : NULL;
    if (region && region->owner && region->owner->code == OP_FOR && region->args[0] == ref &&
        ir_const_int(loop->k, region->owner->operands[0], least) &&
        ir_const_int(loop->k, region->owner->operands[1], most)) {
        *most = *most > *least ? *most - 1 : *least;
        return true;
    }
    if (op && depth < 32 && range_of_op(loop, op, depth + 1, least, most)) return true;
    if (type->pointer || !elem_is_int(type->elem) || elem_info[type->elem].bits > 16) return false;
    int bits = elem_info[type->elem].bits;
    bool is_signed = elem_is_signed(type->elem);
    *least = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
    *most = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    return true;
}

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y < 0); } /* y > 0 */

static bool range_of_op(const Loop *loop, const Op *op, int depth, int64_t *least, int64_t *most) {
    int64_t a, b, c, d;
    const int64_t far = (int64_t)1 << 31;
    Elem elem = op->result_count ? ir_type(loop->k, op->results[0])->elem : EL_I1;
    if (op->code == OP_MOD || op->code == OP_REM) { /* of anything */
        if (!ir_const_int(loop->k, op->operands[1], &c) || c <= 0) return false;
        bool known = range_of(loop, op->operands[0], depth, &a, &b);
        *least = op->code == OP_MOD || (known && a >= 0) ? 0 : 1 - c;
        *most = known && a >= 0 && b < c - 1 ? b : c - 1;
        return true;
    }
    bool two = op->operand_count == 2, is_select = op->code == OP_SELECT;
    if (!two && !is_select && op->code != OP_CAST) return false;
    if (!range_of(loop, op->operands[is_select], depth, &a, &b)) return false;
    if (op->code == OP_CAST) {
        if (!elem_is_int(elem) || !elem_is_int(ir_type(loop->k, op->operands[0])->elem)) return false;
        c = d = 0;
    } else if (!range_of(loop, op->operands[1 + is_select], depth, &c, &d)) {
        return false;
    }
    if (a < -far || b > far || c < -far || d > far) return false;
    switch (op->code) {
    case OP_CAST: *least = a, *most = b; break;
    case OP_SELECT: *least = a < c ? a : c, *most = b > d ? b : d; break;
    case OP_ADD: *least = a + c, *most = b + d; break;
    case OP_SUB: *least = a - d, *most = b - c; break;
    case OP_MIN: *least = a < c ? a : c, *most = b < d ? b : d; break;
    case OP_MAX: *least = a > c ? a : c, *most = b > d ? b : d; break;
    case OP_MUL: {
        int64_t corner[4] = {a * c, a * d, b * c, b * d};
        *least = *most = corner[0];
        for (int i = 1; i < 4; i++) {
            if (corner[i] < *least) *least = corner[i];
            if (corner[i] > *most) *most = corner[i];
        }
        break;
    }
    case OP_FLOORDIV:
    case OP_DIV:
        if (c != d || c <= 0 || (op->code == OP_DIV && a < 0)) return false;
        *least = floor_div(a, c), *most = floor_div(b, c);
        break;
    case OP_AND:
        if (c != d || c < 0) return false;
        *least = 0, *most = c;
        break;
    default: return false;
    }
    int bits = elem_info[elem].bits; /* what wraps around may be anything */
    int64_t top = bits >= 64 ? INT64_MAX : ((int64_t)1 << (elem_is_signed(elem) ? bits - 1 : bits)) - 1;
    return *most <= top && *least >= (elem_is_signed(elem) ? -top - 1 : 0);
}

bool raise_range(const Loop *loop, Ref ref, int64_t *least, int64_t *most) {
    return range_of(loop, ref, 0, least, most);
}

/* --- buffers --- */

bool raise_buffer_box(Loop *loop, const Op *op, const Reach *place, const Type **type) {
    const Type *buffer = ir_type(loop->k, op->operands[0]);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < place->rank; d++) {
        int64_t start = 0;
        extent[d] = place->axis[d] < 0 ? 1 : loop->extent[place->axis[d]];
        bool known = ir_const_int(loop->k, place->offset[d], &start);
        if (start < 0 || start > buffer->extent[d] - extent[d]) return false;
        int64_t least, most;
        bool sure = known || (raise_range(loop, op_list(op, 0).at[d], &least, &most) && least >= 0 &&
                              most < buffer->extent[d]);
        if (!sure && (loop->masked || extent[d] == buffer->extent[d])) return false;
    }
    *type = ty_tile(loop->k->module, buffer->elem, place->rank, extent);
    return true;
}

static Raised binary(Loop *loop, Opcode code, Raised x, Raised y) {
    return raise_apply(loop, code, (Raised[]){x, y}, 2, WORD_NONE);
}

static Raised compare(Loop *loop, Word predicate, Raised x, Raised y) {
    return raise_apply(loop, OP_CMP, (Raised[]){x, y}, 2, predicate);
}

/* *all and x, where *any says whether there is something in *all. */
static void require_too(Loop *loop, Raised *all, bool *any, Raised x) {
    *all = *any ? raise_both(loop, *all, x) : x;
    *any = true;
}

bool raise_flat(Loop *loop, const Op *op, bool drop, Raised *out) {
    const Type *buffer = ir_type(loop->k, op->operands[0]);
    RefList indices = op_list(op, 0);
    int64_t stride = ty_elements(buffer);
    Raised inside = {0};
    bool tested = false;
    *out = raise_number(loop, EL_I32, 0);
    bool first = true;
    for (int d = 0; d < indices.count; d++) {
        Raised at;
        int64_t least, most, end = buffer->extent[d];
        stride /= end;
        if (!raise_value(loop, indices.at[d], &at)) return false;
        loop->b.range = op->range;
        bool sure = raise_range(loop, indices.at[d], &least, &most) && least >= 0 && most < end;
        if (!sure) {
            at = raise_cast(loop, at, EL_I64);
            Raised low = raise_number(loop, EL_I64, 0), high = raise_number(loop, EL_I64, end - 1);
            if (drop) {
                require_too(loop, &inside, &tested, compare(loop, CMP_GE, at, low));
                require_too(loop, &inside, &tested, compare(loop, CMP_LE, at, high));
            } else {
                at = binary(loop, OP_MIN, binary(loop, OP_MAX, at, low), high);
            }
        }
        at = raise_cast(loop, at, EL_I32);
        if (end == 1 && sure) continue;
        if (stride != 1) at = binary(loop, OP_MUL, at, raise_number(loop, EL_I32, stride));
        *out = first ? at : binary(loop, OP_ADD, *out, at);
        first = false;
    }
    if (tested) *out = raise_select(loop, inside, *out, raise_number(loop, EL_I32, -1));
    return true;
}

/* --- tensors --- */

/* An extent or a stride; REF_NONE: no extent. */
static Ref tensor_number(Loop *loop, Ref tensor, Opcode code, int d) {
    const Op *made = ir_value(loop->k, tensor)->op;
    if (made && made->code == OP_TENSOR) return op_list(made, code == OP_STRIDE).at[d];
    Op *op = ir_begin(&loop->b, code);
    ir_operand(&loop->b, op, tensor);
    op_set(loop->k, op, (Attr){.id = AT_DIM, .number = d});
    return ir_end(&loop->b, op, NULL);
}

bool raise_pointers(Loop *loop, const Op *op, Raised *pointers, Raised *inside, bool *tested) {
    Ref tensor = op->operands[0];
    RefList indices = op_list(op, 0);
    Raised offset = {0};
    bool first = true;
    *tested = false;
    for (int d = 0; d < indices.count; d++) {
        Raised at;
        int64_t least = 0, most = 0, end = 0;
        if (!raise_value(loop, indices.at[d], &at)) return false;
        loop->b.range = op->range;
        Ref extent = tensor_number(loop, tensor, OP_EXTENT, d), stride = tensor_number(loop, tensor, OP_STRIDE, d);
        bool known = raise_range(loop, indices.at[d], &least, &most);
        at = raise_cast(loop, at, EL_I64);
        bool below = known && ref_is_literal(extent) && ir_const_int(loop->k, extent, &end) && most < end;
        if (extent && !(known && least >= 0))
            require_too(loop, inside, tested, compare(loop, CMP_GE, at, raise_number(loop, EL_I64, 0)));
        if (extent && !below)
            require_too(loop, inside, tested,
                        compare(loop, CMP_LT, at, raise_scalar(ir_cast(&loop->b, extent, EL_I64))));
        if (!ir_const_int(loop->k, stride, &end) || end != 1)
            at = binary(loop, OP_MUL, at, raise_scalar(ir_cast(&loop->b, stride, EL_I64)));
        offset = first ? at : binary(loop, OP_ADD, offset, at);
        first = false;
    }
    const Op *made = ir_value(loop->k, tensor)->op;
    Ref base = made && made->code == OP_TENSOR ? made->operands[0] : ir_unary(&loop->b, OP_BASE, tensor);
    *pointers = first ? raise_scalar(base) : binary(loop, OP_PTR_ADD, raise_scalar(base), offset);
    return true;
}
