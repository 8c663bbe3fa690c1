/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.h: a loop of dots over boxes of global tensors as one product, for emitted CPU kernels.
 *
 *     acc = 0; for k: acc += A[m .., k BK ..] B[k BK .., n ..]       is      tw_gemm(.., &a, &b, M, N, K, acc, ..)
 *
 * The chain of dot.h makes both equal in every bit. Nothing of A or B is copied tile by tile: A is read in place where its
 * elements along k lie side by side, B is packed into panels of TW_NR columns, TW_K_BLOCK rows at a time, and kept: the programs
 * that follow on this thread often need the same columns again (`slot` says what is in `room`; it is zero when a thread
 * begins a launch). What lies outside a tensor is zero. */
#ifndef TILEWRIGHT_GEMM_H
#define TILEWRIGHT_GEMM_H
#include "dot.h"
#include "tiles.h"
#include "turn.h"

/* Element (i, k) of A or (k, i) of B lies at p[i * line + k * step] and is there for lo <= i < hi, k_lo <= k < k_hi.
 * at: not 0, then line i is line at[i] in memory, or (TW_NOWHERE) in none. */
typedef struct TwSide {
    const void *p;
    i64 line, step, lo, hi, k_lo, k_hi;
    const i64 *at;
} TwSide;
TW_FN i32 tw_side_has(const TwSide *s, i64 i) { return i >= s->lo && i < s->hi && !(s->at && s->at[i] == TW_NOWHERE); }
/* How many lines from i on lie equally far apart in memory, or in none at all: often many, where numbers are not quite random. */
TW_FN i64 tw_side_run(const TwSide *s, i64 i, i64 end) {
    i64 next = i + 1;
    if (!tw_side_has(s, i))
        while (next < end && !tw_side_has(s, next)) next++;
    else if (next < end && tw_side_has(s, next)) {
        const i64 by = s->at[next] - s->at[i];
        do next++;
        while (next < end && tw_side_has(s, next) && s->at[next] - s->at[next - 1] == by);
    }
    return next - i;
}
TW_FN i64 tw_side_line(const TwSide *s, i64 i) { return (s->at ? s->at[i] : i) * s->line; }

/* Reads `count` lines from `first` on, k0 <= k < k0 + kc, to to[line * ld_line + k * ld_k], zeros where nothing is. */
typedef void TwGather(f32 *to, i64 ld_line, i64 ld_k, const TwSide *s, i64 first, i64 count, i64 k0, i64 kc);
/* Brings rows k0 <= k < k0 + kc and columns 0 .. N of b into panels. */
typedef void TwPack(f32 *panels, const TwSide *b, i64 N, i64 k0, i64 kc);

#ifdef TW_PRODUCTS_APART
#ifdef TW_PAIRS
TW_APART TwGather tw_gather_pairs;
TW_APART TwPack tw_pack_pairs;
#else
#define tw_gather_pairs tw_gather_bf16
#define tw_pack_pairs   tw_pack_bf16
#endif
TW_APART TwGather tw_gather_f32, tw_gather_bf16, tw_gather_f16;
TW_APART TwPack tw_pack_f32, tw_pack_bf16, tw_pack_f16;
TW_APART i32 tw_gemm(TwGather *gather_a, TwPack *pack_b, const TwSide *whole_a, const TwSide *whole_b, i64 M, i64 N, i64 K,
                     f32 *c, i32 start, i32 skip, f32 *rows, f32 *room, i64 room_k, u64 *slot, f32 *out, i64 ld_out);
#else

static __attribute__((noinline, noclone, unused)) void tw_zero(f32 *to, i64 ld_line, i64 ld_k, i64 i0, i64 i1, i64 k0, i64 k1) {
    for (i64 i = i0; i < i1; i++)
        for (i64 k = k0; k < k1; k++) to[i * ld_line + k * ld_k] = 0;
}

/* Lines and steps that are there form a box; around it are zeros. */
#define TW_GATHER(T, TURN)                                                                         \
    TW_APART void tw_gather_##T(f32 *to, i64 ld_line, i64 ld_k, const TwSide *s, i64 first,        \
                                i64 count, i64 k0, i64 kc) {                                       \
        for (i64 i = first, n; s->at && i < first + count; i += n, to += n * ld_line) {            \
            n = tw_side_run(s, i, first + count);                                                  \
            const i32 has = tw_side_has(s, i);                                                     \
            const TwSide run = {(const T *)s->p + (has ? tw_side_line(s, i) : 0),                  \
                                n > 1 && has ? tw_side_line(s, i + 1) - tw_side_line(s, i) : 0,    \
                                s->step, 0, has ? n : 0, s->k_lo, s->k_hi, 0};                     \
            tw_gather_##T(to, ld_line, ld_k, &run, 0, n, k0, kc);                                  \
        }                                                                                          \
        if (s->at) return;                                                                         \
        const i64 i_lo = tw_min_i64(tw_max_i64(s->lo - first, 0), count);                          \
        const i64 i_hi = tw_max_i64(tw_min_i64(s->hi - first, count), i_lo);                       \
        const i64 k_lo = tw_min_i64(tw_max_i64(s->k_lo - k0, 0), kc);                              \
        const i64 k_hi = tw_max_i64(tw_min_i64(s->k_hi - k0, kc), k_lo);                           \
        const T *const from = (const T *)s->p + first * s->line + k0 * s->step;                    \
        const i64 line = s->line, step = s->step;                                                  \
        tw_zero(to, ld_line, ld_k, 0, i_lo, 0, kc);                                                \
        tw_zero(to, ld_line, ld_k, i_hi, count, 0, kc);                                            \
        tw_zero(to, ld_line, ld_k, i_lo, i_hi, 0, k_lo);                                           \
        tw_zero(to, ld_line, ld_k, i_lo, i_hi, k_hi, kc);                                          \
        if (ld_k == 1 && step == 1) {                                                              \
            for (i64 i = i_lo; i < i_hi; i++)                                                      \
                TW_VECTOR for (i64 k = k_lo; k < k_hi; k++)                                        \
                    to[i * ld_line + k] = tw_f32_from_##T(from[i * line + k]);                     \
        } else if (ld_line == 1 && line == 1) {                                                    \
            for (i64 k = k_lo; k < k_hi; k++)                                                      \
                TW_VECTOR for (i64 i = i_lo; i < i_hi; i++)                                        \
                    to[i + k * ld_k] = tw_f32_from_##T(from[i + k * step]);                        \
        } else {                                                                                   \
            i64 i = i_lo;                                                                          \
            TURN                                                                                   \
            for (; i < i_hi; i++)                                                                  \
                for (i64 k = k_lo; k < k_hi; k++)                                                  \
                    to[i * ld_line + k * ld_k] = tw_f32_from_##T(from[i * line + k * step]);       \
        }                                                                                          \
    }
TW_FN f32 tw_f32_from_f32(f32 x) { return x; }
TW_FN f32 tw_f32_from_bf16(bf16 x) { return tw_f32_bf16(x); }
TW_FN f32 tw_f32_from_f16(f16 x) { return tw_f32_f16(x); }
TW_GATHER(f32,
    if (ld_line == 1 ? step == 1 : ld_k == 1 && line == 1) {
        const f32 *const box = from + i_lo * line + k_lo * step;
        f32 *const there = to + i_lo * ld_line + k_lo * ld_k;
        if (ld_line == 1)
            tw_turn_4(there, ld_k, box, line, i_hi - i_lo, k_hi - k_lo);
        else
            tw_turn_4(there, ld_line, box, step, k_hi - k_lo, i_hi - i_lo);
        i = i_hi;
    })
TW_GATHER(bf16, )
TW_GATHER(f16, )

/* Columns 0 .. N of b, k0 <= k < k0 + kc, as panels of kc rows. Whole panels whose rows lie side by side go a few rows
 * at a time through all panels, so that memory is read and written in long stretches. */
enum { TW_PACK_ROWS = 8 };
#define TW_PACK(T)                                                                                 \
    TW_APART void tw_pack_##T(f32 *panels, const TwSide *b, i64 N, i64 k0, i64 kc) {               \
        i64 j = 0;                                                                                 \
        if (b->line == 1 && !b->at && b->lo <= 0 && b->k_lo <= k0 && b->k_hi >= k0 + kc) {                   \
            const i64 whole = tw_min_i64(b->hi, N) / TW_NR_f32 * TW_NR_f32;                        \
            const T *const from = (const T *)b->p + k0 * b->step;                                        \
            for (i64 k1 = 0; k1 < kc; k1 += TW_PACK_ROWS)                                          \
                for (j = 0; j < whole; j += TW_NR_f32)                                             \
                    for (i64 k = k1; k < k1 + TW_PACK_ROWS && k < kc; k++) {                       \
                        const T *const row = from + k * b->step + j;                               \
                        f32 *const to = panels + j * kc + k * TW_NR_f32;                           \
                        for (i64 i = 0; i < TW_NR_f32; i++) to[i] = tw_f32_from_##T(row[i]);       \
                    }                                                                              \
            j = whole > 0 ? whole : 0;                                                             \
        }                                                                                          \
        for (; j < N; j += TW_NR_f32)                                                              \
            tw_gather_##T(panels + j * kc, 1, TW_NR_f32, b, j, TW_NR_f32, k0, kc);                 \
    }
TW_PACK(f32)
TW_PACK(bf16)
TW_PACK(f16)

/* The same in pairs of steps of k, for blocks of pairs; k0 and kc count pairs. */
#ifdef TW_PAIRS
TW_FN u32 tw_half_of_pair(const TwSide *s, i64 i, i64 k) {
    const i32 there = tw_side_has(s, i) && k >= s->k_lo && k < s->k_hi;
    return there ? ((const bf16 *)s->p)[tw_side_line(s, i) + k * s->step] : 0;
}
TW_APART void tw_gather_pairs(f32 *to, i64 ld_line, i64 ld_k, const TwSide *s, i64 first, i64 count, i64 k0, i64 kc) {
    const i64 step = s->step;
    for (i64 i = first; i < first + count; i++, to += ld_line) {
        const i32 there = tw_side_has(s, i) && s->k_lo <= 2 * k0;
        const i64 whole = there ? tw_max_i64(0, tw_min_i64(kc, s->k_hi / 2 - k0)) : 0;
        const bf16 *const row = (const bf16 *)s->p + (there ? tw_side_line(s, i) : 0) + 2 * k0 * step;
        u32 *const pairs = (u32 *)to;
        if (step == 1 && ld_k == 1) {
            TW_VECTOR for (i64 k = 0; k < whole; k++) pairs[k] = *(const tw_pair *)(row + 2 * k);
        } else if (step == 1)
            for (i64 k = 0; k < whole; k++) pairs[k * ld_k] = *(const tw_pair *)(row + 2 * k);
        else
            for (i64 k = 0; k < whole; k++) pairs[k * ld_k] = row[2 * k * step] | (u32)row[(2 * k + 1) * step] << 16;
        for (i64 k = whole; k < kc; k++)
            pairs[k * ld_k] = tw_half_of_pair(s, i, 2 * (k0 + k)) | tw_half_of_pair(s, i, 2 * (k0 + k) + 1) << 16;
    }
}
/* Two rows of TW_NR_f32 elements, element by element. */
TW_FN void tw_pack_zip(u32 *to, const bf16 *even, const bf16 *odd) {
    typedef bf16 V __attribute__((vector_size(64)));
    typedef bf16 M __attribute__((vector_size(64), aligned(2), may_alias));
#define TW_ZIP4(i) i, 32 + i, i + 1, 33 + i, i + 2, 34 + i, i + 3, 35 + i
    for (i64 i = 0; i < TW_NR_f32; i += 32) {
        const V x = *(const M *)(even + i), y = *(const M *)(odd + i);
        *(M *)(to + i) = __builtin_shufflevector(x, y, TW_ZIP4(0), TW_ZIP4(4), TW_ZIP4(8), TW_ZIP4(12));
        *(M *)(to + i + 16) = __builtin_shufflevector(x, y, TW_ZIP4(16), TW_ZIP4(20), TW_ZIP4(24), TW_ZIP4(28));
    }
}
TW_APART void tw_pack_pairs(f32 *panels, const TwSide *b, i64 N, i64 k0, i64 kc) {
    const i32 rows = b->line == 1 && !b->at && b->lo <= 0 && b->k_lo <= 2 * k0; /* lie side by side */
    const i64 k_whole = rows ? tw_max_i64(0, tw_min_i64(kc, b->k_hi / 2 - k0)) : 0;
    const i64 width = tw_max_i64(0, tw_min_i64(b->hi, N));
    const bf16 *const from = (const bf16 *)b->p + 2 * k0 * b->step;
    for (i64 k1 = 0; k1 < k_whole; k1 += TW_PACK_ROWS)
        for (i64 j = 0; j < N; j += TW_NR_f32)
            for (i64 k = k1; k < k1 + TW_PACK_ROWS && k < k_whole; k++) {
                const bf16 *const even = from + 2 * k * b->step + j, *const odd = even + b->step;
                u32 *const to = (u32 *)panels + j * kc + k * TW_NR_f32;
                if (TW_NR_f32 % 32 == 0 && j + TW_NR_f32 <= width)
                    tw_pack_zip(to, even, odd);
                else
                    for (i64 i = 0; i < TW_NR_f32; i++) to[i] = j + i < width ? even[i] | (u32)odd[i] << 16 : 0;
            }
    for (i64 j = 0; j < N && k_whole < kc; j += TW_NR_f32)
        tw_gather_pairs(panels + j * kc + k_whole * TW_NR_f32, 1, TW_NR_f32, b, j, TW_NR_f32, k0 + k_whole, kc - k_whole);
}
#else
#define tw_gather_pairs tw_gather_bf16
#define tw_pack_pairs   tw_pack_bf16
#endif

TW_FN i32 tw_same_panel(const TwSide *b, const u64 *slot, i64 N, i64 k0, i64 k1) {
    return slot[0] == (u64)b->p + 1 && slot[1] == (u64)b->line && slot[2] == (u64)b->step && slot[3] == (u64)b->lo &&
           slot[4] == (u64)b->hi && slot[5] == (u64)k0 && slot[6] == (u64)k1 && slot[7] == (u64)N;
}

/* A panel of b takes 64 KB (with vectors of 64 bytes 128) and streams from the second-level cache; TW_M_BLOCK rows of a, as
 * long, stay there with it. Rows that lie a power of two apart meet in few sets of that cache, hence so few of them. */
enum { TW_K_BLOCK = TW_BYTES == 64 ? 512 : 1024, TW_M_BLOCK = 49152 / TW_K_BLOCK / TW_MR * TW_MR };

/* Do lines i0 .. i1 and steps k0 .. k1 lie apart from these bytes? */
TW_FN i32 tw_side_apart(const TwSide *s, i64 i0, i64 i1, i64 k0, i64 k1, i64 size, const void *lo, const void *hi) {
    const i64 x = (i1 - i0 - 1) * s->line, y = (k1 - k0 - 1) * s->step, at = i0 * s->line + k0 * s->step;
    const i64 first = at + tw_min_i64(x, 0) + tw_min_i64(y, 0), last = at + tw_max_i64(x, 0) + tw_max_i64(y, 0);
    const u8 *const p = s->p;
    return p + (last + 1) * size <= (const u8 *)lo || p + first * size >= (const u8 *)hi;
}

/* c (M rows of N, ld N) = (start ? c : 0) + a b, over 0 <= k < K. `skip`: rows and columns that neither tensor has are not
 * looked at afterwards. `room` holds room_k rows of all panels, `rows` 56 K elements; slot may be 0. If the result is only
 * stored, `out` (rows ld_out apart, the same edges as a and b) takes it at once where neither a nor b lies in the way;
 * true then. */
TW_APART i32 tw_gemm(TwGather *gather_a, TwPack *pack_b, const TwSide *whole_a, const TwSide *whole_b, i64 M, i64 N, i64 K,
                     f32 *c, i32 start, i32 skip, f32 *rows, f32 *room, i64 room_k, u64 *slot, f32 *out, i64 ld_out) {
    i64 ldc = N;
    i64 k_begin = 0, k_end = K, m0 = 0;
    TwSide left = *whole_a, right = *whole_b;
    const TwSide *const a = &left, *const b = &right;
    left.k_hi = tw_min_i64(a->k_hi, K), right.k_hi = tw_min_i64(b->k_hi, K);
    /* Where both are zero along k nothing happens; where one is, 0 times infinity may. */
    if (tw_max_i64(a->k_lo, 0) == tw_max_i64(b->k_lo, 0) && a->k_hi == b->k_hi) {
        k_begin = tw_min_i64(tw_max_i64(a->k_lo, 0), K);
        k_end = tw_max_i64(a->k_hi, k_begin);
    }
    if (skip) {
        m0 = tw_min_i64(tw_max_i64(a->lo, 0), M), M = tw_min_i64(a->hi, M);
        N = tw_min_i64(b->hi, N); /* columns in front are rare */
    }
    if (M <= m0 || N <= 0) return 1;
    if (k_begin == k_end) {
        if (!start)
            for (i64 i = m0; i < M; i++)
                for (i64 j = 0; j < N; j++) c[i * ldc + j] = 0;
        return 0;
    }
    i32 direct = out && !start && !a->at && !b->at && b->lo <= 0 && ld_out >= N;
    if (direct) {
        const f32 *const lo = out + m0 * ld_out, *const hi = out + (M - 1) * ld_out + N;
        direct = tw_side_apart(a, m0, M, k_begin, k_end, gather_a == tw_gather_f32 ? 4 : 2, lo, hi) &&
                 tw_side_apart(b, 0, N, k_begin, k_end, pack_b == tw_pack_f32 ? 4 : 2, lo, hi);
    }
    if (direct) c = out, ldc = ld_out;
#ifdef TW_PAIRS
    const i32 pairs = pack_b == tw_pack_pairs;
#else
    const i32 pairs = 0;
#endif
    if (pairs) k_begin = k_begin / 2, k_end = (k_end + 1) / 2; /* from here on k counts pairs */
#ifdef TW_TILES
    TwTiles shapes = {0};
    const i32 tiles = pairs && tw_tiles_allowed();
#else
    const i32 tiles = 0;
#endif
    if (tiles) k_end += -(k_end - k_begin) & 15; /* with zeros: whole tiles along k */
    const i64 length = k_end - k_begin;
    const i32 aligned = !tiles || (((u64)a->p + 4 * (u64)k_begin) % 64 == 0 && a->line % 32 == 0);
    const i32 in_place = !a->at && aligned && (gather_a == tw_gather_f32 || pairs) && a->step == 1 && a->lo <= m0 && a->hi >= M &&
                         a->k_lo <= k_begin << pairs && a->k_hi >= k_end << pairs;
    /* A small b whose rows lie side by side stays where it is. */
    const i32 small = pack_b == tw_pack_f32 && b->line == 1 && !b->at && b->lo <= 0 && b->hi >= N && b->k_lo <= k_begin &&
                      b->k_hi >= k_end && N % TW_NR_f32 == 0 && length * b->step <= 16384;
    const i64 width = (N + TW_NR_f32 - 1) / TW_NR_f32 * TW_NR_f32;
    const i32 keep = slot && !b->at && length <= room_k && !small;
    const i32 packed = keep && tw_same_panel(b, slot, N, k_begin, k_end);
    if (keep && !packed) {
        const u64 now[8] = {(u64)b->p + 1, (u64)b->line, (u64)b->step, (u64)b->lo, (u64)b->hi, (u64)k_begin, (u64)k_end, (u64)N};
        __builtin_memcpy(slot, now, sizeof now);
    }
    /* Blocks along k of about the same length; tiles count on the 16. */
    const i64 best = tiles ? tw_max_i64(256, tw_min_i64(1024, (1 << 18) / width)) : TW_K_BLOCK;
    const i64 most = tw_min_i64(best, room_k) / 16 * 16, blocks = (length + most - 1) / most;
    const i64 block = tw_min_i64(((length + blocks - 1) / blocks + 15) / 16 * 16, most);
    for (i64 k0 = k_begin; k0 < k_end; k0 += block) {
        const i64 kc = tw_min_i64(k_end - k0, block);
        f32 *const panels = keep ? room + (k0 - k_begin) * width : room;
        if (!small && !packed) pack_b(panels, b, N, k0, kc);
#ifdef TW_TILES
        for (i64 i = m0; i < M && tiles; i += 2 * TW_TILE) {
            const i64 count = tw_min_i64(M - i, 2 * TW_TILE), ld = in_place ? a->line : 2 * (kc + 16);
            const bf16 *const x = in_place ? (const bf16 *)a->p + i * a->line + 2 * k0 : (const bf16 *)rows;
            if (!in_place) gather_a(rows, kc + 16, 1, a, i, count, k0, kc);
            const bf16 *const next = in_place && i + 2 * TW_TILE < M ? x + 2 * TW_TILE * ld : 0;
            tw_rows_tiles(&shapes, count, N, kc, x, ld, next, (const u32 *)panels, c + i * ldc, ldc, start || k0 > k_begin);
        }
        if (tiles) continue;
#endif
        for (i64 i = m0, mc; i < M; i += mc) {
            mc = tw_min_i64(M - i, TW_M_BLOCK);
            if (M - i > mc && M - i - mc < TW_MR) mc -= TW_MR; /* no small rest */
            const f32 *x = rows;
            i64 ldx = TW_K_BLOCK + 16;
            if (!in_place)
                gather_a(rows, ldx, 1, a, i, mc, k0, kc);
            else if (!pairs)
                x = (const f32 *)a->p + i * a->line + k0, ldx = a->line;
            for (i64 j = 0; j < N; j += TW_NR_f32) {
                const i64 n = tw_min_i64(N - j, TW_NR_f32);
                const f32 *y = panels + j * kc;
                i64 ldb = TW_NR_f32;
                if (small) y = (const f32 *)b->p + k0 * b->step + j, ldb = b->step;
#ifdef TW_PAIRS
                if (pairs) {
                    const bf16 *const row = in_place ? (const bf16 *)a->p + i * a->line + 2 * k0 : (const bf16 *)x;
                    const i64 ld = in_place ? a->line : 2 * ldx;
                    tw_panel_pair(mc, n, kc, row, ld, (const u32 *)y, ldb, c + i * ldc + j, ldc, start || k0 > k_begin);
                    continue;
                }
#endif
                tw_panel_f32(mc, n, kc, x, ldx, y, ldb, c + i * ldc + j, ldc, start || k0 > k_begin);
            }
        }
    }
#ifdef TW_TILES
    if (tiles) TW_TILE_RELEASE();
#endif
    return direct;
}
#endif
#endif
