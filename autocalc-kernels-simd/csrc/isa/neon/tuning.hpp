// SPDX-License-Identifier: MIT
//
// What depends on the CPUs of NEON: costs that plans compare, and stores past the
// caches.
#pragma once

#include "../default_costs.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

using Costs = DefaultCosts;

// What the last cache does not hold is stored plainly.
constexpr int64_t line_bytes = 64;
inline int64_t streaming_bytes() { return 0; }
inline void stream_lines(char* to, const char* from, int64_t bytes) {
    memcpy(to, from, static_cast<size_t>(bytes));
}
inline void finish_streams() {}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
