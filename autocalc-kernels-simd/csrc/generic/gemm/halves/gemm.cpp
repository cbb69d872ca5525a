// SPDX-License-Identifier: MIT
//
// gemm of bfloat16 and float16 operands.
#include "gemm/halves/gemm.hpp"

#include "gemm/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { out_at, pre_at, a_at, b_at, bias_at };
enum { alpha_at, beta_at, activation_at, accumulate_at };

template <class E>
Mixed<E> mixed_of(const ac_array* array) {
    if (array == nullptr) return {};
    if (array->dtype == AC_FLOAT32)
        return {nullptr, data<float>(array), stride_of<float>(array, -2)};
    return {data<E>(array), nullptr, stride_of<E>(array, -2)};
}

AC_INLINE int64_t step_of(const ac_array* array, int d) {
    return array == nullptr ? 0 : array->strides[d] / size_of(array->dtype);
}

template <class E>
bool gemm_of(const ac_call* call, ac_context* context) {
    const ac_array* out = operand(call, out_at);
    const ac_array* pre = operand(call, pre_at);
    const ac_array* a = operand(call, a_at);
    const ac_array* b = operand(call, b_at);
    HalfGemm<E> p = {};
    p.m = dim_of(out, -2);
    p.n = dim_of(out, -1);
    p.k = dim_of(a, -1);
    p.a = data_of<E>(a);
    p.a_row = stride_of<E>(a, -2);
    p.a_col = stride_of<E>(a, -1);
    p.b = data_of<E>(b);
    p.b_row = stride_of<E>(b, -2);
    p.b_col = stride_of<E>(b, -1);
    p.c = mixed_of<E>(out);
    p.pre = mixed_of<E>(pre);
    p.alpha = static_cast<float>(float_attribute(call, alpha_at));
    p.beta = int_attribute(call, accumulate_at) & 1
                 ? static_cast<float>(float_attribute(call, beta_at))
                 : 0.0f;
    p.activation = static_cast<Activation>(int_attribute(call, activation_at));
    p.batch_dims = out->ndim - 2;
    for (int d = 0; d < p.batch_dims; ++d) {
        p.batch[d] = out->shape[d];
        p.a_step[d] = batch_step<E>(a, d, p.batch_dims);
        p.b_step[d] = batch_step<E>(b, d, p.batch_dims);
        p.c_step[d] = step_of(out, d);
        p.pre_step[d] = step_of(pre, d);
    }
    if (operand(call, bias_at) != nullptr) {
        p.bias = dense_bias<E>(operand(call, bias_at), context);
        if (p.bias == nullptr && p.n > 0) return false;
    }
    return multiply(p, context);
}

}  // namespace

void half_gemm(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, out_at);
    const ac_array* pre = operand(call, pre_at);
    if (!rows_contiguous(out) || (pre != nullptr && !rows_contiguous(pre))) {
        unsupported(status);
        return;
    }
    bool ok = false;
    if (operand(call, a_at)->dtype == AC_BFLOAT16) {
        ok = gemm_of<BFloat16>(call, context);
    } else if constexpr (takes_float16) {
        ok = gemm_of<Float16>(call, context);
    }
    if (!ok) no_memory(status);
}

const char* half_refusal(const ac_call* call, int first) {
    const ac_array* given = call->operands[first].arrays;
    if (!is_half(given->dtype)) return nullptr;
    for (int i = 0; i < call->n_outputs + call->n_inputs; ++i) {
        const ac_array* array = call->operands[i].arrays;
        const bool output = i < call->n_outputs;
        const bool fits = array->dtype == given->dtype ||
                          (output && (array->dtype == AC_FLOAT32 || array->dtype < 0));
        if (array->present && !fits) return "operands of several floating-point types";
    }
    return nullptr;
}

}  // namespace autocalc::simd::AC_ISA
