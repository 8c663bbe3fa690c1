/* SPDX-License-Identifier: Apache-2.0 */
/* copy.cuh: rows of tiles into shared memory by cp.async, with what tile.cuh has for them.
 *
 *  tw_stage_line(V, s, x, l, c, last, check)  by cp.async: the aligned word in which they begin, to s; the next one too
 *                                             if they are the last of the line. check: not beyond the tensor
 *  tw_copy_row(V, s, row, i, n, on)           elements i .. i+V-1 of a row of n into shared memory, zeros outside; i is a
 *                                             multiple of V   tw_copy_row_hinted(.., hint): the same with a hint */
#ifndef TILEWRIGHT_COPY_CUH
#define TILEWRIGHT_COPY_CUH

/* A word is also the second one of the elements before it: it is needed one vector beyond the row. */
TW_FN void tw_stage_line(int count, u32 s, const TwLines &x, i32 line, i32 column, bool last, bool check) {
    const u64 from = (x.at + (u64)(line * x.pitch) + (u64)(column * x.size)) / 16 * 16;
    bool on = (line >= x.top) & (line < x.bottom) & (column < x.right + count);
    bool next = on;
    if (check) on = on & (from >= x.first) & (from + 16 <= x.end), next = next & (from + 16 >= x.first) & (from + 32 <= x.end);
    tw_cp_async(16, s, (const void *)from, on);
    if (last) tw_cp_async(16, s + 16, (const void *)(from + 16), next);
}

TW_FN void tw_copy_elements(int count, int size, u32 s, const void *row, i64 i, i64 n, bool on) {
    const i64 left = on && i >= 0 && i < n ? n - i : 0;
    const int taken = left < count ? (int)left : count;
    tw_cp_async_part(count * size, s, (const u8 *)row + (taken ? i * size : 0), taken * size);
}
TW_FN void tw_copy_elements_hinted(int count, int size, u32 s, const void *row, i64 i, i64 n, bool on, int hint) {
    const i64 left = on && i >= 0 && i < n ? n - i : 0;
    const int taken = left < count ? (int)left : count;
    tw_cp_async_part_hinted(count * size, s, (const u8 *)row + (taken ? i * size : 0), taken * size, hint);
}
#define tw_copy_row_hinted(V, s, row, i, n, on, hint) tw_copy_elements_hinted(V, (int)sizeof(*(row)), s, row, i, n, on, hint)
#define tw_copy_row(V, s, row, i, n, on) tw_copy_elements(V, (int)sizeof(*(row)), s, row, i, n, on)
#endif
