// SPDX-License-Identifier: MIT
//
// One channel that is read for one that is written, at stride 1: a column of registers
// of results at a time, so that what a line of the plane holds is loaded once for all
// the results that read it, and results go straight to where they belong.
#pragma once

#include "common/lanes.hpp"
#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t depthwise_rows = 4;  // results above each other
constexpr int64_t depthwise_most =
    5;  // rows and columns of taps that there is code for

template <class T>
struct DepthwisePlane {
    const T* plane;
    int64_t width;  // of its lines
    const T* taps;  // [kernel][kernel], in the plane's order
    T start;
    T* out;
    int64_t out_row;
    int64_t rows, columns;
    bool add;
};

template <class T, int kernel, int rows>
AC_INLINE void depthwise_column(const DepthwisePlane<T>& p, const T* from, T* to,
                                int64_t count) {
    vec<T> sum[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) sum[r] = set1<T>(p.start);
#pragma GCC unroll 8
    for (int line = 0; line < rows + kernel - 1; ++line) {
#pragma GCC unroll 5
        for (int j = 0; j < kernel; ++j) {
            const vec<T> x = load(from + line * p.width + j);
#pragma GCC unroll 4
            for (int r = 0; r < rows; ++r) {
                if (line < r || line - r >= kernel) continue;
                sum[r] = fma(set1<T>(p.taps[(line - r) * kernel + j]), x, sum[r]);
            }
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
        T* place = to + r * p.out_row;
        if (p.add) sum[r] = sum[r] + load_last(place, count);
        store_last(place, sum[r], count);
    }
}

template <class T, int kernel, int rows>
AC_NOINLINE void depthwise_lines(const DepthwisePlane<T>& p, int64_t y) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t x = 0; x < p.columns; x += lanes) {
        depthwise_column<T, kernel, rows>(p, p.plane + y * p.width + x,
                                          p.out + y * p.out_row + x,
                                          smaller<int64_t>(lanes, p.columns - x));
    }
}

template <class T, int kernel>
void depthwise_plane(const DepthwisePlane<T>& p) {
    int64_t y = 0;
    for (; y + depthwise_rows <= p.rows; y += depthwise_rows)
        depthwise_lines<T, kernel, depthwise_rows>(p, y);
    for (; y < p.rows; ++y) depthwise_lines<T, kernel, 1>(p, y);
}

// `kernel` is 3 or 5.
template <class T>
AC_INLINE void run_depthwise(int64_t kernel, const DepthwisePlane<T>& p) {
    if (kernel == 3) {
        depthwise_plane<T, 3>(p);
    } else {
        depthwise_plane<T, 5>(p);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
