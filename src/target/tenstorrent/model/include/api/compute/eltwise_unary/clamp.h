/* SPDX-License-Identifier: Apache-2.0 */
/* clamp.h: x between two bounds, given as float bits. */
#pragma once
#include "../common.h"

static inline void clamp_tile_init() {
    TT_SFPU_INIT("clamp_tile_init", clamp);
}
static inline void clamp_tile(uint32_t dst, uint32_t low, uint32_t high) {
    TT_SFPU_CALL("clamp_tile", clamp, clamp, dst, low, high, dst);
}
