// SPDX-License-Identifier: Apache-2.0
/* host_api.hpp: see fake_metalium.hpp. */
#pragma once
#include "../fake_metalium.hpp"
