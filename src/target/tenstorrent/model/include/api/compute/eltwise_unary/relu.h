/* SPDX-License-Identifier: Apache-2.0 */
/* relu.h: max(x, 0) and its kin. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(relu)
TT_SFPU_UNARY_PARAM(relu_max)
TT_SFPU_UNARY_PARAM(relu_min)
TT_SFPU_UNARY_PARAM(leaky_relu)
