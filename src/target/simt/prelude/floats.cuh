/* SPDX-License-Identifier: Apache-2.0 */
/* floats.cuh: the arithmetic of f32 and f64, the same C function on both sides. The functions of <math.h> are there before, under
 * their own names or as TW_LIBM(name) calls them. Behind numbers.cuh. */
#ifndef TILEWRIGHT_FLOATS_CUH
#define TILEWRIGHT_FLOATS_CUH

#ifndef TW_LIBM
#define TW_LIBM(fn) fn
#endif
#define TW_MATH_1(X)                                                                               \
    X(exp) X(exp2) X(log) X(log2) X(sqrt) X(sin) X(cos) X(tanh) X(erf)                             \
    X(floor) X(ceil) X(trunc) X(round) X(rint)
#define TW_MATH_TAIL(X)                                                                            \
    X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(asinh) X(acosh) X(atanh) X(expm1) X(log1p)    \
    X(log10) X(exp10) X(cbrt) X(erfc) X(logb)
#define TW_MATH_2(X) X(pow) X(atan2) X(fmod) X(hypot) X(copysign) X(nextafter) X(fdim) X(remainder)
#define TW_DEFINE_1(fn)                                                                            \
    TW_FN f32 tw_##fn(f32 x) { return TW_LIBM(fn##f)(x); }                                         \
    TW_FN f64 tw_##fn(f64 x) { return TW_LIBM(fn)(x); }
#define TW_DEFINE_2(fn)                                                                            \
    TW_FN f32 tw_##fn(f32 x, f32 y) { return TW_LIBM(fn##f)(x, y); }                               \
    TW_FN f64 tw_##fn(f64 x, f64 y) { return TW_LIBM(fn)(x, y); }
TW_MATH_1(TW_DEFINE_1)
TW_MATH_TAIL(TW_DEFINE_1)
TW_MATH_2(TW_DEFINE_2)
/* What only a GPU's library has, if it has (TW_NO_SPECIAL: it has not); on the host in doubles. */
#define TW_MATH_GAMMA(X) X(lgamma) X(tgamma)
#define TW_MATH_SPECIAL(X)                                                                         \
    X(j0) X(j1) X(y0) X(y1) X(cyl_bessel_i0) X(cyl_bessel_i1) X(erfinv) X(erfcinv) X(erfcx)        \
    X(normcdf) X(normcdfinv) X(sinpi) X(cospi) X(rcbrt)
#ifndef TW_NO_SPECIAL
TW_MATH_GAMMA(TW_DEFINE_1)
#endif
#if defined(TW_NO_SPECIAL)
#elif defined(TW_ON_DEVICE)
TW_MATH_SPECIAL(TW_DEFINE_1)
TW_DEFINE_2(rhypot)
#else
#include "special.h"
#define TW_SPECIAL_1(fn)                                                                           \
    TW_FN f32 tw_##fn(f32 x) { return (f32)tw_special_##fn(x); }                                   \
    TW_FN f64 tw_##fn(f64 x) { return tw_special_##fn(x); }
TW_MATH_SPECIAL(TW_SPECIAL_1)
TW_FN f32 tw_rhypot(f32 x, f32 y) { return (f32)tw_special_rhypot(x, y); }
TW_FN f64 tw_rhypot(f64 x, f64 y) { return tw_special_rhypot(x, y); }
#endif
TW_FN f64 tw_ldexp(f64 x, f64 y) { return y != y ? y : TW_LIBM(ldexp)(x, y > 5000 ? 5000 : y < -5000 ? -5000 : (int)y); }
TW_FN f32 tw_ldexp(f32 x, f32 y) { return (f32)tw_ldexp((f64)x, (f64)y); }
TW_FN f32 tw_fma(f32 x, f32 y, f32 z) { return TW_LIBM(fmaf)(x, y, z); }
TW_FN f64 tw_fma(f64 x, f64 y, f64 z) { return TW_LIBM(fma)(x, y, z); }
TW_FN f32 tw_abs(f32 x) { return TW_LIBM(fabsf)(x); }
TW_FN f64 tw_abs(f64 x) { return TW_LIBM(fabs)(x); }
TW_FN f32 tw_min(f32 x, f32 y) { return TW_LIBM(fminf)(x, y); }
TW_FN f64 tw_min(f64 x, f64 y) { return TW_LIBM(fmin)(x, y); }
TW_FN f32 tw_max(f32 x, f32 y) { return TW_LIBM(fmaxf)(x, y); }
TW_FN f64 tw_max(f64 x, f64 y) { return TW_LIBM(fmax)(x, y); }
TW_FN bool tw_isnan(f32 x) { return x != x; }
TW_FN bool tw_isnan(f64 x) { return x != x; }
TW_FN f64 tw_min_nan(f64 x, f64 y) { return x != x ? x : y != y ? y : TW_LIBM(fmin)(x, y); }
TW_FN f64 tw_max_nan(f64 x, f64 y) { return x != x ? x : y != y ? y : TW_LIBM(fmax)(x, y); }
TW_FN f32 tw_div(f32 x, f32 y) { return x / y; }
TW_FN f64 tw_div(f64 x, f64 y) { return x / y; }
#endif
