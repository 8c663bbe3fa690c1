/* SPDX-License-Identifier: Apache-2.0 */
/* functions.h: functions of floats; see cpu.h. exp, exp2, log, log2, tanh and erf of f32 are in vmath.h; the rest is
 * libm and base/special.h. */
#ifndef TILEWRIGHT_FUNCTIONS_H
#define TILEWRIGHT_FUNCTIONS_H
#include "cpu.h"

#define TW_LIBM_1(fn)                                                                              \
    f32 fn##f(f32);                                                                                \
    f64 fn(f64);                                                                                   \
    TW_FN f32 tw_##fn##_f32(f32 x) { return fn##f(x); }                                            \
    TW_FN f64 tw_##fn##_f64(f64 x) { return fn(x); }
#define TW_LIBM_2(fn)                                                                              \
    f32 fn##f(f32, f32);                                                                           \
    f64 fn(f64, f64);                                                                              \
    TW_FN f32 tw_##fn##_f32(f32 x, f32 y) { return fn##f(x, y); }                                  \
    TW_FN f64 tw_##fn##_f64(f64 x, f64 y) { return fn(x, y); }
TW_LIBM_1(sin) TW_LIBM_1(cos) TW_LIBM_1(tan)
TW_LIBM_1(asin) TW_LIBM_1(acos) TW_LIBM_1(atan) TW_LIBM_1(sinh) TW_LIBM_1(cosh) TW_LIBM_1(log1p) TW_LIBM_1(log10)
TW_LIBM_1(expm1) TW_LIBM_1(cbrt) TW_LIBM_1(erfc) TW_LIBM_1(asinh) TW_LIBM_1(acosh) TW_LIBM_1(atanh)
TW_LIBM_1(tgamma) TW_LIBM_1(logb)
TW_LIBM_2(atan2) TW_LIBM_2(pow) TW_LIBM_2(fmod) TW_LIBM_2(hypot) TW_LIBM_2(fdim) TW_LIBM_2(remainder)
TW_LIBM_2(nextafter)
f64 lgamma_r(f64, int *);
f64 ldexp(f64, int);
TW_FN f64 tw_lgamma_f64(f64 x) {
    int sign; /* lgamma itself would write a global */
    return lgamma_r(x, &sign);
}
TW_FN f32 tw_lgamma_f32(f32 x) { return (f32)tw_lgamma_f64(x); }
TW_FN f64 tw_exp10_f64(f64 x) { return pow(10, x); }
TW_FN f32 tw_exp10_f32(f32 x) { return (f32)pow(10, x); }
TW_FN f64 tw_ldexp_f64(f64 x, f64 y) {
    return y != y ? y : ldexp(x, y > 5000 ? 5000 : y < -5000 ? -5000 : (int)y);
}
TW_FN f32 tw_ldexp_f32(f32 x, f32 y) { return (f32)tw_ldexp_f64(x, y); }
#define TW_LIBM_F64(fn) /* vmath.h has them for f32 */                                              \
    f64 fn(f64);                                                                                   \
    TW_FN f64 tw_##fn##_f64(f64 x) { return fn(x); }
TW_LIBM_F64(exp) TW_LIBM_F64(exp2) TW_LIBM_F64(log) TW_LIBM_F64(log2) TW_LIBM_F64(tanh) TW_LIBM_F64(erf)
#define TW_FLOAT_OPS(T, s)                                                                         \
    TW_FN T tw_sqrt_##T(T x) { return __builtin_sqrt##s(x); }                                      \
    TW_FN T tw_rsqrt_##T(T x) { return 1 / __builtin_sqrt##s(x); }                                 \
    TW_FN T tw_floor_##T(T x) { return __builtin_floor##s(x); }                                    \
    TW_FN T tw_ceil_##T(T x) { return __builtin_ceil##s(x); }                                      \
    TW_FN T tw_trunc_##T(T x) { return __builtin_trunc##s(x); }                                    \
    TW_FN T tw_round_##T(T x) { /* what is left of the truncation is exact */                      \
        T t = __builtin_trunc##s(x), rest = __builtin_fabs##s(x - t);                              \
        return rest >= (T)0.5 ? t + __builtin_copysign##s((T)1, x) : t;                            \
    }                                                                                              \
    TW_FN T tw_rint_##T(T x) { return __builtin_rint##s(x); }                                      \
    TW_FN T tw_copysign_##T(T x, T y) { return __builtin_copysign##s(x, y); }                      \
    TW_FN T tw_floordiv_##T(T x, T y) { return __builtin_floor##s(x / y); }                        \
    TW_FN T tw_mod_##T(T x, T y) {                                                                 \
        T r = tw_fmod_##T(x, y);                                                                   \
        return r != 0 && (r < 0) != (y < 0) ? (T)((f64)r + y) : r;                                 \
    }
TW_FLOAT_OPS(f32, f)
TW_FLOAT_OPS(f64, )

f64 j0(f64);
f64 j1(f64);
f64 y0(f64);
f64 y1(f64);
#define fabs(x) __builtin_fabs(x)
#define sqrt(x) __builtin_sqrt(x)
#include "special.h"
#undef fabs
#undef sqrt
#define TW_SPECIAL_1(fn)                                                                           \
    TW_FN f32 tw_##fn##_f32(f32 x) { return (f32)tw_special_##fn(x); }                             \
    TW_FN f64 tw_##fn##_f64(f64 x) { return tw_special_##fn(x); }
TW_SPECIAL_1(j0) TW_SPECIAL_1(j1) TW_SPECIAL_1(y0) TW_SPECIAL_1(y1) TW_SPECIAL_1(cyl_bessel_i0) TW_SPECIAL_1(cyl_bessel_i1)
TW_SPECIAL_1(erfinv) TW_SPECIAL_1(erfcinv) TW_SPECIAL_1(erfcx) TW_SPECIAL_1(normcdf) TW_SPECIAL_1(normcdfinv)
TW_SPECIAL_1(sinpi) TW_SPECIAL_1(cospi) TW_SPECIAL_1(rcbrt)
TW_FN f64 tw_rhypot_f64(f64 x, f64 y) { return tw_special_rhypot(x, y); }
TW_FN f32 tw_rhypot_f32(f32 x, f32 y) { return (f32)tw_special_rhypot(x, y); }
#endif
