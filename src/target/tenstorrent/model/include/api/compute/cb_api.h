/* SPDX-License-Identifier: Apache-2.0 */
/* cb_api.h: words of a page that compute waits for, on all three of its threads. */
#pragma once
#include "common.h"

static inline uint32_t read_tile_value(uint32_t cb, uint32_t tile, uint32_t word) {
    return tt_call(cb_word, cb, tile, word);
}
