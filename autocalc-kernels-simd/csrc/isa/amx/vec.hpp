// SPDX-License-Identifier: MIT
//
// In addition to its tiles this CPU has AVX-512, with bfloat16.
#pragma once

#include "../avx512_bf16/vec.hpp"
