/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.h: a tile transposed on its way into DST. */
#pragma once
#include "common.h"

static inline void transpose_init(uint32_t cb) {
    tt_call(init, "transpose_init", TT_INIT(TT_FAMILY_TRANSPOSE, 0, 0, 0), 0);
    tt_call(init_args, cb, TT_NO_CB, 1, 1, 1);
}
static inline void transpose_tile(uint32_t cb, uint32_t tile, uint32_t dst) {
    tt_call(transpose, cb, tile, dst);
}
