/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.h: products of bf16 in the tile registers of AMX, for emitted CPU kernels.
 *
 *     TwTiles tiles = {0};
 *     if (tw_tiles_allowed()) tw_rows_tiles(&tiles, rows, n, K, a, lda, next, b, c, ldc, start), TW_TILE_RELEASE();
 *
 * The products of tw_panel_pair (dot.h) of up to 32 rows: those of a are bf16, b is panels of pairs along k, K counts pairs and
 * is a multiple of 16, c = (start ? c : 0) + a b. A block of 32 x 32 of c stays in four tiles for all of k; two tiles of a (16
 * rows of 16 pairs) and two of b (16 pairs of 16 columns) feed it. Edges of c are shapes of tiles, which the hardware neither
 * reads nor writes beyond.
 *
 * Sums are tdpbf16ps's: of 16 pairs the first halves are one chain of fused multiply-adds, the second halves another; their
 * sum is then added to c. So bits depend on where the 16 pairs begin, which is k = 0 unless both operands begin later.
 * -DTW_AMX_TWIN: tests define the seven TW_TILE_ below themselves, as arrays. */
#ifndef TILEWRIGHT_TILES_H
#define TILEWRIGHT_TILES_H
#include "dot.h"

#if defined(TW_PAIRS) && !defined(TW_PRODUCTS_APART) && ((defined(__AMX_BF16__) && defined(__linux__)) || defined(TW_AMX_TWIN))
#define TW_TILES
enum { TW_TILE = 16 }; /* rows of a tile, and words of a row */

/* What ldtilecfg reads: tiles 0 to 3 are c (row by row), 4 and 5 a, 6 and 7 b. */
typedef struct TwTiles {
    u8 palette, start_row, none[14];
    u16 row_bytes[16];
    u8 rows[16];
} TwTiles;

#ifndef TW_AMX_TWIN
#define TW_TILE_SHAPES(tiles)       __asm__ volatile("ldtilecfg %0" : : "m"(*(tiles)))
#define TW_TILE_RELEASE()           __asm__ volatile("tilerelease")
#define TW_TILE_ZERO(t)             __asm__ volatile("tilezero %%tmm" #t : :)
#define TW_TILE_LOAD(t, p, stride)  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"(stride) : "memory")
/* For what is not read again while it could be in the first-level cache. */
#define TW_TILE_PASS(t, p, stride)  __asm__ volatile("tileloaddt1 (%0,%1,1), %%tmm" #t : : "r"(p), "r"(stride) : "memory")
#define TW_TILE_STORE(t, p, stride) __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(p), "r"(stride) : "memory")
#define TW_TILE_DOT(c, a, b)        __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : :)
#endif

/* Tiles are 8 KB of state a thread, which Linux gives to processes that ask: arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA). */
static __attribute__((unused)) i32 tw_tiles_allowed(void) {
#ifdef TW_AMX_TWIN
    return 1;
#else
    static i32 answer; /* 0: not asked yet, 1: yes, 2: no; it is the same for all threads */
    i32 now = __atomic_load_n(&answer, __ATOMIC_RELAXED);
    if (!now) {
        i64 result = 158;
        __asm__ volatile("syscall" : "+a"(result) : "D"(0x1023ll), "S"(18ll) : "rcx", "r11", "memory");
        now = result == 0 ? 1 : 2;
        __atomic_store_n(&answer, now, __ATOMIC_RELAXED);
    }
    return now == 1;
#endif
}

/* Tiles for up to 32 rows and columns of c. Tiles that are not used have neither rows nor bytes. */
TW_FN void tw_tile_shapes(TwTiles *tiles, i64 rows, i64 columns) {
    const i64 high[2] = {tw_min_i64(rows, TW_TILE), tw_max_i64(rows - TW_TILE, 0)};
    const i64 wide[2] = {tw_min_i64(columns, TW_TILE), tw_max_i64(columns - TW_TILE, 0)};
    TwTiles want = {.palette = 1};
    for (i32 t = 0; t < 8; t++) {
        const i64 r = t < 4 ? high[t / 2] : t < 6 ? high[t - 4] : TW_TILE;
        const i64 w = t < 4 ? wide[t % 2] : t < 6 ? TW_TILE : wide[t - 6];
        want.rows[t] = (u8)(w ? r : 0), want.row_bytes[t] = (u16)(r ? 4 * w : 0);
    }
    if (__builtin_memcmp(&want, tiles, sizeof want) == 0) return;
    *tiles = want;
    TW_TILE_SHAPES(tiles);
}

/* One block of c: `low` and `right` say whether it has a second row and column of tiles. A tile is loaded for the next step as
 * soon as this one is done with it, since loads take as long as products. `fetch` rows from `next` on come to the second-level
 * cache meanwhile. */
TW_FN void tw_tile_block(i64 K, const bf16 *a, i64 lda, const bf16 *next, i64 fetch, const u32 *b, f32 *c, i64 ldc, i32 start,
                         i32 low, i32 right) {
    const i64 a_by = 2 * lda, b_by = 4 * TW_NR_f32, c_by = 4 * ldc;
    const bf16 *const a_low = a + TW_TILE * lda;
    f32 *const c_low = c + TW_TILE * ldc;
    TW_TILE_PASS(6, b, b_by);
    TW_TILE_LOAD(4, a, a_by);
    if (right) TW_TILE_PASS(7, b + TW_TILE, b_by);
    if (low) TW_TILE_LOAD(5, a_low, a_by);
    if (start) {
        TW_TILE_LOAD(0, c, c_by);
        if (right) TW_TILE_LOAD(1, c + TW_TILE, c_by);
        if (low) TW_TILE_LOAD(2, c_low, c_by);
        if (low && right) TW_TILE_LOAD(3, c_low + TW_TILE, c_by);
    } else {
        TW_TILE_ZERO(0);
        if (right) TW_TILE_ZERO(1);
        if (low) TW_TILE_ZERO(2);
        if (low && right) TW_TILE_ZERO(3);
    }
    for (i64 k = 2 * TW_TILE; k < 2 * K; k += 2 * TW_TILE) {
        for (i64 r = 0; r < fetch; r++) __builtin_prefetch(next + r * lda + k, 0, 2);
        b += TW_TILE * TW_NR_f32;
        TW_TILE_DOT(0, 4, 6);
        if (right) TW_TILE_DOT(1, 4, 7);
        TW_TILE_LOAD(4, a + k, a_by);
        if (low) TW_TILE_DOT(2, 5, 6);
        TW_TILE_PASS(6, b, b_by);
        if (low && right) TW_TILE_DOT(3, 5, 7);
        if (right) TW_TILE_PASS(7, b + TW_TILE, b_by);
        if (low) TW_TILE_LOAD(5, a_low + k, a_by);
    }
    TW_TILE_DOT(0, 4, 6);
    if (right) TW_TILE_DOT(1, 4, 7);
    if (low) TW_TILE_DOT(2, 5, 6);
    if (low && right) TW_TILE_DOT(3, 5, 7);
    TW_TILE_STORE(0, c, c_by);
    if (right) TW_TILE_STORE(1, c + TW_TILE, c_by);
    if (low) TW_TILE_STORE(2, c_low, c_by);
    if (low && right) TW_TILE_STORE(3, c_low + TW_TILE, c_by);
}

/* Up to 32 rows of a by n columns of b, whose panels are TW_NR_f32 wide and K pairs long. `next`: the rows of a that follow, to
 * be fetched ahead, or 0. */
static __attribute__((unused)) void tw_rows_tiles(TwTiles *tiles, i64 rows, i64 n, i64 K, const bf16 *a, i64 lda,
                                                  const bf16 *next, const u32 *b, f32 *c, i64 ldc, i32 start) {
    const i64 blocks = (n + 2 * TW_TILE - 1) / (2 * TW_TILE), fetch = next ? (2 * TW_TILE + blocks - 1) / blocks : 0;
    const i32 low = rows > TW_TILE;
    for (i64 j = 0; j < n; j += 2 * TW_TILE, next += next ? fetch * lda : 0) {
        const i32 right = n - j > TW_TILE;
        const u32 *const y = b + j / TW_NR_f32 * TW_NR_f32 * K + j % TW_NR_f32;
        tw_tile_shapes(tiles, rows, tw_min_i64(n - j, 2 * TW_TILE));
        if (low && right)
            tw_tile_block(K, a, lda, next, fetch, y, c + j, ldc, start, 1, 1);
        else if (low)
            tw_tile_block(K, a, lda, next, fetch, y, c + j, ldc, start, 1, 0);
        else if (right)
            tw_tile_block(K, a, lda, next, fetch, y, c + j, ldc, start, 0, 1);
        else
            tw_tile_block(K, a, lda, next, fetch, y, c + j, ldc, start, 0, 0);
    }
}
#endif
#endif
