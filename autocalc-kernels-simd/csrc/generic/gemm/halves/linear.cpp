// SPDX-License-Identifier: MIT
//
// linear and its backward kernels of bfloat16 and float16 operands.
#include "gemm/column_sums.hpp"
#include "gemm/halves/gemm.hpp"
#include "gemm/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { scratch_g = 3, scratch_x = 4, scratch_mask = 7 };

// An output as rows, of floats or of 16 bits.
template <class E>
bool mixed_rows(const ac_array* array, Mixed<E>& view) {
    if (array->dtype == AC_FLOAT32) {
        Rows<float> rows;
        const bool merged = view_as_rows(array, rows);
        view = {nullptr, rows.data, rows.row};
        return merged;
    }
    Rows<E> rows;
    const bool merged = view_as_rows(array, rows);
    view = {rows.data, nullptr, rows.row};
    return merged;
}

template <class E>
HalfGemm<E> product_of(const Rows<E>& a, const Rows<E>& b, const Mixed<E>& c,
                       bool accumulate) {
    HalfGemm<E> p = {};
    p.m = a.rows;
    p.n = b.columns;
    p.k = a.columns;
    p.a = a.data;
    p.a_row = a.row;
    p.a_col = a.column;
    p.b = b.data;
    p.b_row = b.row;
    p.b_col = b.column;
    p.c = c;
    p.alpha = 1;
    p.beta = accumulate ? 1.0f : 0.0f;
    p.activation = Activation::none;
    return p;
}

// ---- linear

enum { out_at, pre_at, x_at, weight_at, bias_at };

template <class E>
bool linear_of(const ac_call* call, ac_context* context) {
    Rows<E> x, weight;
    Mixed<E> out;
    if (!mixed_rows(operand(call, out_at), out)) return false;
    if (!rows_of(operand(call, x_at), x, context, scratch_x)) return false;
    if (!view_as_rows(operand(call, weight_at), weight)) return false;
    HalfGemm<E> p = product_of(x, transposed(weight), out, false);
    const ac_array* pre = operand(call, pre_at);
    if (pre != nullptr && !mixed_rows(pre, p.pre)) return false;
    if (operand(call, bias_at) != nullptr) {
        p.bias = dense_bias<E>(operand(call, bias_at), context);
        if (p.bias == nullptr && p.n > 0) return false;
    }
    p.activation = static_cast<Activation>(int_attribute(call, 0));
    return multiply(p, context);
}

// ---- linear_backward

enum { dx_at, dweight_at, dbias_at, g_at, bx_at, bweight_at };

template <class E>
void put_bias_gradient(const BiasGradient<E>& sums, const ac_array* out,
                       bool accumulate) {
    Mixed<E> view;
    mixed_rows(out, view);
    constexpr int64_t lanes = f32::lanes;
    float some[f32::lanes] = {};
    for (int64_t j = 0; j < sums.g.columns; j += lanes) {
        const int64_t n = smaller(lanes, sums.g.columns - j);
        for (int64_t i = 0; i < n; ++i) some[i] = sums.at(j + i);
        const f32 x = load(some);
        view.put(j, accumulate ? view.get(j, n) + x : x, n);
    }
}

// With `masked`, dx is 0 where x is 0 or less.
template <class E, bool masked>
bool linear_backward_of(const ac_call* call, ac_context* context) {
    const int64_t accumulate = int_attribute(call, 0);
    Rows<E> g, x, weight;
    Mixed<E> out;
    if (!rows_of(operand(call, g_at), g, context, scratch_g)) return false;
    if (operand(call, dx_at) != nullptr) {
        if (!mixed_rows(operand(call, dx_at), out)) return false;
        if (!view_as_rows(operand(call, bweight_at), weight)) return false;
        HalfGemm<E> p = product_of(g, weight, out, accumulate & 1);
        if (masked) {
            Rows<E> mask;
            if (!rows_of(operand(call, bx_at), mask, context, scratch_mask, true))
                return false;
            p.mask = {mask.data, nullptr, mask.row};
        }
        if (!multiply(p, context)) return false;
    }
    if (operand(call, dweight_at) != nullptr) {
        if (!rows_of(operand(call, bx_at), x, context, scratch_x)) return false;
        if (!mixed_rows(operand(call, dweight_at), out)) return false;
        const HalfGemm<E> p = product_of(transposed(g), x, out, accumulate & 2);
        if (!multiply(p, context)) return false;
    }
    const ac_array* dbias = operand(call, dbias_at);
    BiasGradient<E> sums = {g, dbias != nullptr, 0, {}};
    if (!sums.prepare(context)) return false;
    run_apart(sums.aside(), context);
    if (dbias != nullptr) put_bias_gradient(sums, dbias, (accumulate & 4) != 0);
    return true;
}

template <bool masked>
void run_backward(const ac_call* call, ac_context* context, ac_status* status) {
    bool ok = false;
    if (operand(call, g_at)->dtype == AC_BFLOAT16) {
        ok = linear_backward_of<BFloat16, masked>(call, context);
    } else if constexpr (takes_float16) {
        ok = linear_backward_of<Float16, masked>(call, context);
    }
    if (!ok) no_memory(status);
}

}  // namespace

void half_linear(const ac_call* call, ac_context* context, ac_status* status) {
    bool ok = false;
    if (operand(call, x_at)->dtype == AC_BFLOAT16) {
        ok = linear_of<BFloat16>(call, context);
    } else if constexpr (takes_float16) {
        ok = linear_of<Float16>(call, context);
    }
    if (!ok) no_memory(status);
}

void half_linear_backward(const ac_call* call, ac_context* context, ac_status* status) {
    run_backward<false>(call, context, status);
}

void half_linear_relu_backward(const ac_call* call, ac_context* context,
                               ac_status* status) {
    run_backward<true>(call, context, status);
}

}  // namespace autocalc::simd::AC_ISA
