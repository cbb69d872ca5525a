// SPDX-License-Identifier: MIT
//
// What depends on the CPUs of AVX-512: costs that plans compare, and stores past the
// caches.
#pragma once

#include "../default_costs.hpp"
#include "../x86/streaming.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Costs : DefaultCosts {
    // On six weights of linear layers dot products of 8 and 12 rows take 0.56 and 0.78
    // of the time of a product of swapped operands, where weights come from memory 0.76
    // and 0.95, of 14 about as long.
    static constexpr int64_t most_dot_rows = 12;

    // Measured on Zen 5: 16 lanes halve a product's cycles, but not what is moved. Of
    // L1's 48 KiB results may take a third, and weights that come from L2 do not slow
    // tiles of four registers.
    static constexpr double filter_channel = 2, filter_channel_dx = 5;
    static constexpr double filter_channel_large = 10.5;
    static constexpr double filters_large = 200000;
    static constexpr double dweight_share = 0.72;
    static constexpr double nhwc_weight_large = 2;  // 1.6 to 2.1 on Zen 4
    static constexpr int64_t strided_results = 16384, strided_weights = 200000;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
