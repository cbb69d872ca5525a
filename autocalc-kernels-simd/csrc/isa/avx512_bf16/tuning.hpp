// SPDX-License-Identifier: MIT
//
// Of what is not multiplied in tiles: AVX-512's.
#pragma once

#include "../avx512/tuning.hpp"
