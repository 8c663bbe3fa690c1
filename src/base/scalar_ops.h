/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_ops.h: what operations on integers mean: to the folder (fold_algebra.c), to the numbers that a launch computes
 * (scalars.c), and to those that a kernel built ahead of time computes, whose entry includes this very text.
 *
 * A number of `bits` bits, signed or not, is kept in 64: sign- or zero-extended. Division by 0 gives 0, its rest the
 * dividend; what does not fit wraps; a shift by more than there is shifts everything out. Plain C99 with __int128. */
#ifndef BASE_SCALAR_OPS_H
#define BASE_SCALAR_OPS_H
#include <stdint.h>

#define SCALAR_FN static inline __attribute__((unused)) int64_t

/* X(NAME, name): operations of two numbers, scalar_<name>(x, y, bits, is_signed). */
#define SCALAR_BINARY(X)                                                                                          \
    X(ADD, add) X(SUB, sub) X(MUL, mul) X(DIV, div) X(REM, rem) X(FLOORDIV, floordiv) X(MOD, mod) X(CDIV, cdiv)   \
    X(MIN, min) X(MAX, max) X(AND, and) X(OR, or) X(XOR, xor) X(SHL, shl) X(SHR, shr)
/* Of one: scalar_<name>(x, bits, is_signed). A cast to 1 bit asks whether it is another number than 0. */
#define SCALAR_UNARY(X) X(NEG, neg) X(NOT, not) X(ABS, abs) X(CAST, cast)
/* Comparisons: scalar_is_<name>(x, y, is_signed). */
#define SCALAR_COMPARE(X) X(LT, lt) X(LE, le) X(GT, gt) X(GE, ge) X(EQ, eq) X(NE, ne)

SCALAR_FN scalar_wrap(int64_t x, int bits, int is_signed) {
    const int shift = 64 - bits;
    const uint64_t up = (uint64_t)x << shift;
    return is_signed ? (int64_t)up >> shift : (int64_t)(up >> shift);
}

SCALAR_FN scalar_is_lt(int64_t x, int64_t y, int is_signed) {
    return is_signed ? x < y : (uint64_t)x < (uint64_t)y;
}
SCALAR_FN scalar_is_gt(int64_t x, int64_t y, int is_signed) { return scalar_is_lt(y, x, is_signed); }
SCALAR_FN scalar_is_le(int64_t x, int64_t y, int is_signed) { return !scalar_is_lt(y, x, is_signed); }
SCALAR_FN scalar_is_ge(int64_t x, int64_t y, int is_signed) { return !scalar_is_lt(x, y, is_signed); }
SCALAR_FN scalar_is_eq(int64_t x, int64_t y, int is_signed) { return (void)is_signed, x == y; }
SCALAR_FN scalar_is_ne(int64_t x, int64_t y, int is_signed) { return (void)is_signed, x != y; }

SCALAR_FN scalar_add(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_wrap((int64_t)((uint64_t)x + (uint64_t)y), bits, is_signed);
}
SCALAR_FN scalar_sub(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_wrap((int64_t)((uint64_t)x - (uint64_t)y), bits, is_signed);
}
SCALAR_FN scalar_mul(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_wrap((int64_t)((uint64_t)x * (uint64_t)y), bits, is_signed);
}

/* Quotient and rest, toward zero, or, of signed numbers, down. */
SCALAR_FN scalar_divide(int64_t x, int64_t y, int bits, int is_signed, int down, int rest) {
    int64_t quotient, remainder;
    if (y == 0) return scalar_wrap(rest ? x : 0, bits, is_signed);
    if (!is_signed)
        return scalar_wrap((int64_t)(rest ? (uint64_t)x % (uint64_t)y : (uint64_t)x / (uint64_t)y), bits, is_signed);
    if (y == -1) return scalar_wrap(rest ? 0 : (int64_t)(0 - (uint64_t)x), bits, is_signed);
    quotient = x / y, remainder = x % y;
    down = down && remainder && (remainder < 0) != (y < 0);
    return scalar_wrap(rest ? remainder + (down ? y : 0) : quotient - down, bits, is_signed);
}
SCALAR_FN scalar_div(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_divide(x, y, bits, is_signed, 0, 0);
}
SCALAR_FN scalar_rem(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_divide(x, y, bits, is_signed, 0, 1);
}
SCALAR_FN scalar_floordiv(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_divide(x, y, bits, is_signed, 1, 0);
}
SCALAR_FN scalar_mod(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_divide(x, y, bits, is_signed, 1, 1);
}
/* (x + y - 1) / y, toward zero; the sum may need one bit more than the type has. */
SCALAR_FN scalar_cdiv(int64_t x, int64_t y, int bits, int is_signed) {
    const __int128 wide_x = is_signed ? (__int128)x : (__int128)(uint64_t)x;
    const __int128 wide_y = is_signed ? (__int128)y : (__int128)(uint64_t)y;
    return scalar_wrap(y == 0 ? 0 : (int64_t)((wide_x + wide_y - 1) / wide_y), bits, is_signed);
}

SCALAR_FN scalar_min(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_wrap(scalar_is_lt(x, y, is_signed) ? x : y, bits, is_signed);
}
SCALAR_FN scalar_max(int64_t x, int64_t y, int bits, int is_signed) {
    return scalar_wrap(scalar_is_lt(x, y, is_signed) ? y : x, bits, is_signed);
}
SCALAR_FN scalar_and(int64_t x, int64_t y, int bits, int is_signed) { return scalar_wrap(x & y, bits, is_signed); }
SCALAR_FN scalar_or(int64_t x, int64_t y, int bits, int is_signed) { return scalar_wrap(x | y, bits, is_signed); }
SCALAR_FN scalar_xor(int64_t x, int64_t y, int bits, int is_signed) { return scalar_wrap(x ^ y, bits, is_signed); }
SCALAR_FN scalar_shl(int64_t x, int64_t y, int bits, int is_signed) {
    return y < 0 || y >= bits ? 0 : scalar_wrap((int64_t)((uint64_t)x << y), bits, is_signed);
}
SCALAR_FN scalar_shr(int64_t x, int64_t y, int bits, int is_signed) {
    if (y < 0 || y >= bits) return scalar_wrap(is_signed && x < 0 ? -1 : 0, bits, is_signed);
    return scalar_wrap(is_signed ? x >> y : (int64_t)((uint64_t)x >> y), bits, is_signed);
}

SCALAR_FN scalar_neg(int64_t x, int bits, int is_signed) {
    return scalar_wrap((int64_t)(0 - (uint64_t)x), bits, is_signed);
}
SCALAR_FN scalar_not(int64_t x, int bits, int is_signed) { return scalar_wrap(~x, bits, is_signed); }
SCALAR_FN scalar_abs(int64_t x, int bits, int is_signed) {
    return scalar_wrap(is_signed && x < 0 ? (int64_t)(0 - (uint64_t)x) : x, bits, is_signed);
}
SCALAR_FN scalar_cast(int64_t x, int bits, int is_signed) {
    return bits == 1 ? x != 0 : scalar_wrap(x, bits, is_signed);
}
#endif
