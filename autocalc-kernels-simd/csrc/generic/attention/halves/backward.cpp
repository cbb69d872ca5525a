// SPDX-License-Identifier: MIT
#include "attention/backward_run.hpp"
#include "attention/halves/halves.hpp"

namespace autocalc::simd::AC_ISA {

void half_attention_backward(const ac_call* call, ac_context* context,
                             ac_status* status) {
    if (!gradients_written_whole(call)) return unsupported(status);
    done(status);
    if (!backward_or_zeros<float, BFloat16>(call, context)) no_memory(status);
}

// Gradients of keys that several heads share are sums over heads, which bfloat16 has
// too few digits to add up.
const char* half_attention_backward_refusal(const ac_call* call) {
    for (int i = 0; i <= lse_at; ++i) {
        const ac_array* array = operand(call, i);
        const bool fits = array == nullptr || array->dtype == AC_BFLOAT16 ||
                          (i == lse_at && array->dtype == AC_FLOAT32);
        if (!fits) return "operands of several floating-point types";
    }
    return operand(call, q_at)->shape[2] != operand(call, k_at)->shape[2]
               ? "heads that share keys"
               : nullptr;
}

double half_attention_backward_flops(const ac_call* call) {
    return attention_backward_flops(call);
}

}  // namespace autocalc::simd::AC_ISA
