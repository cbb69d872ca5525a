// SPDX-License-Identifier: MIT
//
// Windows of one element at stride 1: a product of matrices for each image, which the
// kernels of products multiply without a copy.
#pragma once

#include "conv/windows.hpp"
#include "gemm/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_INLINE bool is_pointwise(const Windows& w) {
    const auto plain = [](const Axis& axis) {
        return axis.kernel == 1 && axis.stride == 1 && axis.padding == 0;
    };
    return plain(w.y) && plain(w.x) && w.groups == 1;
}

// Whether the pixels of a channel are evenly spaced, `column` apart.
template <class T>
AC_INLINE bool pixels_in_line(const Images<T>& images, const Axis& y, int64_t columns) {
    return y.in == 1 || images.row == columns * images.column;
}

// The distance of pixels if that is the same from each to the next, or 0.
template <class T>
AC_INLINE int64_t even_step(const Images<T>& images, int64_t batch, int64_t rows,
                            int64_t columns, int64_t channels) {
    const int64_t sizes[] = {columns, rows, batch};
    const int64_t strides[] = {images.column, images.row, images.image};
    int64_t step = 0, count = 1;
    for (int d = 0; d < 3; ++d) {
        if (sizes[d] == 1) continue;
        if (count == 1) step = strides[d];
        if (strides[d] != step * count) return 0;
        count *= sizes[d];
    }
    return count == 1 ? channels : step;
}

// The same product for each image: c = a @ b + beta * c.
template <class T>
Gemm<T> image_product(const Windows& w, int64_t m, int64_t k, const Images<const T>& b,
                      const Images<T>& c) {
    Gemm<T> p = {};
    p.m = m;
    p.n = w.y.in * w.x.in;
    p.k = k;
    p.b = b.data;
    p.b_row = b.channel;
    p.b_col = b.column;
    p.c = c.data;
    p.c_row = c.channel;
    p.alpha = 1;
    p.activation = Activation::none;
    p.batch_dims = 1;
    p.batch[0] = w.batch;
    p.b_step[0] = b.image;
    p.c_step[0] = c.image;
    return p;
}

// A bias for each row, which products do not have, is written first.
template <class T>
bool multiply_onto_bias(Gemm<T>& p, const ac_array* bias, ac_context* context) {
    const int64_t rows = p.batch[0] * p.m, step = stride_of<T>(bias, 0);
    parallel(context, rows, rows * p.n > serial_work, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
            T* c = p.c + row / p.m * p.c_step[0] + row % p.m * p.c_row;
            fill_run(c, p.n, data<T>(bias)[row % p.m * step]);
        }
    });
    p.beta = 1;
    return multiply(p, context);
}

// Images of fewer pixels are not worth a product each in the weight gradient, whose sum
// goes through all of them. An estimate: nothing near it was measured.
constexpr int64_t pointwise_pixels = 256;

}  // namespace
}  // namespace autocalc::simd::AC_ISA
