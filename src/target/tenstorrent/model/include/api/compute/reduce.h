/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.h: sums, averages and maxima along rows, columns or both, times a scaler tile. */
#pragma once
#include "common.h"

enum class PoolType { SUM = TT_POOL_SUM, AVG = TT_POOL_AVG, MAX = TT_POOL_MAX };
enum class ReduceDim {
    REDUCE_ROW = TT_REDUCE_ROW,
    REDUCE_COL = TT_REDUCE_COL,
    REDUCE_SCALAR = TT_REDUCE_SCALAR
};

/* Also lets the packer keep only the row, column or element that holds results, until
 * reduce_uninit. */
template <PoolType Pool, ReduceDim Dim>
static inline void reduce_init(uint32_t cb, uint32_t scaler, uint32_t) {
    tt_call(init, "reduce_init", TT_INIT(TT_FAMILY_REDUCE, 0, (uint32_t)Pool, (uint32_t)Dim), 0);
    tt_call(init_args, cb, scaler, 1, 1, 1);
    tt_call(reduce_mask, 1, (uint32_t)Dim);
}
template <PoolType Pool, ReduceDim Dim>
static inline void reduce_tile(uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t scaler_tile,
                               uint32_t dst) {
    tt_call(reduce, (uint32_t)Pool, (uint32_t)Dim, cb, scaler, tile, scaler_tile, dst);
}
static inline void reduce_uninit(uint32_t = 0) {
    tt_call(reduce_mask, 0, 0);
}
