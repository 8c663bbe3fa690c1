/* SPDX-License-Identifier: Apache-2.0 */
/* hip_loose.h: rows that lie on no multiple of a vector: AMD's global memory takes any address. */
#ifndef TILEWRIGHT_HIP_LOOSE_H
#define TILEWRIGHT_HIP_LOOSE_H

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
#define tw_copy_wave_bounded(s, on, base, at) tw_copy_wave_near(s, base, (on) ? (u32)(at) : TW_BEYOND)
#define tw_load_row_anywhere(V, to, row, i, n, on, fill)                                           \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_load_anywhere(V, (int)sizeof(*(row)), to, row, i, n, on, &tw_fill);                     \
    } while (0)
#endif
