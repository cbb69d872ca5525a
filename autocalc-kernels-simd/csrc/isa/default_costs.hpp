// SPDX-License-Identifier: MIT
//
// Costs that plans compare, for instruction sets that have not measured their own: a
// `tuning.hpp` derives `Costs` from these and says what differs.
#pragma once

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct DefaultCosts {
    // ---- gemm: cycles for each element, measured on Cascade Lake

    static constexpr double pack_transposed = 0.8;
    static constexpr double write_transposed = 2.0;
    // Rows of which dot products are faster than a product of swapped operands, which
    // would leave much of each register empty.
    template <class T>
    static constexpr int64_t most_dot_rows = 7;

    // ---- Winograd's convolution: cycles, estimated for Cascade Lake

    // Of the multipliers' rate: a sum as it stands, and the products of transformed
    // tiles.
    static constexpr double plain_share = 0.7, product_share = 0.85;
    // A register of channels of one tile, with its way from and to memory; `out`
    // results a side.
    template <int out>
    static constexpr double winograd_transform = out == 4 ? 300 : 80;
    // An element of the transformed filters, written or read past the caches, measured
    // on Zen 3; within them it takes half.
    static constexpr double winograd_element = 1.1;
    // One filter of one channel, transformed where few tiles read it.
    template <int out>
    static constexpr double winograd_filter = out == 4 ? 16 : 12;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
