// SPDX-License-Identifier: MIT
//
// gemm: batched matrix product with broadcast batch dims.
#include "gemm/gemm.hpp"

#include "common/families.hpp"
#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { out_at, pre_at, a_at, b_at, bias_at };
enum { alpha_at, beta_at, activation_at, accumulate_at };

// The stride of batch dim `d` (of `dims`), 0 where the operand lacks it or repeats
// along it.
template <class T>
int64_t batch_step(const ac_array* array, int d, int dims) {
    const int at = d - (dims - (array->ndim - 2));
    return at < 0 || array->shape[at] == 1 ? 0 : stride_of<T>(array, at);
}

// A bias with gaps is copied; in most calls it is contiguous already.
template <class T>
bool set_bias(const ac_array* bias, Gemm<T>& p, ac_context* context) {
    p.bias = data_of<T>(bias);
    if (bias == nullptr || bias->strides[0] == static_cast<int64_t>(sizeof(T)) ||
        p.n <= 1)
        return true;
    T* copy = static_cast<T*>(
        context->scratch(context, 2, static_cast<size_t>(p.n) * sizeof(T)));
    if (copy == nullptr) return false;
    for (int64_t j = 0; j < p.n; ++j) copy[j] = p.bias[j * stride_of<T>(bias, 0)];
    p.bias = copy;
    return true;
}

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
    return set_bias(operand(call, bias_at), p, context) && multiply(p, context);
}

// True if the last dimension is contiguous, which results of the engine always are.
bool rows_contiguous(const ac_array* array) {
    const int64_t item = array->dtype == AC_FLOAT32 ? 4 : 8;
    return element_count(*array) == 0 || dim_of(array, -1) == 1 ||
           array->strides[array->ndim - 1] == item;
}

void gemm(const ac_call* call, ac_context* context, ac_status* status) {
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

double gemm_work(const ac_call* call) {
    const ac_array* out = operand(call, out_at);
    return 2.0 * static_cast<double>(element_count(*out)) *
           static_cast<double>(dim_of(operand(call, a_at), -1)) * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"gemm",
     "out pre? ; a b bias? ; alpha:float beta:float "
     "activation:none,relu,gelu,gelu_tanh accumulate:int",
     gemm, nullptr, gemm_work, 0, float_dtypes, nullptr},
};

}  // namespace

AC_DEFINE_FAMILY(gemm, entries);

}  // namespace autocalc::simd::AC_ISA
