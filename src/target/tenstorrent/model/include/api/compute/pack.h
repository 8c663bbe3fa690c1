/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h: DST into the reserved window of a circular buffer. */
#pragma once
#include "common.h"

template <bool OutOfOrder = false>
static inline void pack_tile(uint32_t dst, uint32_t cb, uint32_t page = 0) {
    tt_call(pack_tile, dst, cb, OutOfOrder ? page : TT_NEXT_PAGE);
}
static inline void pack_block(uint32_t dst, uint32_t cb, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; i++) pack_tile(dst + i, cb);
}
static inline void pack_reconfig_l1_acc(uint32_t on) {
    tt_call(pack_l1_acc, on);
}

struct ReluConfig {
    uint32_t mode, threshold;
    static ReluConfig none() { return {TT_RELU_NONE, 0}; }
    static ReluConfig zero() { return {TT_RELU_ZERO, 0}; }
    static ReluConfig min_threshold(uint32_t bits) { return {TT_RELU_MIN, bits}; }
    static ReluConfig max_threshold(uint32_t bits) { return {TT_RELU_MAX, bits}; }
};
static inline void pack_relu_config(ReluConfig c) {
    tt_call(pack_relu, c.mode, c.threshold);
}
