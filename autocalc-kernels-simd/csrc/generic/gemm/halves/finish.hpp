// SPDX-License-Identifier: MIT
//
// From the sums of a block of a product of 16-bit operands to what is written.
#pragma once

#include "elementwise/activation_math.hpp"
#include "gemm/halves/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Of `rows` rows of sums, whose registers are whole, from `column` of c on.
template <class E>
AC_NOINLINE void finish_sums(const HalfGemm<E>& p, const Mixed<E>& c,
                             const Mixed<E>& pre, const Mixed<E>& mask, int64_t column,
                             int64_t rows, int64_t columns, const float* sums,
                             int64_t stride) {
    constexpr int64_t lanes = f32::lanes;
    const bool plain = p.alpha == 1 && p.beta == 0 && p.bias == nullptr && !pre.any() &&
                       p.activation == Activation::none && !mask.any();
    if (plain && c.half != nullptr) {
        for (int64_t i = 0; i < rows; ++i) {
            E* to = c.half + i * c.row;
            const float* from = sums + i * stride;
            int64_t j = 0;
            for (; j + lanes <= columns; j += lanes)
                store_narrow(to + j, load(from + j));
            if (j < columns) store_narrow_first(to + j, load(from + j), columns - j);
        }
        return;
    }
    const f32 alpha = set1<float>(p.alpha), beta = set1<float>(p.beta);
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; j += lanes) {
            const int64_t n = smaller(lanes, columns - j);
            f32 x = load(sums + i * stride + j);
            if (p.alpha != 1) x = x * alpha;
            if (p.beta != 0) x = fma(beta, c.get(i * c.row + j, n), x);
            if (p.bias != nullptr) {
                const E* bias = p.bias + column + j;
                x = x + (n == lanes ? load_wide(bias) : load_wide_first(bias, n));
            }
            if (pre.any()) pre.put(i * pre.row + j, x, n);
            if (p.activation == Activation::relu) x = max(zero<float>(), x);
            if (p.activation == Activation::gelu) x = gelu(x);
            if (p.activation == Activation::gelu_tanh) x = gelu_tanh(x);
            if (mask.any())  // NaN passes
                x = keep(~le(mask.get(i * mask.row + j, n), zero<float>()), x);
            c.put(i * c.row + j, x, n);
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
