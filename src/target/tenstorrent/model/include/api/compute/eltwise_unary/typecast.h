/* SPDX-License-Identifier: Apache-2.0 */
/* typecast.h: one data format into another inside DST. */
#pragma once
#include "../common.h"

template <uint32_t In, uint32_t Out> static inline void typecast_tile_init() {
    TT_SFPU_INIT("typecast_tile_init", typecast);
}
template <uint32_t In, uint32_t Out> static inline void typecast_tile(uint32_t dst) {
    TT_SFPU_CALL("typecast_tile", typecast, typecast, dst, In, Out, dst);
}
