/* SPDX-License-Identifier: Apache-2.0 */
/* rsqrt.h: the reciprocal square root. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(rsqrt)
