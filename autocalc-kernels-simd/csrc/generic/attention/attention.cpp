// SPDX-License-Identifier: MIT
#include "attention/forward_run.hpp"
#include "common/families.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

void attention_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* q = operand(call, q_at);
    if (!rows_written_whole(operand(call, out_at))) return unsupported(status);
    done(status);
    const Dims dims = dims_of(q, operand(call, k_at), operand(call, v_at));
    if (dims.batch * dims.heads * dims.queries == 0) return;
    const bool whole = q->dtype == AC_FLOAT32
                           ? attention_typed<float>(call, context, dims)
                           : attention_typed<double>(call, context, dims);
    if (!whole) no_memory(status);
}

double attention_work(const ac_call* call) {
    return attention_flops(call) * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"attention",
     "out lse? ; q k v mask? seed? offset? ; "
     "scale:float causal:none,upper_left,lower_right p:float",
     attention_kernel, nullptr, attention_work, 0, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(attention, entries);
}  // namespace autocalc::simd::AC_ISA
