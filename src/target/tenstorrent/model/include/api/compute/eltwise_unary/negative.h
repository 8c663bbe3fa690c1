/* negative.h: -x. */
#pragma once
#include "../common.h"

TT_SFPU_UNARY(negative)
