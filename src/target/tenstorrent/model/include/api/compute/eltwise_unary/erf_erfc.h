/* SPDX-License-Identifier: Apache-2.0 */
/* erf_erfc.h: the error function. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(erf)
