/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_math.c: operations of Tile C on numbers: C's functions of floats, min, max, cdiv, and the numbers of a
 * thread. */
#include "front/tilec/tilec.h"

static Expr number(const Call *call, Scalar value) {
    return (Expr){.kind = X_SCALAR, .range = call->range, .scalar = value};
}

Expr bi_thread_number(Tc *tc, const Call *call) {
    int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
    bool group = call->scope == SCOPE_GROUP;
    int threads = group ? call->warps * 32 : 32;
    for (int t = 0; t < tc->threads; t++) {
        int warp = group ? t % threads / 32 : t / 32;
        lanes[t] = call->row->parameter == 0 ? t % threads : call->row->parameter == 1 ? warp : t / threads;
    }
    Scalar zero = tc_int(tc, 0), own = zero;
    own.lanes = lanes;
    return number(call, tc_binary(tc, CT_PLUS, own, zero, call->range));
}

static Expr no_threads(Tc *tc, const Call *call) {
    return TC_FAIL(tc, TC_THREAD_MIXED, call->range,
                   arena_printf(tc->arena, "`%s` takes no thread numbers", call->name));
}

Expr bi_scalar_binary(Tc *tc, const Call *call) {
    Opcode op = (Opcode)call->row->parameter;
    const TcType *type = tc_common_type(call->args[0].scalar, call->args[1].scalar);
    Scalar a = tc_convert(tc, call->args[0].scalar, type, call->range);
    Scalar b = tc_convert(tc, call->args[1].scalar, type, call->range);
    if (op == OP_CDIV && elem_is_float(type->elem)) return TC_FAIL(tc, TC_INTEGERS_ONLY, call->range, "cdiv");
    int64_t x, y;
    bool known = tc_is_constant(tc, a, &x) && tc_is_constant(tc, b, &y) && elem_is_signed(type->elem);
    if (known && (op != OP_CDIV || (x >= 0 && y > 0))) {
        int64_t value = op == OP_MIN ? (x < y ? x : y) : op == OP_MAX ? (x > y ? x : y) : x / y + (x % y != 0);
        return number(call, tc_convert(tc, tc_int(tc, value), type, call->range));
    }
    if (a.lanes || b.lanes) return no_threads(tc, call);
    return number(call, tc_scalar(type, ir_binary(&tc->b, op, a.ref, b.ref), NULL));
}

/* The arguments in the function's own type: float behind `f`, else double; abs keeps integers. */
static bool arguments(Tc *tc, const Call *call, const TcType **type, Ref *out) {
    bool single = call->row->parameter >> 8;
    Scalar first = call->args[0].scalar;
    bool whole = call->row->lower == bi_scalar_unary && call->row->parameter == OP_ABS &&
                 !elem_is_float(first.type->elem);
    *type = whole ? tc_common_type(first, first) : tc_scalar_type(single ? EL_F32 : EL_F64);
    /* As in C++: a function of a float is one of floats. */
    if (!single && !whole && first.type->elem == EL_F32) *type = tc_scalar_type(EL_F32);
    for (int i = 0; i < call->count; i++) {
        Scalar x = call->args[i].scalar;
        if (x.lanes) return no_threads(tc, call), false;
        out[i] = tc_convert(tc, x, *type, call->range).ref;
    }
    return true;
}

Expr bi_scalar_unary(Tc *tc, const Call *call) {
    const TcType *type;
    Ref x;
    if (!arguments(tc, call, &type, &x)) return (Expr){.kind = X_ERROR, .range = call->range};
    return number(call, tc_scalar(type, ir_unary(&tc->b, (Opcode)(call->row->parameter & 255), x), NULL));
}

Expr bi_scalar_float(Tc *tc, const Call *call) {
    const TcType *type;
    Ref x[3];
    Opcode code = (Opcode)(call->row->parameter & 255);
    if (!arguments(tc, call, &type, x)) return (Expr){.kind = X_ERROR, .range = call->range};
    Ref value = call->count == 3 ? ir_ternary(&tc->b, code, x[0], x[1], x[2]) : ir_binary(&tc->b, code, x[0], x[1]);
    return number(call, tc_scalar(type, value, NULL));
}

Expr bi_scalar_math(Tc *tc, const Call *call) {
    const TcType *type;
    Ref x[3];
    if (!arguments(tc, call, &type, x)) return (Expr){.kind = X_ERROR, .range = call->range};
    Op *op = ir_begin(&tc->b, OP_MATH);
    for (int i = 0; i < 3; i++) ir_operand(&tc->b, op, i < call->count ? x[i] : REF_NONE);
    op_set(tc->kernel, op, (Attr){.id = AT_FN, .word = (Word)(call->row->parameter & 255)});
    return number(call, tc_scalar(type, ir_end(&tc->b, op, NULL), NULL));
}

Expr bi_scalar_isnan(Tc *tc, const Call *call) {
    Scalar x = call->args[0].scalar;
    if (!elem_is_float(x.type->elem)) return number(call, tc_int(tc, 0));
    Ref answer = ir_cast(&tc->b, ir_unary(&tc->b, OP_ISNAN, x.ref), EL_I32);
    return number(call, tc_scalar(tc_scalar_type(EL_I32), answer, NULL));
}

Expr bi_scalar_convert(Tc *tc, const Call *call) {
    return number(call, tc_convert(tc, call->args[0].scalar, tc_scalar_type((Elem)call->row->parameter), call->range));
}

Expr bi_nothing(Tc *tc, const Call *call) {
    (void)tc;
    return tc_nothing(call);
}
