/* tilewright_scalar.h: integers and floats as the emitted kernels use them: types by their names in Tile IR, and the
 * functions whose meaning C++ leaves open (division by 0, shifts, floors). */
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

template <typename T> constexpr T tw_div(T x, T y) {
    return y == 0 ? T(0) : T(-1) < T(0) && y == T(-1) ? T(0) - x : x / y;
}
template <typename T> constexpr T tw_rem(T x, T y) {
    return y == 0 ? x : T(-1) < T(0) && y == T(-1) ? T(0) : x % y;
}
template <typename T> constexpr T tw_mod(T x, T y) {
    return tw_rem(x, y) != 0 && (tw_rem(x, y) < 0) != (y < 0) && y != 0 ? tw_rem(x, y) + y : tw_rem(x, y);
}
template <typename T> constexpr T tw_floordiv(T x, T y) {
    return tw_div(x, y) - (y != 0 && tw_rem(x, y) != 0 && (x < 0) != (y < 0));
}
template <typename T> constexpr T tw_cdiv(T x, T y) {
    return tw_div(x, y) + (y != 0 && tw_rem(x, y) != 0 && (x < 0) == (y < 0));
}
template <typename T> constexpr T tw_min(T x, T y) { return y < x ? y : x; }
template <typename T> constexpr T tw_max(T x, T y) { return x < y ? y : x; }
template <typename T> constexpr T tw_abs(T x) { return x < 0 ? T(0) - x : x; }
template <typename T> constexpr T tw_shl(T x, T y) {
    return y < 0 || u64(y) >= 8 * sizeof(T) ? T(0) : T(u64(x) << y);
}
template <typename T> constexpr T tw_shr(T x, T y) {
    return y < 0 || u64(y) >= 8 * sizeof(T) ? (x < 0 ? T(-1) : T(0)) : T(x >> y);
}
/* Trips of a loop: max(0, ceil((hi - lo) / step)); none with a step of 0. */
static inline i64 tw_trips(i64 lo, i64 hi, i64 step) {
    if (step == 0 || (step > 0 ? lo >= hi : lo <= hi)) return 0;
    return i64(step > 0 ? (u64(hi) - u64(lo) - 1) / u64(step) + 1 : (u64(lo) - u64(hi) - 1) / (0 - u64(step)) + 1);
}
