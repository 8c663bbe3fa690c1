/* SPDX-License-Identifier: Apache-2.0 */
/* exp.h: e^x; the approximate version is asked for by template argument in init and op. */
#pragma once
#include "../common.h"

template <bool Approx = false, bool = true> static inline void exp_tile_init() {
    if (Approx)
        TT_SFPU_INIT("exp_tile_init<true>", exp_approx);
    else
        TT_SFPU_INIT("exp_tile_init", exp);
}
template <bool Approx = false, bool = true> static inline void exp_tile(uint32_t dst) {
    if (Approx)
        TT_SFPU_CALL("exp_tile<true>", exp_approx, exp_approx, dst, 0, 0, dst);
    else
        TT_SFPU_CALL("exp_tile", exp, exp, dst, 0, 0, dst);
}
