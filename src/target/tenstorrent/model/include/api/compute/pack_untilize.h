/* SPDX-License-Identifier: Apache-2.0 */
/* pack_untilize.h: tiles, from a circular buffer or from DST, packed as row-major data. */
#pragma once
#include "common.h"

template <uint32_t Columns> static inline void pack_untilize_init(uint32_t cb, uint32_t out) {
    tt_call(init, "pack_untilize_init", TT_INIT(TT_FAMILY_UNTILIZE, 0, 0, 0), 0);
    tt_call(init_args, cb, out, Columns, 1, 1);
}
template <uint32_t Columns>
static inline void pack_untilize_block(uint32_t cb, uint32_t rows, uint32_t out) {
    tt_call(untilize_block, cb, Columns, rows, out);
}
template <uint32_t Columns> static inline void pack_untilize_dest_init(uint32_t) {}
template <uint32_t Columns> static inline void pack_untilize_dest(uint32_t out) {
    tt_call(untilize_dest, Columns, out);
}
static inline void pack_untilize_uninit(uint32_t) {}
