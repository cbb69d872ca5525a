// SPDX-License-Identifier: MIT
//
// Which products are split, and into how many levels.
#pragma once

#include <stdint.h>

namespace autocalc::simd::AC_ISA {

constexpr int all_levels = 3;

// Of how many bfloat16 a float32 is the sum in the products that this thread asks for:
// 3, with six products of parts, unless a kernel that makes do with fewer says so.
void set_levels(int levels);

namespace {

// Packing (m + n) k elements costs what is gained on m n k multiply-adds where
// m n / (m + n) is some 80: for 1024 x 96, or 160 x 160. Two levels, which are packed
// in less time and gain more, run 1.4 times as fast as AVX-512 for 1024 x 32 x 128, and
// 2.1 times for 256 x 256 x 64.
constexpr bool worth_splitting(int64_t m, int64_t n, int64_t k, int levels) {
    const bool all = levels == all_levels;
    return k >= (all ? 128 : 64) && m * n >= (all ? 80 : 30) * (m + n) &&
           m * n * k >= int64_t{1} << (all ? 24 : 22);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
