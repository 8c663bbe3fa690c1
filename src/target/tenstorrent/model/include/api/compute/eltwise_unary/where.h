/* SPDX-License-Identifier: Apache-2.0 */
/* where.h: condition ? a : b, element by element. */
#pragma once
#include "../common.h"

static inline void where_tile_init() {
    TT_SFPU_INIT("where_tile_init", where);
}
template <DataFormat Format>
static inline void where_tile(uint32_t condition, uint32_t a, uint32_t b, uint32_t out) {
    TT_SFPU_CALL("where_tile", where, where, out, 0, 0, condition, a, b);
}
