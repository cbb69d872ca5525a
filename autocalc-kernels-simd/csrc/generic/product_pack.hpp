// SPDX-License-Identifier: MIT
//
// Packing: blocks of a and b are copied so that the microkernels read them in one straight run.
#pragma once

#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A panel of b: `k` rows of `width` elements, a whole number of registers; beyond `columns` it is filled
// with zeros.

// b runs along its rows.
template <class T>
AC_INLINE void pack_rows(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_row, T* out) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < k; ++i) {
        const T* from = b + i * b_row;
        T* to = out + i * width;
        int64_t j = 0;
        for (; j + lanes <= columns; j += lanes) store(to + j, load(from + j));
        if (j < columns) store(to + j, load_first(from + j, columns - j));
    }
}

// Squares of lanes x lanes elements; `b_col` is the step from one source row to the next.
template <class T>
AC_INLINE void pack_square(int64_t k, int64_t columns, const T* b, int64_t b_col, T* out, int64_t width) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> r[lanes];
    if (k == lanes && columns == lanes) {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) r[i] = load(b + i * b_col);
        transpose(r);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(out + i * width, r[i]);
        return;
    }
    for (int i = 0; i < lanes; ++i) r[i] = i < columns ? load_first(b + i * b_col, k) : zero<T>();
    transpose(r);
    for (int i = 0; i < k; ++i) store(out + i * width, r[i]);
}

// b runs along its columns: transposed in registers.
template <class T>
AC_INLINE void pack_columns(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_col, T* out) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t j = 0; j < width; j += lanes) {
        for (int64_t i = 0; i < k; i += lanes) {
            pack_square(smaller<int64_t>(lanes, k - i), smaller<int64_t>(lanes, columns - j),
                        b + j * b_col + i, b_col, out + i * width + j, width);
        }
    }
}

template <class T>
void pack_any(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_row, int64_t b_col, T* out) {
    for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < width; ++j) {
            out[i * width + j] = j < columns ? b[i * b_row + j * b_col] : T(0);
        }
    }
}

template <class T>
AC_NOINLINE void pack_panel(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_row,
                            int64_t b_col, T* out) {
    if (b_col == 1) {
        pack_rows(k, columns, width, b, b_row, out);
    } else if (b_row == 1) {
        pack_columns(k, columns, width, b, b_col, out);
    } else {
        pack_any(k, columns, width, b, b_row, b_col, out);
    }
}

// `rows` rows of a, each of `k` elements `out_row` apart.
template <class T>
AC_NOINLINE void copy_rows(int64_t rows, int64_t k, const T* a, int64_t a_row, int64_t a_col, T* out,
                           int64_t out_row) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < rows; ++i) {
        const T* from = a + i * a_row;
        T* to = out + i * out_row;
        if (a_col == 1) {
            int64_t j = 0;
            for (; j + lanes <= k; j += lanes) store(to + j, load(from + j));
            if (j < k) store_first(to + j, load_first(from + j, k - j), k - j);
        } else {
            for (int64_t j = 0; j < k; ++j) to[j] = from[j * a_col];
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
