/* SPDX-License-Identifier: Apache-2.0 */
/* fill.h: one value in every element of a DST slot. */
#pragma once
#include "../common.h"
#include <string.h>

static inline void fill_tile_init() {
    TT_SFPU_INIT("fill_tile_init", fill);
}
static inline void fill_tile(uint32_t dst, float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    TT_SFPU_CALL("fill_tile", fill, fill, dst, bits, 0, dst);
}
static inline void fill_tile_bitcast(uint32_t dst, uint32_t bits) {
    TT_SFPU_CALL("fill_tile_bitcast", fill, fill, dst, bits, 0, dst);
}
