/* SPDX-License-Identifier: Apache-2.0 */
/* hip_math.h: the functions of <math.h> for kernels on AMD's GPUs, our own: the vendor's device library may be absent. Plain
 * C++ of doubles, the same on the host, where the emulator runs it; tw_m_name is what floats.cuh calls TW_LIBM(name).
 *
 * f32: exp, exp2, log, log2, tanh and erf are vmath.h (at most 1.5 ulp); all others are those of f64, rounded once.
 * f64: at most 2 ulp where not said otherwise, erf and erfc 8; series are those of Taylor, cut where they end to matter, on arguments that
 * were brought near 0. Subnormals, infinities, NaN and the sign of zero are right. */
#ifndef TILEWRIGHT_HIP_MATH_H
#define TILEWRIGHT_HIP_MATH_H

#define TW_M_INF tw_as_f64(0x7ff0000000000000ull)
#define TW_M_NAN tw_as_f64(0x7ff8000000000000ull)
#define TW_M_PI  0x1.921fb54442d18p+1

/* ---- what the compiler knows an instruction, or a few, for ---- */
#define TW_M_BUILTIN_1(fn)                                                                         \
    TW_FN f32 tw_m_##fn##f(f32 x) { return __builtin_##fn##f(x); }                                 \
    TW_FN f64 tw_m_##fn(f64 x) { return __builtin_##fn(x); }
#define TW_M_BUILTIN_2(fn)                                                                         \
    TW_FN f32 tw_m_##fn##f(f32 x, f32 y) { return __builtin_##fn##f(x, y); }                       \
    TW_FN f64 tw_m_##fn(f64 x, f64 y) { return __builtin_##fn(x, y); }
TW_M_BUILTIN_1(sqrt) TW_M_BUILTIN_1(floor) TW_M_BUILTIN_1(ceil) TW_M_BUILTIN_1(trunc) TW_M_BUILTIN_1(rint) TW_M_BUILTIN_1(fabs)
TW_M_BUILTIN_2(copysign) TW_M_BUILTIN_2(fmin) TW_M_BUILTIN_2(fmax)
TW_FN f32 tw_m_fmaf(f32 x, f32 y, f32 z) { return __builtin_fmaf(x, y, z); }
TW_FN f64 tw_m_fma(f64 x, f64 y, f64 z) { return __builtin_fma(x, y, z); }
TW_FN f64 tw_m_ldexp(f64 x, int n) { return __builtin_ldexp(x, n); }
#define TW_M_ROUND(T, fn, s) /* what the truncation leaves is exact */                             \
    TW_FN T fn(T x) {                                                                              \
        const T t = __builtin_trunc##s(x), rest = __builtin_fabs##s(x - t);                        \
        return __builtin_copysign##s(rest >= (T)0.5 ? t + __builtin_copysign##s((T)1, x) : t, x);  \
    }
TW_M_ROUND(f32, tw_m_roundf, f)
TW_M_ROUND(f64, tw_m_round, )

/* ---- exponentials ---- */
/* e^r - 1 - r, over r^2, for |r| <= 0.36. */
TW_FN f64 tw_m_exp_rest(f64 r) {
    f64 q = 1.0 / 87178291200.0;
    q = tw_m_fma(q, r, 1.0 / 6227020800.0);
    q = tw_m_fma(q, r, 1.0 / 479001600.0);
    q = tw_m_fma(q, r, 1.0 / 39916800.0);
    q = tw_m_fma(q, r, 1.0 / 3628800.0);
    q = tw_m_fma(q, r, 1.0 / 362880.0);
    q = tw_m_fma(q, r, 1.0 / 40320.0);
    q = tw_m_fma(q, r, 1.0 / 5040.0);
    q = tw_m_fma(q, r, 1.0 / 720.0);
    q = tw_m_fma(q, r, 1.0 / 120.0);
    q = tw_m_fma(q, r, 1.0 / 24.0);
    q = tw_m_fma(q, r, 1.0 / 6.0);
    return tw_m_fma(q, r, 0.5);
}
TW_FN f64 tw_m_exp_small(f64 r) { return 1.0 + tw_m_fma(tw_m_exp_rest(r), r * r, r); }
TW_FN f64 tw_m_between(f64 low, f64 x, f64 high) { return x < low ? low : x > high ? high : x; }
TW_FN f64 tw_m_exp(f64 x) {
    if (x != x) return x;
    x = tw_m_between(-800.0, x, 800.0);
    const f64 n = __builtin_rint(x * 0x1.71547652b82fep+0);
    const f64 r = tw_m_fma(n, -0x1.abc9e3b39803fp-56, tw_m_fma(n, -0x1.62e42fefa39efp-1, x));
    return tw_m_ldexp(tw_m_exp_small(r), (int)n);
}
TW_FN f64 tw_m_exp2(f64 x) {
    if (x != x) return x;
    x = tw_m_between(-1200.0, x, 1200.0);
    const f64 n = __builtin_rint(x);
    return tw_m_ldexp(tw_m_exp_small((x - n) * 0x1.62e42fefa39efp-1), (int)n);
}
TW_FN f64 tw_m_exp10(f64 x) {
    if (x != x) return x;
    x = tw_m_between(-400.0, x, 400.0);
    const f64 n = __builtin_rint(x * 0x1.a934f0979a371p+1);
    const f64 r = tw_m_fma(n, 0x1.9dc1da994fd21p-59, tw_m_fma(n, -0x1.34413509f79ffp-2, x));
    return tw_m_ldexp(tw_m_exp_small(r * 0x1.26bb1bbb55516p+1), (int)n);
}
TW_FN f64 tw_m_expm1(f64 x) {
    if (__builtin_fabs(x) < 0.35) return tw_m_fma(tw_m_exp_rest(x), x * x, x);
    return tw_m_exp(x) - 1.0;
}

/* ---- logarithms ---- */
/* Of the series of log((1 + s) / (1 - s)) in z = s^2: from the 23rd power, q, down to the 7th. */
TW_FN f64 tw_m_log_series(f64 q, f64 z) {
    q = tw_m_fma(q, z, 2.0 / 21.0);
    q = tw_m_fma(q, z, 2.0 / 19.0);
    q = tw_m_fma(q, z, 2.0 / 17.0);
    q = tw_m_fma(q, z, 2.0 / 15.0);
    q = tw_m_fma(q, z, 2.0 / 13.0);
    q = tw_m_fma(q, z, 2.0 / 11.0);
    q = tw_m_fma(q, z, 2.0 / 9.0);
    q = tw_m_fma(q, z, 2.0 / 7.0);
    return q;
}
/* x = 2^e (1 + f) with 1 + f between the roots of 1/2 and 2; the logarithm of 1 + f. */
TW_FN f64 tw_m_log_parts(f64 x, f64 *e) {
    const bool tiny = x < 0x1p-1022;
    const u64 u = tw_as_u64(tiny ? x * 0x1p54 : x) - 0x3fe6a09e667f3bcdull;
    const f64 f = tw_as_f64((u & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
    *e = (f64)((i64)u >> 52) - (tiny ? 54.0 : 0.0);
    const f64 s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    f64 q = tw_m_log_series(2.0 / 23.0, z);
    q = tw_m_fma(q, z, 2.0 / 5.0);
    q = tw_m_fma(q, z, 2.0 / 3.0);
    return f - (half - s * (half + q * z));
}
TW_FN f64 tw_m_log_edges(f64 x, f64 y) { return x == 0 ? -TW_M_INF : x < 0 ? TW_M_NAN : x < TW_M_INF ? y : x; }
TW_FN f64 tw_m_log(f64 x) {
    f64 e, l = tw_m_log_parts(x, &e);
    return tw_m_log_edges(x, tw_m_fma(e, 0x1.62e42fee00000p-1, tw_m_fma(e, 0x1.a39ef35793c76p-33, l)));
}
TW_FN f64 tw_m_log2(f64 x) {
    f64 e, l = tw_m_log_parts(x, &e);
    return tw_m_log_edges(x, tw_m_fma(l, 0x1.71547652b82fep+0, tw_m_fma(l, 0x1.777d0ffda0d24p-56, e)));
}
TW_FN f64 tw_m_log10(f64 x) {
    f64 e, l = tw_m_log_parts(x, &e);
    return tw_m_log_edges(x, tw_m_fma(e, 0x1.3441350800000p-2, tw_m_fma(l, 0x1.bcb7b1526e50ep-2, e * 0x1.f79fef311f12bp-34)));
}
TW_FN f64 tw_m_log1p(f64 x) {
    const f64 u = 1.0 + x;
    if (__builtin_fabs(x) < 0x1p-54 || u == TW_M_INF) return x;
    return u > 0 ? tw_m_log(u) + (x - (u - 1.0)) / u : tw_m_log(u);
}

/* ---- sine and cosine ---- */
TW_CONSTANT u64 tw_m_two_over_pi[19] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull};
TW_FN u64 tw_m_high(u64 x, u64 y) { /* of the product */
    const u64 a = x >> 32, b = x & 0xffffffffu, c = y >> 32, d = y & 0xffffffffu;
    const u64 middle = (b * d >> 32) + (a * d & 0xffffffffu) + b * c;
    return a * c + (a * d >> 32) + (middle >> 32);
}
/* 64 bits of 2/pi from the bit of value 2^-1-at on. */
TW_FN u64 tw_m_pi_bits(int at) {
    const int word = at >> 6, by = at & 63;
    if (at < 0) return at <= -64 ? 0 : tw_m_two_over_pi[0] >> -at;
    return by ? tw_m_two_over_pi[word] << by | tw_m_two_over_pi[word + 1] >> (64 - by) : tw_m_two_over_pi[word];
}
/* The multiple of pi/2 next to x, modulo 4; what is left is r + *low, at most pi/4. */
TW_FN int tw_m_quadrant(f64 x, f64 *r, f64 *low) {
    if (__builtin_fabs(x) < 0x1p20) {
        const f64 n = __builtin_rint(x * 0x1.45f306dc9c883p-1);
        const f64 a = tw_m_fma(n, -0x1.921fb54442d18p+0, x);
        const f64 b = tw_m_fma(n, -0x1.1a62633145c07p-54, a), lost = tw_m_fma(n, -0x1.1a62633145c07p-54, a - b);
        const f64 c = tw_m_fma(n, 0x1.f1976b7ed8fbcp-110, lost);
        *r = b + c;
        *low = b - *r + c;
        return (int)(i64)n & 3;
    }
    /* x = m 2^e: the product of m with those bits of 2/pi that decide of its place among four quadrants, and 128 more. */
    const u64 u = tw_as_u64(x), m = (u & 0xfffffffffffffull) | 0x10000000000000ull;
    const int at = (int)(u >> 52 & 0x7ff) - 1075 - 2; /* bits before count whole turns */
    const u64 w0 = tw_m_pi_bits(at), w1 = tw_m_pi_bits(at + 64), w2 = tw_m_pi_bits(at + 128);
    const u64 p2 = m * w1 + tw_m_high(m, w2);
    u64 high = m * w0 + tw_m_high(m, w1) + (p2 < m * w1), rest = p2;
    int quadrant = (int)(high >> 62);
    high = high << 2 | rest >> 62, rest <<= 2;
    const bool over = high >> 63; /* nearer to the next one */
    if (over) quadrant++, high = ~high, rest = ~rest;
    const f64 a = (f64)(high >> 11) * 0x1p-53, b = (f64)((high & 0x7ff) << 53 | rest >> 11) * 0x1p-117;
    const f64 sign = over != (bool)(u >> 63) ? -1.0 : 1.0;
    const f64 y = a * 0x1.921fb54442d18p+0;
    const f64 z = tw_m_fma(a, 0x1.921fb54442d18p+0, -y) + (a * 0x1.1a62633145c07p-54 + b * 0x1.921fb54442d18p+0);
    *r = sign * (y + z);
    *low = sign * (y - (y + z) + z);
    return (u >> 63 ? -quadrant : quadrant) & 3;
}
TW_FN f64 tw_m_sin_small(f64 r, f64 low) {
    const f64 z = r * r;
    f64 q = 1.0 / 355687428096000.0;
    q = tw_m_fma(q, z, -1.0 / 1307674368000.0);
    q = tw_m_fma(q, z, 1.0 / 6227020800.0);
    q = tw_m_fma(q, z, -1.0 / 39916800.0);
    q = tw_m_fma(q, z, 1.0 / 362880.0);
    q = tw_m_fma(q, z, -1.0 / 5040.0);
    q = tw_m_fma(q, z, 1.0 / 120.0);
    q = tw_m_fma(q, z, -1.0 / 6.0);
    return r + tw_m_fma(q * z, r, low * (1.0 - 0.5 * z));
}
TW_FN f64 tw_m_cos_small(f64 r, f64 low) {
    const f64 z = r * r, half = 0.5 * z, w = 1.0 - half;
    f64 q = -1.0 / 6402373705728000.0;
    q = tw_m_fma(q, z, 1.0 / 20922789888000.0);
    q = tw_m_fma(q, z, -1.0 / 87178291200.0);
    q = tw_m_fma(q, z, 1.0 / 479001600.0);
    q = tw_m_fma(q, z, -1.0 / 3628800.0);
    q = tw_m_fma(q, z, 1.0 / 40320.0);
    q = tw_m_fma(q, z, -1.0 / 720.0);
    q = tw_m_fma(q, z, 1.0 / 24.0);
    return w + (((1.0 - w) - half) + (q * z * z - r * low));
}
TW_FN f64 tw_m_turn(f64 x, int ahead) { /* sin(x + ahead pi/2) */
    f64 r, low;
    if (!(__builtin_fabs(x) < TW_M_INF)) return x - x;
    const int q = tw_m_quadrant(x, &r, &low) + ahead;
    const f64 y = q & 1 ? tw_m_cos_small(r, low) : tw_m_sin_small(r, low);
    return q & 2 ? -y : y;
}
TW_FN f64 tw_m_sin(f64 x) { return x == 0 ? x : tw_m_turn(x, 0); }
TW_FN f64 tw_m_cos(f64 x) { return tw_m_turn(x, 1); }
TW_FN f64 tw_m_tan(f64 x) {
    f64 r, low;
    if (x == 0 || !(__builtin_fabs(x) < TW_M_INF)) return x == 0 ? x : x - x;
    const int q = tw_m_quadrant(x, &r, &low);
    const f64 s = tw_m_sin_small(r, low), c = tw_m_cos_small(r, low);
    return q & 1 ? -c / s : s / c;
}

/* ---- angles ---- */
TW_FN f64 tw_m_atan(f64 x) {
    const f64 a = __builtin_fabs(x);
    const bool large = a > 2.414213562373095, middle = a > 0.4142135623730951;
    const f64 t = large ? -1.0 / a : middle ? (a - 1.0) / (a + 1.0) : a, z = t * t;
    f64 q = 0;
#pragma unroll
    for (int k = 21; k > 0; k--) q = tw_m_fma(q, z, (k % 2 ? -1.0 : 1.0) / (2 * k + 1));
    const f64 small = q * z * t, high = large ? TW_M_PI / 2 : TW_M_PI / 4, low = large ? 0x1.1a62633145c07p-54 : 0x1.1a62633145c07p-55;
    return __builtin_copysign(middle ? high + (t + (small + low)) : t + small, x);
}
TW_FN f64 tw_m_asin(f64 x) { return x == 0 ? x : tw_m_atan(x / __builtin_sqrt((1.0 - x) * (1.0 + x))); }
TW_FN f64 tw_m_acos(f64 x) { return 2.0 * tw_m_atan(__builtin_sqrt((1.0 - x) / (1.0 + x))); }
TW_FN f64 tw_m_atan2(f64 y, f64 x) {
    if (x != x || y != y) return x + y;
    const f64 a = __builtin_fabs(x), b = __builtin_fabs(y);
    const bool left = tw_as_u64(x) >> 63;
    f64 angle = b == 0 ? 0 : a == TW_M_INF && b == TW_M_INF ? TW_M_PI / 4 : a == 0 ? TW_M_PI / 2 : tw_m_atan(b / a);
    if (left) angle = TW_M_PI - (angle - 0x1.1a62633145c07p-53);
    return __builtin_copysign(angle, y);
}

/* ---- hyperbolic functions ---- */
TW_FN f64 tw_m_sinh(f64 x) {
    const f64 a = __builtin_fabs(x), t = tw_m_expm1(a < 700.0 ? a : 0), half = tw_m_exp(0.5 * a);
    return x == 0 || x != x ? x : __builtin_copysign(a < 700.0 ? 0.5 * (t + t / (t + 1.0)) : 0.5 * half * half, x);
}
TW_FN f64 tw_m_cosh(f64 x) {
    const f64 a = __builtin_fabs(x), t = tw_m_exp(a < 700.0 ? a : 0), half = tw_m_exp(0.5 * a);
    return x != x ? x : a < 700.0 ? 0.5 * (t + 1.0 / t) : 0.5 * half * half;
}
TW_FN f64 tw_m_tanh(f64 x) {
    const f64 a = __builtin_fabs(x), t = tw_m_expm1(-2.0 * (a < 30.0 ? a : 30.0));
    return x == 0 || x != x ? x : __builtin_copysign(-t / (t + 2.0), x);
}
TW_FN f64 tw_m_asinh(f64 x) {
    const f64 a = __builtin_fabs(x);
    const f64 y = a > 0x1p28 ? tw_m_log(a) + 0x1.62e42fefa39efp-1 : tw_m_log1p(a + a * a / (1.0 + __builtin_sqrt(a * a + 1.0)));
    return x == 0 || x != x ? x : __builtin_copysign(y, x);
}
TW_FN f64 tw_m_acosh(f64 x) {
    const f64 t = x - 1.0;
    if (x > 0x1p28) return tw_m_log(x) + 0x1.62e42fefa39efp-1;
    return tw_m_log1p(t + __builtin_sqrt(2.0 * t + t * t));
}
TW_FN f64 tw_m_atanh(f64 x) {
    const f64 a = __builtin_fabs(x);
    return x == 0 ? x : __builtin_copysign(0.5 * tw_m_log1p(2.0 * a / (1.0 - a)), a > 1 ? a : x);
}

/* ---- roots and powers ---- */
TW_FN f64 tw_m_cbrt(f64 x) {
    const f64 a = __builtin_fabs(x);
    if (a == 0 || !(a < TW_M_INF)) return x;
    f64 r = tw_m_exp2(tw_m_log2(a) * (1.0 / 3.0));
    r = r - (r - a / (r * r)) * (1.0 / 3.0);
    return __builtin_copysign(r, x);
}
TW_FN f64 tw_m_hypot(f64 x, f64 y) {
    const f64 a = __builtin_fabs(x), b = __builtin_fabs(y), most = a > b ? a : b;
    if (a == TW_M_INF || b == TW_M_INF) return TW_M_INF;
    if (!(a == a && b == b) || most == 0) return a + b;
    const f64 scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1.0;
    const f64 u = a * scale, v = b * scale;
    return __builtin_sqrt(tw_m_fma(u, u, v * v)) / scale;
}
/* Whatever is no power of two ordinary numbers; r: of |x|. */
TW_FN f64 tw_m_pow_edges(f64 x, f64 y, f64 r) {
    const f64 a = __builtin_fabs(x);
    const bool whole = __builtin_trunc(y) == y, odd = whole && __builtin_trunc(y * 0.5) != y * 0.5;
    if (y == 0 || x == 1) return 1.0;
    if (x != x || y != y) return x + y;
    if (a == 1 && __builtin_fabs(y) == TW_M_INF) return 1.0;
    if (x < 0 && x > -TW_M_INF && !whole) return TW_M_NAN;
    if (a == 0) r = y < 0 ? TW_M_INF : 0.0;
    if (a == TW_M_INF) r = y < 0 ? 0.0 : TW_M_INF;
    return odd && tw_as_u64(x) >> 63 ? -r : r;
}
/* The logarithm and its product with y in two numbers each, as exact as 2^-64: the exponent's whole part costs 11 bits. */
TW_FN f64 tw_m_pow(f64 x, f64 y) {
    f64 e;
    const bool tiny = __builtin_fabs(x) < 0x1p-1022;
    const u64 u = tw_as_u64(__builtin_fabs(tiny ? x * 0x1p54 : x)) - 0x3fe6a09e667f3bcdull;
    const f64 f = tw_as_f64((u & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
    e = (f64)((i64)u >> 52) - (tiny ? 54.0 : 0.0);
    const f64 t = 2.0 + f, s = f / t, s_low = (tw_m_fma(-s, t, f) - s * (f - (t - 2.0))) / t;
    const f64 z = s * s, z_low = tw_m_fma(s, s, -z) + 2.0 * s * s_low;
    f64 q = tw_m_log_series(tw_m_fma(2.0 / 25.0, z, 2.0 / 23.0), z);
    q = tw_m_fma(q, z, 2.0 / 5.0) * z * z;
    const f64 third = z * (2.0 / 3.0), c = third + q; /* 2/3 is that number and 0x1.5555555555555p-55 */
    const f64 c_low = third - c + q + (tw_m_fma(z, 2.0 / 3.0, -third) + z * 0x1.5555555555555p-55 + z_low * (2.0 / 3.0));
    const f64 w = s * c, l = 2.0 * s + w;
    const f64 l_low = 2.0 * s - l + w + (tw_m_fma(s, c, -w) + s * c_low + s_low * c + 2.0 * s_low);
    const f64 g = l * 0x1.71547652b82fep+0;
    const f64 g_low = tw_m_fma(l, 0x1.71547652b82fep+0, -g) + l * 0x1.777d0ffda0d24p-56 + l_low * 0x1.71547652b82fep+0;
    const f64 h = e + g, h_low = e - h + g + g_low, power = y * h;
    if (!(__builtin_fabs(power) < 1200.0)) return tw_m_pow_edges(x, y, power > 0 ? TW_M_INF : 0.0);
    const f64 n = __builtin_rint(power), rest = power - n + (tw_m_fma(y, h, -power) + y * h_low);
    return tw_m_pow_edges(x, y, tw_m_ldexp(tw_m_exp_small(rest * 0x1.62e42fefa39efp-1), (int)n));
}

/* ---- what division leaves ---- */
TW_FN u64 tw_m_unpack(f64 x, int *e) { /* x = m 2^e, m with its 53rd bit set; x is not 0 */
    u64 u = tw_as_u64(x) & 0x7fffffffffffffffull;
    *e = (int)(u >> 52);
    if (*e) u = (u & 0xfffffffffffffull) | 0x10000000000000ull;
    else for (*e = 1; !(u >> 52); --*e) u <<= 1;
    *e -= 1075;
    return u;
}
TW_FN f64 tw_m_fmod(f64 x, f64 y) {
    const f64 a = __builtin_fabs(x), b = __builtin_fabs(y);
    if (!(a < TW_M_INF) || y != y || b == 0) return (x * y) / (x * y);
    if (a < b || a == 0) return x;
    int e, f;
    u64 m = tw_m_unpack(a, &e);
    const u64 n = tw_m_unpack(b, &f);
    for (; e > f; e--) m = (m >= n ? m - n : m) << 1;
    m = m >= n ? m - n : m;
    return __builtin_copysign(tw_m_ldexp((f64)m, e), x);
}
TW_FN f64 tw_m_remainder(f64 x, f64 y) {
    const f64 b = __builtin_fabs(y);
    if (!(__builtin_fabs(x) < TW_M_INF) || y != y || b == 0) return (x * y) / (x * y);
    if (b == TW_M_INF) return x;
    f64 r = b < 0x1p1023 ? tw_m_fmod(x, b + b) : x, a = __builtin_fabs(r);
    const f64 half = 0.5 * b;
    if (b < 0x1p-1021) {
        if (a + a > b) { a -= b; if (a + a >= b) a -= b; }
    } else if (a > half) { a -= b; if (a >= half) a -= b; }
    return tw_as_u64(x) >> 63 ? -a : a;
}
TW_FN f32 tw_m_fmodf(f32 x, f32 y) { return (f32)tw_m_fmod(x, y); }
TW_FN f32 tw_m_remainderf(f32 x, f32 y) { return (f32)tw_m_remainder(x, y); }

/* ---- error function ---- */
/* e^-x^2, as exact as e^x. */
TW_FN f64 tw_m_exp_square(f64 x) {
    const f64 high = tw_as_f64(tw_as_u64(x) & 0xffffffff00000000ull);
    return tw_m_exp(-high * high) * tw_m_exp((high - x) * (high + x));
}
/* The integral of e^-t^2 / (x^2 + t^2) by trapezoids of 1/2, which is off by e^-(2 pi)^2 beside the pole's own share. */
TW_FN f64 tw_m_erfc_far(f64 x) { /* x >= 0.5 */
    const f64 z = x * x;
    f64 sum = 0; /* of e^(-k^2/4) / (x^2 + k^2/4) */
    const f64 turned = x < 6.0 ? 2.0 / (1.0 - tw_m_exp(4.0 * TW_M_PI * x)) : 0;
    sum += 0x1.0b6c3afdde064p-52 / (z + 36.0) + 0x1.4835bd010a41bp-44 / (z + 30.25) + 0x1.e8a37a45fc32ep-37 / (z + 25.0);
    sum += 0x1.b93de1e27ca3bp-30 / (z + 20.25) + 0x1.e355bbaee85cbp-24 / (z + 16.0) + 0x1.411fb0da07713p-18 / (z + 12.25);
    sum += 0x1.02cf22526545ap-13 / (z + 9.0) + 0x1.fa0e9586aebc7p-10 / (z + 6.25) + 0x1.2c155b8213cf4p-6 / (z + 4.0);
    sum += 0x1.afb718e8457f7p-4 / (z + 2.25) + 0x1.78b56362cef38p-2 / (z + 1.0) + 0x1.8ebef9eac820bp-1 / (z + 0.25);
    return x > 28.0 ? 0 : tw_m_exp_square(x) * x * (0.5 / TW_M_PI) * (1.0 / z + 2.0 * sum) + turned;
}
TW_FN f64 tw_m_erf_near(f64 a) { /* a < 1 */
    f64 sum = 1, term = 1;
    for (int k = 1; k < 26; k++) term *= 2.0 * a * a / (2 * k + 1), sum += term;
    return 0x1.20dd750429b6dp+0 * a * tw_m_exp(-a * a) * sum;
}
TW_FN f64 tw_m_erf(f64 x) {
    const f64 a = __builtin_fabs(x);
    return x == 0 || x != x ? x : __builtin_copysign(a < 1 ? tw_m_erf_near(a) : 1.0 - tw_m_erfc_far(a), x);
}
TW_FN f64 tw_m_erfc(f64 x) { return x < 0.5 ? 1.0 - tw_m_erf(x) : x != x ? x : tw_m_erfc_far(x); }

/* ---- steps and parts ---- */
TW_FN f64 tw_m_fdim(f64 x, f64 y) { return x != x || y != y ? x + y : x > y ? x - y : 0; }
TW_FN f64 tw_m_logb(f64 x) {
    const f64 a = __builtin_fabs(x);
    int e;
    if (a == 0 || !(a < TW_M_INF)) return a == 0 ? -TW_M_INF : a;
    tw_m_unpack(a, &e);
    return e + 52;
}
#define TW_M_NEXTAFTER(T, U, fn, sign)                                                             \
    TW_FN T fn(T x, T y) {                                                                         \
        U bits = tw_as_##U(x);                                                                     \
        if (x != x || y != y) return x + y;                                                        \
        if (x == y) return y;                                                                      \
        if (x == 0) return tw_as_##T((tw_as_##U(y) & sign) | 1);                                   \
        bits += (x < y) == (x > 0) ? 1 : (U)-1;                                                    \
        return tw_as_##T(bits);                                                                    \
    }
TW_M_NEXTAFTER(f32, u32, tw_m_nextafterf, 0x80000000u)
TW_M_NEXTAFTER(f64, u64, tw_m_nextafter, 0x8000000000000000ull)

/* ---- f32 ---- */
TW_FN f32 tw_m_expf(f32 x) { return tw_exp_f32(x); }
TW_FN f32 tw_m_exp2f(f32 x) { return tw_exp2_f32(x); }
TW_FN f32 tw_m_logf(f32 x) { return tw_log_f32(x); }
TW_FN f32 tw_m_log2f(f32 x) { return tw_log2_f32(x); }
TW_FN f32 tw_m_tanhf(f32 x) { return tw_tanh_f32(x); }
TW_FN f32 tw_m_erff(f32 x) { return tw_erf_f32(x); }
#define TW_M_BY_F64(fn) TW_FN f32 tw_m_##fn##f(f32 x) { return (f32)tw_m_##fn((f64)x); }
TW_M_BY_F64(sin) TW_M_BY_F64(cos) TW_M_BY_F64(tan) TW_M_BY_F64(asin) TW_M_BY_F64(acos) TW_M_BY_F64(atan) TW_M_BY_F64(sinh)
TW_M_BY_F64(cosh) TW_M_BY_F64(asinh) TW_M_BY_F64(acosh) TW_M_BY_F64(atanh) TW_M_BY_F64(expm1) TW_M_BY_F64(log1p)
TW_M_BY_F64(log10) TW_M_BY_F64(exp10) TW_M_BY_F64(cbrt) TW_M_BY_F64(erfc) TW_M_BY_F64(logb)
#define TW_M_BY_F64_2(fn) TW_FN f32 tw_m_##fn##f(f32 x, f32 y) { return (f32)tw_m_##fn((f64)x, (f64)y); }
TW_FN f32 tw_m_powf(f32 x, f32 y) { /* of f32 this is enough */
    return (f32)tw_m_pow_edges(x, y, tw_m_exp2((f64)y * tw_m_log2(__builtin_fabs((f64)x))));
}
TW_M_BY_F64_2(atan2) TW_M_BY_F64_2(hypot) TW_M_BY_F64_2(fdim)
#endif
