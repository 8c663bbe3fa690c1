/* SPDX-License-Identifier: Apache-2.0 */
/* hip_special.h: gamma, the functions of Bessel, and everybody's special.h on top of hip_math.h.
 *
 * f64: gamma and its logarithm within 16 ulp (the logarithm left of 0 near its zeros: 1e-14 absolute), those of Bessel within
 * 2e-15 of what is near their zeros; the others as special.h says. f32 is f64, rounded once. */
#ifndef TILEWRIGHT_HIP_SPECIAL_H
#define TILEWRIGHT_HIP_SPECIAL_H

/* ---- gamma ---- */
/* log(gamma(2 + z)) for |z| <= 1/2: the series whose coefficients are zeta(k) - 1 over k. */
TW_FN f64 tw_m_gamma_near(f64 z) {
    f64 q = -0x1.2f69a9fabe3e0p-32;
    q = tw_m_fma(q, z, 0x1.3b15d2b2fc10cp-31);
    q = tw_m_fma(q, z, -0x1.47b1679258d0ep-30);
    q = tw_m_fma(q, z, 0x1.555a877ffd2c3p-29);
    q = tw_m_fma(q, z, -0x1.6434a8447aeadp-28);
    q = tw_m_fma(q, z, 0x1.7469daccfadcdp-27);
    q = tw_m_fma(q, z, -0x1.862c734df3eacp-26);
    q = tw_m_fma(q, z, 0x1.99b93c2070b0fp-25);
    q = tw_m_fma(q, z, -0x1.af5a6cbbf8a97p-24);
    q = tw_m_fma(q, z, 0x1.c76bbb3f07a4dp-23);
    q = tw_m_fma(q, z, -0x1.e2600d93cfd2fp-22);
    q = tw_m_fma(q, z, 0x1.0064cdeb22f0fp-20);
    q = tw_m_fma(q, z, -0x1.11b2eb7679541p-19);
    q = tw_m_fma(q, z, 0x1.2597a39f34aacp-18);
    q = tw_m_fma(q, z, -0x1.3cbc963ce2243p-17);
    q = tw_m_fma(q, z, 0x1.580dcee66eb02p-16);
    q = tw_m_fma(q, z, -0x1.78de5bd7c81efp-15);
    q = tw_m_fma(q, z, 0x1.a127b0f17d65ap-14);
    q = tw_m_fma(q, z, -0x1.d3fd4c76d2fc8p-13);
    q = tw_m_fma(q, z, 0x1.0b36af86396e9p-11);
    q = tw_m_fma(q, z, -0x1.38ac5c2bf8e08p-10);
    q = tw_m_fma(q, z, 0x1.7add6eadb6c30p-9);
    q = tw_m_fma(q, z, -0x1.e404fc218f5f2p-8);
    q = tw_m_fma(q, z, 0x1.51322ac7d8483p-6);
    q = tw_m_fma(q, z, -0x1.13e001a557607p-4);
    q = tw_m_fma(q, z, 0x1.4a34cc4a60fa6p-2);
    return tw_m_fma(q * z, z, z * 0x1.b0ee6072093cep-2);
}
/* What Stirling leaves out of it: 1 / 12x - 1 / 360x^3 + .., x >= 16. */
TW_FN f64 tw_m_stirling(f64 x) {
    const f64 r = 1.0 / x, z = r * r;
    f64 q = 1.0 / 156.0;
    q = tw_m_fma(q, z, -691.0 / 360360.0);
    q = tw_m_fma(q, z, 1.0 / 1188.0);
    q = tw_m_fma(q, z, -1.0 / 1680.0);
    q = tw_m_fma(q, z, 1.0 / 1260.0);
    q = tw_m_fma(q, z, -1.0 / 360.0);
    return tw_m_fma(q, z, 1.0 / 12.0) * r;
}
/* x in 2 - 1/2 .. 16, as 2 + z behind a product of what it is more. */
TW_FN f64 tw_m_gamma_steps(f64 x, f64 *z) {
    f64 product = 1;
    for (; x > 2.5; product *= x) x -= 1.0;
    *z = x - 2.0;
    return product;
}
TW_FN f64 tw_m_sin_pi(f64 x) { /* reduced exactly */
    const f64 r = x - 2.0 * __builtin_rint(0.5 * x), a = __builtin_fabs(r);
    return __builtin_copysign(tw_m_sin(TW_M_PI * (a > 0.5 ? 1.0 - a : a)), r);
}
TW_FN f64 tw_m_lgamma_right(f64 x) { /* x > 0 */
    f64 z;
    if (x >= 16.0) return (x - 0.5) * (tw_m_log(x) - 1.0) + 0x1.acfe390c97d69p-2 + tw_m_stirling(x);
    if (x < 0.5) return x < 0x1p-60 ? -tw_m_log(x) : tw_m_gamma_near(x) - tw_m_log1p(x) - tw_m_log(x);
    if (x < 1.5) return tw_m_gamma_near(x - 1.0) - tw_m_log1p(x - 1.0);
    const f64 product = tw_m_gamma_steps(x, &z);
    return tw_m_gamma_near(z) + (product > 1.0 ? tw_m_log(product) : 0);
}
TW_FN f64 tw_m_lgamma(f64 x) {
    if (x != x) return x;
    if (x > 0) return tw_m_lgamma_right(x);
    if (__builtin_trunc(x) == x) return TW_M_INF;
    if (x > -0x1p-60) return -tw_m_log(-x);
    return tw_m_log(TW_M_PI / __builtin_fabs(x * tw_m_sin_pi(x))) - tw_m_lgamma_right(-x);
}
TW_FN f64 tw_m_tgamma_right(f64 x) { /* x > 0 */
    f64 z;
    if (x >= 16.0) {
        const f64 half = tw_m_pow(x, 0.5 * x - 0.25);
        return x > 172.0 ? TW_M_INF : half * tw_m_exp(-x) * half * 0x1.40d931ff62706p+1 * tw_m_exp(tw_m_stirling(x));
    }
    if (x < 1.5) { /* gamma(x + 1) / x, once or twice */
        const bool twice = x < 0.5;
        z = twice ? x : x - 1.0;
        return tw_m_exp(tw_m_gamma_near(z)) / (twice ? x * (1.0 + x) : x);
    }
    const f64 product = tw_m_gamma_steps(x, &z);
    return tw_m_exp(tw_m_gamma_near(z)) * product;
}
TW_FN f64 tw_m_tgamma(f64 x) {
    if (x != x || __builtin_fabs(x) < 0x1p-60) return 1.0 / x;
    if (x > 0) return tw_m_tgamma_right(x);
    if (__builtin_trunc(x) == x) return TW_M_NAN;
    if (x < -184.0) return tw_m_sin_pi(x) < 0 ? -0.0 : 0.0;
    if (x < -160.0) { /* the product leaves the normal numbers before the result does */
        const f64 half = tw_m_tgamma_right(-x - 20.0);
        f64 more = 1;
        for (int i = 0; i < 20; i++) more *= -x - 1.0 - i;
        return -TW_M_PI / (x * tw_m_sin_pi(x)) / half / more;
    }
    return -TW_M_PI / (x * tw_m_sin_pi(x) * tw_m_tgamma_right(-x));
}

/* ---- Bessel ---- */
/* Below 25 all orders from the highest that matters down, each from the two above it, scaled so that j0 + 2 j2 + 2 j4 + .. is 1;
 * y of them by Neumann's series. Above, Hankel's. */
typedef struct TwBessel { f64 j0, j1, y0, y1; } TwBessel;
TW_FN void tw_m_hankel(int order, f64 x, f64 *p, f64 *q) {
    f64 term = 1, even = 1, odd = 0;
    for (int k = 1; k < 30; k++) {
        term *= (4.0 * order - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (8.0 * k * x);
        if (k % 2) odd += k % 4 == 1 ? term : -term;
        else even += k % 4 == 0 ? term : -term;
    }
    *p = even, *q = odd;
}
TW_FN TwBessel tw_m_bessel(f64 x) { /* x > 0 */
    f64 p, q;
    if (x >= 25.0) {
        TwBessel r;
        const f64 s = tw_m_sin(x), c = tw_m_cos(x), scale = 1.0 / __builtin_sqrt(TW_M_PI * x);
        tw_m_hankel(0, x, &p, &q);
        r.j0 = scale * (p * (s + c) - q * (s - c)), r.y0 = scale * (p * (s - c) + q * (s + c));
        tw_m_hankel(1, x, &p, &q);
        r.j1 = scale * (p * (s - c) + q * (s + c)), r.y1 = scale * (q * (s - c) - p * (s + c));
        return r;
    }
    if (x < 0x1p-27) {
        const f64 l = (tw_m_log(0.5 * x) + 0x1.2788cfc6fb619p-1) * (2.0 / TW_M_PI);
        return TwBessel{1.0, 0.5 * x, l, -2.0 / TW_M_PI / x};
    }
    const int last = x < 1.0 ? 18 : 66; /* even; beyond it all are below 1e-17 of the first */
    f64 above = 0, here = 1e-290, total = 0, sum0 = 0, sum1 = 0, one = 0;
    if (x < 1.0) here = 1e-300;
    for (int n = last; n > 0; n--) { /* here: j of n */
        const int k = n / 2;
        const f64 sign = k % 2 ? -1.0 : 1.0;
        if (n % 2 == 0) total += 2.0 * here, sum0 += sign * here / k;
        else if (n > 1) sum1 += sign * (2 * k + 1) * here / ((f64)k * (k + 1));
        else one = here;
        const f64 below = 2.0 * n / x * here - above;
        above = here, here = below;
    }
    const f64 scale = 1.0 / (total + here), j0 = here * scale, j1 = one * scale;
    const f64 l = tw_m_log(0.5 * x) + 0x1.2788cfc6fb619p-1;
    return TwBessel{j0, j1, 2.0 / TW_M_PI * (l * j0 - 2.0 * sum0 * scale),
                    2.0 / TW_M_PI * ((l - 1.0) * j1 - sum1 * scale - j0 / x)};
}
TW_FN f64 tw_m_j0(f64 x) { return x != x ? x : x == 0 ? 1.0 : __builtin_fabs(x) == TW_M_INF ? 0.0 : tw_m_bessel(__builtin_fabs(x)).j0; }
TW_FN f64 tw_m_j1(f64 x) {
    const f64 a = __builtin_fabs(x);
    return x != x || x == 0 ? x : __builtin_copysign(1.0, x) * (a == TW_M_INF ? 0.0 : tw_m_bessel(a).j1);
}
TW_FN f64 tw_m_y0(f64 x) { return x != x ? x : x == TW_M_INF ? 0.0 : tw_m_bessel(x).y0; }
TW_FN f64 tw_m_y1(f64 x) { return x != x ? x : x == TW_M_INF ? 0.0 : tw_m_bessel(x).y1; }

TW_M_BY_F64(lgamma) TW_M_BY_F64(tgamma)

/* ---- everybody's ---- */
#define j0        tw_m_j0
#define j1        tw_m_j1
#define y0        tw_m_y0
#define y1        tw_m_y1
#define log       tw_m_log
#define exp       tw_m_exp
#define fabs      __builtin_fabs
#define sqrt      __builtin_sqrt
#define erf       tw_m_erf
#define erfc      tw_m_erfc
#define remainder tw_m_remainder
#define sin       tw_m_sin
#define cos       tw_m_cos
#define cbrt      tw_m_cbrt
#define hypot     tw_m_hypot
#ifdef TW_ON_DEVICE
#pragma clang force_cuda_host_device begin
#endif
#include "special.h"
#ifdef TW_ON_DEVICE
#pragma clang force_cuda_host_device end
#endif
#undef j0
#undef j1
#undef y0
#undef y1
#undef log
#undef exp
#undef fabs
#undef sqrt
#undef erf
#undef erfc
#undef remainder
#undef sin
#undef cos
#undef cbrt
#undef hypot
#define TW_SPECIAL_1(fn)                                                                           \
    TW_FN f32 tw_##fn(f32 x) { return (f32)tw_special_##fn(x); }                                   \
    TW_FN f64 tw_##fn(f64 x) { return tw_special_##fn(x); }
TW_MATH_GAMMA(TW_DEFINE_1)
TW_MATH_SPECIAL(TW_SPECIAL_1)
TW_FN f32 tw_rhypot(f32 x, f32 y) { return (f32)tw_special_rhypot(x, y); }
TW_FN f64 tw_rhypot(f64 x, f64 y) { return tw_special_rhypot(x, y); }
#endif
