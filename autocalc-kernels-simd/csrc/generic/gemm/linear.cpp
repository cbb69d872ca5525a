// SPDX-License-Identifier: MIT
//
// linear and linear_backward: the leading dims of x are rows of one matrix product.
#include "common/families.hpp"
#include "gemm/column_sums.hpp"
#include "gemm/halves/gemm.hpp"
#include "gemm/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
Gemm<T> product_of(const Rows<T>& a, const Rows<T>& b, const Rows<T>& c,
                   bool accumulate) {
    Gemm<T> p;
    p.m = c.rows;
    p.n = c.columns;
    p.k = a.columns;
    p.a = a.data;
    p.a_row = a.row;
    p.a_col = a.column;
    p.b = b.data;
    p.b_row = b.row;
    p.b_col = b.column;
    p.c = c.data;
    p.c_row = c.row;
    p.bias = nullptr;
    p.pre = nullptr;
    p.pre_row = 0;
    p.alpha = 1;
    p.beta = accumulate ? T(1) : T(0);
    p.activation = Activation::none;
    p.batch_dims = 0;
    return p;
}

enum { scratch_g = 3, scratch_x = 4, scratch_mask = 7 };

// ---- linear

enum { out_at, pre_at, x_at, weight_at, bias_at };

template <class T>
bool linear_typed(const ac_call* call, ac_context* context) {
    Rows<T> out, pre, x, weight;
    if (!view_as_rows(operand(call, out_at), out)) return false;
    if (!rows_of(operand(call, x_at), x, context, scratch_x)) return false;
    if (!view_as_rows(operand(call, weight_at), weight)) return false;
    Gemm<T> p = product_of(x, transposed(weight), out, false);
    if (operand(call, pre_at) != nullptr) {
        if (!view_as_rows(operand(call, pre_at), pre)) return false;
        p.pre = pre.data;
        p.pre_row = pre.row;
    }
    if (operand(call, bias_at) != nullptr) {
        p.bias = dense_bias<T>(operand(call, bias_at), context);
        if (p.bias == nullptr && p.n > 0) return false;
    }
    p.activation = static_cast<Activation>(int_attribute(call, 0));
    return multiply(p, context);
}

void linear(const ac_call* call, ac_context* context, ac_status* status) {
    if constexpr (takes_halves) {
        if (is_half(operand(call, x_at)->dtype))
            return half_linear(call, context, status);
    }
    const bool ok = operand(call, out_at)->dtype == AC_FLOAT32
                        ? linear_typed<float>(call, context)
                        : linear_typed<double>(call, context);
    if (!ok) no_memory(status);
}

const char* linear_supports(const ac_call* call) {
    if constexpr (takes_halves) return half_refusal(call, x_at);
    return nullptr;
}

double linear_work(const ac_call* call) {
    const ac_array* weight = operand(call, weight_at);
    const ac_array* x = operand(call, x_at);
    return 2.0 * static_cast<double>(element_count(*x)) *
           static_cast<double>(dim_of(weight, 0)) * ns_per_flop;
}

// ---- linear_backward

enum { dx_at, dweight_at, dbias_at, g_at, bx_at, bweight_at };

// With `masked`, dx is 0 where x is 0 or less.
template <class T, bool masked>
bool linear_backward_typed(const ac_call* call, ac_context* context) {
    const int64_t accumulate = int_attribute(call, 0);
    Rows<T> g, x, weight, dx, dweight, mask;
    if (!rows_of(operand(call, g_at), g, context, scratch_g)) return false;
    const bool want_dx = operand(call, dx_at) != nullptr;
    const bool want_dweight = operand(call, dweight_at) != nullptr;
    Gemm<T> for_dx, for_dweight;
    if (want_dx) {
        if (!view_as_rows(operand(call, dx_at), dx)) return false;
        if (!view_as_rows(operand(call, bweight_at), weight)) return false;
        for_dx = product_of(g, weight, dx, accumulate & 1);
        if (masked) {
            if (!rows_of(operand(call, bx_at), mask, context, scratch_mask, true))
                return false;
            for_dx.mask = mask.data;
            for_dx.mask_row = mask.row;
        }
    }
    if (want_dweight) {
        if (!rows_of(operand(call, bx_at), x, context, scratch_x)) return false;
        if (!view_as_rows(operand(call, dweight_at), dweight)) return false;
        for_dweight = product_of(transposed(g), x, dweight, accumulate & 2);
    }
    T* out = data_of<T>(operand(call, dbias_at));
    BiasGradient<T> dbias = {g, out != nullptr, 0, {}};
    if (!dbias.prepare(context)) return false;
    const Aside aside = dbias.aside();
    if (want_dx && want_dweight) {
        if (!multiply(for_dx, for_dweight, aside, context)) return false;
    } else {
        if (want_dx && !multiply(for_dx, context)) return false;
        if (want_dweight && !multiply(for_dweight, context)) return false;
        run_apart(aside, context);
    }
    for (int64_t j = 0; dbias.wanted && j < g.columns; ++j)
        out[j] = accumulate & 4 ? out[j] + dbias.at(j) : dbias.at(j);
    return true;
}

template <bool masked>
void linear_backward(const ac_call* call, ac_context* context, ac_status* status) {
    if constexpr (takes_halves) {
        if (is_half(operand(call, g_at)->dtype))
            return masked ? half_linear_relu_backward(call, context, status)
                          : half_linear_backward(call, context, status);
    }
    const bool ok = operand(call, g_at)->dtype == AC_FLOAT32
                        ? linear_backward_typed<float, masked>(call, context)
                        : linear_backward_typed<double, masked>(call, context);
    if (!ok) no_memory(status);
}

const char* linear_backward_supports(const ac_call* call) {
    if constexpr (takes_halves) return half_refusal(call, g_at);
    return nullptr;
}

double linear_backward_work(const ac_call* call) {
    const ac_array* dweight = operand(call, dweight_at);
    const ac_array* dx = operand(call, dx_at);
    const ac_array* g = operand(call, g_at);
    double flops = static_cast<double>(element_count(*g));
    if (dx != nullptr)
        flops += 2.0 * static_cast<double>(element_count(*g) * dim_of(dx, -1));
    if (dweight != nullptr)
        flops += 2.0 * static_cast<double>(element_count(*g) * dim_of(dweight, -1));
    return flops * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"linear", "out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
     linear, linear_supports, linear_work, 0, float_dtypes | half_dtypes, nullptr},
    {"linear_backward", "dx? dweight? dbias? ; g x? weight? ; accumulate:int",
     linear_backward<false>, linear_backward_supports, linear_backward_work, 0,
     float_dtypes | half_dtypes, nullptr},
    {"linear_relu_backward", "da? dweight? dbias? ; g x weight ; accumulate:int",
     linear_backward<true>, linear_backward_supports, linear_backward_work, 0,
     float_dtypes | half_dtypes, nullptr},
};

}  // namespace

AC_DEFINE_FAMILY(linear, entries);

}  // namespace autocalc::simd::AC_ISA
