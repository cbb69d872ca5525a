// SPDX-License-Identifier: MIT
//
// The one exported function of this library: products of bfloat16 matrices, and
// attention, which is made of them. Everything else runs on AVX-512.
#include "attention/halves/halves.hpp"
#include "gemm/halves/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { a_at = 2, x_at = 2, g_at = 3 };  // the first inputs

double flops(const ac_array* rows, int64_t columns) {
    return 2.0 * static_cast<double>(element_count(*rows)) *
           static_cast<double>(columns);
}

// Half of float32's time.
constexpr double ns_per_half_flop = ns_per_flop / 2;

double gemm_work(const ac_call* call) {
    const ac_array* a = operand(call, a_at);
    return flops(operand(call, 0), a->shape[a->ndim - 1]) * ns_per_half_flop;
}

double linear_work(const ac_call* call) {
    return flops(operand(call, x_at), operand(call, 3)->shape[0]) * ns_per_half_flop;
}

double linear_backward_work(const ac_call* call) {
    const ac_array *dx = operand(call, 0), *dweight = operand(call, 1);
    const ac_array* g = operand(call, g_at);
    double all = static_cast<double>(element_count(*g));
    if (dx != nullptr) all += flops(g, dx->shape[dx->ndim - 1]);
    if (dweight != nullptr) all += flops(g, dweight->shape[1]);
    return all * ns_per_half_flop;
}

double attention_work(const ac_call* call) {
    return half_attention_flops(call) * ns_per_half_flop;
}

double attention_backward_work(const ac_call* call) {
    return half_attention_backward_flops(call) * ns_per_half_flop;
}

const char* gemm_supports(const ac_call* call) { return half_refusal(call, a_at); }
const char* linear_supports(const ac_call* call) { return half_refusal(call, x_at); }
const char* backward_supports(const ac_call* call) { return half_refusal(call, g_at); }
const char* describe(const ac_call*) {
    return "pairs of bfloat16 by vdpbf16ps, summed in float32";
}

const ac_kernel_entry entries[] = {
    {"gemm",
     "out pre? ; a b bias? ; alpha:float beta:float "
     "activation:none,relu,gelu,gelu_tanh accumulate:int",
     half_gemm, gemm_supports, gemm_work, 0, bfloat16_dtype, describe},
    {"linear", "out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
     half_linear, linear_supports, linear_work, 0, bfloat16_dtype, describe},
    {"linear_backward", "dx? dweight? dbias? ; g x? weight? ; accumulate:int",
     half_linear_backward, backward_supports, linear_backward_work, 0, bfloat16_dtype,
     describe},
    {"linear_relu_backward", "da? dweight? dbias? ; g x weight ; accumulate:int",
     half_linear_relu_backward, backward_supports, linear_backward_work, 0,
     bfloat16_dtype, describe},
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
