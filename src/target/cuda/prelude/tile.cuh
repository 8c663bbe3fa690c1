/* tile.cuh: rows of tiles, written with the functions of the legend (tilewright.cuh), so the same on both sides.
 *
 *  tw_load_row<V>(to, row, i, n, on, fill)    elements i .. i+V-1 of a row of n; what is outside, or all if not on: fill
 *  tw_store_row<V>(row, i, n, on, from)       the same outward; what is outside is dropped
 *  tw_copy_row<V>(s, row, i, n, on)           the same into shared memory, zeros outside; by cp.async where whole
 *  tw_tile_at(s, r, c, panel, width, bytes)   where element (r, c) of a tile in shared memory lies: panels of `width`
 *                                             bytes a row, `panel` bytes each, swizzled
 *  tw_part<N, AT>(d)                          registers AT .. AT+N-1 of an accumulator
 *  tw_move_xor(x, mask) tw_move_idx(x, lane)  shuffles of anything of 1, 2, 4 or 8 bytes, pointers too */
#ifndef TILEWRIGHT_TILE_CUH
#define TILEWRIGHT_TILE_CUH

template <int V, class T> TW_FN void tw_load_row(T *to, const T *row, i64 i, i64 n, bool on, T fill) {
    if (on && i >= 0 && i + V <= n) {
        tw_ldg<V>(to, row + i);
        return;
    }
#pragma unroll
    for (int j = 0; j < V; j++) {
        to[j] = fill;
        tw_ldg_if<1>(on && (u64)(i + j) < (u64)n, to + j, row + i + j);
    }
}

template <int V, class T> TW_FN void tw_store_row(T *row, i64 i, i64 n, bool on, const T *from) {
    if (on && i >= 0 && i + V <= n) {
        tw_stg<V>(row + i, from);
        return;
    }
#pragma unroll
    for (int j = 0; j < V; j++) tw_stg_if<1>(on && (u64)(i + j) < (u64)n, row + i + j, from + j);
}

template <int V, class T> TW_FN void tw_copy_row(u32 s, const T *row, i64 i, i64 n, bool on) {
    bool whole = on && i >= 0 && i + V <= n;
    if (whole || !on || i + V <= 0 || i >= n) {
        tw_cp_async<V * (int)sizeof(T)>(s, whole ? row + i : row, whole);
        return;
    }
    T part[V];
    tw_load_row<V>(part, row, i, n, on, T());
    tw_sts<V>(s, part);
}

template <int N, int AT, class T, int R> TW_FN T (&tw_part(T (&d)[R]))[N] {
    static_assert(AT + N <= R, "the accumulator has fewer registers than its instruction writes");
    return (T(&)[N])d[AT];
}

template <class T> TW_FN T tw_move_idx(T x, i32 lane) {
    if constexpr (sizeof(T) == 8) return tw_bits<T>(tw_shfl_idx(tw_bits<u64>(x), lane));
    else if constexpr (sizeof(T) == 4) return tw_bits<T>(tw_shfl_idx(tw_bits<u32>(x), lane));
    else if constexpr (sizeof(T) == 2) return tw_bits<T>((u16)tw_shfl_idx((u32)tw_bits<u16>(x), lane));
    else return tw_bits<T>((u8)tw_shfl_idx((u32)tw_bits<u8>(x), lane));
}
template <class T> TW_FN T tw_move_xor(T x, i32 mask) { return tw_move_idx(x, tw_lane() ^ mask); }

TW_FN u32 tw_tile_at(u32 s, u32 r, u32 c, u32 panel, u32 width, u32 bytes) {
    u32 per = width / bytes;
    return tw_swizzle(s + c / per * panel + r * width + c % per * bytes, width);
}
#endif
