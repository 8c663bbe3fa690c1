/* SPDX-License-Identifier: Apache-2.0 */
/* bits.cuh: numbers of any type by their bits, so the same on both sides.
 *
 *  tw_atomic_cas(p, expect, v)   *p = v where its bits are those of expect; the old value (tw_atomic_cas_system: for all that share the memory)
 *  tw_same(x, y)                 equal bits
 *  tw_move_idx(x, lane) tw_move_xor(x, mask)   shuffles of any type */
#ifndef TILEWRIGHT_BITS_CUH
#define TILEWRIGHT_BITS_CUH

#define TW_CAS(name, by_bits, T, U)                                                                \
    TW_FN T name(T *p, T expect, T v) {                                                            \
        U old = by_bits((U *)p, tw_bits(expect), tw_bits(v));                                      \
        memcpy(&v, &old, sizeof v);                                                                \
        return v;                                                                                  \
    }
#define TW_BY_BITS(T, U, Lane)                                                                     \
    TW_AS(tw_bits, U, T)                                                                           \
    TW_CAS(tw_atomic_cas, tw_cas_bits, T, U)                                                       \
    TW_CAS(tw_atomic_cas_system, tw_cas_bits_system, T, U)                                         \
    TW_FN bool tw_same(T x, T y) { return tw_bits(x) == tw_bits(y); }                              \
    TW_FN T tw_move_idx(T x, i32 lane) {                                                           \
        U bits = (U)tw_shfl_idx((Lane)tw_bits(x), lane);                                           \
        memcpy(&x, &bits, sizeof x);                                                               \
        return x;                                                                                  \
    }                                                                                              \
    TW_FN T tw_move_xor(T x, i32 mask) { return tw_move_idx(x, tw_lane() ^ mask); }
TW_BY_BITS(bool, u8, u32)
TW_BY_BITS(i8, u8, u32)
TW_BY_BITS(u8, u8, u32)
TW_BY_BITS(i16, u16, u32)
TW_BY_BITS(u16, u16, u32)
TW_BY_BITS(i32, u32, u32)
TW_BY_BITS(u32, u32, u32)
TW_BY_BITS(i64, u64, u64)
TW_BY_BITS(u64, u64, u64)
TW_BY_BITS(f32, u32, u32)
TW_BY_BITS(f64, u64, u64)
TW_BY_BITS(f16, u16, u32)
TW_BY_BITS(bf16, u16, u32)
TW_BY_BITS(e4m3, u8, u32)
TW_BY_BITS(e5m2, u8, u32)
TW_BY_BITS(e4b8, u8, u32)
TW_BY_BITS(e5b16, u8, u32)
TW_BY_BITS(e4b15, u8, u32)
#endif
