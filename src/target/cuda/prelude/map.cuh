/* SPDX-License-Identifier: Apache-2.0 */
/* map.cuh: tensor maps that a kernel makes itself, by one thread, with the functions of the legend (tilewright.cuh).
 *
 *  tw_maps_take(all, places, n)            a place for n maps that no other block has   tw_maps_give(own): back, when all
 *                                          copies by them have landed
 *  tw_map_make_1d .. _5d(to, s, &like, base, n0, step0, ..)   a map like that one of the tensor at base, with these
 *                                          extents and strides in bytes, contiguous dimension first, made at s (128 bytes
 *                                          of shared memory) and written to `to`, which no copy reads any more; what it is:
 *                                          0, TW_MAP_EMPTY, TW_MAP_BROKEN
 *  tw_map_at(is, c)                        of a box, the last coordinate: without elements all boxes lie outside, and
 *                                          what TMA cannot load by ends the kernel */
#ifndef TILEWRIGHT_MAP_CUH
#define TILEWRIGHT_MAP_CUH

enum { TW_MAP_EMPTY = 1, TW_MAP_BROKEN = 2 };

/* A place begins with the bytes of a map, whose first word says whether it is taken. There are as many as blocks can run
 * at once, so one is free. */
TW_FN TensorMap *tw_maps_take(TensorMap *all, i32 places, i32 count) {
    i32 at = (tw_block_x() + tw_blocks_x() * (tw_block_y() + tw_blocks_y() * tw_block_z())) % places;
    for (;;) {
        u32 old;
        TW_ATOM_CAS(gpu, acquire, 32, old, (u32 *)(all + (i64)at * (count + 1)), 0u, 1u);
        if (old == 0) break;
        at = at + 1 == places ? 0 : at + 1;
    }
    return all + (i64)at * (count + 1) + 1;
}
TW_FN void tw_maps_give(TensorMap *own) { tw_st_release((u32 *)(own - 1), 0); }

TW_FN bool tw_map_steps(i64 step) { return (step >= 0) & (step % 16 == 0) & (step < (i64)1 << 40); }

/* Where nobody goes along a dimension its stride may be anything: what lies below it, then, if it is none for TMA. */
#define TW_MAP_DIMENSION(d, stride)                                                                \
    {                                                                                              \
        below = tw_map_steps(step[d]) ? step[d] : below;                                           \
        tw_map_extent(s, d, (u32)n[d]);                                                            \
        tw_map_stride(s, stride, (u64)below);                                                      \
    }
TW_FN i32 tw_map_make(int rank, TensorMap *to, u32 s, const TensorMap *like, const void *base, const i64 *given) {
    i64 n[5] = {}, step[5] = {};
#pragma unroll
    for (int d = 0; d < rank; d++) n[d] = given[2 * d], step[d] = given[2 * d + 1];
    bool empty = false, broken = (u64)base % 16 != 0;
#pragma unroll
    for (int d = 0; d < rank; d++) empty = empty | (n[d] <= 0), broken = broken | (n[d] > (i64)1 << 31);
#pragma unroll
    for (int d = 1; d < rank; d++) broken = broken | ((n[d] > 1) & !tw_map_steps(step[d]));
    if (broken & !empty) return TW_MAP_BROKEN;
#pragma unroll
    for (int i = 0; i < 16; i += 2) tw_sts(2, s + i * 8, like->opaque + i);
    if (!empty) {
        i64 below = (n[0] * step[0] + 15) / 16 * 16;
        tw_map_base(s, base);
        tw_map_extent(s, 0, (u32)n[0]);
        if (rank > 1) TW_MAP_DIMENSION(1, 0)
        if (rank > 2) TW_MAP_DIMENSION(2, 1)
        if (rank > 3) TW_MAP_DIMENSION(3, 2)
        if (rank > 4) TW_MAP_DIMENSION(4, 3)
    }
#pragma unroll
    for (int i = 0; i < 16; i += 2) {
        u64 word[2];
        tw_lds(2, word, s + i * 8);
        tw_stg(2, to->opaque + i, word);
    }
    tw_map_fence(to);
    return empty ? TW_MAP_EMPTY : 0;
}

#define TW_MAP_MAKE(rank, numbers, ...)                                                            \
    TW_FN i32 tw_map_make_##rank##d(TensorMap *to, u32 s, const TensorMap *like, const void *base, TW_ARGS numbers) { \
        const i64 given[] = {__VA_ARGS__};                                                         \
        return tw_map_make(rank, to, s, like, base, given);                                        \
    }
TW_MAP_MAKE(1, (i64 a, i64 b), a, b)
TW_MAP_MAKE(2, (i64 a, i64 b, i64 c, i64 d), a, b, c, d)
TW_MAP_MAKE(3, (i64 a, i64 b, i64 c, i64 d, i64 e, i64 f), a, b, c, d, e, f)
TW_MAP_MAKE(4, (i64 a, i64 b, i64 c, i64 d, i64 e, i64 f, i64 g, i64 h), a, b, c, d, e, f, g, h)
TW_MAP_MAKE(5, (i64 a, i64 b, i64 c, i64 d, i64 e, i64 f, i64 g, i64 h, i64 i, i64 j), a, b, c, d, e, f, g, h, i, j)

/* Without elements the map is the one of the launch, which has as many as a box. */
TW_FN i32 tw_map_at(i32 is, i32 c) {
    enum { BOX_MOST = 256 };
    if (is == TW_MAP_BROKEN)
        tw_trap_silent("a tensor descriptor made in the kernel: its base and its strides must be multiples of 16 bytes, the strides from 0 to below 2^40, its extents at most 2^31");
    return is ? BOX_MOST : c;
}
#endif
