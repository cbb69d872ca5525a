// SPDX-License-Identifier: MIT
//
// The transforms of Winograd's convolution F(4 x 4, 3 x 3) (Lavin, Gray: Fast
// algorithms for convolutional neural networks, 2016): 4 x 4 results from 36 products
// for each pair of channels where the sum as it stands takes 144. With polynomials at
// 0, infinity and four places +-a, +-b, b = 1 / a = sqrt(2): the usual places 1 and 2
// cost twice the error (1.7e-6 of the results' size against 0.8e-6 for 64 channels of
// normal numbers; the plain sum has 0.4e-6).
//
// The weight gradient is the transpose of that sum: the same matrices, transposed, and
// 36 products over all tiles for each pair of channels.
//
// A register holds channels, so every transform is the same few operations on
// registers.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t wino_out = 4;         // results of a tile along a dimension
constexpr int64_t wino_in = 6;          // elements that they read
constexpr int64_t wino_kernel = 3;      // taps
constexpr int64_t wino_places = 6 * 6;  // products of a tile
constexpr float wino_a = 0.70710678118654752F;
constexpr float wino_b = 1.41421356237309505F;
constexpr float wino_a2 = 0.5F, wino_b2 = 2.0F;
constexpr float wino_sum = wino_a2 + wino_b2;  // their product is 1
constexpr float wino_scale_a = 1 / (2 * wino_a2 * (wino_a2 - wino_b2));
constexpr float wino_scale_b = 1 / (2 * wino_b2 * (wino_b2 - wino_a2));

// The elements of a tile: B^T d.
AC_INLINE void wino_data(const vec<float> (&d)[6], vec<float> (&t)[6]) {
    const vec<float> a = set1<float>(wino_a), b = set1<float>(wino_b);
    const vec<float> a2 = set1<float>(wino_a2), b2 = set1<float>(wino_b2);
    const vec<float> both = set1<float>(wino_sum);
    const vec<float> even_a = fnma(b2, d[2], d[4]), odd_a = fnma(b2, d[1], d[3]);
    const vec<float> even_b = fnma(a2, d[2], d[4]), odd_b = fnma(a2, d[1], d[3]);
    t[0] = fnma(both, d[2], d[0]) + d[4];
    t[1] = fma(a, odd_a, even_a);
    t[2] = fnma(a, odd_a, even_a);
    t[3] = fma(b, odd_b, even_b);
    t[4] = fnma(b, odd_b, even_b);
    t[5] = fnma(both, d[3], d[1]) + d[5];
}

// The results of a tile: A^T m.
AC_INLINE void wino_results(const vec<float> (&m)[6], vec<float> (&y)[4]) {
    const vec<float> a = set1<float>(wino_a), b = set1<float>(wino_b);
    const vec<float> a2 = set1<float>(wino_a2), b2 = set1<float>(wino_b2);
    const vec<float> sum_a = m[1] + m[2], sum_b = m[3] + m[4];
    const vec<float> less_a = (m[1] - m[2]) * a, less_b = (m[3] - m[4]) * b;
    y[0] = m[0] + sum_a + sum_b;
    y[1] = less_a + less_b;
    y[2] = fma(b2, sum_b, a2 * sum_a);
    y[3] = fma(b2, less_b, fma(a2, less_a, m[5]));
}

// Taps: G g.
AC_INLINE void wino_taps(const vec<float> (&g)[3], vec<float> (&u)[6]) {
    const vec<float> a = set1<float>(wino_a * wino_scale_a),
                     b = set1<float>(wino_b * wino_scale_b);
    const vec<float> even_a = fma(set1<float>(wino_a2), g[2], g[0]);
    const vec<float> even_b = fma(set1<float>(wino_b2), g[2], g[0]);
    const vec<float> odd_a = g[1] * a, odd_b = g[1] * b;
    u[0] = g[0];
    u[1] = fma(set1<float>(wino_scale_a), even_a, odd_a);
    u[2] = fma(set1<float>(wino_scale_a), even_a, -odd_a);
    u[3] = fma(set1<float>(wino_scale_b), even_b, odd_b);
    u[4] = fma(set1<float>(wino_scale_b), even_b, -odd_b);
    u[5] = g[2];
}

// The gradients of a tile's results: A y.
AC_INLINE void wino_gradients(const vec<float> (&y)[4], vec<float> (&z)[6]) {
    const vec<float> a = set1<float>(wino_a), b = set1<float>(wino_b);
    const vec<float> a2 = set1<float>(wino_a2), b2 = set1<float>(wino_b2);
    const vec<float> even_a = fma(a2, y[2], y[0]), odd_a = fma(a2, y[3], y[1]);
    const vec<float> even_b = fma(b2, y[2], y[0]), odd_b = fma(b2, y[3], y[1]);
    z[0] = y[0];
    z[1] = fma(a, odd_a, even_a);
    z[2] = fnma(a, odd_a, even_a);
    z[3] = fma(b, odd_b, even_b);
    z[4] = fnma(b, odd_b, even_b);
    z[5] = y[3];
}

// The gradients of taps: G^T m.
AC_INLINE void wino_weights(const vec<float> (&m)[6], vec<float> (&w)[3]) {
    const vec<float> sum_a = (m[1] + m[2]) * set1<float>(wino_scale_a);
    const vec<float> sum_b = (m[3] + m[4]) * set1<float>(wino_scale_b);
    const vec<float> less_a = (m[1] - m[2]) * set1<float>(wino_scale_a * wino_a);
    const vec<float> less_b = (m[3] - m[4]) * set1<float>(wino_scale_b * wino_b);
    w[0] = m[0] + sum_a + sum_b;
    w[1] = less_a + less_b;
    w[2] = fma(set1<float>(wino_b2), sum_b, fma(set1<float>(wino_a2), sum_a, m[5]));
}

// ---- both dimensions, of a register of channels

// `d` has lines of pixels `line` apart; place k goes to v + k * step.
AC_INLINE void transform_data(const float* d, int64_t line, float* v, int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    vec<float> t[6][6];
#pragma GCC unroll 6
    for (int x = 0; x < 6; ++x) {
        vec<float> from[6], to[6];
#pragma GCC unroll 6
        for (int y = 0; y < 6; ++y) from[y] = load(d + y * line + x * lanes);
        wino_data(from, to);
#pragma GCC unroll 6
        for (int y = 0; y < 6; ++y) t[y][x] = to[y];
    }
#pragma GCC unroll 6
    for (int y = 0; y < 6; ++y) {
        vec<float> to[6];
        wino_data(t[y], to);
#pragma GCC unroll 6
        for (int x = 0; x < 6; ++x) store(v + (y * 6 + x) * step, to[x]);
    }
}

// The way back: y has lines of pixels, 4 x 4 of them.
AC_INLINE void transform_results(const float* m, int64_t step, vec<float> start,
                                 float* y, int64_t line) {
    constexpr int lanes = vec<float>::lanes;
    vec<float> t[4][6];
#pragma GCC unroll 6
    for (int x = 0; x < 6; ++x) {
        vec<float> from[6], to[4];
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) from[i] = load(m + (i * 6 + x) * step);
        wino_results(from, to);
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) t[i][x] = to[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        vec<float> to[4];
        wino_results(t[i], to);
#pragma GCC unroll 4
        for (int x = 0; x < 4; ++x) store(y + i * line + x * lanes, to[x] + start);
    }
}

// The gradients of 4 x 4 results, as transform_data.
AC_INLINE void transform_gradients(const float* y, int64_t line, float* z,
                                   int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    vec<float> t[6][4];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
        vec<float> from[4], to[6];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) from[i] = load(y + i * line + x * lanes);
        wino_gradients(from, to);
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) t[i][x] = to[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
        vec<float> to[6];
        wino_gradients(t[i], to);
#pragma GCC unroll 6
        for (int x = 0; x < 6; ++x) store(z + (i * 6 + x) * step, to[x]);
    }
}

// Sums of products, place k at m + k * step, to the gradients of taps [3 x 3][lanes].
AC_INLINE void transform_sums(const float* m, int64_t step, float* w) {
    constexpr int lanes = vec<float>::lanes;
    vec<float> t[3][6];
#pragma GCC unroll 6
    for (int x = 0; x < 6; ++x) {
        vec<float> from[6], to[3];
#pragma GCC unroll 6
        for (int y = 0; y < 6; ++y) from[y] = load(m + (y * 6 + x) * step);
        wino_weights(from, to);
#pragma GCC unroll 3
        for (int y = 0; y < 3; ++y) t[y][x] = to[y];
    }
#pragma GCC unroll 3
    for (int y = 0; y < 3; ++y) {
        vec<float> to[3];
        wino_weights(t[y], to);
#pragma GCC unroll 3
        for (int x = 0; x < 3; ++x) store(w + (y * 3 + x) * lanes, to[x]);
    }
}

// Taps [3 x 3][lanes] of a register of channels.
AC_INLINE void transform_taps(const float* g, bool flipped, float* u, int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    vec<float> t[6][3];
#pragma GCC unroll 3
    for (int x = 0; x < 3; ++x) {
        vec<float> from[3], to[6];
#pragma GCC unroll 3
        for (int y = 0; y < 3; ++y) {
            const int tap = y * 3 + x;
            from[y] = load(g + (flipped ? 8 - tap : tap) * lanes);
        }
        wino_taps(from, to);
#pragma GCC unroll 6
        for (int y = 0; y < 6; ++y) t[y][x] = to[y];
    }
#pragma GCC unroll 6
    for (int y = 0; y < 6; ++y) {
        vec<float> to[6];
        wino_taps(t[y], to);
#pragma GCC unroll 6
        for (int x = 0; x < 6; ++x) store(u + (y * 6 + x) * step, to[x]);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
