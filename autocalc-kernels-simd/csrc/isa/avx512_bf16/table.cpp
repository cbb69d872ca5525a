// SPDX-License-Identifier: MIT
//
// The one exported function of this library: products of bfloat16 matrices, and
// attention, which is made of them. Everything else runs on AVX-512.
#include "attention/halves/entries.hpp"
#include "gemm/halves/entries.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int faster = 2;  // than float32

const char* describe(const ac_call*) {
    return "pairs of bfloat16 by vdpbf16ps, summed in float32";
}

const ac_kernel_entry entries[] = {
    half_gemm_entry<faster>(half_gemm_refusal, describe),
    half_linear_entry<faster>(half_linear_refusal, describe),
    half_linear_backward_entry<faster>(half_linear_backward_refusal, describe),
    half_linear_relu_backward_entry<faster>(half_linear_backward_refusal, describe),
    half_attention_entry<faster>(half_attention_refusal, describe),
    half_attention_backward_entry<faster>(half_attention_backward_refusal, describe),
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
