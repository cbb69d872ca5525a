// SPDX-License-Identifier: MIT
//
// What depends on the CPUs of SSE2: costs that plans compare, and stores past the
// caches.
#pragma once

#include "../x86/streaming.hpp"
#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- gemm: cycles for each element, measured on Cascade Lake

constexpr double pack_transposed_cycles = 0.8;
constexpr double write_transposed_cycles = 2.0;
// Rows of which dot products are faster than a product of swapped operands, which would
// leave much of each register empty.
template <class T>
constexpr int64_t most_dot_rows = 7;

// ---- Winograd's convolution: cycles, estimated for Cascade Lake

// Of the multipliers' rate: a sum as it stands, and the products of transformed tiles.
constexpr double plain_share = 0.7, product_share = 0.85;
// A register of channels of one tile, with its way from and to memory; `out` results a
// side.
template <int out>
constexpr double wino_transform_cycles = out == 4 ? 300 : 80;

}  // namespace
}  // namespace autocalc::simd::AC_ISA
