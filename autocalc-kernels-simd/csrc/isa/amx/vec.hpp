// SPDX-License-Identifier: MIT
//
// Beside its tiles this CPU has AVX-512.
#pragma once

#include "../avx512/vec.hpp"
