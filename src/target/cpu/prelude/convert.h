/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h: conversions that few kernels need: the fp8 kinds, f64 to small floats, rounding toward zero, floats to
 * integers (toward zero, saturating, NaN is 0); see cpu.h. */
#ifndef TILEWRIGHT_CONVERT_H
#define TILEWRIGHT_CONVERT_H
#include "cpu.h"

TW_FN e4m3 tw_as_e4m3(u8 x) { return x; }
TW_FN e5m2 tw_as_e5m2(u8 x) { return x; }
TW_FN e4b8 tw_as_e4b8(u8 x) { return x; }
TW_FN e5b16 tw_as_e5b16(u8 x) { return x; }
TW_FN e4b15 tw_as_e4b15(u8 x) { return x; }

/* ---- up ---- */
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
TW_FN e4b15 tw_e4b15_f32(f32 x) { /* no NaN: it is the largest number, without its sign */
    u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    u32 normal = (size - 0x38000000u + 0x7ffff + (size >> 20 & 1)) >> 20;
    u32 small = tw_as_u32(tw_as_f32(size) + 0x1p6f) - 0x42800000u;
    return (u8)((size > 0x7f800000u ? 0 : sign) | (size >= 0x3ff00000u ? 0x7fu : size < 0x38800000u ? small : normal));
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
/* Toward zero: the 53 upper bits. */
TW_FN f64 tw_f64_rz_u64(u64 x) {
    int cut = x >> 53 ? 11 - __builtin_clzll(x) : 0;
    return (f64)(x >> cut << cut);
}
TW_FN f64 tw_f64_rz_i64(i64 x) { return x < 0 ? -tw_f64_rz_u64(0 - (u64)x) : tw_f64_rz_u64((u64)x); }

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
    if (size >= 0x3ff00000u) return (u8)(size > 0x7f800000u ? 0x7fu : sign | 0x7f);
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
#endif
