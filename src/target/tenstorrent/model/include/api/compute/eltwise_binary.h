/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise_binary.h: add, sub, mul of two tiles on the FPU; mul always adds to DST. */
#pragma once
#include "common.h"

enum class EltwiseBinaryReuseDestType {
    NONE = TT_REUSE_NONE,
    DEST_TO_SRCA = TT_REUSE_SRCA,
    DEST_TO_SRCB = TT_REUSE_SRCB
};

#define TT_ELTWISE(op, OP)                                                                      \
    static inline void op##_init(uint32_t a, uint32_t b, bool acc_to_dest = false) {            \
        tt_call(init, #op "_init", TT_INIT(TT_FAMILY_BINARY, OP, TT_BCAST_NONE, TT_REUSE_NONE), \
                acc_to_dest);                                                                   \
        tt_call(init_args, a, b, 1, 1, 1);                                                      \
    }                                                                                           \
    static inline void op##_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b,     \
                                  uint32_t dst) {                                               \
        tt_call(binary, #op "_tiles", OP, TT_BCAST_NONE, a, b, tile_a, tile_b, dst, 0);         \
    }                                                                                           \
    template <EltwiseBinaryReuseDestType Reuse>                                                 \
    static inline void op##_reuse_dest_init(uint32_t cb) {                                      \
        tt_call(init, #op "_reuse_dest_init",                                                   \
                TT_INIT(TT_FAMILY_BINARY, OP, TT_BCAST_NONE, (uint32_t)Reuse), 0);              \
        tt_call(init_args, cb, TT_NO_CB, 1, 1, 1);                                              \
    }                                                                                           \
    template <EltwiseBinaryReuseDestType Reuse>                                                 \
    static inline void op##_reuse_dest_tiles(uint32_t cb, uint32_t tile, uint32_t dst) {        \
        tt_call(binary_reuse, #op "_reuse_dest_tiles", OP, (uint32_t)Reuse, cb, tile, dst);     \
    }
TT_ELTWISE(add, TT_ADD)
TT_ELTWISE(sub, TT_SUB)
TT_ELTWISE(mul, TT_MUL)
#undef TT_ELTWISE
