// SPDX-License-Identifier: MIT
#include "attention/backward_run.hpp"
#include "common/families.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

void attention_backward_kernel(const ac_call* call, ac_context* context,
                               ac_status* status) {
    if (!gradients_written_whole(call)) return unsupported(status);
    done(status);
    const bool whole = operand(call, g_at)->dtype == AC_FLOAT32
                           ? backward_or_zeros<float>(call, context)
                           : backward_or_zeros<double>(call, context);
    if (!whole) no_memory(status);
}

double attention_backward_work(const ac_call* call) {
    return attention_backward_flops(call) * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"attention_backward",
     "dq? dk? dv? ; g q k v out lse? mask? seed? offset? ; "
     "scale:float causal:none,upper_left,lower_right p:float",
     attention_backward_kernel, nullptr, attention_backward_work, 0, float_dtypes,
     nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(attention_backward, entries);
}  // namespace autocalc::simd::AC_ISA
