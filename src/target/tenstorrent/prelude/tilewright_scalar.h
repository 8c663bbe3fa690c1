/* SPDX-License-Identifier: Apache-2.0 */
/* tilewright_scalar.h: integers and floats as the emitted kernels use them: types by their names in Tile IR, conversions, and the
 * functions whose meaning C++ leaves open (division by 0, shifts, floors, NaN). has_scalar in tt_role.c says which ops rest on it. */
#pragma once
#include <stdint.h>
#include <string.h>

/* Integers wrap. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("wrapv")
#endif

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef long long i64; /* as its literals */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

static inline f32 tw_as_f32(u32 bits) {
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline u32 tw_as_u32(f32 x) {
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Small floats as they lie in memory; f32 holds their values. Up: exponent and mantissa, put where f32 has them, differ by a
 * power of two. Down: to nearest even; below f16's normal range the addition rounds. */
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};
struct e5m2 { /* of 8 bits: the upper half of an f16 */
    u8 bits;
};
struct e4m3 {
    u8 bits;
};
static inline f16 tw_as_f16(u16 bits) { return f16{bits}; }
static inline bf16 tw_as_bf16(u16 bits) { return bf16{bits}; }
static inline f32 tw_f32(bf16 x) { return tw_as_f32((u32)x.bits << 16); }
static inline f32 tw_f32(f16 x) {
    const u32 size = (x.bits & 0x7fffu) << 13, sign = (x.bits & 0x8000u) << 16;
    return tw_as_f32((size >= 0x0f800000u ? size | 0x7f800000u : tw_as_u32(tw_as_f32(size) * 0x1p112f)) | sign);
}
static inline f32 tw_f32(e5m2 x) { return tw_f32(f16{(u16)(x.bits << 8)}); }
static inline f32 tw_f32(e4m3 x) {
    const u32 size = (x.bits & 0x7fu) << 20, sign = (x.bits & 0x80u) << 24;
    return tw_as_f32((size == 0x07f00000u ? 0x7fc00000u : tw_as_u32(tw_as_f32(size) * 0x1p120f)) | sign);
}
static inline bf16 tw_bf16(f32 x) {
    const u32 bits = tw_as_u32(x);
    return bf16{(u16)((x != x ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1)) >> 16)};
}
static inline f16 tw_f16(f32 x) {
    const u32 bits = tw_as_u32(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return f16{(u16)(sign | 0x7e00u | (size >> 13 & 0x3ff))};
    if (size >= 0x47800000u) return f16{(u16)(sign | 0x7c00u)};
    if (size < 0x38800000u) return f16{(u16)(sign | (tw_as_u32(tw_as_f32(size) + 0.5f) - 0x3f000000u))};
    return f16{(u16)(sign | (size - 0x38000000u + 0xfffu + (size >> 13 & 1)) >> 13)};
}
/* Through f32 without rounding twice: cut off toward zero, the last bit says that something was cut. */
static inline f32 tw_odd(f64 x) {
    f32 y = (f32)x;
    if (y != x && x == x) {
        if ((y < 0 ? -(f64)y : (f64)y) > (x < 0 ? -x : x)) y = tw_as_f32(tw_as_u32(y) - 1);
        y = tw_as_f32(tw_as_u32(y) | 1);
    }
    return y;
}
static inline f16 tw_f16(f64 x) { return tw_f16(tw_odd(x)); }
static inline bf16 tw_bf16(f64 x) { return tw_bf16(tw_odd(x)); }
/* A 64-bit integer as an f64 that rounds to every smaller format as the integer would. */
static inline f64 tw_sticky(u64 x) { return x >> 53 ? (f64)(x >> 11 | ((x & 0x7ff) != 0)) * 2048.0 : (f64)x; }
static inline f64 tw_sticky(i64 x) { return x < 0 ? -tw_sticky(0 - (u64)x) : tw_sticky((u64)x); }
/* To integers: toward zero, saturating, NaN is 0. */
static inline i32 tw_i32(f32 x) { return x != x ? 0 : x <= -0x1p31f ? (i32)0x80000000u : x >= 0x1p31f ? 0x7fffffff : (i32)x; }
static inline u32 tw_u32(f32 x) { return !(x > 0) ? 0 : x >= 0x1p32f ? 0xffffffffu : (u32)x; }
static inline u64 tw_u64(f32 x) { return !(x > 0) ? 0 : x >= 0x1p64f ? ~0ull : (u64)x; }
static inline i64 tw_i64(f32 x) {
    return x != x ? 0 : x <= -0x1p63f ? (i64)(1ull << 63) : x >= 0x1p63f ? (i64)(~0ull >> 1) : (i64)x;
}

/* Small integers are promoted. */
#define TW_INTEGER_OPS(T) \
    static inline constexpr T tw_div(T x, T y) { \
        return y == 0 ? T(0) : T(-1) < T(0) && y == T(-1) ? T(0) - x : x / y; \
    } \
    static inline constexpr T tw_rem(T x, T y) { \
        return y == 0 ? x : T(-1) < T(0) && y == T(-1) ? T(0) : x % y; \
    } \
    static inline constexpr T tw_mod(T x, T y) { \
        return tw_rem(x, y) != 0 && (tw_rem(x, y) < 0) != (y < 0) && y != 0 ? tw_rem(x, y) + y : tw_rem(x, y); \
    } \
    static inline constexpr T tw_floordiv(T x, T y) { \
        return tw_div(x, y) - (y != 0 && tw_rem(x, y) != 0 && (x < 0) != (y < 0)); \
    } \
    static inline constexpr T tw_cdiv(T x, T y) { \
        return tw_div(x, y) + (y != 0 && tw_rem(x, y) != 0 && (x < 0) == (y < 0)); \
    } \
    static inline constexpr T tw_min(T x, T y) { return y < x ? y : x; } \
    static inline constexpr T tw_max(T x, T y) { return x < y ? y : x; } \
    static inline constexpr T tw_abs(T x) { return x < 0 ? T(0) - x : x; } \
    static inline constexpr T tw_shl(T x, T y) { \
        return y < 0 || u64(y) >= 8 * sizeof(T) ? T(0) : T(u64(x) << y); \
    } \
    static inline constexpr T tw_shr(T x, T y) { \
        return y < 0 || u64(y) >= 8 * sizeof(T) ? (x < 0 ? T(-1) : T(0)) : T(x >> y); \
    }
TW_INTEGER_OPS(i32)
TW_INTEGER_OPS(u32)
TW_INTEGER_OPS(i64)
TW_INTEGER_OPS(u64)

/* Of floats the other one counts where one is NaN; _nan keeps it. */
static inline f32 tw_min(f32 x, f32 y) { return y != y || x < y ? x : y; }
static inline f32 tw_max(f32 x, f32 y) { return y != y || x > y ? x : y; }
static inline f32 tw_min_nan(f32 x, f32 y) { return x != x || x < y ? x : y; }
static inline f32 tw_max_nan(f32 x, f32 y) { return x != x || x > y ? x : y; }
static inline f32 tw_abs(f32 x) { return tw_as_f32(tw_as_u32(x) & 0x7fffffffu); }
/* One rounding: the product is exact in f64, and what the sum lost goes into its last bit. */
static inline f32 tw_fma(f32 x, f32 y, f32 z) {
    const f64 product = (f64)x * y, sum = product + z, part = sum - product;
    const f64 lost = (product - (sum - part)) + (z - part);
    if (lost == 0 || sum - sum != 0) return (f32)sum; /* infinities and NaN lose nothing */
    u64 bits;
    memcpy(&bits, &sum, sizeof bits);
    if (!(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : ~0ull;
    f64 odd;
    memcpy(&odd, &bits, sizeof odd);
    return (f32)odd;
}
/* From 2^23 on all are whole. */
static inline f32 tw_trunc(f32 x) {
    return tw_abs(x) < 0x1p23f ? tw_as_f32(tw_as_u32((f32)(i32)x) | (tw_as_u32(x) & 0x80000000u)) : x;
}
static inline f32 tw_floor(f32 x) { return tw_trunc(x) > x ? tw_trunc(x) - 1.0f : tw_trunc(x); }
static inline f32 tw_ceil(f32 x) { return tw_trunc(x) < x ? tw_trunc(x) + 1.0f : tw_trunc(x); }
static inline i32 tw_mulhi(i32 x, i32 y) { return (i32)((i64)x * y >> 32); }
static inline u32 tw_mulhi(u32 x, u32 y) { return (u32)((u64)x * y >> 32); }
static inline u64 tw_mulhi(u64 x, u64 y) {
    const u64 low = (u64)(u32)x * (u32)y, cross = (x >> 32) * (u32)y + (low >> 32), other = (u32)x * (y >> 32) + (u32)cross;
    return (x >> 32) * (y >> 32) + (cross >> 32) + (other >> 32);
}
static inline i64 tw_mulhi(i64 x, i64 y) {
    return (i64)(tw_mulhi((u64)x, (u64)y) - (x < 0 ? (u64)y : 0) - (y < 0 ? (u64)x : 0));
}
template <typename T> static inline i32 tw_popc(T x) {
    i32 count = 0;
    for (; x; x &= x - 1) ++count;
    return count;
}
template <typename T> static inline i32 tw_clz(T x) {
    i32 count = 8 * sizeof(T);
    for (; x; x >>= 1) --count;
    return count;
}
/* Trips of a loop: max(0, ceil((hi - lo) / step)); none with a step of 0. */
static inline i64 tw_trips(i64 lo, i64 hi, i64 step) {
    if (step == 0 || (step > 0 ? lo >= hi : lo <= hi)) return 0;
    return i64(step > 0 ? (u64(hi) - u64(lo) - 1) / u64(step) + 1 : (u64(lo) - u64(hi) - 1) / (0 - u64(step)) + 1);
}

static inline i64 tw_most(i64 a, i64 b) { return a > b ? a : b; }

/* Which task of a plane of rows x columns, row by row, is the i-th in another order; beyond a plane comes the next one. */
static inline u32 tw_column_major(u32 i, u32 rows, u32 columns) {
    const u32 cells = rows * columns, at = i % cells;
    return i / cells * cells + at % rows * columns + at / rows;
}
/* Quarters of a square of 2^n, one after the other, each in the same way; what lies outside is left out. */
static inline u32 tw_z_order(u32 i, u32 rows, u32 columns) {
    const u32 cells = rows * columns;
    u32 at = i % cells, row = 0, column = 0, size = 1;
    while (size < rows || size < columns) size *= 2;
    for (size /= 2; size; size /= 2)
        for (u32 quarter = 0; quarter < 4; ++quarter) {
            const u32 r = row + quarter / 2 * size, c = column + quarter % 2 * size;
            const u32 high = r >= rows ? 0 : rows - r < size ? rows - r : size;
            const u32 wide = c >= columns ? 0 : columns - c < size ? columns - c : size;
            if (at < high * wide) {
                row = r, column = c;
                break;
            }
            at -= high * wide;
        }
    return i / cells * cells + row * columns + column;
}

/* The task of a core's turn: its block of columns x rows of a plane of tasks, then that of the next plane. */
static inline u32 tw_task(u32 turn, u32 first, u32 columns, u32 rows, u32 row_tasks, u32 plane_tasks) {
    const u32 row = turn / columns;
    return first + turn % columns + row % rows * row_tasks + row / rows * plane_tasks;
}
