// SPDX-License-Identifier: MIT
//
// Costs that plans compare, for instruction sets that have not measured their own: a
// `tuning.hpp` derives `Costs` from these and says what differs. Cycles are those of
// one thread in which it makes `lanes` * 2 multiply-adds; `python -m
// benchmarks.calibrate` measures them.
#pragma once

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct DefaultCosts {
    // ---- gemm: cycles for each element, measured on Cascade Lake

    static constexpr double pack_transposed = 0.8;
    static constexpr double write_transposed = 2.0;
    // Rows of which dot products are faster than a product of swapped operands, which
    // would leave much of each register empty: of float32, of float64.
    static constexpr int64_t most_dot_rows = 7, most_dot_rows_f64 = 7;

    // ---- convolutions: cycles, fitted to 60 shapes of 64 to 2048 filters over 1 to 32
    // images, within a fifth for most, on one thread of a Zen 3 (AVX2)

    // Of the multipliers' rate: products of patches, strided windows, planes of wide
    // lines.
    static constexpr double patch_share = 0.95, strided_share = 0.9;
    static constexpr double planes_share = 0.93;
    // A line of windows in planes wastes as many steps as so many of its results take.
    static constexpr double planes_waste = 1.6;
    // A line of patches and each of its elements, brought or added up.
    static constexpr double patch_line = 17, patch_element = 0.7;
    // The elements of one filter's channel, brought one by one into the planes' order,
    // and into that of strided windows: forward, of the input gradient, and where
    // filters are more than `filters_large`.
    static constexpr double planes_channel = 24;
    static constexpr double filter_channel = 24, filter_channel_dx = 24;
    static constexpr double filter_channel_large = 24;
    static constexpr double filters_large = 1e9;
    // The same of one weight where channels are neighbours, and of so many that caches
    // do not hold them; an element brought into a plane or back.
    static constexpr double nhwc_weight = 2, nhwc_weight_large = 6;
    static constexpr double nhwc_move = 1.5;
    // A weight gradient: of the multipliers' rate where caches hold its sums, in planes
    // and where channels are neighbours, and where they do not; a part's sum.
    static constexpr double dweight_share = 0.85, nhwc_dweight_share = 0.85;
    static constexpr double dweight_share_large = 0.4, dweight_sum = 2;
    // Bytes of results that are added into, and of the weights of taps that one product
    // takes together, while strided windows pass L1.
    static constexpr int64_t strided_results = 8192, strided_weights = 24576;

    // ---- Winograd's convolution: cycles, estimated for Cascade Lake

    // Of the multipliers' rate: a direct sum, and the products of transformed
    // tiles.
    static constexpr double plain_share = 0.7, product_share = 0.85;
    // A register of channels of one tile, with its way from and to memory; of tiles of
    // 4 x 4 and of 2 x 2 results.
    static constexpr double winograd_transform_4 = 300, winograd_transform_2 = 80;
    // An element of the transformed filters, written or read past the caches, measured
    // on Zen 3; within them it takes half.
    static constexpr double winograd_element = 1.1;
    // One filter of one channel, transformed where few tiles read it.
    static constexpr double winograd_filter_4 = 16, winograd_filter_2 = 12;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
