/* SPDX-License-Identifier: Apache-2.0 */
/* convert.cuh: conversions that no instruction does, on bits, so the same on both sides.
 *
 *  tw_bf16 tw_e4m3 tw_e5m2(f64)                         nearest even, rounded once
 *  tw_f32_rz tw_f16_rz tw_bf16_rz tw_e4m3_rz tw_e5m2_rz(f64)   toward zero
 *  tw_f32 and the above for e4b8 e5b16 (one zero, NaN 0x80) and e4b15 (no NaN), which no instruction knows
 *  tw_sticky(i64|u64)   a f64 that rounds to every smaller format as the integer itself would
 *  tw_f64_rz(i64|u64)   toward zero
 *  tw_e5m2_exact(f32)   of a number that is one of the type: an infinity stays one
 *  tw_pack_f16 tw_pack_bf16(i8|u8|e5m2 lo, hi)   two numbers of 8 bits as a word of 16-bit floats: exact
 *  tw_two_e4m3 tw_two_e5m2(to, f32, f32) tw_two_f32(f32 *to, from)   two floats of 8 bits at once
 *  tw_floordiv tw_mod(f32|f64)   toward minus infinity, and what it leaves, with y's sign */
#ifndef TILEWRIGHT_CONVERT_CUH
#define TILEWRIGHT_CONVERT_CUH

TW_FN f32 tw_f32_rz(f64 x) {
    f32 y = (f32)x;
    f64 back = y, size = x < 0 ? -x : x, back_size = back < 0 ? -back : back;
    return back_size > size ? tw_as_f32(tw_as_u32(y) - 1) : y;
}
/* Cut off toward zero, the last bit standing for all that was cut: what follows rounds as from x itself. */
TW_FN f32 tw_odd(f64 x) {
    f32 y = tw_f32_rz(x);
    return (f64)y == x || x != x ? y : tw_as_f32(tw_as_u32(y) | 1);
}
TW_FN bf16 tw_bf16(f64 x) { return tw_bf16(tw_odd(x)); }
TW_FN e4m3 tw_e4m3(f64 x) { return tw_e4m3(tw_odd(x)); }
TW_FN e5m2 tw_e5m2(f64 x) { return tw_e5m2(tw_odd(x)); }
TW_FN e5m2 tw_e5m2_exact(f32 x) {
    u32 u = tw_as_u32(x);
    return (u & 0x7fffffffu) == 0x7f800000u ? e5m2{(u8)(u >> 24 & 0x80 | 0x7c)} : tw_e5m2(x);
}
TW_FN f64 tw_sticky(u64 x) { return x >> 53 ? (f64)(x >> 11 | ((x & 0x7ff) != 0)) * 2048.0 : (f64)x; }
TW_FN f64 tw_sticky(i64 x) { return x < 0 ? -tw_sticky(0 - (u64)x) : tw_sticky((u64)x); }
TW_FN f64 tw_f64_rz(u64 x) {
    i32 cut = x >> 53 ? 11 - tw_clz(x) : 0;
    return (f64)(x >> cut << cut);
}
TW_FN f64 tw_f64_rz(i64 x) { return x < 0 ? -tw_f64_rz(0 - (u64)x) : tw_f64_rz((u64)x); }

TW_FN f16 tw_f16_rz(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz(x)), sign = u >> 16 & 0x8000, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return f16{(u16)(sign | 0x7e00)};
    if (size == 0x7f800000u && x - x != 0) return f16{(u16)(sign | 0x7c00)};
    if (size >= 0x47800000u) return f16{(u16)(sign | 0x7bff)};
    if (size < 0x38800000u) return f16{(u16)(sign | (u32)(tw_as_f32(size) * 0x1p24f))};
    return f16{(u16)(sign | (size - 0x38000000u) >> 13)};
}
TW_FN bf16 tw_bf16_rz(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz(x));
    return bf16{(u16)(x != x ? u >> 16 | 0x40u : u >> 16)};
}
TW_FN e4m3 tw_e4m3_rz(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return e4m3{(u8)(sign | 0x7f)};
    if (size >= 0x43e00000u) return e4m3{(u8)(sign | 0x7e)};
    if (size < 0x3c800000u) return e4m3{(u8)(sign | (u32)(tw_as_f32(size) * 0x1p9f))};
    return e4m3{(u8)(sign | (size - 0x3c000000u) >> 20)};
}
TW_FN e5m2 tw_e5m2_rz(f64 x) {
    u32 u = tw_as_u32(tw_f32_rz(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;
    if (size > 0x7f800000u) return e5m2{(u8)(sign | 0x7e)};
    if (size >= 0x47600000u) return e5m2{(u8)(sign | 0x7b)};
    if (size < 0x38800000u) return e5m2{(u8)(sign | (u32)(tw_as_f32(size) * 0x1p16f))};
    return e5m2{(u8)(sign | (size - 0x38000000u) >> 21)};
}

/* S: places of the mantissa in f32; UP, ADD: 2^(127 - bias) and the number whose last bit is the format's smallest;
 * BASE, LEAST, MOST: f32 bits of (1 - bias) shifted, of the smallest normal number and of the largest. */
#define TW_SMALL_FLOAT(T, S, UP, BASE, ADD, LEAST, MOST, UNIT, IS_NAN, NAN, ZERO)                  \
    TW_FN f32 tw_f32(T x) {                                                                        \
        u32 bits = tw_as_u32(tw_as_f32((u32)(x.bits & 0x7f) << S) * UP);                           \
        return tw_as_f32(IS_NAN ? 0x7fc00000u : bits | (u32)(x.bits & 0x80) << 24);                \
    }                                                                                              \
    TW_FN T T##_pack(u32 sign, u32 size, u32 bits) {                                               \
        return T{(u8)(size > 0x7f800000u ? NAN : bits ? sign | bits : ZERO)};                      \
    }                                                                                              \
    TW_FN T tw_##T(f32 x) {                                                                        \
        u32 u = tw_as_u32(x), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;                       \
        u32 normal = (size - BASE + (1u << (S - 1)) - 1 + (size >> S & 1)) >> S;                   \
        u32 small = tw_as_u32(tw_as_f32(size) + ADD) - tw_as_u32(ADD);                             \
        return T##_pack(sign, size, size >= MOST ? 0x7fu : size < LEAST ? small : normal);         \
    }                                                                                              \
    TW_FN T tw_##T(f64 x) { return tw_##T(tw_odd(x)); }                                            \
    TW_FN T tw_##T##_rz(f64 x) {                                                                   \
        u32 u = tw_as_u32(tw_f32_rz(x)), sign = u >> 24 & 0x80, size = u & 0x7fffffffu;            \
        u32 small = size < LEAST ? (u32)(tw_as_f32(size) * UNIT) : 0;                              \
        return T##_pack(sign, size, size >= MOST ? 0x7fu : size < LEAST ? small : (size - BASE) >> S); \
    }
TW_SMALL_FLOAT(e4b8, 20, 0x1p119f, 0x3b800000u, 0x1p13f, 0x3c000000u, 0x43700000u, 0x1p10f, x.bits == 0x80, 0x80u, 0u)
TW_SMALL_FLOAT(e5b16, 21, 0x1p111f, 0x37800000u, 0x1p6f, 0x38000000u, 0x47600000u, 0x1p17f, x.bits == 0x80, 0x80u, 0u)
TW_SMALL_FLOAT(e4b15, 20, 0x1p112f, 0x38000000u, 0x1p6f, 0x38800000u, 0x3ff00000u, 0x1p17f, false, 0x7fu, sign)

/* A number of 8 bits below a byte that makes a float of it whose unit is 1, less what that float has too much: 1024 in
 * f16, in bf16, which has room for 7 of the bits, 128, or 256 with the sign. */
TW_FN u32 tw_bytes(u8 lo, u8 hi) { return lo | (u32)hi << 8; }
TW_FN u32 tw_pack_f16(u8 lo, u8 hi) {
    return tw_sub_f16x2(tw_prmt(tw_bytes(lo, hi), 0x64646464u, 0x4140), 0x64006400u);
}
TW_FN u32 tw_pack_f16(i8 lo, i8 hi) {
    return tw_sub_f16x2(tw_prmt(tw_bytes((u8)lo, (u8)hi), 0x64646464u, 0x4140) ^ 0x00800080u, 0x64806480u);
}
TW_FN u32 tw_pack_bf16(u8 lo, u8 hi) { return tw_pack_bf16((f32)lo, (f32)hi); }
TW_FN u32 tw_pack_bf16(i8 lo, i8 hi) {
    u32 both = tw_prmt(tw_bytes((u8)lo, (u8)hi), 0x43434343u, 0x4140);
    return tw_sub_bf16x2(both & 0xff7fff7fu, both & 0xff80ff80u);
}
TW_FN u32 tw_pack_f16(e5m2 lo, e5m2 hi) { return tw_prmt(tw_bytes(lo.bits, hi.bits), 0, 0x1404); }
TW_FN u32 tw_pack_bf16(e5m2 lo, e5m2 hi) { return tw_pack_bf16(tw_f32(lo), tw_f32(hi)); }

#ifndef TW_HAS_TWO_BYTES /* a machine that has no instruction for two */
#define TW_TWO_BYTES(T)                                                                            \
    TW_FN void tw_two_##T(T *to, f32 x, f32 y) { to[0] = tw_##T(x), to[1] = tw_##T(y); }           \
    TW_FN void tw_two_f32(f32 *to, const T *from) { to[0] = tw_f32(from[0]), to[1] = tw_f32(from[1]); }
TW_TWO_BYTES(e4m3)
TW_TWO_BYTES(e5m2)
#endif

#define TW_FLOAT_FLOOR(T)                                                                          \
    TW_FN T tw_floordiv(T x, T y) { return tw_floor(x / y); }                                      \
    TW_FN T tw_mod(T x, T y) {                                                                     \
        T r = tw_fmod(x, y);                                                                       \
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;                                           \
    }
TW_FLOAT_FLOOR(f32)
TW_FLOAT_FLOOR(f64)
#endif
