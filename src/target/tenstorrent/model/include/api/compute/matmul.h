/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.h: DST += A x B. The second operand goes to SrcA, the first to SrcB. */
#pragma once
#include "common.h"

static inline void matmul_init(uint32_t a, uint32_t b, uint32_t transpose = 0) {
    tt_call(init, "matmul_init", TT_INIT(TT_FAMILY_MATMUL, 0, 0, 0), transpose);
    tt_call(init_args, a, b, 1, 1, 1);
}
static inline void matmul_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b,
                                uint32_t dst) {
    tt_call(matmul, "matmul_tiles", 0, a, b, tile_a, tile_b, dst, 0, 1, 1, 1);
}
static inline void matmul_block_init(uint32_t a, uint32_t b, uint32_t transpose = 0,
                                     uint32_t columns = 1, uint32_t rows = 1, uint32_t inner = 1) {
    tt_call(init, "matmul_block_init", TT_INIT(TT_FAMILY_MATMUL, 1, 0, 0), transpose);
    tt_call(init_args, a, b, columns, rows, inner);
}
/* One step of k: rows x columns products, A tiles `inner` apart, B tiles side by side. */
static inline void matmul_block(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b,
                                uint32_t dst, uint32_t transpose, uint32_t columns, uint32_t rows,
                                uint32_t inner) {
    tt_call(matmul, "matmul_block", 1, a, b, tile_a, tile_b, dst, transpose, columns, rows, inner);
}
