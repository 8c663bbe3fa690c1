/* convert.cuh: conversions that no instruction does, on bits, so the same on both sides.
 *
 *  tw_bf16 tw_e4m3 tw_e5m2(f64)                         nearest even, rounded once
 *  tw_f32_rz tw_f16_rz tw_bf16_rz tw_e4m3_rz tw_e5m2_rz(f64)   toward zero
 *  tw_sticky(i64|u64)   a f64 that rounds to every smaller format as the integer itself would
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
TW_FN f64 tw_sticky(u64 x) { return x >> 53 ? (f64)(x >> 11 | ((x & 0x7ff) != 0)) * 2048.0 : (f64)x; }
TW_FN f64 tw_sticky(i64 x) { return x < 0 ? -tw_sticky(0 - (u64)x) : tw_sticky((u64)x); }

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

#define TW_FLOAT_FLOOR(T)                                                                          \
    TW_FN T tw_floordiv(T x, T y) { return tw_floor(x / y); }                                      \
    TW_FN T tw_mod(T x, T y) {                                                                     \
        T r = tw_fmod(x, y);                                                                       \
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;                                           \
    }
TW_FLOAT_FLOOR(f32)
TW_FLOAT_FLOOR(f64)
#endif
