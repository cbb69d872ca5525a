// SPDX-License-Identifier: MIT
//
// Blocks of a matrix whose rows and columns change places, through registers: a cache
// line is read once and written once, also where rows are a multiple of 4 KiB apart and
// fight for the same few places of the cache.
#pragma once

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {

// Moves items of 1, 2, 4 or 8 bytes: out[r][c] = in[c][r] in blocks of any size. Bits
// are moved, so that the type matters by its size alone. Strides are in bytes, and must
// be multiples of the size.
void transpose_items(char* out, int64_t out_row, const char* in, int64_t in_row,
                     int64_t rows, int64_t columns, int64_t item);

}  // namespace autocalc::simd::AC_ISA
