// SPDX-License-Identifier: MIT
//
// The microkernels of the weight gradient where channels are neighbours: a tile of sums
// over windows, of taps by output channels.
#pragma once

#include "conv/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// sums[i][j] += sum over windows of a[distances[i]] * b[j]

template <class T>
struct NhwcTile {
    int64_t images, lines, length;  // of windows
    const T* a;
    int64_t a_image, a_line, a_step;
    const T* b;
    int64_t b_image, b_line, b_step;
    const int64_t* distances;
    T* sums;
    int64_t sums_row;
    const char* ask;  // for memory: what is needed later, a line for each window
    int64_t ask_step;
};

// `near`: rows are neighbours, so that one pointer is enough for many of them.
template <class T, int rows, int vectors, bool near>
AC_NOINLINE void run_nhwc_weights(const NhwcTile<T>& t) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> sum[rows][vectors];
    for_tile<rows, vectors, lanes>(0, [&](int i, int v, int64_t) {
        sum[i][v] = load(t.sums + i * t.sums_row + v * lanes);
    });
    int64_t distance[rows] = {};
    if (!near) {
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) distance[i] = t.distances[i];
    }
    const int64_t first = near ? t.distances[0] : 0;
    const int64_t a_step = t.a_step, b_step = t.b_step;
    const char* ask = t.ask;
    const int64_t ask_step = t.ask_step;
    for (int64_t n = 0; n < t.images; ++n) {
        for (int64_t y = 0; y < t.lines; ++y) {
            const T* a = t.a + n * t.a_image + y * t.a_line + first;
            const T* b = t.b + n * t.b_image + y * t.b_line;
            for (int64_t x = t.length; x > 0; --x) {
                vec<T> bv[vectors];
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) bv[v] = load(b + v * lanes);
#pragma GCC unroll 16
                for (int i = 0; i < rows; ++i) {
                    const T* factor = a + (near ? i : distance[i]);
                    if (near && i % rows_together == 0) {
                        add_row<true>(factor, bv, sum[i]);
                    } else {
                        add_row<false>(factor, bv, sum[i]);
                    }
                }
                a += a_step;
                b += b_step;
                __builtin_prefetch(ask, 0, 2);
                ask += ask_step;
            }
        }
    }
    for_tile<rows, vectors, lanes>(0, [&](int i, int v, int64_t) {
        store(t.sums + i * t.sums_row + v * lanes, sum[i][v]);
    });
}

template <bool near>
AC_INLINE constexpr int nhwc_rows(int64_t vectors) {
    return near ? tile_rows[vectors] : rows_for(static_cast<int>(vectors));
}
template <bool near>
struct NhwcWeightsOf {
    template <class T, int vectors>
    struct Tiles {
        using Function = void (*)(const NhwcTile<T>&);
        static constexpr int most = nhwc_rows<near>(vectors);
        template <int rows>
        static constexpr Function at = run_nhwc_weights<T, rows, vectors, near>;
    };
};

template <class T, bool near>
AC_INLINE void multiply_nhwc(int64_t vectors, int64_t rows, const NhwcTile<T>& tile) {
    run_tile_of<NhwcWeightsOf<near>::template Tiles, T>(vectors, rows, tile);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
