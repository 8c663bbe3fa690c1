/* SPDX-License-Identifier: Apache-2.0 */
/* bcast.h: two-tile operations whose second tile gives one row, one column or one value. */
#pragma once
#include "common.h"

#define TT_BCAST(op, OP, suffix, KIND)                                                    \
    static inline void op##_bcast_##suffix##_init(uint32_t a, uint32_t b) {               \
        tt_call(init, #op "_bcast_" #suffix "_init",                                      \
                TT_INIT(TT_FAMILY_BINARY, OP, KIND, TT_REUSE_NONE), 0);                   \
        tt_call(init_args, a, b, 1, 1, 1);                                                \
    }                                                                                     \
    static inline void op##_tiles_bcast_##suffix(uint32_t a, uint32_t b, uint32_t tile_a, \
                                                 uint32_t tile_b, uint32_t dst,           \
                                                 uint32_t bcast_row_idx = 0) {            \
        tt_call(binary, #op "_tiles_bcast_" #suffix, OP, KIND, a, b, tile_a, tile_b, dst, \
                bcast_row_idx);                                                           \
    }
#define TT_BCASTS(op, OP)                \
    TT_BCAST(op, OP, rows, TT_BCAST_ROW) \
    TT_BCAST(op, OP, cols, TT_BCAST_COL) \
    TT_BCAST(op, OP, scalar, TT_BCAST_SCALAR)
TT_BCASTS(add, TT_ADD)
TT_BCASTS(sub, TT_SUB)
TT_BCASTS(mul, TT_MUL)
#undef TT_BCASTS
#undef TT_BCAST

template <BroadcastType Kind> static inline void unary_bcast_init(uint32_t cb) {
    tt_call(init, "unary_bcast_init", TT_INIT(TT_FAMILY_UNARY_BCAST, 0, 0, (uint32_t)Kind), 0);
    tt_call(init_args, cb, TT_NO_CB, 1, 1, 1);
}
template <BroadcastType Kind>
static inline void unary_bcast(uint32_t cb, uint32_t tile, uint32_t dst) {
    tt_call(unary_bcast, (uint32_t)Kind, cb, tile, dst);
}
