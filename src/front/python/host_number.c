/* SPDX-License-Identifier: Apache-2.0 */
/* host_number.c: see host_number.h. */
#include "front/python/host_number.h"

#include <math.h>

double host_as_double(HostNumber number) { return number.kind == HOST_FLOAT ? number.f : (double)number.i; }

static HostResult give_int(HostNumber *out, PyInt value) {
    *out = (HostNumber){.kind = HOST_INT, .i = value};
    return HOST_OK;
}

static HostResult give_float(HostNumber *out, double value) {
    *out = (HostNumber){.kind = HOST_FLOAT, .f = value};
    return HOST_OK;
}

/* Bits of two bools are a bool. */
static HostResult give_bits(HostNumber *out, PyInt value, bool bools) {
    *out = (HostNumber){.kind = bools ? HOST_BOOL : HOST_INT, .i = value};
    return HOST_OK;
}

static HostResult int_power(PyInt base, PyInt exponent, HostNumber *out) {
    PyInt result = 1;
    if (base == 0 || base == 1) return give_int(out, exponent == 0 ? 1 : base);
    if (base == -1) return give_int(out, exponent % 2 ? -1 : 1);
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(result, base, &result)) return HOST_TOO_LARGE;
    return give_int(out, result);
}

static HostResult int_divide(PyOp op, PyInt a, PyInt b, HostNumber *out) {
    PyInt r;
    if (b == 0) return HOST_DIVIDE_BY_ZERO;
    if (b == -1) {
        if (op == PY_OP_MOD) return give_int(out, 0);
        return __builtin_sub_overflow((PyInt)0, a, &r) ? HOST_TOO_LARGE : give_int(out, r);
    }
    r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) r += b;
    return give_int(out, op == PY_OP_MOD ? r : (a - r) / b);
}

static HostResult int_binary(PyOp op, PyInt a, PyInt b, bool bools, HostNumber *out) {
    PyInt r = 0;
    switch (op) {
    case PY_OP_ADD: return __builtin_add_overflow(a, b, &r) ? HOST_TOO_LARGE : give_int(out, r);
    case PY_OP_SUB: return __builtin_sub_overflow(a, b, &r) ? HOST_TOO_LARGE : give_int(out, r);
    case PY_OP_MUL: return __builtin_mul_overflow(a, b, &r) ? HOST_TOO_LARGE : give_int(out, r);
    case PY_OP_FLOORDIV:
    case PY_OP_MOD: return int_divide(op, a, b, out);
    case PY_OP_SHL:
        if (b < 0 || b > 126 || __builtin_mul_overflow(a, (PyInt)1 << b, &r)) return HOST_TOO_LARGE;
        return give_int(out, r);
    case PY_OP_SHR:
        if (b < 0) return HOST_TOO_LARGE;
        return give_int(out, b > 126 ? (a < 0 ? -1 : 0) : a >> b);
    case PY_OP_BITAND: return give_bits(out, a & b, bools);
    case PY_OP_BITOR: return give_bits(out, a | b, bools);
    case PY_OP_BITXOR: return give_bits(out, a ^ b, bools);
    case PY_OP_POW:
        if (b >= 0) return int_power(a, b, out);
        return a == 0 ? HOST_DIVIDE_BY_ZERO : give_float(out, pow((double)a, (double)b));
    default: return HOST_NO_OPERATOR;
    }
}

HostResult host_binary(PyOp op, HostNumber a, HostNumber b, HostNumber *out) {
    bool bools = a.kind == HOST_BOOL && b.kind == HOST_BOOL;
    if (a.kind != HOST_FLOAT && b.kind != HOST_FLOAT && op != PY_OP_DIV) return int_binary(op, a.i, b.i, bools, out);
    double x = host_as_double(a), y = host_as_double(b);
    switch (op) {
    case PY_OP_ADD: return give_float(out, x + y);
    case PY_OP_SUB: return give_float(out, x - y);
    case PY_OP_MUL: return give_float(out, x * y);
    case PY_OP_POW: return give_float(out, pow(x, y));
    case PY_OP_DIV:
    case PY_OP_FLOORDIV:
    case PY_OP_MOD: {
        if (y == 0) return HOST_DIVIDE_BY_ZERO;
        if (op == PY_OP_DIV) return give_float(out, x / y);
        double r = fmod(x, y);
        if (r != 0 && (r < 0) != (y < 0)) r += y;
        return give_float(out, op == PY_OP_MOD ? r : floor((x - r) / y + 0.5));
    }
    default: return HOST_NO_OPERATOR;
    }
}

int host_order(HostNumber a, HostNumber b) {
    if (a.kind != HOST_FLOAT && b.kind != HOST_FLOAT) return a.i < b.i ? -1 : a.i > b.i;
    double x = host_as_double(a), y = host_as_double(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}
