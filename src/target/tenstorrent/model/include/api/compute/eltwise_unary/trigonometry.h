/* SPDX-License-Identifier: Apache-2.0 */
/* trigonometry.h: sine and cosine. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(sin)
TT_SFPU_UNARY(cos)
