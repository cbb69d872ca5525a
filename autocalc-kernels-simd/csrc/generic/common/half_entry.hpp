// SPDX-License-Identifier: MIT
//
// The entry of a kernel of bfloat16, in a set that multiplies bfloat16 `faster` times
// as fast as AVX-512 multiplies float32. `flops` counts what a call computes.
#pragma once

#include "common/halves.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <int faster, double (*flops)(const ac_call*)>
constexpr ac_kernel_entry half_entry(const char* name, const char* signature,
                                     ac_kernel_fn function, ac_supports_fn supports,
                                     ac_describe_fn describe) {
    const auto work = [](const ac_call* call) {
        return flops(call) * ns_per_flop / faster;
    };
    return {name, signature, function, supports, work, 0, bfloat16_dtype, describe};
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
