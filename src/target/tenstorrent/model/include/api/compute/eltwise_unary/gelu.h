/* SPDX-License-Identifier: Apache-2.0 */
/* gelu.h: x times the normal distribution function; the default is the fast version. */
#pragma once
#include "../common.h"

template <bool Fast = true> static inline void gelu_tile_init() {
    if (Fast)
        TT_SFPU_INIT("gelu_tile_init", gelu_fast);
    else
        TT_SFPU_INIT("gelu_tile_init<false>", gelu);
}
template <bool Fast = true> static inline void gelu_tile(uint32_t dst) {
    if (Fast)
        TT_SFPU_CALL("gelu_tile", gelu_fast, gelu_fast, dst, 0, 0, dst);
    else
        TT_SFPU_CALL("gelu_tile<false>", gelu, gelu, dst, 0, 0, dst);
}
