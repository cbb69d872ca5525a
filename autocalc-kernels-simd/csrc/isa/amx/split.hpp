// SPDX-License-Identifier: MIT
//
// Which products are split.
#pragma once

#include <stdint.h>

namespace autocalc::simd::AC_ISA {
namespace {

// Packing (m + n) k elements costs what is gained on m n k multiply-adds where
// m n / (m + n) is some 80: for 1024 x 96, or 160 x 160.
constexpr int64_t enough_reuse = 80;
constexpr int64_t enough_steps = 128;
constexpr int64_t enough_work = int64_t{1} << 24;

constexpr bool worth_splitting(int64_t m, int64_t n, int64_t k) {
    return k >= enough_steps && m * n >= enough_reuse * (m + n) &&
           m * n * k >= enough_work;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
