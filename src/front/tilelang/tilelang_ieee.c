/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_ieee.c: T.ieee_add and its kin: one operation, rounded once, to nearest ("rn"), toward zero ("rz"), up
 * ("ru") or down ("rd"); never joined with another.
 *
 * Other roundings than to nearest come of the error: a float32 operation is done in float64, where sums have an exact
 * error (two_sum), products are exact and quotients and roots have an exact remainder; the sign of what is missing says
 * whether the nearest float32 lies above or below. float64 does the same in its own type: results below 2^-960, and
 * sums of products too large for it, whose error is no number there, are rounded to nearest. float16 and bfloat16 have
 * "rn" alone. */
#include "front/tilelang/tilelang.h"

#include <math.h>
#include <string.h>

typedef struct Exact { /* a result and what it lacks: only the sign of it counts */
    Ref value, error;
} Exact;

static Ref both(Lower *l, Opcode code, Ref x, Ref y) { return ir_binary(&l->b, code, x, y); }
static Ref one(Lower *l, Opcode code, Ref x) { return ir_unary(&l->b, code, x); }
static Ref fma3(Lower *l, Ref x, Ref y, Ref z) { return ir_ternary(&l->b, OP_FMA, x, y, z); }
static Ref number(Lower *l, Ref like, double value) { return ir_float(&l->b, val_ref_type(l, like)->elem, value); }
static Ref pick(Lower *l, Ref condition, Ref yes, Ref no) { return ir_ternary(&l->b, OP_SELECT, condition, yes, no); }

static Ref math2(Lower *l, Word fn, Ref x, Ref y) {
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, x);
    ir_operand(&l->b, op, y);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = fn});
    return ir_end(&l->b, op, NULL);
}

/* x + y is its value and its error (Knuth). */
static Exact two_sum(Lower *l, Ref x, Ref y) {
    Ref sum = both(l, OP_ADD, x, y), part = both(l, OP_SUB, sum, x);
    Ref error = both(l, OP_ADD, both(l, OP_SUB, x, both(l, OP_SUB, sum, part)), both(l, OP_SUB, y, part));
    return (Exact){sum, error};
}

static Exact product(Lower *l, Ref x, Ref y) {
    Ref value = fma3(l, x, y, number(l, x, -0.0));
    return (Exact){value, fma3(l, x, y, one(l, OP_NEG, value))};
}

/* x * y + z and what it lacks (Boldo and Muller). */
static Exact sum_of_product(Lower *l, Ref x, Ref y, Ref z) {
    Ref value = fma3(l, x, y, z);
    Exact p = product(l, x, y), low = two_sum(l, z, p.error), high = two_sum(l, p.value, low.value);
    Ref rest = both(l, OP_ADD, both(l, OP_SUB, high.value, value), high.error);
    return (Exact){value, both(l, OP_ADD, rest, low.error)};
}

static Exact quotient(Lower *l, Ref x, Ref y) {
    Ref value = both(l, OP_DIV, x, y), rest = fma3(l, one(l, OP_NEG, value), y, x);
    Ref down = ir_compare(&l->b, CMP_LT, y, number(l, y, 0));
    return (Exact){value, pick(l, down, one(l, OP_NEG, rest), rest)};
}

static Exact root(Lower *l, Ref x) {
    Ref value = one(l, OP_SQRT, x);
    return (Exact){value, fma3(l, one(l, OP_NEG, value), value, x)};
}

/* What a sum that is nothing has for a sign, rounded down: + only where both are +. */
static Ref zero_down(Lower *l, Ref sum, Ref x, Ref y, Ref out) {
    Ref unit = number(l, x, 1), zero = number(l, x, 0);
    Ref plus = both(l, OP_AND, ir_compare(&l->b, CMP_GT, math2(l, MATH_COPYSIGN, unit, x), zero),
                    ir_compare(&l->b, CMP_GT, math2(l, MATH_COPYSIGN, unit, y), zero));
    return pick(l, ir_compare(&l->b, CMP_EQ, sum, zero), pick(l, plus, number(l, out, 0), number(l, out, -0.0)), out);
}

/* Do numbers that are none of them infinite, nor a divisor of nothing, give infinity? Then it is too large for the
 * type. */
static Exact too_large(Lower *l, Exact of, const Ref *x, int count, Ref divisor) {
    Ref huge = number(l, of.value, INFINITY), fits = 0;
    for (int i = 0; i < count; i++) {
        Ref one_fits = ir_compare(&l->b, CMP_LT, one(l, OP_ABS, x[i]), huge);
        fits = fits ? both(l, OP_AND, fits, one_fits) : one_fits;
    }
    if (divisor) fits = both(l, OP_AND, fits, ir_compare(&l->b, CMP_NE, divisor, number(l, divisor, 0)));
    Ref is_huge = both(l, OP_AND, fits, ir_compare(&l->b, CMP_EQ, one(l, OP_ABS, of.value), huge));
    return (Exact){of.value, pick(l, is_huge, one(l, OP_NEG, of.value), of.error)};
}

static Ref rounded(Lower *l, Exact of, Elem elem, char mode) {
    Ref near = ir_cast(&l->b, of.value, elem), back = ir_cast(&l->b, near, val_ref_type(l, of.value)->elem);
    Ref zero = number(l, of.value, 0), nothing = number(l, near, 0);
    Ref same = ir_compare(&l->b, CMP_EQ, back, of.value);
    Ref is_less = both(l, OP_OR, ir_compare(&l->b, CMP_GT, back, of.value),
                       both(l, OP_AND, same, ir_compare(&l->b, CMP_LT, of.error, zero)));
    Ref is_more = both(l, OP_OR, ir_compare(&l->b, CMP_LT, back, of.value),
                       both(l, OP_AND, same, ir_compare(&l->b, CMP_GT, of.error, zero)));
    if (mode == 'z') {
        is_less = both(l, OP_AND, is_less, ir_compare(&l->b, CMP_GT, near, nothing));
        is_more = both(l, OP_AND, is_more, ir_compare(&l->b, CMP_LT, near, nothing));
    }
    Ref down = math2(l, MATH_NEXTAFTER, near, number(l, near, -INFINITY));
    Ref up = math2(l, MATH_NEXTAFTER, near, number(l, near, INFINITY));
    if (mode != 'u') near = pick(l, is_less, down, near);
    return mode == 'd' ? near : pick(l, is_more, up, near);
}

/* code: '+', '-', '*', '/', 'f' x * y + z, 'r' 1 / x, 's' root of x, 'q' 1 / root of x */
Val lang_lower_ieee(Lower *l, const Call *c) {
    int code = c->builtin->code, count = code == 'f' ? 3 : strchr("rsq", code) ? 1 : 2;
    Ref x[3] = {0};
    if (!py_need_ir(l, c->range)) return val_error;
    if (code != 'q' && !lang_word(l, c, count, "rounding mode", "rn, rz, ru, rd")) return val_error;
    char mode = code == 'q' || c->args[count].kind != VAL_STR ? 'n' : c->args[count].text[1];
    Elem elem = EL_F32;
    for (int i = 0; i < count; i++) {
        Val v = lang_scalar(l, c->args[i], c->ranges[i]);
        if (val_failed(v)) return v;
        Elem own = val_type(l, v)->elem;
        if (!elem_is_float(own) && val_is_const(lang_plain(c->args[i]))) own = EL_F32;
        if (!elem_is_float(own) || elem_info[own].bits < 16)
            return lang_types(l, c->ranges[i],
                              arena_printf(l->arena, "T.%s takes floats of 16 bits and more", c->builtin->name));
        if (!i || c->args[i].kind == VAL_TENSOR || lang_box(c->args[i])) elem = i ? elem : own;
    }
    for (int i = 0; i < count; i++)
        if (!lang_convert(l, c->args[i], elem, c->ranges[i], &x[i])) return val_error;
    if (mode != 'n' && elem_info[elem].bits < 32)
        return lang_types(l, c->range, "numbers of 16 bits are rounded to nearest" FIX "write \"rn\", or use float32");
    l->b.range = c->range;
    Elem wide = mode == 'n' && code != 'q' ? elem : EL_F64;
    if (code == 'r' || code == 'q') x[1] = x[0], x[0] = ir_float(&l->b, elem, 1);
    if (code == '-') x[1] = one(l, OP_NEG, x[1]);
    for (int i = 0; i < 3; i++)
        if (x[i]) x[i] = ir_cast(&l->b, x[i], wide);
    if (code == 'q') return val_tensor(ir_cast(&l->b, both(l, OP_DIV, x[0], one(l, OP_SQRT, x[1])), elem));
    if (mode == 'n') {
        Ref plain = code == '*'   ? product(l, x[0], x[1]).value
                    : code == 'f' ? fma3(l, x[0], x[1], x[2])
                    : code == 's' ? one(l, OP_SQRT, x[0])
                                  : both(l, strchr("+-", code) ? OP_ADD : OP_DIV, x[0], x[1]);
        return val_tensor(plain);
    }
    Exact exact = strchr("+-", code) ? two_sum(l, x[0], x[1])
                  : code == '*'      ? product(l, x[0], x[1])
                  : code == 'f'      ? sum_of_product(l, x[0], x[1], x[2])
                  : code == 's'      ? root(l, x[0])
                                     : quotient(l, x[0], x[1]);
    if (wide == elem) exact = too_large(l, exact, x, count + (code == 'r'), strchr("/r", code) ? x[1] : 0);
    Ref out = rounded(l, exact, elem, mode);
    if (mode == 'd' && strchr("+-", code)) out = zero_down(l, exact.value, x[0], x[1], out);
    if (mode == 'd' && code == 'f') out = zero_down(l, exact.value, product(l, x[0], x[1]).value, x[2], out);
    return val_tensor(out);
}
