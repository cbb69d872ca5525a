// SPDX-License-Identifier: MIT
//
// The entries of convolutions, and what they refuse.
#pragma once

#include "common/half_entry.hpp"
#include "gemm/halves/gemm.hpp"
#include "half_conv/kernels.hpp"
#include "half_conv/steps.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Multiply-adds for each filter element and result: of a call by them and its results.
inline double conv_products(const ac_array* results, const ac_array* weight) {
    double taps = 1;
    for (int d = 1; d < weight->ndim; ++d)
        taps *= static_cast<double>(weight->shape[d]);
    return static_cast<double>(element_count(*results)) * taps;
}

template <int results, int weight>
double half_conv_flops(const ac_call* call) {
    return 2.0 * conv_products(operand(call, results), operand(call, weight));
}

// To widen operands takes longer than a call of fewer.
constexpr double least_conv = 1 << 12;

// `input` is the first one, `results` and `weight` have all sizes that matter, `groups`
// is an attribute.
template <int input, int results, int weight, int groups>
const char* half_conv_supports(const ac_call* call) {
    const char* refusal = half_refusal(call, input);
    if (refusal != nullptr) return refusal;
    const ac_array *images = operand(call, results), *filters = operand(call, weight);
    if (images->ndim != 4 || filters->ndim != 4)
        return "tiles take convolutions of two dimensions";
    if (int_attribute(call, groups) != 1) return "channels are in groups";
    if (filters->shape[2] > most_taps || filters->shape[3] > most_taps)
        return "windows of more than 16 rows or columns";
    if (conv_products(images, filters) < least_conv) return "too small for tiles";
    return nullptr;
}

template <int faster>
constexpr ac_kernel_entry half_conv_entry(ac_describe_fn describe) {
    return half_entry<faster, half_conv_flops<0, 2>>(
        "conv",
        "out ; x weight bias? ; stride:ints padding:ints dilation:ints groups:int",
        half_conv, half_conv_supports<1, 0, 2, 3>, describe);
}

template <int faster>
constexpr ac_kernel_entry half_conv_activation_entry(ac_describe_fn describe) {
    return half_entry<faster, half_conv_flops<0, 2>>(
        "conv_activation",
        "out ; x weight bias? other? ; stride:ints padding:ints dilation:ints "
        "groups:int activation:none,relu,hardtanh,leaky_relu,hardswish,silu "
        "alpha:float beta:float",
        half_conv_activation, half_conv_supports<1, 0, 2, 3>, describe);
}

template <int faster>
constexpr ac_kernel_entry half_conv_dx_entry(ac_describe_fn describe) {
    return half_entry<faster, half_conv_flops<1, 2>>(
        "conv_dx",
        "dx ; g weight bias? ; sizes:ints stride:ints padding:ints dilation:ints "
        "groups:int accumulate:int",
        half_conv_dx, half_conv_supports<1, 1, 2, 4>, describe);
}

template <int faster>
constexpr ac_kernel_entry half_conv_dweight_entry(ac_describe_fn describe) {
    return half_entry<faster, half_conv_flops<2, 0>>(
        "conv_dweight",
        "dweight dbias? ; g x ; kernel:ints stride:ints padding:ints dilation:ints "
        "groups:int accumulate:int",
        half_conv_dweight, half_conv_supports<2, 2, 0, 4>, describe);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
