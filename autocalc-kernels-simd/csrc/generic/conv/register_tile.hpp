// SPDX-License-Identifier: MIT
//
// The microkernels of convolutions: register tiles as in gemm/register_tile.hpp, but
// what they read is at distances from a list, since no matrix of patches is written.
#pragma once

#include "common/by_size.hpp"
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Fewer rows than a product's tiles: 8 are enough to hide the latency of the
// multiply-adds, and every height is a function that has to be compiled.
constexpr int conv_rows = 8;
AC_INLINE constexpr int rows_for(int vectors) {
    if (vectors > tile_vectors) return 1;  // no such tile; asked while compiling
    return tile_rows[vectors] < conv_rows ? tile_rows[vectors] : conv_rows;
}

// ---- windows: sums[i][j] = start[i] + sum over k of a[k][i] * b[j + distances[k]]

template <class T>
struct TapTile {
    int64_t k;
    const T* a;  // [k][rows]
    const T* b;
    const int64_t* distances;
    const T* start;
    T* sums;
    int64_t sums_row;
    int64_t columns;  // of the sums; only the last register may be partly used
    bool add;
};

template <class T, int rows, int vectors>
AC_NOINLINE void run_taps(const TapTile<T>& t) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> sum[rows][vectors];
    for_tile<rows, vectors, lanes>(
        0, [&](int i, int v, int64_t) { sum[i][v] = set1<T>(t.start[i]); });
    const T* a = t.a;
    const int64_t* distance = t.distances;
    for (int64_t k = t.k; k > 0; --k) {
        const T* b = t.b + *distance++;
        vec<T> bv[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) bv[v] = load(b + v * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
            // Of few rows, loads are what a step has most of.
            if (rows > rows_together && i % rows_together == 0) {
                add_row<true>(a + i, bv, sum[i]);
            } else {
                add_row<false>(a + i, bv, sum[i]);
            }
        }
        a += rows;
    }
    for_tile<rows, vectors, lanes>(t.columns, [&](int i, int v, int64_t n) {
        T* to = t.sums + i * t.sums_row + v * lanes;
        if (t.add) sum[i][v] = sum[i][v] + load_last(to, n);
        store_last(to, sum[i][v], n);
    });
}

// ---- weights: sums[i][j] += sum over windows of a[distances[i] + window] *
// b[window][j]

template <class T>
struct WeightTile {
    int64_t lines, length, line;  // windows: lines of `length`, `line` apart in a
    const T* a;
    const int64_t* distances;
    const T* b;  // [windows][b_row]
    int64_t b_row;
    T* sums;
    int64_t sums_row;
};

template <class T, int rows, int vectors>
AC_NOINLINE void run_weights(const WeightTile<T>& t) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> sum[rows][vectors];
    for_tile<rows, vectors, lanes>(0, [&](int i, int v, int64_t) {
        sum[i][v] = load(t.sums + i * t.sums_row + v * lanes);
    });
    const T* b = t.b;
    const T* line = t.a;
    int64_t distance[rows];
    for (int i = 0; i < rows; ++i) distance[i] = t.distances[i];
    for (int64_t y = t.lines; y > 0; --y) {
        const T* a = line;
        for (int64_t x = t.length; x > 0; --x) {
            vec<T> bv[vectors];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) bv[v] = load(b + v * lanes);
#pragma GCC unroll 8
            for (int i = 0; i < rows; ++i) {
                const vec<T> ai = set1<T>(a[distance[i]]);
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) sum[i][v] = fma(ai, bv[v], sum[i][v]);
            }
            ++a;
            b += t.b_row;
        }
        line += t.line;
    }
    for_tile<rows, vectors, lanes>(0, [&](int i, int v, int64_t) {
        store(t.sums + i * t.sums_row + v * lanes, sum[i][v]);
    });
}

// ---- few output channels: sums[i] += sum over windows of a[distances[i] + window] *
// g[window], along the windows

template <class T>
struct DotLines {
    int64_t lines, length, line;
    const T* a;
    const int64_t* distances;
    const T* g;
    int64_t g_row;
    T* sums;
    int64_t sums_row;
};

template <class T, int rows>
AC_NOINLINE void run_dot_lines(const DotLines<T>& t) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> sum[rows];
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) sum[i] = zero<T>();
    const T* line = t.a;
    const T* g = t.g;
    for (int64_t y = t.lines; y > 0; --y) {
        for (int64_t x = 0; x < t.length; x += lanes) {
            const int64_t n = smaller<int64_t>(lanes, t.length - x);
            const vec<T> gv = load_last(g + x, n);
#pragma GCC unroll 8
            for (int i = 0; i < rows; ++i)
                sum[i] = fma(load_last(line + x + t.distances[i], n), gv, sum[i]);
        }
        line += t.line;
        g += t.g_row;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) t.sums[i * t.sums_row] += reduce_add(sum[i]);
}

// ---- the functions by their sizes

// By their rows.
template <class T, int vectors>
struct TapsOf {
    using Function = void (*)(const TapTile<T>&);
    static constexpr int most = rows_for(vectors);
    template <int rows>
    static constexpr Function at = run_taps<T, rows, vectors>;
};
template <class T, int vectors>
struct WeightsOf {
    using Function = void (*)(const WeightTile<T>&);
    static constexpr int most = rows_for(vectors);
    template <int rows>
    static constexpr Function at = run_weights<T, rows, vectors>;
};
template <class T>
struct DotLinesOf {
    using Function = void (*)(const DotLines<T>&);
    static constexpr int most = conv_rows;
    template <int rows>
    static constexpr Function at = run_dot_lines<T, rows>;
};

template <class T>
AC_INLINE void multiply_taps(int64_t vectors, int64_t rows, const TapTile<T>& tile) {
    run_tile_of<TapsOf, T>(vectors, rows, tile);
}
template <class T>
AC_INLINE void multiply_weights(int64_t vectors, int64_t rows,
                                const WeightTile<T>& tile) {
    run_tile_of<WeightsOf, T>(vectors, rows, tile);
}
template <class T>
AC_INLINE void multiply_dot_lines(int64_t rows, const DotLines<T>& lines) {
    function_of<DotLinesOf<T>>(rows)(lines);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
