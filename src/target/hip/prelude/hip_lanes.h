/* SPDX-License-Identifier: Apache-2.0 */
/* hip_lanes.h: trades between the lanes of a wave (legend in tilewright.cuh), by three instructions:
 *
 *  tw_hw_dpp(x, control)      one lane reads another of its row of 16 on the way into the ALU: no trip through the LDS
 *  tw_hw_swizzle(x, pattern)  of 32 lanes, i reads ((i & and) | or) ^ xor; by the LDS unit, without an address
 *  tw_hw_permute(from, x)     any lane reads any other; the same with an address
 *
 * Masks are constants once inlined, so one of them remains. On the host these are the emulator's, after AMD's manuals. */
#ifndef TILEWRIGHT_HIP_LANES_H
#define TILEWRIGHT_HIP_LANES_H

#define TW_QUAD(a, b, c, d) ((a) | (b) << 2 | (c) << 4 | (d) << 6) /* lane i of four reads this one of them */
#define TW_ROW_ROTATE(n)    (0x120 + (n))
#define TW_ROW_MIRROR       0x140
#define TW_ROW_HALF_MIRROR  0x141
#define TW_ROW_XOR(n)       (0x160 + (n)) /* RDNA */
#define TW_SWIZZLE_XOR(n)   ((n) << 10 | 0x1f)

TW_FN u32 tw_lane_at(u32 x, i32 from TW_LINE_HERE) { return tw_hw_permute((u32)from & (TW_LANES - 1), x TW_LINE_ON); }
TW_FN u32 tw_lane_xor(u32 x, i32 mask TW_LINE_HERE) {
    switch (mask & (TW_LANES - 1)) {
    case 1: return tw_hw_dpp(x, TW_QUAD(1, 0, 3, 2) TW_LINE_ON);
    case 2: return tw_hw_dpp(x, TW_QUAD(2, 3, 0, 1) TW_LINE_ON);
    case 3: return tw_hw_dpp(x, TW_QUAD(3, 2, 1, 0) TW_LINE_ON);
    case 4:
        if (TW_LANES == 32) return tw_hw_dpp(x, TW_ROW_XOR(4) TW_LINE_ON);
        return tw_hw_dpp(tw_hw_dpp(x, TW_ROW_HALF_MIRROR TW_LINE_ON), TW_QUAD(3, 2, 1, 0) TW_LINE_ON);
    case 7: return tw_hw_dpp(x, TW_ROW_HALF_MIRROR TW_LINE_ON);
    case 8: return tw_hw_dpp(x, TW_ROW_ROTATE(8) TW_LINE_ON);
    case 15: return tw_hw_dpp(x, TW_ROW_MIRROR TW_LINE_ON);
    case 16: return tw_hw_swizzle(x, TW_SWIZZLE_XOR(16) TW_LINE_ON);
    default: return tw_lane_at(x, tw_lane() ^ mask TW_LINE_ON);
    }
}
/* Lanes that have none so far away keep what they have. */
TW_FN u32 tw_lane_up(u32 x, i32 n TW_LINE_HERE) { return tw_lane_at(x, tw_lane() < n ? tw_lane() : tw_lane() - n TW_LINE_ON); }
TW_FN u32 tw_lane_down(u32 x, i32 n TW_LINE_HERE) {
    return tw_lane_at(x, tw_lane() + n >= TW_LANES ? tw_lane() : tw_lane() + n TW_LINE_ON);
}
#define TW_LANE_WORDS(by) /* 64 bits go in two halves */                                           \
    TW_FN u64 by(u64 x, i32 n TW_LINE_HERE) {                                                      \
        return by((u32)x, n TW_LINE_ON) | (u64)by((u32)(x >> 32), n TW_LINE_ON) << 32;             \
    }
TW_LANE_WORDS(tw_lane_at)
TW_LANE_WORDS(tw_lane_xor)
TW_LANE_WORDS(tw_lane_up)
TW_LANE_WORDS(tw_lane_down)
#define TW_SHUFFLE(name, by)                                                                       \
    TW_FN u32 name(u32 x, i32 n TW_LINE_HERE) { return by(x, n TW_LINE_ON); }                      \
    TW_FN i32 name(i32 x, i32 n TW_LINE_HERE) { return (i32)by((u32)x, n TW_LINE_ON); }            \
    TW_FN u64 name(u64 x, i32 n TW_LINE_HERE) { return by(x, n TW_LINE_ON); }                      \
    TW_FN i64 name(i64 x, i32 n TW_LINE_HERE) { return (i64)by((u64)x, n TW_LINE_ON); }            \
    TW_FN f32 name(f32 x, i32 n TW_LINE_HERE) { return tw_as_f32(by(tw_as_u32(x), n TW_LINE_ON)); } \
    TW_FN f64 name(f64 x, i32 n TW_LINE_HERE) { return tw_as_f64(by(tw_as_u64(x), n TW_LINE_ON)); } \
    TW_FN f16 name(f16 x, i32 n TW_LINE_HERE) { return f16{(u16)by((u32)x.bits, n TW_LINE_ON)}; }  \
    TW_FN bf16 name(bf16 x, i32 n TW_LINE_HERE) { return bf16{(u16)by((u32)x.bits, n TW_LINE_ON)}; }
TW_SHUFFLE(tw_shfl_xor, tw_lane_xor)
TW_SHUFFLE(tw_shfl_idx, tw_lane_at)
TW_SHUFFLE(tw_shfl_up, tw_lane_up)
TW_SHUFFLE(tw_shfl_down, tw_lane_down)

/* ---- of all lanes, in every lane ---- */
#define TW_BOTH_add(x, y) ((x) + (y))
#define TW_BOTH_min(x, y) tw_min(x, y)
#define TW_BOTH_max(x, y) tw_max(x, y)
#define TW_BOTH_and(x, y) ((x) & (y))
#define TW_BOTH_or(x, y)  ((x) | (y))
#define TW_BOTH_xor(x, y) ((x) ^ (y))
#define TW_LANES_STEPS(name, T, op, from, goes, step)                                              \
    TW_FN T name(T x TW_LINE_HERE) {                                                               \
        _Pragma("unroll") for (i32 mask = from; goes; step) {                                      \
            const T y = tw_shfl_xor(x, mask TW_LINE_ON);                                           \
            x = TW_BOTH_##op(x, y);                                                                \
        }                                                                                          \
        return x;                                                                                  \
    }
#define TW_LANES_BOTH(op)                                                                          \
    TW_LANES_STEPS(tw_lanes_##op##_up, f32, op, 1, mask < TW_LANES, mask *= 2)                     \
    TW_LANES_STEPS(tw_lanes_##op##_down, f32, op, TW_LANES / 2, mask, mask /= 2)
TW_LANES_BOTH(add)
TW_LANES_BOTH(min)
TW_LANES_BOTH(max)
#define TW_LANES_OF(op)                                                                            \
    TW_LANES_STEPS(tw_lanes_##op, u32, op, 1, mask < TW_LANES, mask *= 2)                          \
    TW_FN i32 tw_lanes_##op(i32 x TW_LINE_HERE) { return (i32)tw_lanes_##op((u32)x TW_LINE_ON); }
TW_LANES_OF(add)
TW_LANES_OF(and)
TW_LANES_OF(or)
TW_LANES_OF(xor)
TW_LANES_STEPS(tw_lanes_min, u32, min, 1, mask < TW_LANES, mask *= 2)
TW_LANES_STEPS(tw_lanes_max, u32, max, 1, mask < TW_LANES, mask *= 2)
TW_LANES_STEPS(tw_lanes_min, i32, min, 1, mask < TW_LANES, mask *= 2)
TW_LANES_STEPS(tw_lanes_max, i32, max, 1, mask < TW_LANES, mask *= 2)
#endif
