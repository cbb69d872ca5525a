// SPDX-License-Identifier: MIT
#include "attention/forward_run.hpp"
#include "attention/halves/halves.hpp"

namespace autocalc::simd::AC_ISA {

void half_attention(const ac_call* call, ac_context* context, ac_status* status) {
    if (!rows_written_whole(operand(call, out_at))) return unsupported(status);
    done(status);
    const Dims dims =
        dims_of(operand(call, q_at), operand(call, k_at), operand(call, v_at));
    if (dims.batch * dims.heads * dims.queries == 0) return;
    if (!attention_typed<float, BFloat16>(call, context, dims)) no_memory(status);
}

const char* half_attention_refusal(const ac_call* call) {
    for (int i = 0; i <= v_at; ++i) {
        const ac_array* array = operand(call, i);
        const int wanted = i == lse_at ? AC_FLOAT32 : AC_BFLOAT16;
        if (array != nullptr && array->dtype != wanted)
            return "operands of several floating-point types";
    }
    const Dims dims =
        dims_of(operand(call, q_at), operand(call, k_at), operand(call, v_at));
    return takes_few_queries(dims, operand(call, lse_at)) ? "few queries" : nullptr;
}

double half_attention_flops(const ac_call* call) { return attention_flops(call); }

}  // namespace autocalc::simd::AC_ISA
