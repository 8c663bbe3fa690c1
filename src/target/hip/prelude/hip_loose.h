/* SPDX-License-Identifier: Apache-2.0 */
/* hip_loose.h: rows that lie on no multiple of a vector: AMD's global memory takes any address. */
#ifndef TILEWRIGHT_HIP_LOOSE_H
#define TILEWRIGHT_HIP_LOOSE_H

/* Is the element at a box's place i (below 2^30) inside an extent (not below 0), if the box begins at `first`? These are
 * the same for all lanes: a scalar unit compares them, by words. */
TW_FN i32 tw_near_end(i64 x) {
    const i32 high = (i32)(x >> 32);
    return high < 0 ? 0 : high > 0 || (u32)x > 0x40000000u ? 0x40000000 : (i32)x;
}
TW_FN bool tw_near(i32 i, i64 first, i64 extent) {
    const i64 at = (i32)(first >> 32) < -0x40000000 ? -0x4000000000000000 : first;
    const i32 from = tw_near_end(-at), count = tw_near_end(extent - at) - from;
    return (u32)(i - from) < (u32)(count < 0 ? 0 : count);
}
TW_FN void tw_load_anywhere(int count, int size, void *to, const void *row, i64 i, i64 n, bool on, const void *fill) {
    const u8 *from = (const u8 *)row + i * size;
    if (on && i >= 0 && i + count <= n) {
        tw_ldg_anywhere(size, to, from);
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++) {
        memcpy((u8 *)to + j * size, fill, (size_t)size);
        if (on && (u64)(i + j) < (u64)n) tw_ldg_bytes(size, (u8 *)to + j * size, from + j * size);
    }
}
/* By a base that all lanes share: lanes that are not on go beyond the bounds, for which the memory brings zeros. */
#define tw_ldg_bounded(V, on, to, base, at) tw_ldg_bounded_bytes(TW_SIZE(V, to), to, base, (on) ? (u32)(at) : TW_BEYOND)
#define tw_ldg_bounded_or(V, on, to, base, at, fill)                                               \
    do {                                                                                           \
        const bool tw_on = on;                                                                     \
        const auto tw_fill = fill;                                                                 \
        tw_ldg_bounded(V, tw_on, to, base, at);                                                    \
        _Pragma("unroll") for (int tw_i = 0; tw_i < V; tw_i++) (to)[tw_i] = tw_on ? (to)[tw_i] : tw_fill; \
    } while (0)
#define tw_stg_bounded(V, on, base, at, from) tw_stg_bounded_bytes(TW_SIZE(V, from), base, (on) ? (u32)(at) : TW_BEYOND, from)
#define tw_copy_wave_bounded(s, on, base, at) tw_copy_wave_near(s, base, (on) ? (u32)(at) : TW_BEYOND)
#define tw_load_row_anywhere(V, to, row, i, n, on, fill)                                           \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_load_anywhere(V, (int)sizeof(*(row)), to, row, i, n, on, &tw_fill);                     \
    } while (0)
#endif
