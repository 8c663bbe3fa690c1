/* tile.cuh: vectors and rows of tiles, written with the functions of the legend (tilewright.cuh), so the same on both
 * sides. Macros only add the size of the element.
 *
 *  tw_load_row(V, to, row, i, n, on, fill)    elements i .. i+V-1 of a row of n; what is outside, or all if not on: fill
 *  tw_row_safe(V, p, i, n, above, below)      do the aligned words that hold elements i .. i+V-1 of a row of n (like *p)
 *                                             lie in the tensor? above, below: it has rows before and behind this one
 *  tw_load_any(V, word, p, on, fill)          16 bytes at p, which need not be aligned, from such words; not on: fill
 *  tw_load_rest(V, word, row, i, n, on, fill) if on: what of i .. i+V-1 lies in the row, element by element
 *  tw_unpack(V, to, word)                     words as elements
 *  tw_fresh(N, x)                             x[0..N) unchanged, but what the compiler made of it is made again
 *  tw_store_row(V, row, i, n, on, from)       the same outward; what is outside is dropped
 *  tw_copy_row(V, s, row, i, n, on)           the same into shared memory, zeros outside; by cp.async where whole
 *  tw_tile_at(s, r, c, panel, width, bytes)   where element (r, c) of a tile in shared memory lies: panels of `width`
 *                                             bytes a row, `panel` bytes each, swizzled */
#ifndef TILEWRIGHT_TILE_CUH
#define TILEWRIGHT_TILE_CUH

#define TW_SIZE(V, array)       ((V) * (int)sizeof(*(array)))
#define tw_ldg(V, to, p)        tw_ldg_bytes(TW_SIZE(V, to), to, p)
#define tw_ldg_nc(V, to, p)     tw_ldg_nc_bytes(TW_SIZE(V, to), to, p)
#define tw_ldg_if(V, on, to, p) tw_ldg_words_if(V, (int)sizeof(*(to)), on, to, p)
#define tw_stg(V, p, from)        tw_stg_bytes(TW_SIZE(V, from), p, from)
#define tw_stg_cs(V, p, from)     tw_stg_cs_bytes(TW_SIZE(V, from), p, from)
#define tw_stg_if(V, on, p, from) do { if (on) tw_stg(V, p, from); } while (0)
#define tw_lds(V, to, s)          tw_lds_bytes(TW_SIZE(V, to), to, s)
#define tw_lds_if(V, on, to, s)   do { if (on) tw_lds(V, to, s); } while (0)
#define tw_sts(V, s, from)        tw_sts_bytes(TW_SIZE(V, from), s, from)
#define tw_sts_if(V, on, s, from) do { if (on) tw_sts(V, s, from); } while (0)

/* Elements as words and back, by shifts: memcpy would take words of small elements apart for good. */
TW_FN void tw_to_words(int count, int size, u32 *word, const void *from) {
    if (size >= 4) {
        memcpy(word, from, (size_t)(count * size));
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++) {
        const int at = j * size / 4, by = j * size % 4 * 8;
        const u32 bits = size == 2 ? (u32)((const u16 *)from)[j] : (u32)((const u8 *)from)[j];
        word[at] = (by ? word[at] : 0) | bits << by;
    }
}
TW_FN void tw_from_words(int count, int size, void *to, const u32 *word) {
    if (size >= 4) {
        memcpy(to, word, (size_t)(count * size));
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++) {
        const u32 bits = word[j * size / 4] >> j * size % 4 * 8;
        if (size == 2) ((u16 *)to)[j] = (u16)bits;
        else ((u8 *)to)[j] = (u8)bits;
    }
}
/* One load where true, which the compiler predicates. */
TW_FN void tw_ldg_words_if(int count, int size, bool on, void *to, const void *p) {
    u32 word[4] = {0, 0, 0, 0};
    tw_to_words(count, size, word, to);
    if (on) tw_ldg_bytes(count * size, word, p);
    tw_from_words(count, size, to, word);
}

/* The same; where not true: fill everywhere. */
TW_FN void tw_ldg_words_or(int count, int size, bool on, void *to, const void *p, const void *fill) {
    u32 one[2] = {0, 0}, word[4];
    tw_to_words(1, size, one, fill);
#pragma unroll
    for (int j = 0; j < 4; j++)
        word[j] = size == 8 ? one[j % 2] : size == 4 ? one[0] : size == 2 ? one[0] * 0x10001u : one[0] * 0x1010101u;
    if (on) tw_ldg_bytes(count * size, word, p);
    tw_from_words(count, size, to, word);
}
#define tw_ldg_or(V, on, to, p, fill)                                                              \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_ldg_words_or(V, (int)sizeof(*(to)), on, to, p, &tw_fill);                               \
    } while (0)

/* x as it is, but what the compiler made of it is made again. */
TW_FN void tw_fresh_elements(int count, int size, void *x) {
    const u32 zero = tw_zero();
    const int each = size >= 4 ? 1 : 4 / size;
#pragma unroll
    for (int i = 0; i + each <= count; i += each) {
        u32 word[4];
        tw_to_words(each, size, word, (u8 *)x + i * size);
        word[0] ^= zero;
        tw_from_words(each, size, (u8 *)x + i * size, word);
    }
}
#define tw_fresh(N, x) tw_fresh_elements(N, (int)sizeof(*(x)), x)

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

/* No branch in here: loads of many rows stay side by side. */
TW_FN bool tw_words_inside(int count, int size, i64 i, i64 n, bool above, bool below) {
    const int margin = 16 / size;
    return (i >= (above ? 0 : margin)) & (i + count + (below ? 0 : margin) <= n);
}
#define tw_row_safe(V, p, i, n, above, below) tw_words_inside(V, (int)sizeof(*(p)), i, n, above, below)

TW_FN void tw_load_shifted(int size, u32 *to, const void *p, bool on, const void *fill) {
    const u32 by = (u32)(u64)p % 16;
    const u8 *const from = (const u8 *)p - by;
    u32 word[8], one[1];
    tw_to_words(1, size, one, fill);
#pragma unroll
    for (int j = 0; j < 8; j++) word[j] = size == 4 ? one[0] : size == 2 ? one[0] * 0x10001u : one[0] * 0x1010101u;
    tw_ldg_words_if(4, 4, on, word, from);
    tw_ldg_words_if(4, 4, on & (by != 0), word + 4, from + 16);
#pragma unroll
    for (int j = 0; j < 6; j++) word[j] = by & 8 ? word[j + 2] : word[j];
#pragma unroll
    for (int j = 0; j < 5; j++) word[j] = by & 4 ? word[j + 1] : word[j];
#pragma unroll
    for (int j = 0; j < 4; j++) to[j] = (u32)(((u64)word[j + 1] << 32 | word[j]) >> by % 4 * 8);
}
#define tw_load_any(V, word, p, on, fill)                                                          \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_load_shifted((int)sizeof(*(p)), word, p, on, &tw_fill);                                 \
    } while (0)

TW_FN void tw_load_edge(int count, int size, u32 *word, const void *row, i64 i, i64 n, bool on, const void *fill) {
    const u8 *from = (const u8 *)row + i * size;
    if (on && i < n && i + count > 0) {
#pragma unroll
        for (int j = 0; j < count; j++) {
            u16 half = 0;
            u8 byte = 0;
            u32 one[1];
            tw_to_words(1, size, one, fill);
            if ((u64)(i + j) < (u64)n) {
                if (size == 2) tw_ldg_bytes(2, &half, from + j * 2), one[0] = half;
                else if (size == 1) tw_ldg_bytes(1, &byte, from + j), one[0] = byte;
                else tw_ldg_bytes(4, one, from + j * 4);
            }
            const int at = j * size / 4, by = j * size % 4 * 8;
            word[at] = (by ? word[at] : 0) | one[0] << by;
        }
    }
}
#define tw_load_rest(V, word, row, i, n, on, fill)                                                 \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_load_edge(V, (int)sizeof(*(row)), word, row, i, n, on, &tw_fill);                       \
    } while (0)

#define tw_unpack(V, to, word) tw_from_words(V, (int)sizeof(*(to)), to, word)

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
