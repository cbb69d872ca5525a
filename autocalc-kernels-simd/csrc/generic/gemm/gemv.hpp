// SPDX-License-Identifier: MIT
//
// One row times a matrix that runs along its rows: rows of b are added to the row of c,
// which stays in L1. Memory then sees a few long a_order, where tiles would jump from
// row to row: 1 x 4096 x 1024 reads b at three times the rate.
#pragma once

#include "gemm/dots.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t vector_rows = 8;  // of b, for each load and store of c
// Of c at once: 16 or 32 KiB. In runs of 1024, which change rows of b with every page,
// 1 x 4096 x 1024 took 1.08 times as long on one thread and 1.03 on two.
constexpr int64_t run_columns = 4096;

// c += the first `rows` of alpha * a, times that many rows of b.
template <class T, int rows>
AC_NOINLINE void add_rows(const T* a, int64_t a_col, T alpha, const T* b, int64_t b_row,
                          int64_t columns, T* c) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> factor[rows];
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) factor[i] = set1<T>(alpha * a[i * a_col]);
    int64_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
        vec<T> sum = load(c + j);
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
            const T* from = b + i * b_row + j;
            sum = fma(factor[i], load(from), sum);
        }
        store(c + j, sum);
    }
    if (j < columns) {
        vec<T> sum = load_first(c + j, columns - j);
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i)
            sum = fma(factor[i], load_first(b + i * b_row + j, columns - j), sum);
        store_first(c + j, sum, columns - j);
    }
}

// What c is before the products are added: beta * c + bias.
template <class T>
void begin_row(const Gemm<T>& p, T* c, int64_t n0, int64_t n1) {
    for (int64_t j = n0; j < n1; ++j) {
        const T bias = p.bias == nullptr ? T(0) : p.bias[j];
        c[j] = p.beta == 0 ? bias : p.beta * c[j] + bias;
    }
}

template <class T>
void end_row(const Gemm<T>& p, const Matrices<T>& at, int64_t n0, int64_t n1) {
    if (at.pre != nullptr) {
        memcpy(at.pre + n0, at.c + n0, static_cast<size_t>(bytes_of<T>(n1 - n0)));
    }
    if (p.activation == Activation::relu) {
        for (int64_t j = n0; j < n1; ++j) at.c[j] = at.c[j] < 0 ? T(0) : at.c[j];
    } else if (p.activation != Activation::none) {
        activate(p.activation, 1, n1 - n0, at.c + n0, p.c_row);
    }
}

template <class T>
void run_vector_block(const Gemm<T>& p, const Matrices<T>& at, const Block& block) {
    for (int64_t n0 = block.n0; n0 < block.n1; n0 += run_columns) {
        const int64_t n1 = smaller(block.n1, n0 + run_columns);
        begin_row(p, at.c, n0, n1);
        const T* a = at.a;
        const T* b = at.b + n0;
        int64_t k = p.k;
        for (; k >= vector_rows; k -= vector_rows) {
            add_rows<T, vector_rows>(a, p.a_col, p.alpha, b, p.b_row, n1 - n0,
                                     at.c + n0);
            a += vector_rows * p.a_col;
            b += vector_rows * p.b_row;
        }
        for (; k > 0; --k) {
            add_rows<T, 1>(a, p.a_col, p.alpha, b, p.b_row, n1 - n0, at.c + n0);
            a += p.a_col;
            b += p.b_row;
        }
        end_row(p, at, n0, n1);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
