/* tile.cuh: vectors and rows of tiles, written with the functions of the legend (tilewright.cuh), so the same on both
 * sides. Macros only add the size of the element.
 *
 *  tw_load_row(V, to, row, i, n, on, fill)    elements i .. i+V-1 of a row of n; what is outside, or all if not on: fill
 *  tw_store_row(V, row, i, n, on, from)       the same outward; what is outside is dropped
 *  tw_copy_row(V, s, row, i, n, on)           the same into shared memory, zeros outside; by cp.async where whole
 *  tw_tile_at(s, r, c, panel, width, bytes)   where element (r, c) of a tile in shared memory lies: panels of `width`
 *                                             bytes a row, `panel` bytes each, swizzled */
#ifndef TILEWRIGHT_TILE_CUH
#define TILEWRIGHT_TILE_CUH

#define TW_SIZE(V, array)       ((V) * (int)sizeof(*(array)))
#define tw_ldg(V, to, p)        tw_ldg_bytes(TW_SIZE(V, to), to, p)
#define tw_ldg_nc(V, to, p)     tw_ldg_nc_bytes(TW_SIZE(V, to), to, p)
#define tw_ldg_if(V, on, to, p) do { if (on) tw_ldg(V, to, p); } while (0)
#define tw_stg(V, p, from)        tw_stg_bytes(TW_SIZE(V, from), p, from)
#define tw_stg_cs(V, p, from)     tw_stg_cs_bytes(TW_SIZE(V, from), p, from)
#define tw_stg_if(V, on, p, from) do { if (on) tw_stg(V, p, from); } while (0)
#define tw_lds(V, to, s)          tw_lds_bytes(TW_SIZE(V, to), to, s)
#define tw_lds_if(V, on, to, s)   do { if (on) tw_lds(V, to, s); } while (0)
#define tw_sts(V, s, from)        tw_sts_bytes(TW_SIZE(V, from), s, from)
#define tw_sts_if(V, on, s, from) do { if (on) tw_sts(V, s, from); } while (0)

TW_FN void tw_load_elements(int count, int size, void *to, const void *row, i64 i, i64 n, bool on, const void *fill) {
    const u8 *from = (const u8 *)row + i * size;
    if (on && i >= 0 && i + count <= n) {
        tw_ldg_bytes(count * size, to, from);
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++) {
        memcpy((u8 *)to + j * size, fill, (size_t)size);
        if (on && (u64)(i + j) < (u64)n) tw_ldg_bytes(size, (u8 *)to + j * size, from + j * size);
    }
}
#define tw_load_row(V, to, row, i, n, on, fill)                                                    \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_load_elements(V, (int)sizeof(*(row)), to, row, i, n, on, &tw_fill);                     \
    } while (0)

TW_FN void tw_store_elements(int count, int size, void *row, i64 i, i64 n, bool on, const void *from) {
    u8 *to = (u8 *)row + i * size;
    if (on && i >= 0 && i + count <= n) {
        tw_stg_bytes(count * size, to, from);
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++)
        if (on && (u64)(i + j) < (u64)n) tw_stg_bytes(size, to + j * size, (const u8 *)from + j * size);
}
#define tw_store_row(V, row, i, n, on, from) tw_store_elements(V, (int)sizeof(*(row)), row, i, n, on, from)

TW_FN void tw_copy_elements(int count, int size, u32 s, const void *row, i64 i, i64 n, bool on) {
    const u8 *from = (const u8 *)row + i * size;
    bool whole = on && i >= 0 && i + count <= n;
    if (whole || !on || i + count <= 0 || i >= n) {
        tw_cp_async(count * size, s, whole ? from : (const u8 *)row, whole);
        return;
    }
    const u64 zero = 0;
    u64 part[2];
    tw_load_elements(count, size, part, row, i, n, on, &zero);
    tw_sts_bytes(count * size, s, part);
}
#define tw_copy_row(V, s, row, i, n, on) tw_copy_elements(V, (int)sizeof(*(row)), s, row, i, n, on)

TW_FN u32 tw_tile_at(u32 s, u32 r, u32 c, u32 panel, u32 width, u32 bytes) {
    u32 per = width / bytes;
    return tw_swizzle(s + c / per * panel + r * width + c % per * bytes, width);
}
#endif
