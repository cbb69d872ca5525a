// SPDX-License-Identifier: MIT
//
// The entries of products of bfloat16 matrices.
#pragma once

#include "common/half_entry.hpp"
#include "common/operands.hpp"
#include "gemm/halves/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { half_a_at = 2, half_x_at = 2, half_g_at = 3 };  // the first inputs

inline double half_flops(const ac_array* rows, int64_t columns) {
    return 2.0 * static_cast<double>(element_count(*rows)) *
           static_cast<double>(columns);
}

// ---- what calls compute

inline double half_gemm_flops(const ac_call* call) {
    const ac_array* a = operand(call, half_a_at);
    return half_flops(operand(call, 0), dim_of(a, -1));
}

inline double half_linear_flops(const ac_call* call) {
    const ac_array* weight = operand(call, half_x_at + 1);
    return half_flops(operand(call, half_x_at), weight->shape[0]);
}

inline double half_linear_backward_flops(const ac_call* call) {
    const ac_array *dx = operand(call, 0), *dweight = operand(call, 1);
    const ac_array* g = operand(call, half_g_at);
    double all = static_cast<double>(element_count(*g));
    if (dx != nullptr) all += half_flops(g, dim_of(dx, -1));
    if (dweight != nullptr) all += half_flops(g, dim_of(dweight, -1));
    return all;
}

// ---- what calls they refuse

inline const char* half_gemm_refusal(const ac_call* call) {
    return half_refusal(call, half_a_at);
}
inline const char* half_linear_refusal(const ac_call* call) {
    return half_refusal(call, half_x_at);
}
inline const char* half_linear_backward_refusal(const ac_call* call) {
    return half_refusal(call, half_g_at);
}

// ---- the entries

template <int faster>
constexpr ac_kernel_entry half_gemm_entry(ac_supports_fn supports,
                                          ac_describe_fn describe) {
    return half_entry<faster, half_gemm_flops>(
        "gemm",
        "out pre? ; a b bias? ; alpha:float beta:float "
        "activation:none,relu,gelu,gelu_tanh accumulate:int",
        half_gemm, supports, describe);
}

template <int faster>
constexpr ac_kernel_entry half_linear_entry(ac_supports_fn supports,
                                            ac_describe_fn describe) {
    return half_entry<faster, half_linear_flops>(
        "linear", "out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
        half_linear, supports, describe);
}

template <int faster>
constexpr ac_kernel_entry half_linear_backward_entry(ac_supports_fn supports,
                                                     ac_describe_fn describe) {
    return half_entry<faster, half_linear_backward_flops>(
        "linear_backward", "dx? dweight? dbias? ; g x? weight? ; accumulate:int",
        half_linear_backward, supports, describe);
}

template <int faster>
constexpr ac_kernel_entry half_linear_relu_backward_entry(ac_supports_fn supports,
                                                          ac_describe_fn describe) {
    return half_entry<faster, half_linear_backward_flops>(
        "linear_relu_backward", "da? dweight? dbias? ; g x weight ; accumulate:int",
        half_linear_relu_backward, supports, describe);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
