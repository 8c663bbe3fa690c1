/* SPDX-License-Identifier: Apache-2.0 */
/* sqrt.h: the square root. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(sqrt)
