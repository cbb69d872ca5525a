// SPDX-License-Identifier: MIT
//
// The products of bfloat16 that tiles take less time for than AVX-512.
#include "attention/halves/entries.hpp"
#include "gemm/halves/entries.hpp"
#include "half_conv/entries.hpp"
#include "halves.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int faster = 8;  // than float32
constexpr const char* too_small =
    "too small: to pack it for tiles takes longer than it saves";

// From 32 x 32 x 64 on tiles are 1.4 times as fast as AVX-512, and 4 to 5 times in
// large products. Fewer than 8 rows are read without packing the other operand.
constexpr bool worth_packing(int64_t m, int64_t n, int64_t k) {
    return k >= 8 && m >= 8 && n >= 8 && m * n * k >= int64_t{1} << 16;
}

const char* gemm_supports(const ac_call* call) {
    const char* refusal = half_gemm_refusal(call);
    if (refusal != nullptr) return refusal;
    const ac_array *out = operand(call, 0), *a = operand(call, half_a_at);
    const bool batch = operand(call, half_a_at + 1)->ndim != 2;
    const int64_t rows = batch ? dim_of(out, -2) : rows_of(out);
    return worth_packing(rows, dim_of(out, -1), dim_of(a, -1)) ? nullptr : too_small;
}

const char* linear_supports(const ac_call* call) {
    const char* refusal = half_linear_refusal(call);
    if (refusal != nullptr) return refusal;
    const ac_array *out = operand(call, 0), *x = operand(call, half_x_at);
    return worth_packing(rows_of(out), dim_of(out, -1), dim_of(x, -1)) ? nullptr
                                                                       : too_small;
}

const char* backward_supports(const ac_call* call) {
    const char* refusal = half_linear_backward_refusal(call);
    if (refusal != nullptr) return refusal;
    const ac_array *dx = operand(call, 0), *dweight = operand(call, 1);
    const ac_array* g = operand(call, half_g_at);
    const int64_t rows = rows_of(g), outs = dim_of(g, -1);
    const bool worth =
        (dx != nullptr && worth_packing(rows, dim_of(dx, -1), outs)) ||
        (dweight != nullptr && worth_packing(outs, dim_of(dweight, -1), rows));
    return worth ? nullptr : too_small;
}

// Features and values that `multiply_packed` has room for.
constexpr int64_t most_features = 512;

const char* too_wide(const ac_call* call, int q, int v) {
    const bool wide = dim_of(operand(call, q), 3) > most_features ||
                      dim_of(operand(call, v), 3) > most_features;
    return wide ? "more than 512 features" : nullptr;
}

const char* attention_supports(const ac_call* call) {
    const char* refusal = half_attention_refusal(call);
    return refusal != nullptr ? refusal : too_wide(call, 2, 4);
}

const char* attention_backward_supports(const ac_call* call) {
    const char* refusal = half_attention_backward_refusal(call);
    return refusal != nullptr ? refusal : too_wide(call, 4, 6);
}

const char* describe(const ac_call*) {
    return "tiles of bfloat16 by tdpbf16ps, summed in float32";
}

const ac_kernel_entry entries[] = {
    half_gemm_entry<faster>(gemm_supports, describe),
    half_linear_entry<faster>(linear_supports, describe),
    half_linear_backward_entry<faster>(backward_supports, describe),
    half_linear_relu_backward_entry<faster>(backward_supports, describe),
    half_attention_entry<faster>(attention_supports, describe),
    half_attention_backward_entry<faster>(attention_backward_supports, describe),
    half_conv_entry<faster>(describe),
    half_conv_activation_entry<faster>(describe),
    half_conv_dx_entry<faster>(describe),
    half_conv_dweight_entry<faster>(describe),
};

const ac_kernel_table table = {sizeof(ac_kernel_table),
                               AC_KERNEL_API_VERSION,
                               "bfloat16-amx",
                               entries,
                               sizeof(entries) / sizeof(entries[0]),
                               nullptr};

}  // namespace

const ac_kernel_table* half_table() { return &table; }

}  // namespace autocalc::simd::AC_ISA
