/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_map.c: operations of Tile C element by element: fills, maps, comparisons, a vector against rows or
 * columns, masks. They are done in the element type of the destination, as ThunderKittens does it. */
#include "front/tilec/tilec.h"

#include <math.h>

static Ref number_of(Tc *tc, Elem elem, double value) {
    return elem_is_float(elem) ? ir_float(&tc->b, elem, value) : ir_int(&tc->b, elem, (int64_t)value);
}

static Elem result_elem(const Call *call) { return call->args[0].lvalue.type->elem; }

static Expr finish(Tc *tc, const Call *call, Ref value) {
    const Lvalue *to = &call->args[0].lvalue;
    const Type *type = tc_value_type(tc, to->type);
    if (value && ty_is_scalar(ir_type(tc->kernel, value))) /* nothing but numbers went in */
        value = ir_splat(&tc->b, value, ty_with_elem(tc->module, type, ir_type(tc->kernel, value)->elem));
    tc_write_tile(tc, to, value, call->range);
    return tc_nothing(call);
}

static Ref number_operand(Tc *tc, const Expr *e, Elem elem) {
    Scalar number = tc_scalar(e->scalar.type, tc_uniform(tc, e->scalar, e->range), NULL);
    return number.ref ? tc_convert(tc, number, tc_scalar_type(elem), e->range).ref : REF_NONE;
}

/* A tile of the destination's shape, or a number; as it is, or in an element type. */
static Ref plain_operand(Tc *tc, const Call *call, int i) {
    const Expr *e = &call->args[i];
    if (!tc_same_shape(tc, call->name, call->args[0].lvalue.type, e->lvalue.type, call->range)) return REF_NONE;
    return tc_read_tile(tc, &e->lvalue, call->range);
}

static Ref operand_as(Tc *tc, const Call *call, int i, Elem elem) {
    if (call->args[i].kind == X_SCALAR) return number_operand(tc, &call->args[i], elem);
    Ref value = plain_operand(tc, call, i);
    return value ? ir_cast(&tc->b, value, elem) : REF_NONE;
}

static Ref operand(Tc *tc, const Call *call, int i) { return operand_as(tc, call, i, result_elem(call)); }

/* ---- fills ---- */

Expr bi_fill(Tc *tc, const Call *call) {
    Elem elem = result_elem(call);
    if (call->count == 2) return finish(tc, call, number_operand(tc, &call->args[1], elem));
    double values[] = {0, 1, INFINITY, -INFINITY}, value = values[call->row->parameter];
    if (isinf(value) && !isinf(elem_is_float(elem) ? elem_round(elem, value) : 0))
        return TC_FAIL(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[elem].text,
                       "a type that has infinities, as float and bf16");
    return finish(tc, call, number_of(tc, elem, value));
}

/* Numbers along an axis, as a tile [R, 1] or [1, C] of i32. A warp among several counts its own rows. */
static Ref axis_indices(Tc *tc, const Call *call, int axis) {
    const TcType *tile = call->args[0].lvalue.type;
    const Type *type = tc_value_type(tc, tile);
    Ref numbers = ir_iota(&tc->b, 0, type->extent[axis]);
    bool own = axis == 0 && type->rank == 2 && tile->level == TC_REGISTER && call->scope == SCOPE_WARP && tc->unit > 1;
    if (own) numbers = ir_binary(&tc->b, OP_REM, numbers, ir_int(&tc->b, EL_I32, tile->rows));
    return type->rank == 1 ? numbers : ir_expand(&tc->b, numbers, 1 - axis);
}

Expr bi_indices(Tc *tc, const Call *call) {
    const Type *type = tc_value_type(tc, call->args[0].lvalue.type);
    Ref numbers = ir_cast(&tc->b, axis_indices(tc, call, call->row->parameter), type->elem);
    return finish(tc, call, ir_broadcast(&tc->b, numbers, type));
}

/* ---- maps ---- */

/* In f32 the machine's fast form of an exponential, a root or a quotient is allowed, as in ThunderKittens, which is
 * compiled for fast mathematics. Functions of numbers (expf, x / y) are exact. */
static Ref fast(Tc *tc, Opcode code, Ref value) {
    Op *op = ir_value(tc->kernel, value)->op;
    bool any = code == OP_EXP || code == OP_EXP2 || code == OP_LOG || code == OP_LOG2 || code == OP_SQRT ||
               code == OP_RSQRT || code == OP_DIV;
    if (any && op && op->code == code && ir_type(tc->kernel, value)->elem == EL_F32)
        op_set(tc->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    return value;
}

static bool suits(Tc *tc, const Call *call, Opcode code) {
    Elem elem = result_elem(call);
    bool bits = code == OP_AND || code == OP_OR || code == OP_XOR || code == OP_NOT || code == OP_SHL || code == OP_SHR;
    bool any = code == OP_ABS || code == OP_NEG || code == OP_ADD || code == OP_SUB || code == OP_MUL ||
               code == OP_DIV || code == OP_MAX || code == OP_MIN;
    if (any || elem_is_float(elem) != bits) return true;
    TC_ERROR(tc, TC_FLOATS_ONLY, call->range, call->name, elem_info[elem].text,
             bits ? "int or another integer type" : "float, bf16 or half");
    return false;
}

Expr bi_unary(Tc *tc, const Call *call) {
    Opcode code = (Opcode)call->row->parameter;
    Ref x = suits(tc, call, code) ? operand(tc, call, 1) : REF_NONE;
    return x ? finish(tc, call, fast(tc, code, ir_unary(&tc->b, code, x))) : tc_nothing(call);
}

Expr bi_binary(Tc *tc, const Call *call) {
    Opcode code = (Opcode)call->row->parameter;
    Ref x = suits(tc, call, code) ? operand(tc, call, 1) : REF_NONE, y = x ? operand(tc, call, 2) : REF_NONE;
    return y ? finish(tc, call, fast(tc, code, ir_binary(&tc->b, code, x, y))) : tc_nothing(call);
}

Expr bi_fma(Tc *tc, const Call *call) {
    Ref x = suits(tc, call, OP_FMA) ? operand(tc, call, 1) : REF_NONE, y = x ? operand(tc, call, 2) : REF_NONE;
    Ref z = y ? operand(tc, call, 3) : REF_NONE;
    return z ? finish(tc, call, ir_ternary(&tc->b, OP_FMA, x, y, z)) : tc_nothing(call);
}

Expr bi_relu(Tc *tc, const Call *call) {
    Ref x = operand(tc, call, 1);
    return x ? finish(tc, call, ir_binary(&tc->b, OP_MAX, x, number_of(tc, result_elem(call), 0))) : tc_nothing(call);
}

/* Compared in the type of the left operand: the destination only holds the answer. */
Expr bi_compare(Tc *tc, const Call *call) {
    Ref x = plain_operand(tc, call, 1);
    Ref y = x ? operand_as(tc, call, 2, call->args[1].lvalue.type->elem) : REF_NONE;
    if (!y) return tc_nothing(call);
    Ref holds = ir_compare(&tc->b, (Word)call->row->parameter, x, y);
    Elem elem = result_elem(call);
    return finish(tc, call,
                  ir_ternary(&tc->b, OP_SELECT, holds, number_of(tc, elem, 1), number_of(tc, elem, 0)));
}

Expr bi_select(Tc *tc, const Call *call) {
    Ref which = plain_operand(tc, call, 1);
    if (!which) return tc_nothing(call);
    which = ir_compare(&tc->b, CMP_NE, which, number_of(tc, call->args[1].lvalue.type->elem, 0));
    Ref x = operand(tc, call, 2), y = x ? operand(tc, call, 3) : REF_NONE;
    return y ? finish(tc, call, ir_ternary(&tc->b, OP_SELECT, which, x, y)) : tc_nothing(call);
}

/* ---- a vector against rows or columns ---- */

/* add_row(d, a, v), add_col; broadcast_row(d, v) */
Expr bi_across(Tc *tc, const Call *call) {
    int axis = call->row->parameter >> 8;
    Opcode code = (Opcode)(call->row->parameter & 255);
    const Lvalue *vector = &call->args[call->count - 1].lvalue;
    const Type *type = tc_value_type(tc, call->args[0].lvalue.type), *along = tc_value_type(tc, vector->type);
    if (along->extent[0] != type->extent[axis])
        return TC_FAIL(tc, TC_VECTOR_LENGTH, call->range, call->name, (long long)type->extent[axis],
                       axis ? "column" : "row", (long long)along->extent[0]);
    Ref x = code ? operand(tc, call, 1) : REF_NONE;
    Ref v = code && !x ? REF_NONE : tc_read_tile(tc, vector, call->range);
    if (!v) return tc_nothing(call);
    v = ir_expand(&tc->b, ir_cast(&tc->b, v, type->elem), 1 - axis);
    return finish(tc, call, code ? fast(tc, code, ir_binary(&tc->b, code, x, v)) : ir_broadcast(&tc->b, v, type));
}

/* ---- masks ---- */

Expr bi_mask(Tc *tc, const Call *call) {
    int kind = call->row->parameter, numbers = kind < MASK_TRIL ? 0 : kind == MASK_UPPER_RIGHT ? 2 : 1;
    const TcType *i32 = tc_scalar_type(EL_I32);
    Elem elem = result_elem(call);
    const Type *type = tc_value_type(tc, call->args[0].lvalue.type);
    Ref x = operand(tc, call, 1), at[2] = {REF_NONE, REF_NONE}, fill = number_of(tc, elem, 0);
    for (int i = 0; x && i < numbers; i++) {
        const Expr *e = &call->args[2 + i];
        if (elem_is_float(e->scalar.type->elem)) return TC_FAIL(tc, TC_INTEGERS_ONLY, e->range, call->name);
        at[i] = tc_uniform(tc, tc_convert(tc, e->scalar, i32, e->range), e->range);
        if (!at[i]) return tc_nothing(call);
    }
    if (x && call->count > 2 + numbers) fill = number_operand(tc, &call->args[2 + numbers], elem);
    if (!x || !fill) return tc_nothing(call);
    Ref row = axis_indices(tc, call, 0), col = type->rank == 1 ? row : axis_indices(tc, call, 1), keep = REF_NONE;
    switch (kind) {
    case MASK_CAUSAL: keep = ir_compare(&tc->b, CMP_LE, col, row); break;
    case MASK_CAUSAL_T: keep = ir_compare(&tc->b, CMP_GE, col, row); break;
    case MASK_TRIL: keep = ir_compare(&tc->b, CMP_LE, col, ir_binary(&tc->b, OP_ADD, row, at[0])); break;
    case MASK_TRIU: keep = ir_compare(&tc->b, CMP_GE, col, ir_binary(&tc->b, OP_ADD, row, at[0])); break;
    case MASK_LEFT: keep = ir_compare(&tc->b, CMP_GE, col, at[0]); break;
    case MASK_RIGHT: keep = ir_compare(&tc->b, CMP_LT, col, at[0]); break;
    case MASK_UPPER: keep = ir_compare(&tc->b, CMP_GE, row, at[0]); break;
    case MASK_LOWER: keep = ir_compare(&tc->b, CMP_LT, row, at[0]); break;
    default:
        keep = ir_binary(&tc->b, OP_OR, ir_compare(&tc->b, CMP_GE, row, at[0]), ir_compare(&tc->b, CMP_LT, col, at[1]));
    }
    return finish(tc, call, ir_ternary(&tc->b, OP_SELECT, keep, x, fill));
}
