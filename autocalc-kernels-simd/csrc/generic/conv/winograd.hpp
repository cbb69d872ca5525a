// SPDX-License-Identifier: MIT
//
// The transforms of Winograd's convolutions F(4 x 4, 3 x 3) and F(2 x 2, 3 x 3) (Lavin,
// Gray: Fast algorithms for convolutional neural networks, 2016): 4 x 4 results from 36
// products for each pair of channels where the direct sum takes 144, and 2 x 2
// from 16 where it takes 36.
//
// Along one dimension, y = A^T ((G g) * (B^T d)) with d the 6 (or 4) elements that 4
// (or 2) results read, g the 3 taps, and * element by element. In two dimensions each
// matrix is applied to the columns and then to the rows (`transform`). Summed over
// channels, * becomes a product of matrices at each of the 36 (or 16) places:
//
//     V = B^T d B     of each tile and channel               read_tiles
//     U = G g G^T     of each channel and output channel     transform_taps
//     M = V U         at each place, [tile, channel] times   multiply_places
//                     [channel, output channel]
//     y = A^T M A     of each tile and output channel        write_tiles
//
// The weight gradient is the transpose of that sum: the same matrices, transposed, and
// as many products over all tiles for each pair of channels.
//
// A register holds channels, so every transform is the same few operations on
// registers.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t wino_kernel = 3;  // taps along a dimension
constexpr int64_t wino_taps = wino_kernel * wino_kernel;

// Transforms of a line, from so many registers to so many: `Data` are the elements of a
// tile, B^T d; `Results` its results, A^T m; `Taps` G g; `Gradients` those of a tile's
// results, A y; `Weights` the gradients of taps, G^T m.
template <int out>
struct Wino;

// With polynomials at 0, infinity and four places +-a, +-b, b = 1 / a = sqrt(2): the
// usual places 1 and 2 cost twice the error (1.7e-6 of the results' size against 0.8e-6
// for 64 channels of normal numbers; the plain sum has 0.4e-6).
template <>
struct Wino<4> {
    static constexpr int out = 4;         // results of a tile along a dimension
    static constexpr int in = 6;          // elements that they read
    static constexpr int places = 6 * 6;  // products of a tile
    static constexpr float a = 0.70710678118654752F;
    static constexpr float b = 1.41421356237309505F;
    static constexpr float a2 = 0.5F, b2 = 2.0F;
    static constexpr float both = a2 + b2;  // their product is 1
    static constexpr float scale_a = 1 / (2 * a2 * (a2 - b2));
    static constexpr float scale_b = 1 / (2 * b2 * (b2 - a2));

    struct Data {
        static constexpr int from = 6, to = 6;
        AC_INLINE static void run(const vec<float> (&d)[6], vec<float> (&t)[6]) {
            const vec<float> va = set1<float>(a), vb = set1<float>(b);
            const vec<float> va2 = set1<float>(a2), vb2 = set1<float>(b2);
            const vec<float> vboth = set1<float>(both);
            const vec<float> even_a = fnma(vb2, d[2], d[4]);
            const vec<float> odd_a = fnma(vb2, d[1], d[3]);
            const vec<float> even_b = fnma(va2, d[2], d[4]);
            const vec<float> odd_b = fnma(va2, d[1], d[3]);
            t[0] = fnma(vboth, d[2], d[0]) + d[4];
            t[1] = fma(va, odd_a, even_a);
            t[2] = fnma(va, odd_a, even_a);
            t[3] = fma(vb, odd_b, even_b);
            t[4] = fnma(vb, odd_b, even_b);
            t[5] = fnma(vboth, d[3], d[1]) + d[5];
        }
    };

    struct Results {
        static constexpr int from = 6, to = 4;
        AC_INLINE static void run(const vec<float> (&m)[6], vec<float> (&y)[4]) {
            const vec<float> va = set1<float>(a), vb = set1<float>(b);
            const vec<float> va2 = set1<float>(a2), vb2 = set1<float>(b2);
            const vec<float> sum_a = m[1] + m[2], sum_b = m[3] + m[4];
            const vec<float> less_a = (m[1] - m[2]) * va, less_b = (m[3] - m[4]) * vb;
            y[0] = m[0] + sum_a + sum_b;
            y[1] = less_a + less_b;
            y[2] = fma(vb2, sum_b, va2 * sum_a);
            y[3] = fma(vb2, less_b, fma(va2, less_a, m[5]));
        }
    };

    struct Taps {
        static constexpr int from = 3, to = 6;
        AC_INLINE static void run(const vec<float> (&g)[3], vec<float> (&u)[6]) {
            const vec<float> to_a = set1<float>(scale_a), to_b = set1<float>(scale_b);
            const vec<float> even_a = fma(set1<float>(a2), g[2], g[0]);
            const vec<float> even_b = fma(set1<float>(b2), g[2], g[0]);
            const vec<float> odd_a = g[1] * set1<float>(a * scale_a);
            const vec<float> odd_b = g[1] * set1<float>(b * scale_b);
            u[0] = g[0];
            u[1] = fma(to_a, even_a, odd_a);
            u[2] = fma(to_a, even_a, -odd_a);
            u[3] = fma(to_b, even_b, odd_b);
            u[4] = fma(to_b, even_b, -odd_b);
            u[5] = g[2];
        }
    };

    struct Gradients {
        static constexpr int from = 4, to = 6;
        AC_INLINE static void run(const vec<float> (&y)[4], vec<float> (&z)[6]) {
            const vec<float> va = set1<float>(a), vb = set1<float>(b);
            const vec<float> va2 = set1<float>(a2), vb2 = set1<float>(b2);
            const vec<float> even_a = fma(va2, y[2], y[0]);
            const vec<float> odd_a = fma(va2, y[3], y[1]);
            const vec<float> even_b = fma(vb2, y[2], y[0]);
            const vec<float> odd_b = fma(vb2, y[3], y[1]);
            z[0] = y[0];
            z[1] = fma(va, odd_a, even_a);
            z[2] = fnma(va, odd_a, even_a);
            z[3] = fma(vb, odd_b, even_b);
            z[4] = fnma(vb, odd_b, even_b);
            z[5] = y[3];
        }
    };

    struct Weights {
        static constexpr int from = 6, to = 3;
        AC_INLINE static void run(const vec<float> (&m)[6], vec<float> (&w)[3]) {
            const vec<float> sum_a = (m[1] + m[2]) * set1<float>(scale_a);
            const vec<float> sum_b = (m[3] + m[4]) * set1<float>(scale_b);
            const vec<float> less_a = (m[1] - m[2]) * set1<float>(scale_a * a);
            const vec<float> less_b = (m[3] - m[4]) * set1<float>(scale_b * b);
            w[0] = m[0] + sum_a + sum_b;
            w[1] = less_a + less_b;
            w[2] = fma(set1<float>(b2), sum_b, fma(set1<float>(a2), sum_a, m[5]));
        }
    };
};

// With polynomials at 0, 1, -1 and infinity: additions alone, and a third of the error.
template <>
struct Wino<2> {
    static constexpr int out = 2;
    static constexpr int in = 4;
    static constexpr int places = 4 * 4;

    struct Data {
        static constexpr int from = 4, to = 4;
        AC_INLINE static void run(const vec<float> (&d)[4], vec<float> (&t)[4]) {
            t[0] = d[0] - d[2];
            t[1] = d[1] + d[2];
            t[2] = d[2] - d[1];
            t[3] = d[3] - d[1];
        }
    };

    struct Results {
        static constexpr int from = 4, to = 2;
        AC_INLINE static void run(const vec<float> (&m)[4], vec<float> (&y)[2]) {
            y[0] = m[0] + m[1] + m[2];
            y[1] = m[1] - m[2] + m[3];
        }
    };

    struct Taps {
        static constexpr int from = 3, to = 4;
        AC_INLINE static void run(const vec<float> (&g)[3], vec<float> (&u)[4]) {
            const vec<float> half = set1<float>(0.5F);
            const vec<float> even = (g[0] + g[2]) * half, odd = g[1] * half;
            u[0] = g[0];
            u[1] = even + odd;
            u[2] = even - odd;
            u[3] = g[2];
        }
    };

    struct Gradients {
        static constexpr int from = 2, to = 4;
        AC_INLINE static void run(const vec<float> (&y)[2], vec<float> (&z)[4]) {
            z[0] = y[0];
            z[1] = y[0] + y[1];
            z[2] = y[0] - y[1];
            z[3] = y[1];
        }
    };

    struct Weights {
        static constexpr int from = 4, to = 3;
        AC_INLINE static void run(const vec<float> (&m)[4], vec<float> (&w)[3]) {
            const vec<float> half = set1<float>(0.5F);
            const vec<float> even = (m[1] + m[2]) * half;
            w[0] = m[0] + even;
            w[1] = (m[1] - m[2]) * half;
            w[2] = even + m[3];
        }
    };
};

// A line's transform along both dimensions: of registers get(row, column) to
// put(row, column, register).
template <class Line, class Get, class Put>
AC_INLINE void transform(Get&& get, Put&& put) {
    constexpr int from = Line::from, to = Line::to;
    vec<float> t[to][from];
#pragma GCC unroll 6
    for (int x = 0; x < from; ++x) {
        vec<float> before[from], after[to];
#pragma GCC unroll 6
        for (int y = 0; y < from; ++y) before[y] = get(y, x);
        Line::run(before, after);
#pragma GCC unroll 6
        for (int y = 0; y < to; ++y) t[y][x] = after[y];
    }
#pragma GCC unroll 6
    for (int y = 0; y < to; ++y) {
        vec<float> after[to];
        Line::run(t[y], after);
#pragma GCC unroll 6
        for (int x = 0; x < to; ++x) put(y, x, after[x]);
    }
}

// Registers at p + row * line + column * step.
struct Registers {
    const float* p;
    int64_t line, step;
    [[nodiscard]] AC_INLINE vec<float> operator()(int y, int x) const {
        return load(p + y * line + x * step);
    }
};

// Place k of a tile with `columns` places a row at p + k * step.
template <int columns>
struct Places {
    float* p;
    int64_t step;
    AC_INLINE void operator()(int y, int x, vec<float> v) const {
        store(p + (y * columns + x) * step, v);
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
