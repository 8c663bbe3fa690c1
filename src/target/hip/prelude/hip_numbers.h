/* SPDX-License-Identifier: Apache-2.0 */
/* hip_numbers.h: conversions, arithmetic that C cannot say, and its approximate forms for AMD's GPUs (legend in tilewright.cuh).
 * What is an instruction and no C stands in hip_device.h (tw_hw_..), on the host in emulated_hip.h. */
#ifndef TILEWRIGHT_HIP_NUMBERS_H
#define TILEWRIGHT_HIP_NUMBERS_H

/* ---- conversions ---- */
TW_FN f32 tw_f32(f16 x) { return tw_hw_f32(x.bits); }
TW_FN f32 tw_f32(bf16 x) { return tw_as_f32((u32)x.bits << 16); }
TW_FN f32 tw_f32(e5m2 x) { return tw_hw_f32((u16)(x.bits << 8)); }
TW_FN f16 tw_f16(f32 x) { return f16{tw_hw_f16(x)}; }
TW_FN u32 tw_round_bf16(f32 x) { /* in the upper half */
    const u32 u = tw_as_u32(x), quiet = u | 0x400000u, rounded = u + 0x7fffu + (u >> 16 & 1);
    return x != x ? quiet : rounded; /* both are there: no branch */
}
TW_FN bf16 tw_bf16(f32 x) { return bf16{(u16)(tw_round_bf16(x) >> 16)}; }
#include "f8.cuh"
TW_FN u32 tw_pack_f16(f32 lo, f32 hi) { return tw_pack(tw_f16(lo), tw_f16(hi)); }
TW_FN u32 tw_pack_bf16(f32 lo, f32 hi) { return tw_hw_perm(tw_round_bf16(hi), tw_round_bf16(lo), 0x07060302u); }
TW_FN u32 tw_pack_f16(e4m3 lo, e4m3 hi) { return tw_pack_f16(tw_f32(lo), tw_f32(hi)); }
TW_FN u32 tw_pack_bf16(e4m3 lo, e4m3 hi) { return tw_pack_bf16(tw_f32(lo), tw_f32(hi)); }
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
    return tw_hw_perm(y, x, (which & 7) | (which & 0x70) << 4 | (which & 0x700) << 8 | (which & 0x7000) << 12);
}
/* high: the first number beyond the type. */
#define TW_FROM_FLOAT(F, name, T, low, high, least, most)                                          \
    TW_FN T name(F x) { return x != x ? 0 : x <= (F)(low) ? (least) : x >= (F)(high) ? (most) : (T)x; }
#define TW_FROM_FLOATS(F)                                                                          \
    TW_FROM_FLOAT(F, tw_i32, i32, -2147483648.0, 2147483648.0, -2147483647 - 1, 2147483647)        \
    TW_FROM_FLOAT(F, tw_u32, u32, 0.0, 4294967296.0, 0u, 4294967295u)                              \
    TW_FROM_FLOAT(F, tw_i64, i64, -9223372036854775808.0, 9223372036854775808.0, -9223372036854775807LL - 1, 9223372036854775807LL) \
    TW_FROM_FLOAT(F, tw_u64, u64, 0.0, 18446744073709551616.0, 0ULL, 18446744073709551615ULL)
TW_FROM_FLOATS(f32)
TW_FROM_FLOATS(f64)

/* ---- arithmetic that C cannot say ---- */
TW_FN i64 tw_mul_wide(i32 x, i32 y) { return (i64)x * y; }
TW_FN u64 tw_mulhi(u64 x, u64 y) { return tw_m_high(x, y); }
TW_FN i64 tw_mulhi(i64 x, i64 y) { return (i64)(tw_m_high((u64)x, (u64)y) - (x < 0 ? (u64)y : 0) - (y < 0 ? (u64)x : 0)); }
TW_FN i32 tw_popc(u32 x) { return __builtin_popcount(x); }
TW_FN i32 tw_popc(i32 x) { return __builtin_popcount((u32)x); }
TW_FN i32 tw_popc(u64 x) { return __builtin_popcountll(x); }
TW_FN i32 tw_popc(i64 x) { return __builtin_popcountll((u64)x); }
TW_FN i32 tw_clz(u32 x) { return x ? __builtin_clz(x) : 32; }
TW_FN i32 tw_clz(i32 x) { return tw_clz((u32)x); }
TW_FN i32 tw_clz(u64 x) { return x ? __builtin_clzll(x) : 64; }
TW_FN i32 tw_clz(i64 x) { return tw_clz((u64)x); }
TW_FN f32 tw_min_nan(f32 x, f32 y) { return x != x ? x : y != y ? y : tw_min(x, y); }
TW_FN f32 tw_max_nan(f32 x, f32 y) { return x != x ? x : y != y ? y : tw_max(x, y); }
TW_FN f32 tw_rsqrt(f32 x) { return 1.0f / tw_sqrt(x); } /* 1.5 ulp */
TW_FN f64 tw_rsqrt(f64 x) { return 1.0 / tw_sqrt(x); }

/* ---- approximate: v_exp_f32, v_log_f32, v_rcp_f32, v_sqrt_f32, v_rsq_f32 are good for 1 ulp, subnormals are 0 ---- */
TW_FN f32 tw_exp2_fast(f32 x) { return tw_hw_exp2(x); }
TW_FN f32 tw_log2_fast(f32 x) { return tw_hw_log2(x); }
TW_FN f32 tw_rcp_fast(f32 x) { return tw_hw_rcp(x); }
TW_FN f32 tw_sqrt_fast(f32 x) { return tw_hw_sqrt(x); }
TW_FN f32 tw_rsqrt_fast(f32 x) { return tw_hw_rsqrt(x); }
/* The product with log2(e) is rounded once, so the error grows with |x|: 2 + |1.18 x| ulp. */
TW_FN f32 tw_exp_fast(f32 x) { return tw_exp2_fast(x * 1.4426950408889634f); }
TW_FN f32 tw_log_fast(f32 x) { return tw_log2_fast(x) * 0.6931471805599453f; }
TW_FN f32 tw_sin_fast(f32 x) { return tw_sin(x); }
TW_FN f32 tw_cos_fast(f32 x) { return tw_cos(x); }
TW_FN f32 tw_tanh_fast(f32 x) { return tw_tanh(x); }
/* A divisor and its reciprocal, scaled where either would leave the normal numbers: 2 ulp over the whole range. */
typedef struct TwOver { f32 scale, reciprocal; } TwOver;
TW_FN TwOver tw_over(f32 y) {
    const f32 scale = tw_abs(y) > 0x1p126f ? 0.25f : tw_abs(y) < 0x1p-126f ? 0x1p24f : 1.0f;
    return TwOver{scale, tw_hw_rcp(y * scale)};
}
TW_FN f32 tw_div_over(f32 x, TwOver over) { return x * over.scale * over.reciprocal; }
TW_FN f32 tw_div_fast(f32 x, f32 y) { return tw_div_over(x, tw_over(y)); }
#endif
