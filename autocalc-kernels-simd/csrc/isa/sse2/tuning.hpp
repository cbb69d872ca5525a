// SPDX-License-Identifier: MIT
//
// What depends on the CPUs of SSE2: costs that plans compare, and stores past the
// caches.
#pragma once

#include "../default_costs.hpp"
#include "../x86/streaming.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

using Costs = DefaultCosts;

}  // namespace
}  // namespace autocalc::simd::AC_ISA
