// SPDX-License-Identifier: Apache-2.0
/* distributed.hpp: see fake_metalium.hpp. */
#pragma once
#include "../fake_metalium.hpp"
