// SPDX-License-Identifier: Apache-2.0
/* core_coord.hpp: see fake_metalium.hpp. */
#pragma once
#include "../fake_metalium.hpp"
