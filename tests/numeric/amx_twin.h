/* SPDX-License-Identifier: Apache-2.0 */
/* amx_twin.h: the tile registers of AMX as arrays, for tests of prelude/tiles.h on machines that have none.
 *
 * Every TW_TILE_ macro does what Intel's manual says of its instruction: the shapes are read from the 64 bytes of ldtilecfg,
 * rows and bytes beyond them are not touched, tdpbf16ps sums as the hardware does (it also takes subnormals as zero; the twin
 * does not). What would be a fault there is counted in twin_faults. Include before gemm.h, with -DTW_AMX_TWIN -DTW_PAIRS. */
#ifndef AMX_TWIN_H
#define AMX_TWIN_H
#include "cpu.h"

static u32 twin_tile[8][16][16];
static i32 twin_rows[8], twin_bytes[8], twin_faults, twin_dots;

static void twin_shapes(const void *config) {
    const u8 *at = config;
    twin_faults += at[0] != 1 || at[1] != 0;
    for (i32 t = 0; t < 8; t++) {
        twin_rows[t] = at[48 + t], twin_bytes[t] = at[16 + 2 * t] | at[17 + 2 * t] << 8;
        twin_faults += twin_rows[t] > 16 || twin_bytes[t] > 64 || twin_bytes[t] % 4 || !twin_rows[t] != !twin_bytes[t];
    }
    for (i32 i = 2; i < 64; i++) twin_faults += (i < 16 || (i >= 32 && i < 48) || i >= 56) && at[i];
    __builtin_memset(twin_tile, 0, sizeof twin_tile);
}

static void twin_release(void) {
    __builtin_memset(twin_rows, 0, sizeof twin_rows);
    __builtin_memset(twin_bytes, 0, sizeof twin_bytes);
}

static void twin_zero(i32 t) {
    twin_faults += !twin_rows[t];
    __builtin_memset(twin_tile[t], 0, sizeof twin_tile[t]);
}

static void twin_load(i32 t, const void *from, i64 stride) {
    twin_zero(t);
    for (i32 r = 0; r < twin_rows[t]; r++) __builtin_memcpy(twin_tile[t][r], (const u8 *)from + r * stride, (u64)twin_bytes[t]);
}

static void twin_store(i32 t, void *to, i64 stride) {
    twin_faults += !twin_rows[t];
    for (i32 r = 0; r < twin_rows[t]; r++) __builtin_memcpy((u8 *)to + r * stride, twin_tile[t][r], (u64)twin_bytes[t]);
}

static void twin_dot(i32 c, i32 a, i32 b) {
    twin_faults += !twin_rows[c] || twin_rows[a] != twin_rows[c] || twin_bytes[b] != twin_bytes[c] || twin_bytes[a] != 4 * twin_rows[b];
    twin_dots++;
    for (i32 m = 0; m < twin_rows[c]; m++)
        for (i32 n = 0; n < twin_bytes[c] / 4; n++) {
            f32 sum[2] = {0, 0};
            for (i32 k = 0; k < twin_rows[b]; k++)
                for (i32 half = 0; half < 2; half++) {
                    const bf16 x = (bf16)(twin_tile[a][m][k] >> 16 * half), y = (bf16)(twin_tile[b][k][n] >> 16 * half);
                    sum[half] = tw_fma_f32(tw_f32_bf16(x), tw_f32_bf16(y), sum[half]);
                }
            twin_tile[c][m][n] = tw_as_u32(tw_as_f32(twin_tile[c][m][n]) + (sum[0] + sum[1]));
        }
}

#define TW_TILE_SHAPES(tiles)       twin_shapes(tiles)
#define TW_TILE_RELEASE()           twin_release()
#define TW_TILE_ZERO(t)             twin_zero(t)
#define TW_TILE_LOAD(t, p, stride)  twin_load(t, p, stride)
#define TW_TILE_PASS(t, p, stride)  twin_load(t, p, stride)
#define TW_TILE_STORE(t, p, stride) twin_store(t, p, stride)
#define TW_TILE_DOT(c, a, b)        twin_dot(c, a, b)
#endif
