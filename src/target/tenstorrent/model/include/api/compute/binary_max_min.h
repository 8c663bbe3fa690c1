/* SPDX-License-Identifier: Apache-2.0 */
/* binary_max_min.h: the larger or smaller of two DST slots. */
#pragma once
#include "common.h"

TT_SFPU_BINARY(binary_max)
TT_SFPU_BINARY(binary_min)
