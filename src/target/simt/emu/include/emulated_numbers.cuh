/* SPDX-License-Identifier: Apache-2.0 */
/* emulated_numbers.cuh: conversions, arithmetic that C cannot say, and trades between lanes, for a host compiler: exact where
 * the legend (tilewright.cuh) bounds an error. Behind emulated_simt.cuh. */
#ifndef TILEWRIGHT_EMULATED_NUMBERS_CUH
#define TILEWRIGHT_EMULATED_NUMBERS_CUH

/* ---- conversions ---- */
TW_FN f32 tw_f32(f16 x) { return (f32)tw_emu->call->widen(EMU_F16, x.bits); }
TW_FN f32 tw_f32(bf16 x) { return tw_as_f32((u32)x.bits << 16); }
TW_FN f32 tw_f32(e4m3 x) { return (f32)tw_emu->call->widen(EMU_E4M3, x.bits); }
TW_FN f32 tw_f32(e5m2 x) { return (f32)tw_emu->call->widen(EMU_E5M2, x.bits); }
TW_FN f16 tw_f16(f32 x) { return f16{(u16)tw_emu->call->narrow(EMU_F16, x)}; }
TW_FN f16 tw_f16(f64 x) { return f16{(u16)tw_emu->call->narrow(EMU_F16, x)}; }
TW_FN bf16 tw_bf16(f32 x) { return bf16{(u16)tw_emu->call->narrow(EMU_BF16, x)}; }
TW_FN e4m3 tw_e4m3(f32 x) { return e4m3{(u8)tw_emu->call->narrow(EMU_E4M3, x)}; }
TW_FN e5m2 tw_e5m2(f32 x) { return e5m2{(u8)tw_emu->call->narrow(EMU_E5M2, x)}; }
TW_FN u32 tw_tf32(f32 x) { return x - x == 0 ? (tw_as_u32(x) + 0x1000u) & ~0x1fffu : tw_as_u32(x); }
TW_FN u32 tw_pack_f16(f32 lo, f32 hi) { return tw_pack(tw_f16(lo), tw_f16(hi)); }
TW_FN u32 tw_pack_bf16(f32 lo, f32 hi) { return tw_pack(tw_bf16(lo), tw_bf16(hi)); }
TW_FN u32 tw_pack_f16(e4m3 lo, e4m3 hi) { return tw_pack_f16(tw_f32(lo), tw_f32(hi)); }
TW_FN u32 tw_pack_bf16(e4m3 lo, e4m3 hi) { return tw_pack_bf16(tw_f32(lo), tw_f32(hi)); }
TW_FN u32 tw_pack_e4m3(f32 x0, f32 x1, f32 x2, f32 x3) {
    return tw_pack(tw_e4m3(x0), tw_e4m3(x1), tw_e4m3(x2), tw_e4m3(x3));
}
TW_FN u32 tw_pack_e5m2(f32 x0, f32 x1, f32 x2, f32 x3) {
    return tw_pack(tw_e5m2(x0), tw_e5m2(x1), tw_e5m2(x2), tw_e5m2(x3));
}
TW_FN f32 tw_lo_f16(u32 x) { return tw_f32(f16{(u16)x}); }
TW_FN f32 tw_hi_f16(u32 x) { return tw_f32(f16{(u16)(x >> 16)}); }
TW_FN f32 tw_lo_bf16(u32 x) { return tw_as_f32(x << 16); }
TW_FN f32 tw_hi_bf16(u32 x) { return tw_as_f32(x & 0xffff0000u); }
#define TW_PAIRS(name, sign, type)                                                                 \
    TW_FN u32 tw_##name##_##type##x2(u32 x, u32 y) {                                               \
        return tw_pack_##type(tw_lo_##type(x) sign tw_lo_##type(y), tw_hi_##type(x) sign tw_hi_##type(y)); \
    }
TW_PAIRS(add, +, bf16)
TW_PAIRS(sub, -, bf16)
TW_PAIRS(add, +, f16)
TW_PAIRS(sub, -, f16)
TW_PAIRS(mul, *, f16)
TW_FN u32 tw_prmt(u32 x, u32 y, u32 which) {
    u64 both = (u64)y << 32 | x;
    u32 r = 0;
    for (int i = 0; i < 4; i++) r |= (u32)(both >> (which >> 4 * i & 7) * 8 & 0xff) << 8 * i;
    return r;
}
#define TW_FROM_FLOAT(name, T, low, high, least, most)                                             \
    TW_FN T name(f64 x) { return x != x ? 0 : x <= (low) ? (least) : x >= (high) ? (most) : (T)x; } \
    TW_FN T name(f32 x) { return name((f64)x); }
TW_FROM_FLOAT(tw_i32, i32, -2147483648.0, 2147483648.0, -2147483647 - 1, 2147483647)
TW_FROM_FLOAT(tw_u32, u32, 0.0, 4294967296.0, 0u, 4294967295u)
TW_FROM_FLOAT(tw_i64, i64, -9223372036854775808.0, 9223372036854775808.0, -9223372036854775807LL - 1,
              9223372036854775807LL)
TW_FROM_FLOAT(tw_u64, u64, 0.0, 18446744073709551616.0, 0ULL, 18446744073709551615ULL)

/* ---- arithmetic that C cannot say ---- */
TW_FN i64 tw_mul_wide(i32 x, i32 y) { return (i64)x * y; }
TW_FN i64 tw_mulhi(i64 x, i64 y) { return (i64)(((__int128)x * y) >> 64); }
TW_FN u64 tw_mulhi(u64 x, u64 y) { return (u64)(((unsigned __int128)x * y) >> 64); }
TW_FN i32 tw_popc(u32 x) { return __builtin_popcount(x); }
TW_FN i32 tw_popc(i32 x) { return __builtin_popcount((u32)x); }
TW_FN i32 tw_popc(u64 x) { return __builtin_popcountll(x); }
TW_FN i32 tw_popc(i64 x) { return __builtin_popcountll((u64)x); }
TW_FN i32 tw_clz(u32 x) { return x ? __builtin_clz(x) : 32; }
TW_FN i32 tw_clz(i32 x) { return tw_clz((u32)x); }
TW_FN i32 tw_clz(u64 x) { return x ? __builtin_clzll(x) : 64; }
TW_FN i32 tw_clz(i64 x) { return tw_clz((u64)x); }
TW_FN f32 tw_min_nan(f32 x, f32 y) { return x != x ? x : y != y ? y : fminf(x, y); }
TW_FN f32 tw_max_nan(f32 x, f32 y) { return x != x ? x : y != y ? y : fmaxf(x, y); }
TW_FN f32 tw_rsqrt(f32 x) { return (f32)(1.0 / sqrt((f64)x)); }
TW_FN f64 tw_rsqrt(f64 x) { return 1.0 / sqrt(x); }
TW_FN f32 tw_exp2_fast(f32 x) { return exp2f(x); }
TW_FN f32 tw_log2_fast(f32 x) { return log2f(x); }
TW_FN f32 tw_rcp_fast(f32 x) { return 1.0f / x; }
TW_FN f32 tw_sqrt_fast(f32 x) { return sqrtf(x); }
TW_FN f32 tw_rsqrt_fast(f32 x) { return tw_rsqrt(x); }
TW_FN f32 tw_sin_fast(f32 x) { return sinf(x); }
TW_FN f32 tw_cos_fast(f32 x) { return cosf(x); }
TW_FN f32 tw_tanh_fast(f32 x) { return tanhf(x); }
TW_FN f32 tw_exp_fast(f32 x) { return expf(x); }
TW_FN f32 tw_log_fast(f32 x) { return logf(x); }
TW_FN f32 tw_div_fast(f32 x, f32 y) { return x / y; }
struct TwOver { f32 y; };
TW_FN TwOver tw_over(f32 y) { return TwOver{y}; }
TW_FN f32 tw_div_over(f32 x, TwOver over) { return x / over.y; }

/* ---- warp ---- */
#define TW_SHUFFLE_AS(name, kind, T, U)                                                            \
    TW_FN T name(T x, i32 n, TW_LINE) {                                                            \
        U bits;                                                                                    \
        memcpy(&bits, &x, sizeof x);                                                               \
        bits = (U)TW_CALL(shuffle, kind, bits, n);                                                 \
        memcpy(&x, &bits, sizeof x);                                                               \
        return x;                                                                                  \
    }
#define TW_SHUFFLE(name, kind)                                                                     \
    TW_SHUFFLE_AS(name, kind, i32, u32) TW_SHUFFLE_AS(name, kind, u32, u32)                        \
    TW_SHUFFLE_AS(name, kind, i64, u64) TW_SHUFFLE_AS(name, kind, u64, u64)                        \
    TW_SHUFFLE_AS(name, kind, f32, u32) TW_SHUFFLE_AS(name, kind, f64, u64)                        \
    TW_SHUFFLE_AS(name, kind, f16, u16) TW_SHUFFLE_AS(name, kind, bf16, u16)
TW_SHUFFLE(tw_shfl_xor, EMU_SHFL_XOR)
TW_SHUFFLE(tw_shfl_idx, EMU_SHFL_IDX)
TW_SHUFFLE(tw_shfl_up, EMU_SHFL_UP)
TW_SHUFFLE(tw_shfl_down, EMU_SHFL_DOWN)
#define TW_LANES(op)                                                                               \
    TW_FN f32 tw_lanes_##op##_up(f32 x, TW_LINE) {                                                 \
        for (int mask = 1; mask < tw_emu->now.lanes; mask *= 2) x = TW_JOIN_##op(x, tw_shfl_xor(x, mask, line));  \
        return x;                                                                                  \
    }                                                                                              \
    TW_FN f32 tw_lanes_##op##_down(f32 x, TW_LINE) {                                               \
        for (int mask = tw_emu->now.lanes / 2; mask; mask /= 2) x = TW_JOIN_##op(x, tw_shfl_xor(x, mask, line));      \
        return x;                                                                                  \
    }
TW_LANES(add)
TW_LANES(min)
TW_LANES(max)
#define TW_LANES_OF(T, name, joined)                                                               \
    TW_FN T tw_lanes_##name(T x, TW_LINE) {                                                        \
        for (int mask = 1; mask < tw_emu->now.lanes; mask *= 2) {                                  \
            const T y = tw_shfl_xor(x, mask, line);                                                \
            x = joined;                                                                            \
        }                                                                                          \
        return x;                                                                                  \
    }
#define TW_LANES_WHOLE(T)                                                                          \
    TW_LANES_OF(T, add, (T)((u32)x + (u32)y)) TW_LANES_OF(T, min, x < y ? x : y) TW_LANES_OF(T, max, x > y ? x : y)  \
    TW_LANES_OF(T, and, x & y) TW_LANES_OF(T, or, x | y) TW_LANES_OF(T, xor, x ^ y)
TW_LANES_WHOLE(i32)
TW_LANES_WHOLE(u32)
#endif
