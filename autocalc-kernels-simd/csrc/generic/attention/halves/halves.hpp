// SPDX-License-Identifier: MIT
//
// attention and attention_backward of bfloat16, where pairs of bfloat16 are multiplied.
// Scores, weights and sums are float32; weights are rounded to bfloat16 where values
// are multiplied by them.
#pragma once

#include "common/call.hpp"

namespace autocalc::simd::AC_ISA {

void half_attention(const ac_call* call, ac_context* context, ac_status* status);
const char* half_attention_refusal(const ac_call* call);
double half_attention_flops(const ac_call* call);

void half_attention_backward(const ac_call* call, ac_context* context,
                             ac_status* status);
const char* half_attention_backward_refusal(const ac_call* call);
double half_attention_backward_flops(const ac_call* call);

}  // namespace autocalc::simd::AC_ISA
