/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_axis.c: operations of Tile C along rows, columns and vectors: reductions and running sums.
 *
 *     row_max(&m, &t, &m)     m[i] = max(m[i], the largest of row i of t)
 *     col_sum(&v, &t)         over all rows of the tile, those of a warpgroup's four warps together
 *     sum(&x, &v), sum(&v)    of a vector, as a number */
#include "front/tilec/tilec.h"

static const Opcode join_ops[] = {
    [COMBINE_ADD] = OP_ADD, [COMBINE_MUL] = OP_MUL, [COMBINE_MIN] = OP_MIN, [COMBINE_MAX] = OP_MAX};

Expr bi_reduce(Tc *tc, const Call *call) {
    int axis = call->row->parameter >> 8 ? 0 : 1;
    Word combine = (Word)(call->row->parameter & 255);
    const Lvalue *to = &call->args[0].lvalue, *tile = &call->args[1].lvalue;
    const Type *type = tc_value_type(tc, tile->type), *vector = tc_value_type(tc, to->type);
    if (vector->extent[0] != type->extent[1 - axis])
        return TC_FAIL(tc, TC_VECTOR_LENGTH, call->range, call->name, (long long)type->extent[1 - axis],
                       axis ? "row" : "column", (long long)vector->extent[0]);
    bool place = combine == COMBINE_ARGMAX || combine == COMBINE_ARGMIN;
    const Lvalue *start = call->count > 2 ? &call->args[2].lvalue : NULL;
    if (start && !tc_same_shape(tc, call->name, to->type, start->type, call->range)) return tc_nothing(call);
    Ref value = tc_read_tile(tc, tile, call->range);
    if (!value) return tc_nothing(call);
    if (!place) value = ir_cast(&tc->b, value, to->type->elem);
    value = ir_reduce(&tc->b, combine, value, axis);
    if (start) {
        Ref first = tc_read_tile(tc, start, call->range);
        if (!first) return tc_nothing(call);
        value = ir_binary(&tc->b, join_ops[combine], ir_cast(&tc->b, first, to->type->elem), value);
    }
    tc_write_tile(tc, to, value, call->range);
    return tc_nothing(call);
}

Expr bi_reduce_vector(Tc *tc, const Call *call) {
    bool given = call->args[0].kind == X_POINTER && call->args[0].lvalue.type->kind == TC_SCALAR;
    const Lvalue *vector = &call->args[given].lvalue;
    Word combine = (Word)call->row->parameter;
    Ref value = tc_read_tile(tc, vector, call->range);
    if (!value) return tc_nothing(call);
    const TcType *type = tc_scalar_type(vector->type->elem);
    value = ir_reduce(&tc->b, combine, value, 0);
    if (call->count > 2) {
        Ref first = tc_uniform(tc, tc_convert(tc, call->args[2].scalar, type, call->range), call->range);
        if (!first) return tc_nothing(call);
        value = ir_binary(&tc->b, join_ops[combine], first, value);
    }
    Scalar result = tc_scalar(type, value, NULL);
    if (!given) return (Expr){.kind = X_SCALAR, .range = call->range, .scalar = result};
    tc_assign(tc, &call->args[0].lvalue, result, call->range);
    return tc_nothing(call);
}

Expr bi_hasnan(Tc *tc, const Call *call) {
    const Lvalue *tile = &call->args[0].lvalue;
    Elem elem = tile->type->elem;
    if (!elem_is_float(elem))
        return TC_FAIL(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[elem].text, "float, bf16 or half");
    Ref value = tc_read_tile(tc, tile, call->range);
    if (!value) return tc_nothing(call);
    value = ir_cast(&tc->b, ir_unary(&tc->b, OP_ISNAN, value), EL_I32);
    for (int d = tile->type->rank - 1; d >= 0; d--) value = ir_reduce(&tc->b, COMBINE_MAX, value, d);
    return (Expr){.kind = X_SCALAR, .range = call->range, .scalar = tc_scalar(tc_scalar_type(EL_I32), value, NULL)};
}

Expr bi_scan(Tc *tc, const Call *call) {
    const Lvalue *to = &call->args[0].lvalue, *from = &call->args[1].lvalue;
    if (!tc_same_shape(tc, call->name, to->type, from->type, call->range)) return tc_nothing(call);
    Ref value = tc_read_tile(tc, from, call->range);
    if (!value) return tc_nothing(call);
    Op *op = ir_begin(&tc->b, OP_SCAN);
    ir_operand(&tc->b, op, ir_cast(&tc->b, value, to->type->elem));
    op_set(tc->kernel, op, (Attr){.id = AT_COMBINE, .word = (Word)(call->row->parameter & 255)});
    bool down = call->row->parameter >> 8 || to->type->rank == 1;
    op_set(tc->kernel, op, (Attr){.id = AT_AXIS, .number = down ? 0 : 1});
    tc_write_tile(tc, to, ir_end(&tc->b, op, NULL), call->range);
    return tc_nothing(call);
}
