/* SPDX-License-Identifier: Apache-2.0 */
/* triton_libdevice.c: the part of libdevice that is more than one op of the IR: bit counts,
 * conversions with a rounding, questions about floats, arithmetic that says how it rounds.
 *
 * What C's math library or base/special.h has is here or in triton_math.c; names beyond them are refused.
 *
 *     libdevice.float2int_rd(x)     floor, then a cast     code: the op, and the element after it */
#include "front/triton/triton.h"

#include <math.h>

static bool want_float(Lower *l, const Call *c, int arg, Val *v) {
    if (!tri_want_tensor(l, c, arg, v)) return false;
    const Type *type = val_type(l, *v);
    if (!type->pointer && (type->elem == EL_F32 || type->elem == EL_F64)) return true;
    py_error(l, DIAG_TRI_WIDE_FLOAT, c->ranges[arg], c->builtin->name, val_type_text(l, type));
    return false;
}

static bool want_integer(Lower *l, const Call *c, int arg, Val *v) {
    if (!tri_want_tensor(l, c, arg, v)) return false;
    const Type *type = val_type(l, *v);
    bool wide = elem_info[type->elem].bits >= 32;
    if (!type->pointer && elem_is_int(type->elem) && wide) return true;
    py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[arg], py_title(l, c->builtin), "integers of 32 or 64 bits",
             val_describe(l, *v));
    return false;
}

/* clz, popc, ffs: as int32. */
Val tri_lower_bits(Lower *l, const Call *c) {
    Val x;
    if (!want_integer(l, c, 0, &x)) return val_error;
    Elem elem = val_type(l, x)->elem;
    Ref count;
    if (c->builtin->code != 0) {
        count = ir_unary(&l->b, (Opcode)c->builtin->code, x.ref);
    } else { /* ffs: the width less the zeros above the lowest one; 0 has as many as the width */
        Ref lowest = ir_binary(&l->b, OP_AND, x.ref, ir_unary(&l->b, OP_NEG, x.ref));
        count = ir_binary(&l->b, OP_SUB, ir_int(&l->b, elem, elem_info[elem].bits), ir_unary(&l->b, OP_CLZ, lowest));
    }
    return tri_cast(l, val_tensor(count), ty_scalar(l->module, EL_I32), c->range);
}

Val tri_lower_mulhi(Lower *l, const Call *c) {
    Val x, y;
    if (!want_integer(l, c, 0, &x) || !want_integer(l, c, 1, &y) || !tri_promote(l, &x, &y, 0, c->range))
        return val_error;
    return val_tensor(ir_binary(&l->b, OP_MULHI, x.ref, y.ref));
}

static Ref cast_toward_zero(Lower *l, Ref x, Elem to) {
    const Type *type = val_ref_type(l, x);
    Op *op = ir_begin(&l->b, OP_CAST);
    ir_operand(&l->b, op, x);
    op_set(l->kernel, op, (Attr){.id = AT_ROUND, .word = ROUND_RZ});
    return ir_end(&l->b, op, ty_with_elem(l->module, type, to));
}

/* A number rounded by an op (0: none), then cast. code: opcode * 256 + element, 128 more for a cast toward zero. */
Val tri_lower_convert(Lower *l, const Call *c) {
    Val x;
    int code = c->builtin->code, rounding = code >> 8;
    Elem to = (Elem)(code & 127);
    if (!tri_want_tensor(l, c, 0, &x)) return val_error;
    const Type *type = val_type(l, x);
    bool good = !type->pointer && elem_info[type->elem].bits >= 32 && (elem_is_float(type->elem) || !rounding);
    if (!good) return py_error(l, DIAG_EVAL_OPERAND, c->ranges[0], c->builtin->name, val_describe(l, x), "");
    if (rounding) x = val_tensor(ir_unary(&l->b, (Opcode)rounding, x.ref));
    if (!(code & 128)) return tri_cast(l, x, ty_scalar(l->module, to), c->range);
    return val_tensor(cast_toward_zero(l, x.ref, to));
}

Val tri_lower_as(Lower *l, const Call *c) {
    Val x;
    if (!tri_want_tensor(l, c, 0, &x)) return val_error;
    return tri_bitcast(l, x, ty_scalar(l->module, (Elem)c->builtin->code), c->range);
}

/* isnan 'n', isinf 'i', finite 'f' as int1; signbit 's' as int32. */
Val tri_lower_question(Lower *l, const Call *c) {
    Val x;
    if (!want_float(l, c, 0, &x)) return val_error;
    Elem elem = val_type(l, x)->elem;
    Ref size = ir_unary(&l->b, OP_ABS, x.ref), infinity = ir_float(&l->b, elem, INFINITY);
    switch (c->builtin->code) {
    case 'n': return val_tensor(ir_unary(&l->b, OP_ISNAN, x.ref));
    case 'i': return val_tensor(ir_compare(&l->b, CMP_EQ, size, infinity));
    case 'f': return val_tensor(ir_compare(&l->b, CMP_LT, size, infinity));
    default: {
        Elem bits = elem == EL_F32 ? EL_I32 : EL_I64;
        x = tri_bitcast(l, x, ty_scalar(l->module, bits), c->range);
        Ref below = ir_compare(&l->b, CMP_LT, x.ref, ir_int(&l->b, bits, 0));
        return val_tensor(ir_cast(&l->b, below, EL_I32));
    }
    }
}

/* ldexp, scalbn: x * 2^n for an integer n. */
Val tri_lower_ldexp(Lower *l, const Call *c) {
    Val x, n;
    if (!want_float(l, c, 0, &x) || !want_integer(l, c, 1, &n)) return val_error;
    n = tri_cast(l, n, ty_scalar(l->module, val_type(l, x)->elem), c->range);
    if (val_failed(n) || !tri_align(l, &x, &n, c->range)) return val_error;
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, x.ref);
    ir_operand(&l->b, op, n.ref);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = MATH_LDEXP});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_ilogb(Lower *l, const Call *c) {
    Val x;
    if (!want_float(l, c, 0, &x)) return val_error;
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, x.ref);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = MATH_LOGB});
    Ref power = ir_cast(&l->b, ir_end(&l->b, op, NULL), EL_I32); /* saturates at 0 and infinity */
    return val_tensor(
        ir_ternary(&l->b, OP_SELECT, ir_unary(&l->b, OP_ISNAN, x.ref), ir_int(&l->b, EL_I32, INT32_MIN), power));
}

/* x * y and x + y that round by themselves: as an fma they are not drawn into another one. */
Val tri_lower_rounded(Lower *l, const Call *c) {
    Val x, y;
    if (!tri_want_wide_pair(l, c, &x, &y)) return val_error;
    Elem elem = val_type(l, x)->elem;
    Ref one = ir_float(&l->b, elem, 1), zero = ir_float(&l->b, elem, -0.0);
    switch (c->builtin->code) {
    case '*': return val_tensor(ir_ternary(&l->b, OP_FMA, x.ref, y.ref, zero));
    case '-': y = val_tensor(ir_unary(&l->b, OP_NEG, y.ref)); /* fall through */
    default: return val_tensor(ir_ternary(&l->b, OP_FMA, x.ref, one, y.ref));
    }
}

/* mul_rz, div_rz, rcp_rz, sqrt_rz of float32: in float64, then toward zero. A product of two has 48 bits, so it is
 * exact there; a quotient or root that is no float32 is at least 2^-49 of itself away from the nearest one, sixteen
 * times what float64 rounds by, so it does not come to lie on one. */
Val tri_lower_toward_zero(Lower *l, const Call *c) {
    Val x, y = val_none;
    int code = c->builtin->code;
    bool two = code == '*' || code == '/';
    if (two ? !tri_want_wide_pair(l, c, &x, &y) : !want_float(l, c, 0, &x)) return val_error;
    if (val_type(l, x)->elem != EL_F32)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], py_title(l, c->builtin), "float32",
                        val_describe(l, x));
    Ref wide = ir_cast(&l->b, x.ref, EL_F64), other = two ? ir_cast(&l->b, y.ref, EL_F64) : wide;
    switch (code) {
    case '*': wide = ir_binary(&l->b, OP_MUL, wide, other); break;
    case '/': wide = ir_binary(&l->b, OP_DIV, wide, other); break;
    case 'r': wide = ir_binary(&l->b, OP_DIV, ir_float(&l->b, EL_F64, 1), wide); break;
    default: wide = ir_unary(&l->b, OP_SQRT, wide); break;
    }
    return val_tensor(cast_toward_zero(l, wide, EL_F32));
}

Val tri_lower_reciprocal(Lower *l, const Call *c) {
    Val x;
    if (!want_float(l, c, 0, &x)) return val_error;
    Ref one = ir_float(&l->b, val_type(l, x)->elem, 1);
    return val_tensor(ir_binary(&l->b, OP_DIV, one, x.ref));
}

/* To [0, 1]; a NaN to 0. */
Val tri_lower_saturate(Lower *l, const Call *c) {
    Val x;
    if (!want_float(l, c, 0, &x)) return val_error;
    Elem elem = val_type(l, x)->elem;
    Ref low = ir_binary(&l->b, OP_MAX, x.ref, ir_float(&l->b, elem, 0));
    return val_tensor(ir_binary(&l->b, OP_MIN, low, ir_float(&l->b, elem, 1)));
}
