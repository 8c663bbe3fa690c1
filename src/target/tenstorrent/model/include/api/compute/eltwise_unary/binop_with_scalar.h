/* SPDX-License-Identifier: Apache-2.0 */
/* binop_with_scalar.h: a DST slot and one number, given as float bits; one init for all.
 * div_unary multiplies: its caller passes the reciprocal. */
#pragma once
#include "../common.h"

static inline void binop_with_scalar_tile_init() {
    TT_SFPU_INIT("binop_with_scalar_tile_init", add_unary);
}
#define TT_SCALAR(op)                                                \
    static inline void op##_tile(uint32_t dst, uint32_t bits) {      \
        TT_SFPU_CALL(#op "_tile", add_unary, op, dst, bits, 0, dst); \
    }
TT_SCALAR(add_unary)
TT_SCALAR(sub_unary)
TT_SCALAR(mul_unary)
TT_SCALAR(div_unary)
TT_SCALAR(rsub_unary)
#undef TT_SCALAR
