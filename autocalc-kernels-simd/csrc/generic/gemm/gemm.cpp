// SPDX-License-Identifier: MIT
//
// gemm: batched matrix product with broadcast batch dims.
#include "gemm/gemm.hpp"

#include "common/families.hpp"
#include "gemm/halves/gemm.hpp"
#include "gemm/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { out_at, pre_at, a_at, b_at, bias_at };
enum { alpha_at, beta_at, activation_at, accumulate_at };

template <class T>
bool gemm_typed(const ac_call* call, ac_context* context) {
    const ac_array* out = operand(call, out_at);
    const ac_array* pre = operand(call, pre_at);
    const ac_array* a = operand(call, a_at);
    const ac_array* b = operand(call, b_at);
    Gemm<T> p;
    p.m = dim_of(out, -2);
    p.n = dim_of(out, -1);
    p.k = dim_of(a, -1);
    p.a = data_of<T>(a);
    p.a_row = stride_of<T>(a, -2);
    p.a_col = stride_of<T>(a, -1);
    p.b = data_of<T>(b);
    p.b_row = stride_of<T>(b, -2);
    p.b_col = stride_of<T>(b, -1);
    p.c = data_of<T>(out);
    p.c_row = stride_of<T>(out, -2);
    p.pre = data_of<T>(pre);
    p.pre_row = pre == nullptr ? 0 : stride_of<T>(pre, -2);
    p.alpha = static_cast<T>(float_attribute(call, alpha_at));
    p.beta = int_attribute(call, accumulate_at) & 1
                 ? static_cast<T>(float_attribute(call, beta_at))
                 : T(0);
    p.activation = static_cast<Activation>(int_attribute(call, activation_at));
    p.batch_dims = out->ndim - 2;
    for (int d = 0; d < p.batch_dims; ++d) {
        p.batch[d] = out->shape[d];
        p.a_step[d] = batch_step<T>(a, d, p.batch_dims);
        p.b_step[d] = batch_step<T>(b, d, p.batch_dims);
        p.c_step[d] = stride_of<T>(out, d);
        p.pre_step[d] = pre == nullptr ? 0 : stride_of<T>(pre, d);
    }
    p.bias = nullptr;
    if (operand(call, bias_at) != nullptr) {
        p.bias = dense_bias<T>(operand(call, bias_at), context);
        if (p.bias == nullptr && p.n > 0) return false;
    }
    return multiply(p, context);
}

void gemm(const ac_call* call, ac_context* context, ac_status* status) {
    if constexpr (takes_halves) {
        if (is_half(operand(call, a_at)->dtype))
            return half_gemm(call, context, status);
    }
    const ac_array* out = operand(call, out_at);
    const ac_array* pre = operand(call, pre_at);
    if (!rows_contiguous(out) || (pre != nullptr && !rows_contiguous(pre))) {
        unsupported(status);
        return;
    }
    const bool ok = out->dtype == AC_FLOAT32 ? gemm_typed<float>(call, context)
                                             : gemm_typed<double>(call, context);
    if (!ok) no_memory(status);
}

const char* gemm_supports(const ac_call* call) {
    if constexpr (takes_halves) return half_refusal(call, a_at);
    return nullptr;
}

double gemm_work(const ac_call* call) {
    const ac_array* out = operand(call, out_at);
    return 2.0 * static_cast<double>(element_count(*out)) *
           static_cast<double>(dim_of(operand(call, a_at), -1)) * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"gemm",
     "out pre? ; a b bias? ; alpha:float beta:float "
     "activation:none,relu,gelu,gelu_tanh accumulate:int",
     gemm, gemm_supports, gemm_work, 0, float_dtypes | half_dtypes, nullptr},
};

}  // namespace

AC_DEFINE_FAMILY(gemm, entries);

}  // namespace autocalc::simd::AC_ISA
