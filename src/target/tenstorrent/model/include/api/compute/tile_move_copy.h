/* SPDX-License-Identifier: Apache-2.0 */
/* tile_move_copy.h: a tile from a circular buffer into DST. */
#pragma once
#include "common.h"

static inline void copy_tile_init(uint32_t cb) {
    tt_call(init, "copy_tile_init", TT_INIT(TT_FAMILY_COPY, 0, 0, 0), 0);
    tt_call(init_args, cb, TT_NO_CB, 1, 1, 1);
}
static inline void copy_tile_to_dst_init_short(uint32_t cb, uint32_t = 0) {
    copy_tile_init(cb);
}
static inline void copy_tile_to_dst_init_short_with_dt(uint32_t, uint32_t cb, uint32_t = 0) {
    tt_call(configure, TT_SRCA, cb);
    copy_tile_init(cb);
}
static inline void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst) {
    tt_call(copy_tile, cb, tile, dst);
}
