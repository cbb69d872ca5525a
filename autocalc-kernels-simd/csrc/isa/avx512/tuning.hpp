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
    template <class T>
    static constexpr int64_t most_dot_rows = sizeof(T) == 4 ? 12 : 7;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
