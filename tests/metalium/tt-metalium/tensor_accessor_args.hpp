// SPDX-License-Identifier: Apache-2.0
/* tensor_accessor_args.hpp: see fake_metalium.hpp. */
#pragma once
#include "../fake_metalium.hpp"
