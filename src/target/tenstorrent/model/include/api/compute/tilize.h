/* SPDX-License-Identifier: Apache-2.0 */
/* tilize.h: row-major data of a circular buffer into tiles of another one. */
#pragma once
#include "common.h"

static inline void tilize_init(uint32_t cb, uint32_t tiles, uint32_t out) {
    tt_call(init, "tilize_init", TT_INIT(TT_FAMILY_TILIZE, 0, 0, 0), 0);
    tt_call(init_args, cb, out, tiles, 1, 1);
}
static inline void tilize_block(uint32_t cb, uint32_t tiles, uint32_t out) {
    tt_call(tilize_block, cb, tiles, out);
}
static inline void tilize_uninit(uint32_t, uint32_t) {
    tt_call(init, "tilize_uninit", TT_INIT(TT_FAMILY_NONE, 0, 0, 0), 0);
}
