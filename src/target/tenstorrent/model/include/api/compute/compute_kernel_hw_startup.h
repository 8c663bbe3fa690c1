/* SPDX-License-Identifier: Apache-2.0 */
/* compute_kernel_hw_startup.h: the first call of a compute kernel: formats of SrcA, SrcB and
 * packer. */
#pragma once
#include "common.h"

/* Reverse: the first operand goes to SrcB, as matmul wants it. */
enum class SrcOrder { Normal, Reverse };

template <SrcOrder Order = SrcOrder::Normal>
static inline void compute_kernel_hw_startup(uint32_t in0, uint32_t in1, uint32_t out) {
    tt_call(configure, Order == SrcOrder::Normal ? TT_SRCA : TT_SRCB, in0);
    tt_call(configure, Order == SrcOrder::Normal ? TT_SRCB : TT_SRCA, in1);
    tt_call(configure, TT_PACK, out);
}
template <SrcOrder Order = SrcOrder::Normal>
static inline void compute_kernel_hw_startup(uint32_t in, uint32_t out) {
    compute_kernel_hw_startup<Order>(in, in, out);
}
