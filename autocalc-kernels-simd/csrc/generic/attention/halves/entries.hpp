// SPDX-License-Identifier: MIT
//
// The entries of attention of bfloat16.
#pragma once

#include "attention/halves/halves.hpp"
#include "common/half_entry.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <int faster>
constexpr ac_kernel_entry half_attention_entry(ac_supports_fn supports,
                                               ac_describe_fn describe) {
    return half_entry<faster, half_attention_flops>(
        "attention",
        "out lse? ; q k v mask? seed? offset? ; "
        "scale:float causal:none,upper_left,lower_right p:float",
        half_attention, supports, describe);
}

template <int faster>
constexpr ac_kernel_entry half_attention_backward_entry(ac_supports_fn supports,
                                                        ac_describe_fn describe) {
    return half_entry<faster, half_attention_backward_flops>(
        "attention_backward",
        "dq? dk? dv? ; g q k v out lse? mask? seed? offset? ; "
        "scale:float causal:none,upper_left,lower_right p:float",
        half_attention_backward, supports, describe);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
