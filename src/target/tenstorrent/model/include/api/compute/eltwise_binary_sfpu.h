/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise_binary_sfpu.h: two DST slots into a third on the SFPU. */
#pragma once
#include "common.h"

TT_SFPU_BINARY(add_binary)
TT_SFPU_BINARY(sub_binary)
TT_SFPU_BINARY(mul_binary)
TT_SFPU_BINARY(div_binary)
TT_SFPU_BINARY(rsub_binary)
TT_SFPU_BINARY(power_binary)
TT_SFPU_BINARY(lt_binary)
TT_SFPU_BINARY(gt_binary)
TT_SFPU_BINARY(le_binary)
TT_SFPU_BINARY(ge_binary)
TT_SFPU_BINARY(eq_binary)
TT_SFPU_BINARY(ne_binary)
