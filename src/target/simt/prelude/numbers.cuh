/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.cuh: the types of emitted kernels and the arithmetic of integers (legend in the target's own header), plain C++ that
 * is the same on every machine and on the host. TW_FN and memcpy are there before, and TW_ON_DEVICE where a GPU's compiler
 * reads this. Floats: floats.cuh. */
#ifndef TILEWRIGHT_NUMBERS_CUH
#define TILEWRIGHT_NUMBERS_CUH

typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long long i64;
typedef unsigned long long u64;
#define TW_OUTSIDE (-0x7fffffffffffffffll - 1) /* as an index: outside of every tensor */
enum { TW_CA = 1, TW_CG, TW_CS, TW_CV, TW_WB, TW_WT, TW_EVICT_FIRST, TW_EVICT_LAST }; /* hints of an access to global memory */
typedef float f32;
typedef double f64;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct e4m3 { u8 bits; };
struct e5m2 { u8 bits; };
struct e4b8 { u8 bits; };
struct e5b16 { u8 bits; };
struct e4b15 { u8 bits; };

/* Same bits, other type. */
#define TW_AS(name, To, From)                                                                      \
    TW_FN To name(From from) {                                                                     \
        To to;                                                                                     \
        memcpy(&to, &from, sizeof to);                                                             \
        return to;                                                                                 \
    }
TW_AS(tw_as_f32, f32, u32)
#define TW_INF tw_as_f32(0x7f800000u)
#define TW_NAN tw_as_f32(0x7fc00000u)
TW_AS(tw_as_u32, u32, f32)
TW_AS(tw_as_f64, f64, u64)
TW_AS(tw_as_u64, u64, f64)
TW_FN f16 tw_as_f16(u16 x) { return f16{x}; }
TW_FN bf16 tw_as_bf16(u16 x) { return bf16{x}; }
TW_FN e4m3 tw_as_e4m3(u8 x) { return e4m3{x}; }
TW_FN e5m2 tw_as_e5m2(u8 x) { return e5m2{x}; }
TW_FN e4b8 tw_as_e4b8(u8 x) { return e4b8{x}; }
TW_FN e5b16 tw_as_e5b16(u8 x) { return e5b16{x}; }
TW_FN e4b15 tw_as_e4b15(u8 x) { return e4b15{x}; }
TW_FN u32 tw_pack(u16 lo, u16 hi) { return (u32)hi << 16 | lo; }
TW_FN u32 tw_pack(f16 lo, f16 hi) { return tw_pack(lo.bits, hi.bits); }
TW_FN u32 tw_pack(bf16 lo, bf16 hi) { return tw_pack(lo.bits, hi.bits); }
TW_FN u32 tw_pack(u8 x0, u8 x1, u8 x2, u8 x3) { return x0 | (u32)x1 << 8 | (u32)x2 << 16 | (u32)x3 << 24; }
TW_FN u32 tw_pack(i8 x0, i8 x1, i8 x2, i8 x3) { return tw_pack((u8)x0, (u8)x1, (u8)x2, (u8)x3); }
#define TW_PACK_FOUR(T) \
    TW_FN u32 tw_pack(T x0, T x1, T x2, T x3) { return tw_pack(x0.bits, x1.bits, x2.bits, x3.bits); }
TW_PACK_FOUR(e4m3)
TW_PACK_FOUR(e5m2)
TW_PACK_FOUR(e4b8)
TW_PACK_FOUR(e5b16)
TW_PACK_FOUR(e4b15)

/* A shared offset s whose 16-byte chunks are stored in the swizzle of width W (128, 64, 32; 0: none), the same
 * function as TMA and wgmma use: bits 4.. are xored with bits 7... */
TW_FN u32 tw_swizzle(u32 s, u32 width) { return s ^ ((s >> 3) & (width - 16) & 0x70 & -(u32)(width != 0)); }

/* ---- integers ---- */
#define TW_INTEGER_OPS(T, U)                                                                       \
    TW_FN T tw_add(T x, T y) { return (T)((U)x + (U)y); }                                          \
    TW_FN T tw_sub(T x, T y) { return (T)((U)x - (U)y); }                                          \
    TW_FN T tw_mul(T x, T y) { return (T)((U)x * (U)y); }                                          \
    TW_FN T tw_min(T x, T y) { return y < x ? y : x; }                                             \
    TW_FN T tw_max(T x, T y) { return x < y ? y : x; }                                             \
    TW_FN T tw_shl(T x, T n) { return (U)n < 8 * sizeof(T) ? (T)((U)x << n) : 0; }
/* Divisions are made in any case, by 1 where the result is another: numbers that one divides share its reciprocal, a
 * quotient and what it leaves share the division, and no branch keeps one from running beside another. */
#define TW_SIGNED_OPS(T, U)                                                                        \
    TW_FN T tw_divisor(T y) { return y == 0 || y == -1 ? 1 : y; }                                  \
    TW_INTEGER_OPS(T, U)                                                                           \
    TW_FN T tw_div(T x, T y) {                                                                     \
        const T q = x / tw_divisor(y);                                                             \
        return y == 0 ? 0 : y == -1 ? (T)(0 - (U)x) : q;                                           \
    }                                                                                              \
    TW_FN T tw_rem(T x, T y) {                                                                     \
        const T r = x % tw_divisor(y);                                                             \
        return y == 0 ? x : y == -1 ? 0 : r;                                                       \
    }                                                                                              \
    TW_FN T tw_floordiv(T x, T y) {                                                                \
        return tw_sub(tw_div(x, y), (T)(tw_rem(x, y) != 0 && y != 0 && (x < 0) != (y < 0)));       \
    }                                                                                              \
    TW_FN T tw_mod(T x, T y) {                                                                     \
        T r = tw_rem(x, y);                                                                        \
        return r != 0 && y != 0 && (r < 0) != (y < 0) ? r + y : r;                                 \
    }                                                                                              \
    TW_FN T tw_cdiv(T x, T y) { /* (x + y - 1) div y; no step overflows but the last */            \
        if (y == 0) return 0;                                                                      \
        if (x > 0) return y > 0 ? (x - 1) / y + 1 : (x - 1 + y) / y;                               \
        if (y > 0) return (x + y - 1) / y;                                                         \
        return tw_add(tw_div(x, y), (T)(1 + (tw_rem(x, y) - 1 == y)));                             \
    }                                                                                              \
    TW_FN T tw_shr(T x, T n) { return (U)n < 8 * sizeof(T) ? x >> n : x < 0 ? -1 : 0; }            \
    TW_FN T tw_abs(T x) { return x < 0 ? (T)(0 - (U)x) : x; }
#define TW_UNSIGNED_OPS(T)                                                                         \
    TW_INTEGER_OPS(T, T)                                                                           \
    TW_FN T tw_div(T x, T y) { return (y == 0 ? 0 : x) / tw_max(y, (T)1); }                        \
    TW_FN T tw_rem(T x, T y) { return x - tw_div(x, y) * y; }                                      \
    TW_FN T tw_floordiv(T x, T y) { return tw_div(x, y); }                                         \
    TW_FN T tw_mod(T x, T y) { return tw_rem(x, y); }                                              \
    TW_FN T tw_cdiv(T x, T y) {                                                                    \
        const T q = tw_div(x, y);                                                                  \
        return q + (T)(q * y != (y == 0 ? 0 : x));                                                 \
    }                                                                                              \
    TW_FN T tw_shr(T x, T n) { return n < 8 * sizeof(T) ? x >> n : 0; }                            \
    TW_FN T tw_abs(T x) { return x; }
TW_SIGNED_OPS(i32, u32)
TW_SIGNED_OPS(i64, u64)
TW_UNSIGNED_OPS(u32)
TW_UNSIGNED_OPS(u64)
/* The variable of a loop n trips later; what lies beyond all numbers is the last of them, where no trip begins. */
TW_FN i64 tw_trips_on(i64 x, i64 step, i32 n) {
    for (i32 i = 0; i < n; i++) {
        const i64 next = tw_add(x, step), last = (i64)(~0ull >> 1);
        x = ((x ^ next) & (step ^ next)) >= 0 ? next : step < 0 ? -last - 1 : last;
    }
    return x;
}
TW_FN i32 tw_mulhi(i32 x, i32 y) { return (i32)(((i64)x * y) >> 32); }
TW_FN u32 tw_mulhi(u32 x, u32 y) { return (u32)(((u64)x * y) >> 32); }

#endif
