/* SPDX-License-Identifier: Apache-2.0 */
/* rounding.h: to whole numbers; the three functions share one init. */
#pragma once
#include "../common.h"

static inline void rounding_op_tile_init() {
    TT_SFPU_INIT("rounding_op_tile_init", floor);
}
static inline void floor_tile(uint32_t dst) {
    TT_SFPU_CALL("floor_tile", floor, floor, dst, 0, 0, dst);
}
static inline void ceil_tile(uint32_t dst) {
    TT_SFPU_CALL("ceil_tile", floor, ceil, dst, 0, 0, dst);
}
static inline void trunc_tile(uint32_t dst) {
    TT_SFPU_CALL("trunc_tile", floor, trunc, dst, 0, 0, dst);
}
