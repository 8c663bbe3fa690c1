/* SPDX-License-Identifier: Apache-2.0 */
/* tile.cuh: vectors and rows of tiles, written with the functions of the legend (tilewright.cuh), so the same on both
 * sides. Macros only add the size of the element.
 *
 *  tw_load_row(V, to, row, i, n, on, fill)    elements i .. i+V-1 of a row of n; what is outside, or all if not on: fill
 *  tw_load_any(V, raw, row, i, n, on, first, end)
 *                                             the two aligned words that hold elements i .. i+V-1 (16 bytes) of a row
 *                                             of n, if on; nothing where they would leave the tensor (first .. end)
 *  tw_shift_any(V, word, raw, row, i, n, on, fill)
 *                                             those elements out of the words; outside of the row, or all if not on: fill
 *  tw_load_left(V, row, i, n, on, first, end) has tw_load_any left out elements of the row?
 *  tw_load_rest(V, word, row, i, n, on, first, end, fill)
 *                                             if so: those, one by one
 *  tw_lines_of(..)                            lines of a box whose rows are not aligned (TwLines); of them, elements
 *                                             c .. c+V-1 of line l, a vector of 16 bytes:
 *  tw_shift_line(V, word, s, x, l, c, fill)   they, out of the words at s; outside of the tensor's rows: fill
 *  tw_load_line(V, word, x, l, c, fill)       if their words were left out: they, one by one
 *  tw_unpack(V, to, word)                     words as elements
 *  tw_fresh(N, x)                             x[0..N) unchanged, but what the compiler made of it is made again
 *  tw_store_row(V, row, i, n, on, from)       the same outward; what is outside is dropped
 *  tw_store_row_asked  tw_stg_if_asked        where the address turns out to be no multiple of V elements: one by one
 *  tw_ldg_hinted(V, on, to, p, fill, hint)  tw_load_row_hinted(.., hint)  tw_stg_hinted(V, on, p, from, hint)
 *  tw_store_row_hinted(.., hint)              the same with a hint for the caches (legend of the target)
 *  tw_tile_at(s, r, c, panel, width, bytes)   where element (r, c) of a tile in shared memory lies: panels of `width`
 *                                             bytes a row, `panel` bytes each, swizzled
 *  tw_tile_column(r, c, width, bytes)         the column of what lies where (r, c) would without the swizzle */
#ifndef TILEWRIGHT_TILE_CUH
#define TILEWRIGHT_TILE_CUH

#define TW_SIZE(V, array)       ((V) * (int)sizeof(*(array)))
#define tw_ldg(V, to, p)        tw_ldg_bytes(TW_SIZE(V, to), to, p)
#define tw_ldg_nc(V, to, p)     tw_ldg_nc_bytes(TW_SIZE(V, to), to, p)
#define tw_ldg_volatile(V, on, to, p) do { if (on) tw_ldg_volatile_bytes(TW_SIZE(V, to), to, p); } while (0)
#define tw_ldg_if(V, on, to, p) tw_ldg_words_if(V, (int)sizeof(*(to)), on, to, p)
#define tw_stg(V, p, from)        tw_stg_bytes(TW_SIZE(V, from), p, from)
#define tw_stg_cs(V, p, from)     tw_stg_cs_bytes(TW_SIZE(V, from), p, from)
#define tw_stg_if(V, on, p, from) tw_stg_bytes_if(TW_SIZE(V, from), on, p, from)
#define tw_lds(V, to, s)          tw_lds_bytes(TW_SIZE(V, to), to, s)
#define tw_lds_if(V, on, to, s)   do { if (on) tw_lds(V, to, s); } while (0)
#define tw_sts(V, s, from)        tw_sts_bytes(TW_SIZE(V, from), s, from)
#define tw_sts_if(V, on, s, from) tw_sts_bytes_if(TW_SIZE(V, from), on, s, from)

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
    if (size == 1 && count % 4 == 0) { /* as it is: who reads two bytes at once would put them together again */
        memcpy(to, word, (size_t)count);
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

/* The same with a hint. */
TW_FN void tw_ldg_hinted_words(int count, int size, bool on, void *to, const void *p, const void *fill, int hint) {
    u32 one[2] = {0, 0}, word[4];
    tw_to_words(1, size, one, fill);
#pragma unroll
    for (int j = 0; j < 4; j++)
        word[j] = size == 8 ? one[j % 2] : size == 4 ? one[0] : size == 2 ? one[0] * 0x10001u : one[0] * 0x1010101u;
    tw_ldg_hinted_bytes(count * size, on, word, p, hint);
    tw_from_words(count, size, to, word);
}
#define tw_ldg_hinted(V, on, to, p, fill, hint)                                                    \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_ldg_hinted_words(V, (int)sizeof(*(to)), on, to, p, &tw_fill, hint);                     \
    } while (0)

/* An element of 16 bits; where not true: fill. The next does not wait for it. */
#define tw_ldg_singly(on, to, p, fill)                                                               \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        u16 tw_bits;                                                                               \
        memcpy(&tw_bits, &tw_fill, 2);                                                             \
        tw_bits = tw_ldg_half(on, p, tw_bits);                                                     \
        memcpy(to, &tw_bits, 2);                                                                   \
    } while (0)

/* Element i of 16-bit floats that lie two a word. */
TW_FN f32 tw_bf16_at(const u32 *pairs, int i) { return i % 2 ? tw_hi_bf16(pairs[i / 2]) : tw_lo_bf16(pairs[i / 2]); }
TW_FN f32 tw_f16_at(const u32 *pairs, int i) { return i % 2 ? tw_hi_f16(pairs[i / 2]) : tw_lo_f16(pairs[i / 2]); }
/* Products of both halves by f32, which are rounded at once: by themselves they would be rounded from more digits. */
TW_FN u32 tw_mul_bf16x2(u32 x, u32 y) {
    return tw_pack_bf16(tw_lo_bf16(x) * tw_lo_bf16(y), tw_hi_bf16(x) * tw_hi_bf16(y));
}
/* The rounded sum of two numbers that 16 bits hold. */
#ifndef TW_SUMS_HALVES
TW_FN f32 tw_sum_bf16(f32 x, f32 y) { return tw_f32(tw_bf16(x + y)); }
#endif
#ifndef TW_TESTS_BITS
TW_FN bool tw_bit(u32 x, u32 bit) { return (x & bit) != 0; }
#endif
TW_FN void tw_round_two(f16 *to, f32 lo, f32 hi) {
    const u32 pair = tw_pack_f16(lo, hi);
    to[0].bits = (u16)pair, to[1].bits = (u16)(pair >> 16);
}
TW_FN void tw_round_two(bf16 *to, f32 lo, f32 hi) {
    const u32 pair = tw_pack_bf16(lo, hi);
    to[0].bits = (u16)pair, to[1].bits = (u16)(pair >> 16);
}

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

TW_FN void tw_load_elements_hinted(int count, int size, void *to, const void *row, i64 i, i64 n, bool on, const void *fill, int hint) {
    const u8 *from = (const u8 *)row + i * size;
    if (on && i >= 0 && i + count <= n) {
        tw_ldg_hinted_words(count, size, true, to, from, fill, hint);
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++) tw_ldg_hinted_words(1, size, on && (u64)(i + j) < (u64)n, (u8 *)to + j * size, from + j * size, fill, hint);
}
#define tw_load_row_hinted(V, to, row, i, n, on, fill, hint)                                       \
    do {                                                                                           \
        const auto tw_fill = fill;                                                                 \
        tw_load_elements_hinted(V, (int)sizeof(*(row)), to, row, i, n, on, &tw_fill, hint);        \
    } while (0)

/* No branch in here: loads of many rows stay side by side. */
TW_FN bool tw_words_inside(const void *p, u64 first, u64 end) {
    const u64 from = (u64)p / 16 * 16;
    return (from >= first) & (from + ((u64)p % 16 ? 32 : 16) <= end);
}

TW_FN bool tw_load_some(int count, i64 i, i64 n, bool on) { return on & (i < n) & (i + count > 0); }

TW_FN void tw_load_words(int count, int size, u32 *raw, const void *row, i64 i, i64 n, bool on, u64 first, u64 end) {
    const u8 *const p = (const u8 *)row + i * size;
    const u32 by = (u32)(u64)p % 16;
    const bool load = tw_load_some(count, i, n, on) & tw_words_inside(p, first, end);
#pragma unroll
    for (int j = 0; j < 8; j++) raw[j] = 0;
    tw_ldg_words_if(4, 4, load, raw, p - by);
    tw_ldg_words_if(4, 4, load & (by != 0), raw + 4, p - by + 16);
}
#define tw_load_any(V, raw, row, i, n, on, first, end)                                             \
    tw_load_words(V, (int)sizeof(*(row)), raw, row, i, n, on, first, end)

TW_FN void tw_shift_words(int count, int size, u32 *to, const u32 *raw, const void *row, i64 i, i64 n, bool on, const void *fill) {
    const u32 by = (u32)((u64)row + (u64)(i * size)) % 16;
    const int low = i >= 0 ? 0 : i > -count ? (int)-i : count, high = n - i >= count ? count : n > i ? (int)(n - i) : 0;
    u32 word[8], one[1];
    tw_to_words(1, size, one, fill);
    one[0] = size == 4 ? one[0] : size == 2 ? one[0] * 0x10001u : one[0] * 0x1010101u;
#pragma unroll
    for (int j = 0; j < 8; j++) word[j] = raw[j];
#pragma unroll
    for (int j = 0; j < 6; j++) word[j] = by & 8 ? word[j + 2] : word[j];
#pragma unroll
    for (int j = 0; j < 5; j++) word[j] = by & 4 ? word[j + 1] : word[j];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const u32 bits = (u32)(((u64)word[j + 1] << 32 | word[j]) >> by % 4 * 8);
        u32 keep = 0;
#pragma unroll
        for (int part = 0; part < 4; part += size) {
            const int at = (j * 4 + part) / size;
            keep |= at >= low && at < high ? (size == 4 ? ~0u : ((1u << size % 4 * 8) - 1) << part * 8) : 0u;
        }
        keep = on ? keep : 0;
        to[j] = (bits & keep) | (one[0] & ~keep);
    }
}
#define tw_shift_any(V, word, raw, row, i, n, on, fill)                                            \
    tw_shift_words(V, (int)sizeof(*(row)), word, raw, row, i, n, on, &(fill))

TW_FN bool tw_load_missed(int count, int size, const void *row, i64 i, i64 n, bool on, u64 first, u64 end) {
    return tw_load_some(count, i, n, on) & !tw_words_inside((const u8 *)row + i * size, first, end);
}
#define tw_load_left(V, row, i, n, on, first, end)                                                 \
    tw_load_missed(V, (int)sizeof(*(row)), row, i, n, on, first, end)

TW_FN void tw_load_edge(int count, int size, u32 *word, const void *row, i64 i, i64 n, bool on, u64 first, u64 end, const void *fill) {
    const u8 *from = (const u8 *)row + i * size;
    if (tw_load_missed(count, size, row, i, n, on, first, end)) {
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
#define tw_load_rest(V, word, row, i, n, on, first, end, fill)                                     \
    tw_load_edge(V, (int)sizeof(*(row)), word, row, i, n, on, first, end, &(fill))

/* The lines of one box: its first element, bytes from line to line, which lines and which elements of a line are in the
 * tensor, where the tensor lies, and whether all words that hold those elements lie there. */
typedef struct TwLines {
    u64 at, first, end;
    i64 pitch;
    i32 top, bottom, left, right, size;
    bool inside;
} TwLines;

TW_FN i32 tw_within(i64 x, i32 n) { return x < 0 ? 0 : x > n ? n : (i32)x; }
/* Elements of `size` bytes; the box begins at line i, element j of rows j .. n of m lines at `row`, bytes `pitch` apart; it has
 * `lines` lines of `length` elements; the tensor's last byte is before `end`. */
TW_FN TwLines tw_lines_of(int size, const void *base, u64 end, const void *row, i64 pitch, i64 i, i64 m, i64 j, i64 n, i32 lines, i32 length, bool on) {
    TwLines x;
    x.first = (u64)base;
    x.end = pitch >= 0 ? end : 0;
    x.pitch = pitch;
    x.at = (u64)row + (u64)(i * pitch + j * size);
    x.size = size;
    x.top = tw_within(-i, lines);
    x.bottom = on ? tw_within(m - i, lines) : 0;
    x.left = tw_within(-j, length);
    x.right = tw_within(n - j, length);
    x.inside = (x.at + (u64)(x.top * pitch)) / 16 * 16 >= x.first && x.at + (u64)((x.bottom - 1) * pitch + length * size) + 16 <= x.end;
    return x;
}

TW_FN bool tw_line_on(int count, const TwLines &x, i32 line, i32 column) {
    return (line >= x.top) & (line < x.bottom) & (column + count > x.left) & (column < x.right);
}

TW_FN void tw_shift_words_at(int count, u32 *to, u32 s, const TwLines &x, i32 line, i32 column, int size, const void *fill) {
    const u32 by = ((u32)x.at + (u32)line * (u32)x.pitch) % 16;
    u32 word[5], one[1];
    tw_to_words(1, size, one, fill);
    one[0] = size == 2 ? one[0] * 0x10001u : one[0] * 0x1010101u;
#pragma unroll
    for (int j = 0; j < 5; j++) tw_lds(1, word + j, s + (by & 12) + j * 4);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        u32 keep = 0;
#pragma unroll
        for (int part = 0; part < 4; part += size) {
            const i32 at = column + (j * 4 + part) / size;
            keep |= at >= x.left && at < x.right ? (size == 2 ? 0xffffu : 0xffu) << part * 8 : 0u;
        }
        if (one[0]) keep = line >= x.top && line < x.bottom ? keep : 0; /* else its words are 0 already */
        to[j] = ((u32)(((u64)word[j + 1] << 32 | word[j]) >> by % 4 * 8) & keep) | (one[0] & ~keep);
    }
}
#define tw_shift_line(V, word, s, x, line, column, fill)                                           \
    tw_shift_words_at(V, word, s, x, line, column, (int)sizeof(fill), &(fill))

TW_FN void tw_load_line_words(int count, u32 *word, const TwLines &x, i32 line, i32 column, int size, const void *fill) {
    const u64 p = x.at + (u64)(line * x.pitch) + (u64)(column * size);
    if (!tw_line_on(count, x, line, column) || tw_words_inside((const void *)p, x.first, x.end)) return;
#pragma unroll
    for (int j = 0; j < count; j++) {
        u16 half = 0;
        u8 byte = 0;
        u32 one[1];
        tw_to_words(1, size, one, fill);
        if (column + j >= x.left && column + j < x.right) {
            if (size == 2) tw_ldg_bytes(2, &half, (const u8 *)p + j * 2), one[0] = half;
            else tw_ldg_bytes(1, &byte, (const u8 *)p + j), one[0] = byte;
        }
        const int at = j * size / 4, by = j * size % 4 * 8;
        word[at] = (by ? word[at] : 0) | one[0] << by;
    }
}
#define tw_load_line(V, word, x, line, column, fill)                                               \
    tw_load_line_words(V, word, x, line, column, (int)sizeof(fill), &(fill))

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
TW_FN void tw_stg_hinted_words(int count, int size, bool on, void *p, const void *from, int hint) {
    u32 word[4] = {0, 0, 0, 0};
    tw_to_words(count, size, word, from);
    tw_stg_hinted_bytes(count * size, on, p, word, hint);
}
#define tw_stg_hinted(V, on, p, from, hint) tw_stg_hinted_words(V, (int)sizeof(*(from)), on, p, from, hint)

TW_FN void tw_store_elements_hinted(int count, int size, void *row, i64 i, i64 n, bool on, const void *from, int hint) {
    u8 *to = (u8 *)row + i * size;
    if (on && i >= 0 && i + count <= n) {
        tw_stg_hinted_words(count, size, true, to, from, hint);
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++)
        tw_stg_hinted_words(1, size, on && (u64)(i + j) < (u64)n, to + j * size, (const u8 *)from + j * size, hint);
}
#define tw_store_row_hinted(V, row, i, n, on, from, hint) tw_store_elements_hinted(V, (int)sizeof(*(row)), row, i, n, on, from, hint)

TW_FN void tw_stg_asked(int count, int size, bool on, void *p, const void *from) {
    if (!on) return;
    if ((u64)p % (u64)(count * size) == 0) {
        tw_stg_bytes(count * size, p, from);
        return;
    }
#pragma unroll
    for (int j = 0; j < count; j++) tw_stg_bytes(size, (u8 *)p + j * size, (const u8 *)from + j * size);
}
#define tw_stg_if_asked(V, on, p, from) tw_stg_asked(V, (int)sizeof(*(p)), on, p, from)

TW_FN void tw_store_elements_asked(int count, int size, void *row, i64 i, i64 n, bool on, const void *from) {
    u8 *to = (u8 *)row + i * size;
    bool all = i >= 0 && i + count <= n;
    tw_stg_asked(count, size, on && all, to, from);
#pragma unroll
    for (int j = 0; j < count; j++)
        if (on && !all && (u64)(i + j) < (u64)n) tw_stg_bytes(size, to + j * size, (const u8 *)from + j * size);
}
#define tw_store_row_asked(V, row, i, n, on, from) tw_store_elements_asked(V, (int)sizeof(*(row)), row, i, n, on, from)
#define tw_store_row(V, row, i, n, on, from) tw_store_elements(V, (int)sizeof(*(row)), row, i, n, on, from)

/* s begins a row of chunks that is not turned, and a panel is a multiple of eight of them: the turn then follows from r
 * alone, and what a loop adds to s, or a constant number of panels and of eight rows, stays outside of it. */
TW_FN u32 tw_tile_at(u32 s, u32 r, u32 c, u32 panel, u32 width, u32 bytes) {
    u32 per = width / bytes, turn = r * width >> 3 & (width - 16) & 0x70;
    u32 at = s + c / per * panel + (r * width + (c % per * bytes ^ turn));
#ifndef TW_ON_DEVICE
    tw_assert(at == tw_swizzle(s + c / per * panel + r * width + c % per * bytes, width), "a tile that does not begin where its swizzle does");
#endif
    return at;
}
TW_FN i32 tw_tile_column(i32 r, i32 c, i32 width, i32 bytes) { return c ^ (r * width >> 3 & (width - 16) & 0x70) / bytes; }
#endif
