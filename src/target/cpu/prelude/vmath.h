/* SPDX-License-Identifier: Apache-2.0 */
/* vmath.h: functions of f32 for emitted CPU kernels, written so that both compilers turn a loop over them into vectors: no
 * branch, no table, no call; both sides of a choice are computed.
 *
 * Largest error over all inputs, against the exact value: exp 1.0, exp2 1.0, log 0.9, log2 1.5, tanh 1.3, erf 1.1 ulp.
 * Subnormals, infinities, NaN and the sign of zero are right. Polynomials are near-minimax fits of our own.
 *
 * Kernels for AMD's GPUs carry it too (TW_VMATH_ALONE: types and TW_FN are there already; TW_FUSED: fma is an instruction). */
#ifndef TILEWRIGHT_VMATH_H
#define TILEWRIGHT_VMATH_H
#ifndef TW_VMATH_ALONE
#include "cpu.h"
#endif

/* x * y + z, rounded once where that is an instruction. */
TW_FN f32 tw_madd(f32 x, f32 y, f32 z) {
#if defined(__FMA__) || defined(__aarch64__) || defined(TW_FUSED)
    return __builtin_fmaf(x, y, z);
#else
    return x * y + z;
#endif
}
TW_FN f32 tw_pick(i32 c, f32 x, f32 y) { return c ? x : y; }

/* Bounds of arguments. gcc makes one instruction of `a < b ? a : b` only if it does not see that a is a constant. */
#ifdef TW_VMATH_ALONE
#define TW_BOUND static constexpr
#else
#define TW_BOUND __attribute__((weak, visibility("hidden"))) const
#endif
TW_BOUND f32 tw_bound[6] = {89.0f, -104.0f, 129.0f, -150.0f, 20.0f, 4.0f};
TW_FN f32 tw_at_most(f32 bound, f32 x) { return bound < x ? bound : x; } /* a NaN goes through both */
TW_FN f32 tw_at_least(f32 bound, f32 x) { return bound > x ? bound : x; }

/* y in 0.7 .. 1.5 times 2^n for n in -300 .. 300: the scale goes in two halves, the first of which is exact, so that the
 * result rounds into subnormals once. n comes as the bits of n + 1.5 * 2^23, whose low 9 bits are those of n and whose
 * others are shifted out. */
TW_FN f32 tw_exp_scaled(f32 y, u32 n) {
    const u32 half = n >> 1;
    return y * tw_as_f32((half << 23) + 0x3f800000u) * tw_as_f32(((n - half) << 23) + 0x3f800000u);
}
/* Adding and subtracting 1.5 * 2^23 rounds to an integer; what is left is |r| <= ln(2)/2, or 1/2 for the power of two. */
TW_FN f32 tw_exp_f32(f32 x) {
    const f32 c = tw_at_least(tw_bound[1], tw_at_most(tw_bound[0], x));
    const f32 big = tw_madd(c, 1.44269504f, 12582912.0f), n = big - 12582912.0f;
    const f32 r = tw_madd(n, 2.12194440e-4f, tw_madd(n, -0.693359375f, c));
    f32 q = 1.38113473e-3f;
    q = tw_madd(q, r, 8.36945046e-3f);
    q = tw_madd(q, r, 4.16684821e-2f);
    q = tw_madd(q, r, 1.66665152e-1f);
    q = tw_madd(q, r, 4.99999940e-1f);
    return tw_exp_scaled(tw_madd(q, r * r, r) + 1.0f, tw_as_u32(big));
}
TW_FN f32 tw_exp2_f32(f32 x) {
    const f32 c = tw_at_least(tw_bound[3], tw_at_most(tw_bound[2], x));
    const f32 big = c + 12582912.0f, r = c - (big - 12582912.0f);
    f32 q = 1.53533852e-4f;
    q = tw_madd(q, r, 1.33988727e-3f);
    q = tw_madd(q, r, 9.61843692e-3f);
    q = tw_madd(q, r, 5.55033237e-2f);
    q = tw_madd(q, r, 2.40226477e-1f);
    q = tw_madd(q, r, 6.93147182e-1f);
    return tw_exp_scaled(tw_madd(q, r, 1.0f), tw_as_u32(big));
}

/* x = 2^e * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); returns log(1 + f) - f as a sum of two. */
TW_FN f32 tw_log_parts(f32 x, f32 *f, f32 *e) {
    const i32 tiny = x < 0x1p-126f;
    const u32 u = tw_as_u32(tw_pick(tiny, x * 0x1p23f, x)) - 0x3f3504f3u;
    const f32 m = tw_as_f32((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    *e = (f32)((i32)u >> 23) - tw_pick(tiny, 23.0f, 0.0f);
    *f = m;
    f32 q = -7.63422549e-2f;
    q = tw_madd(q, m, 1.27614677e-1f);
    q = tw_madd(q, m, -1.31602332e-1f);
    q = tw_madd(q, m, 1.42017767e-1f);
    q = tw_madd(q, m, -1.66233540e-1f);
    q = tw_madd(q, m, 2.00012267e-1f);
    q = tw_madd(q, m, -2.50008225e-1f);
    q = tw_madd(q, m, 3.33333313e-1f);
    return q * m * (m * m) - 0.5f * (m * m);
}
/* What a logarithm is outside 0 < x < infinity. */
TW_FN f32 tw_log_edges(f32 x, f32 y) {
    y = tw_pick(x == 0.0f, -__builtin_inff(), y);
    y = tw_pick(x < 0.0f, __builtin_nanf(""), y);
    return tw_pick(x < __builtin_inff(), y, x);
}
TW_FN f32 tw_log_f32(f32 x) {
    f32 f, e;
    const f32 y = tw_log_parts(x, &f, &e);
    return tw_log_edges(x, tw_madd(e, 0.693359375f, f + tw_madd(e, -2.12194440e-4f, y)));
}
/* 1.44269504 = 1.4427490 - 5.3942e-5: the first has few bits, so its product with f is nearly exact. */
TW_FN f32 tw_log2_f32(f32 x) {
    f32 f, e;
    const f32 y = tw_log_parts(x, &f, &e);
    f32 s = y * 1.44269504f;
    s = tw_madd(f, -5.39406e-5f, s);
    return tw_log_edges(x, tw_madd(f, 1.44274902f, s) + e);
}

TW_FN f32 tw_tanh_f32(f32 x) {
    const f32 a = __builtin_fabsf(x), z = x * x;
    f32 q = -5.67927770e-3f;
    q = tw_madd(q, z, 2.06180960e-2f);
    q = tw_madd(q, z, -5.37339896e-2f);
    q = tw_madd(q, z, 1.33313835e-1f);
    q = tw_madd(q, z, -3.33332807e-1f);
    const f32 small = tw_madd(q * z, x, x);
    const f32 c = tw_at_most(tw_bound[4], a);
    const f32 large = __builtin_copysignf(1.0f - 2.0f / (tw_exp_f32(c + c) + 1.0f), x);
    return tw_pick(a < 0.625f, __builtin_copysignf(small, x), large);
}

/* Below 1 an odd polynomial, above it 1 - e^-p(|x|). */
TW_FN f32 tw_erf_f32(f32 x) {
    const f32 a = __builtin_fabsf(x), z = x * x;
    f32 q = -9.64150513e-6f;
    q = tw_madd(q, z, 1.12569440e-4f);
    q = tw_madd(q, z, -8.48282827e-4f);
    q = tw_madd(q, z, 5.22094546e-3f);
    q = tw_madd(q, z, -2.68654004e-2f);
    q = tw_madd(q, z, 1.12837821e-1f);
    q = tw_madd(q, z, -3.76126379e-1f);
    q = tw_madd(q, z, 1.28379167e-1f);
    const f32 small = tw_madd(q, x, x);
    const f32 c = tw_at_most(tw_bound[5], a);
    f32 p = 2.16870849e-5f;
    p = tw_madd(p, c, -4.41339274e-4f);
    p = tw_madd(p, c, 4.20457684e-3f);
    p = tw_madd(p, c, -2.52082981e-2f);
    p = tw_madd(p, c, 1.08418643e-1f);
    p = tw_madd(p, c, 6.33219838e-1f);
    p = tw_madd(p, c, 1.12957847f);
    p = tw_madd(p, c, -1.88047969e-4f);
    const f32 large = __builtin_copysignf(1.0f - tw_exp_f32(-p), x);
    return tw_pick(a < 1.0f, __builtin_copysignf(small, x), large);
}
#endif
