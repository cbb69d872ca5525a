// SPDX-License-Identifier: MIT
//
// In addition to its tiles this CPU has AVX-512.
#pragma once

#include "../avx512/vec.hpp"
