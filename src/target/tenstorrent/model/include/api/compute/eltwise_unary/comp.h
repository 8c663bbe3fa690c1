/* SPDX-License-Identifier: Apache-2.0 */
/* comp.h: comparisons with zero: 1 or 0. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(gtz)
TT_SFPU_UNARY(ltz)
TT_SFPU_UNARY(gez)
TT_SFPU_UNARY(lez)
TT_SFPU_UNARY(eqz)
TT_SFPU_UNARY(nez)
