// SPDX-License-Identifier: MIT
//
// Runs of elements that do not follow each other in memory.
#pragma once

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {

// Copies n items of 1, 2, 4 or 8 bytes: `stride` bytes apart in memory to contiguous
// ones, and back.
void gather(char* to, const char* from, int64_t item, int64_t stride, int64_t n);
void scatter(char* to, const char* from, int64_t item, int64_t stride, int64_t n);

}  // namespace autocalc::simd::AC_ISA
