/* cpu.h: what emitted CPU kernels are written in. Plain C for gcc and clang, without any system header, because headers
 * would cost more compile time than the kernels themselves.
 *
 * LEGEND. Types: i8 .. u64, f32, f64; in memory also f16, bf16 (u16) and e4m3, e5m2 (u8), which registers hold as the f32
 * of the same value. Functions carry the type of their operand: tw_div_i32, tw_exp_f32.
 *   convert   tw_f32_f16 .. (bits -> value)   tw_f16_f32, tw_f16_f64 .. (value -> bits, nearest even; fp8 saturates)
 *             tw_f16_rz_f64 .. (toward zero)   tw_i32_f32 .. (toward zero, saturating, NaN 0)
 *   integers  wrap (compile with -fno-strict-overflow); x div 0 = 0, x rem 0 = x; shifts by any amount
 *   floats    exp, exp2, log, log2, tanh, erf of f32: vmath.h, 1 to 2 ulp, vectorisable; the rest is libm
 * Results do not depend on vector width: there is no reassociation and no contraction here (-ffp-contract=off). */
#ifndef TILEWRIGHT_CPU_H
#define TILEWRIGHT_CPU_H

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef u16 f16;
typedef u16 bf16;
typedef u8 e4m3;
typedef u8 e5m2;
typedef u8 e4b8;
typedef u8 e5b16;
typedef u8 e4b15;

/* What the launcher hands to every call. */
typedef struct TwLaunch {
    const u64 *args; /* one word a scalar or pointer; a tensor is base, extents, strides */
    i32 grid[3];
    i32 failed;         /* 1 + number of the assertion that failed first; 0: none */
    i64 failed_program; /* in which program */
    void (*print)(struct TwLaunch *launch, i32 number, i64 program, const void *const *values);
} TwLaunch;

#define TW_FN static inline __attribute__((unused, always_inline))
/* TW_SHORT stands before loops of few turns: gcc 12 unrolls them first, then vectorises the loop around them, and gives
 * masked loads the masks of other elements. */
#if defined(__clang__)
#define TW_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#define TW_SHORT
#else
#define TW_VECTOR _Pragma("GCC ivdep")
#define TW_SHORT  _Pragma("GCC unroll 1")
#endif
#define TW_UNLIKELY(c) __builtin_expect(!!(c), 0)

/* ---- bits ---- */
#define TW_AS(To, From)                                                                            \
    TW_FN To tw_as_##To(From x) {                                                                  \
        To r;                                                                                      \
        __builtin_memcpy(&r, &x, sizeof r);                                                        \
        return r;                                                                                  \
    }
TW_AS(f32, u32)
TW_AS(u32, f32)
TW_AS(f64, u64)
TW_AS(u64, f64)
TW_FN f16 tw_as_f16(u16 x) { return x; }
TW_FN bf16 tw_as_bf16(u16 x) { return x; }
TW_FN e4m3 tw_as_e4m3(u8 x) { return x; }
TW_FN e5m2 tw_as_e5m2(u8 x) { return x; }
TW_FN e4b8 tw_as_e4b8(u8 x) { return x; }
TW_FN e5b16 tw_as_e5b16(u8 x) { return x; }
TW_FN e4b15 tw_as_e4b15(u8 x) { return x; }

/* ---- small floats: up. A small float's exponent and mantissa, put where f32 has them, differ by a power of two. ---- */
TW_FN f32 tw_f32_f16(f16 h) {
    u32 size = (u32)(h & 0x7fff) << 13, sign = (u32)(h & 0x8000) << 16;
    u32 bits = tw_as_u32(tw_as_f32(size) * 0x1p112f);
    return tw_as_f32((size >= 0x0f800000u ? size | 0x7f800000u : bits) | sign);
}
TW_FN f32 tw_f32_bf16(bf16 h) { return tw_as_f32((u32)h << 16); }
TW_FN f32 tw_f32_e4m3(e4m3 h) {
    u32 size = (u32)(h & 0x7f) << 20, sign = (u32)(h & 0x80) << 24;
    u32 bits = tw_as_u32(tw_as_f32(size) * 0x1p120f);
    return tw_as_f32((size == 0x07f00000u ? 0x7fc00000u : bits) | sign);
}
TW_FN f32 tw_f32_e5m2(e5m2 h) { return tw_f32_f16((u16)(h << 8)); }
TW_FN f32 tw_f32_e4b8(e4b8 h) {
    u32 size = (u32)(h & 0x7f) << 20, sign = (u32)(h & 0x80) << 24;
    u32 bits = tw_as_u32(tw_as_f32(size) * 0x1p119f);
    return tw_as_f32(h == 0x80 ? 0x7fc00000u : bits | sign);
}
TW_FN f32 tw_f32_e5b16(e5b16 h) {
    u32 size = (u32)(h & 0x7f) << 21, sign = (u32)(h & 0x80) << 24;
    u32 bits = tw_as_u32(tw_as_f32(size) * 0x1p111f);
    return tw_as_f32(h == 0x80 ? 0x7fc00000u : bits | sign);
}
TW_FN f32 tw_f32_e4b15(e4b15 h) {
    u32 size = (u32)(h & 0x7f) << 20, sign = (u32)(h & 0x80) << 24;
    return tw_as_f32(tw_as_u32(tw_as_f32(size) * 0x1p112f) | sign);
}

/* ---- down, to nearest even ---- */
/* Below the normal range the addition rounds: the sum's last bit is the format's smallest number. */
TW_FN f16 tw_f16_f32(f32 x) {
    u32 u = tw_as_u32(x), sign = u >> 16 & 0x8000, size = u & 0x7fffffffu;
    u32 normal = (size - 0x38000000u + 0xfff + (size >> 13 & 1)) >> 13;
    u32 small = tw_as_u32(tw_as_f32(size) + 0.5f) - 0x3f000000u;
    u32 large = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ff) : 0x7c00u;
    return (u16)(sign | (size >= 0x47800000u ? large : size < 0x38800000u ? small : normal));
}
TW_FN bf16 tw_bf16_f32(f32 x) {
    u32 u = tw_as_u32(x), rounded = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
    return (u16)((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : rounded);
}
TW_FN e4m3 tw_e4m3_f32(f32 x) {
    u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 normal = (size - 0x3c000000u + 0x7ffff + (size >> 20 & 1)) >> 20;
    u32 small = tw_as_u32(tw_as_f32(size) + 0x1p14f) - 0x46800000u;
    u32 large = size > 0x7f800000u ? 0x7fu : 0x7eu;
    return (u8)(sign | (size >= 0x43e00000u ? large : size < 0x3c800000u ? small : normal));
}
TW_FN e5m2 tw_e5m2_f32(f32 x) {
    u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 normal = (size - 0x38000000u + 0xfffff + (size >> 21 & 1)) >> 21;
    u32 small = tw_as_u32(tw_as_f32(size) + 0x1p7f) - 0x43000000u;
    u32 large = size > 0x7f800000u ? 0x7eu : 0x7bu;
    return (u8)(sign | (size >= 0x47600000u ? large : size < 0x38800000u ? small : normal));
}
/* Formats with one zero: what rounds to -0 is 0, and 0x80 is the NaN. */
TW_FN u8 tw_one_zero(u32 sign, u32 size, u32 bits) {
    return (u8)(size > 0x7f800000u ? 0x80u : bits ? sign | bits : 0);
}
TW_FN e4b8 tw_e4b8_f32(f32 x) {
    u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 normal = (size - 0x3b800000u + 0x7ffff + (size >> 20 & 1)) >> 20;
    u32 small = tw_as_u32(tw_as_f32(size) + 0x1p13f) - 0x46000000u;
    return tw_one_zero(sign, size, size >= 0x43700000u ? 0x7fu : size < 0x3c000000u ? small : normal);
}
TW_FN e5b16 tw_e5b16_f32(f32 x) {
    u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 normal = (size - 0x37800000u + 0xfffff + (size >> 21 & 1)) >> 21;
    u32 small = tw_as_u32(tw_as_f32(size) + 0x1p6f) - 0x42800000u;
    return tw_one_zero(sign, size, size >= 0x47600000u ? 0x7fu : size < 0x38000000u ? small : normal);
}
TW_FN e4b15 tw_e4b15_f32(f32 x) { /* no NaN: it is the largest number */
    u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 normal = (size - 0x38000000u + 0x7ffff + (size >> 20 & 1)) >> 20;
    u32 small = tw_as_u32(tw_as_f32(size) + 0x1p6f) - 0x42800000u;
    return (u8)(sign | (size >= 0x3ff00000u ? 0x7fu : size < 0x38800000u ? small : normal));
}
/* Of a number that is one of the type, infinities included. */
TW_FN e5m2 tw_e5m2_exact_f32(f32 x) {
    u32 u = tw_as_u32(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? (u8)(u >> 24 & 0x80 | 0x7c) : tw_e5m2_f32(x);
}
/* f64 through f32 without rounding twice: cut off toward zero, and remember in the last bit that something was cut. */
TW_FN f32 tw_f32_rz_f64(f64 x) {
    f32 y = (f32)x;
    f64 back = y, size = x < 0 ? -x : x, back_size = back < 0 ? -back : back;
    return back_size > size ? tw_as_f32(tw_as_u32(y) - 1) : y;
}
TW_FN f32 tw_odd_f64(f64 x) {
    f32 y = tw_f32_rz_f64(x);
    return (f64)y == x || x != x ? y : tw_as_f32(tw_as_u32(y) | 1);
}
TW_FN f16 tw_f16_f64(f64 x) { return tw_f16_f32(tw_odd_f64(x)); }
TW_FN bf16 tw_bf16_f64(f64 x) { return tw_bf16_f32(tw_odd_f64(x)); }
TW_FN e4m3 tw_e4m3_f64(f64 x) { return tw_e4m3_f32(tw_odd_f64(x)); }
TW_FN e5m2 tw_e5m2_f64(f64 x) { return tw_e5m2_f32(tw_odd_f64(x)); }
TW_FN e4b8 tw_e4b8_f64(f64 x) { return tw_e4b8_f32(tw_odd_f64(x)); }
TW_FN e5b16 tw_e5b16_f64(f64 x) { return tw_e5b16_f32(tw_odd_f64(x)); }
TW_FN e4b15 tw_e4b15_f64(f64 x) { return tw_e4b15_f32(tw_odd_f64(x)); }
/* A 64-bit integer as a f64 that rounds to every smaller format as the integer itself would. */
TW_FN f64 tw_sticky_u64(u64 x) {
    return x >> 53 ? (f64)(x >> 11 | ((x & 0x7ff) != 0)) * 2048.0 : (f64)x;
}
TW_FN f64 tw_sticky_i64(i64 x) { return x < 0 ? -tw_sticky_u64(0 - (u64)x) : tw_sticky_u64((u64)x); }

/* ---- down, toward zero: the bits above the cut are the answer ---- */
TW_FN f16 tw_f16_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x)), sign = u >> 16 & 0x8000, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return (u16)(sign | 0x7e00);
    if (size == 0x7f800000u && x - x != 0) return (u16)(sign | 0x7c00);
    if (size >= 0x47800000u) return (u16)(sign | 0x7bff);
    if (size < 0x38800000u) return (u16)(sign | (u32)(tw_as_f32(size) * 0x1p24f));
    return (u16)(sign | (size - 0x38000000u) >> 13);
}
TW_FN bf16 tw_bf16_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x));
    return (u16)(x != x ? u >> 16 | 0x40u : u >> 16);
}
TW_FN e4m3 tw_e4m3_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return (u8)(sign | 0x7f);
    if (size >= 0x43e00000u) return (u8)(sign | 0x7e);
    if (size < 0x3c800000u) return (u8)(sign | (u32)(tw_as_f32(size) * 0x1p9f));
    return (u8)(sign | (size - 0x3c000000u) >> 20);
}
TW_FN e5m2 tw_e5m2_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return (u8)(sign | 0x7e);
    if (size >= 0x47600000u) return (u8)(sign | 0x7b);
    if (size < 0x38800000u) return (u8)(sign | (u32)(tw_as_f32(size) * 0x1p16f));
    return (u8)(sign | (size - 0x38000000u) >> 21);
}
TW_FN e4b8 tw_e4b8_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 bits = size >= 0x43700000u  ? 0x7fu
               : size < 0x3c000000u ? (u32)(tw_as_f32(size) * 0x1p10f)
                                    : (size - 0x3b800000u) >> 20;
    return tw_one_zero(sign, size, bits);
}
TW_FN e5b16 tw_e5b16_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 bits = size >= 0x47600000u  ? 0x7fu
               : size < 0x38000000u ? (u32)(tw_as_f32(size) * 0x1p17f)
                                    : (size - 0x37800000u) >> 21;
    return tw_one_zero(sign, size, bits);
}
TW_FN e4b15 tw_e4b15_rz_f64(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz_f64(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    if (size >= 0x3ff00000u) return (u8)(sign | 0x7f);
    if (size < 0x38800000u) return (u8)(sign | (u32)(tw_as_f32(size) * 0x1p17f));
    return (u8)(sign | (size - 0x38000000u) >> 20);
}

/* ---- float to integer ---- */
#define TW_TO_INT(I, F, low, high, least, most)                                                    \
    TW_FN I tw_##I##_##F(F x) { return x != x ? 0 : x <= (F)low ? least : x >= (F)high ? most : (I)x; }
#define TW_TO_INTS(F)                                                                              \
    TW_TO_INT(i32, F, -0x1p31, 0x1p31, -2147483647 - 1, 2147483647)                                \
    TW_TO_INT(u32, F, 0, 0x1p32, 0u, 4294967295u)                                                  \
    TW_TO_INT(i64, F, -0x1p63, 0x1p63, -9223372036854775807LL - 1, 9223372036854775807LL)          \
    TW_TO_INT(u64, F, 0, 0x1p64, 0ull, 18446744073709551615ull)
TW_TO_INTS(f32)
TW_TO_INTS(f64)

/* ---- integers ---- */
#define TW_ANY_OPS(T, U)                                                                           \
    TW_FN T tw_min_##T(T x, T y) { return y < x ? y : x; }                                         \
    TW_FN T tw_max_##T(T x, T y) { return x < y ? y : x; }                                         \
    TW_FN T tw_shl_##T(T x, T n) { return (U)n < 8 * sizeof(T) ? (T)((U)x << n) : 0; }
#define TW_SIGNED_OPS(T, U)                                                                        \
    TW_ANY_OPS(T, U)                                                                               \
    TW_FN T tw_div_##T(T x, T y) { return y == 0 ? 0 : y == -1 ? (T)(0 - (U)x) : x / y; }          \
    TW_FN T tw_rem_##T(T x, T y) { return y == 0 ? x : y == -1 ? 0 : x % y; }                      \
    TW_FN T tw_floordiv_##T(T x, T y) {                                                            \
        return tw_div_##T(x, y) - (y != 0 && tw_rem_##T(x, y) != 0 && (x < 0) != (y < 0));         \
    }                                                                                              \
    TW_FN T tw_mod_##T(T x, T y) {                                                                 \
        T r = tw_rem_##T(x, y);                                                                    \
        return r != 0 && y != 0 && (r < 0) != (y < 0) ? r + y : r;                                 \
    }                                                                                              \
    TW_FN T tw_shr_##T(T x, T n) { return (U)n < 8 * sizeof(T) ? x >> n : x < 0 ? -1 : 0; }        \
    TW_FN T tw_abs_##T(T x) { return x < 0 ? (T)(0 - (U)x) : x; }
#define TW_UNSIGNED_OPS(T)                                                                         \
    TW_ANY_OPS(T, T)                                                                               \
    TW_FN T tw_div_##T(T x, T y) { return y == 0 ? 0 : x / y; }                                    \
    TW_FN T tw_rem_##T(T x, T y) { return y == 0 ? x : x % y; }                                    \
    TW_FN T tw_floordiv_##T(T x, T y) { return tw_div_##T(x, y); }                                 \
    TW_FN T tw_mod_##T(T x, T y) { return tw_rem_##T(x, y); }                                      \
    TW_FN T tw_cdiv_##T(T x, T y) { return y == 0 ? 0 : x / y + (x % y != 0); }                       \
    TW_FN T tw_shr_##T(T x, T n) { return n < 8 * sizeof(T) ? x >> n : 0; }                        \
    TW_FN T tw_abs_##T(T x) { return x; }
TW_SIGNED_OPS(i32, u32)
TW_SIGNED_OPS(i64, u64)
TW_UNSIGNED_OPS(u32)
TW_UNSIGNED_OPS(u64)
/* (x + y - 1) div y, the sum taken without overflow. */
TW_FN i32 tw_cdiv_i32(i32 x, i32 y) { return y == 0 ? 0 : (i32)(((i64)x + y - 1) / y); }
TW_FN i64 tw_cdiv_i64(i64 x, i64 y) {
    return y == 0 ? 0 : x > 0 && y > 0 ? (x - 1) / y + 1 : (i64)(((__int128)x + y - 1) / y);
}
TW_FN i32 tw_mulhi_i32(i32 x, i32 y) { return (i32)(((i64)x * y) >> 32); }
TW_FN u32 tw_mulhi_u32(u32 x, u32 y) { return (u32)(((u64)x * y) >> 32); }
TW_FN i64 tw_mulhi_i64(i64 x, i64 y) { return (i64)(((__int128)x * y) >> 64); }
TW_FN u64 tw_mulhi_u64(u64 x, u64 y) { return (u64)(((unsigned __int128)x * y) >> 64); }
TW_FN u32 tw_popc_u32(u32 x) { return (u32)__builtin_popcount(x); }
TW_FN u64 tw_popc_u64(u64 x) { return (u64)__builtin_popcountll(x); }
TW_FN u32 tw_clz_u32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
TW_FN u64 tw_clz_u64(u64 x) { return x ? (u64)__builtin_clzll(x) : 64; }

/* The first failure of a launch is the one that is reported. */
static inline __attribute__((unused)) void tw_fail(TwLaunch *launch, i32 number, i64 program) {
    i32 none = 0;
    if (__atomic_compare_exchange_n(&launch->failed, &none, number, 0, 5, 5)) launch->failed_program = program;
}

/* Trips of a loop: max(0, ceil((hi - lo) / step)). */
TW_FN i64 tw_trips(i64 lo, i64 hi, i64 step) {
    if (step == 0 || (step > 0 ? lo >= hi : lo <= hi)) return 0;
    u64 span = step > 0 ? (u64)hi - (u64)lo : (u64)lo - (u64)hi, by = step > 0 ? (u64)step : 0 - (u64)step;
    return (i64)((span - 1) / by + 1);
}

/* Do two pieces of memory, each from its first byte to one past its last, not meet? */
TW_FN i32 tw_apart(const void *a, const void *a_end, const void *b, const void *b_end) {
    return (u64)a_end <= (u64)b || (u64)b_end <= (u64)a;
}

/* ---- floats ---- */
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
    TW_FN T tw_abs_##T(T x) { return __builtin_fabs##s(x); }                                       \
    TW_FN T tw_sqrt_##T(T x) { return __builtin_sqrt##s(x); }                                      \
    TW_FN T tw_rsqrt_##T(T x) { return 1 / __builtin_sqrt##s(x); }                                 \
    TW_FN T tw_floor_##T(T x) { return __builtin_floor##s(x); }                                    \
    TW_FN T tw_ceil_##T(T x) { return __builtin_ceil##s(x); }                                      \
    TW_FN T tw_trunc_##T(T x) { return __builtin_trunc##s(x); }                                    \
    TW_FN T tw_round_##T(T x) { return __builtin_round##s(x); }                                    \
    TW_FN T tw_rint_##T(T x) { return __builtin_rint##s(x); }                                      \
    TW_FN T tw_copysign_##T(T x, T y) { return __builtin_copysign##s(x, y); }                      \
    TW_FN T tw_fma_##T(T x, T y, T z) { return __builtin_fma##s(x, y, z); }                        \
    TW_FN T tw_min_##T(T x, T y) { const T r = x < y ? x : y; return y != y ? x : r; }             \
    TW_FN T tw_max_##T(T x, T y) { const T r = x > y ? x : y; return y != y ? x : r; }             \
    TW_FN T tw_min_nan_##T(T x, T y) { const T r = x < y ? x : y; return x != x ? x : r; }         \
    TW_FN T tw_max_nan_##T(T x, T y) { const T r = x > y ? x : y; return x != x ? x : r; }         \
    TW_FN T tw_floordiv_##T(T x, T y) { return __builtin_floor##s(x / y); }                        \
    TW_FN T tw_mod_##T(T x, T y) {                                                                 \
        T r = tw_fmod_##T(x, y);                                                                   \
        return r != 0 && (r < 0) != (y < 0) ? (T)((f64)r + y) : r;                                 \
    }
TW_FLOAT_OPS(f32, f)
TW_FLOAT_OPS(f64, )

#include "vmath.h"
#endif
