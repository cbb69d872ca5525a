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

    // ---- convolutions, measured on Zen 3: cycles (conv/costs.hpp), and what a pass
    // over strided windows keeps in L1

    // The elements of one filter's channel, brought into an order of its own: forward,
    // of the input gradient, and where filters are more than `filters_large`.
    static constexpr double filter_channel = 24, filter_channel_dx = 24;
    static constexpr double filter_channel_large = 24;
    static constexpr double filters_large = 1e9;
    // One weight of so many that caches do not hold them, where channels are
    // neighbours.
    static constexpr double nhwc_weight_large = 6;
    // Of the multipliers' rate, a weight gradient in planes whose sums caches hold.
    static constexpr double dweight_share = 0.85;
    // Bytes of results that are added into, and of the weights of taps that one product
    // takes together.
    static constexpr int64_t strided_results = 8192, strided_weights = 24576;

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
