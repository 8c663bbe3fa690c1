/* SPDX-License-Identifier: Apache-2.0 */
/* compute_kernel_api.h: SFPU functions that have no header of their own. */
#pragma once
#include "common.h"

TT_SFPU_UNARY(abs)
TT_SFPU_UNARY(exp2)
TT_SFPU_UNARY(log)
TT_SFPU_UNARY(sigmoid)
TT_SFPU_UNARY(sign)
TT_SFPU_UNARY(silu)
TT_SFPU_UNARY(square)
TT_SFPU_UNARY(tanh)
TT_SFPU_UNARY_PARAM(power)
TT_SFPU_UNARY_PARAM(unary_max)
TT_SFPU_UNARY_PARAM(unary_min)
