/* SPDX-License-Identifier: Apache-2.0 */
/* recip.h: 1/x; the default is the legacy version with three digits. */
#pragma once
#include "../common.h"

template <bool Legacy = true> static inline void recip_tile_init() {
    if (Legacy)
        TT_SFPU_INIT("recip_tile_init", recip_legacy);
    else
        TT_SFPU_INIT("recip_tile_init<false>", recip);
}
template <bool Legacy = true> static inline void recip_tile(uint32_t dst) {
    if (Legacy)
        TT_SFPU_CALL("recip_tile", recip_legacy, recip_legacy, dst, 0, 0, dst);
    else
        TT_SFPU_CALL("recip_tile<false>", recip, recip, dst, 0, 0, dst);
}
