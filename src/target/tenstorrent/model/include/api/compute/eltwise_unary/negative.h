/* SPDX-License-Identifier: Apache-2.0 */
/* negative.h: -x. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(negative)
