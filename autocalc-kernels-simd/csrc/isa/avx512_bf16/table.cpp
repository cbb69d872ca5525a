// SPDX-License-Identifier: MIT
//
// The one exported function of this library: products of bfloat16 matrices, and
// attention, which is made of them. Everything else runs on AVX-512.
#include "attention/halves/halves.hpp"
#include "gemm/halves/entries.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int faster = 2;  // than float32

double attention_work(const ac_call* call) {
    return half_attention_flops(call) * ns_per_flop / faster;
}

double attention_backward_work(const ac_call* call) {
    return half_attention_backward_flops(call) * ns_per_flop / faster;
}

const char* describe(const ac_call*) {
    return "pairs of bfloat16 by vdpbf16ps, summed in float32";
}

const ac_kernel_entry entries[] = {
    half_gemm_entry<faster>(half_gemm_refusal, describe),
    half_linear_entry<faster>(half_linear_refusal, describe),
    half_linear_backward_entry<faster>(half_linear_backward_refusal, describe),
    half_linear_relu_backward_entry<faster>(half_linear_backward_refusal, describe),
    {"attention",
     "out lse? ; q k v mask? seed? offset? ; "
     "scale:float causal:none,upper_left,lower_right p:float",
     half_attention, half_attention_refusal, attention_work, 0, bfloat16_dtype,
     describe},
    {"attention_backward",
     "dq? dk? dv? ; g q k v out lse? mask? seed? offset? ; "
     "scale:float causal:none,upper_left,lower_right p:float",
     half_attention_backward, half_attention_backward_refusal, attention_backward_work,
     0, bfloat16_dtype, describe},
};

const ac_kernel_table table = {
    sizeof(ac_kernel_table),
    AC_KERNEL_API_VERSION,
    "bfloat16-avx512_bf16",
    entries,
    static_cast<int64_t>(sizeof(entries) / sizeof(entries[0])),
    nullptr};

}  // namespace
}  // namespace autocalc::simd::AC_ISA

extern "C" __attribute__((visibility("default"))) const ac_kernel_table*
autocalc_kernels_avx512_bf16(void) {
    return &autocalc::simd::AC_ISA::table;
}
