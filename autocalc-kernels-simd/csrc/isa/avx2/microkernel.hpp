// SPDX-License-Identifier: MIT
//
// Register tiles of the matrix product on AVX2, and the transpose that packing uses.
#pragma once

#include "tall_microkernel.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// 16 registers: 6 x 2 sums, two of B, one of A.
constexpr int tile_vectors = 2;
constexpr int tile_rows[tile_vectors + 1] = {0, 12, 6};
constexpr bool has_tall_tile = true;
// Tiles of dot products, for operands that both run along k.
constexpr int dot_rows = 3;
constexpr int dot_columns = 4;

// Elements, then pairs interleave, which transposes the 4 x 4 squares; then halves
// move.
AC_INLINE void transpose(f32 (&r)[8]) {
    __m256 t[8];
    __m256 u[8];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        t[2 * i] = _mm256_unpacklo_ps(r[2 * i].v, r[2 * i + 1].v);
        t[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i].v, r[2 * i + 1].v);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
        u[4 * i] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0x44);
        u[4 * i + 1] = _mm256_shuffle_ps(t[4 * i], t[4 * i + 2], 0xee);
        u[4 * i + 2] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0x44);
        u[4 * i + 3] = _mm256_shuffle_ps(t[4 * i + 1], t[4 * i + 3], 0xee);
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
        r[j].v = _mm256_permute2f128_ps(u[j], u[4 + j], 0x20);
        r[4 + j].v = _mm256_permute2f128_ps(u[j], u[4 + j], 0x31);
    }
}

AC_INLINE void transpose(f64 (&r)[4]) {
    const __m256d a = _mm256_unpacklo_pd(r[0].v, r[1].v);
    const __m256d b = _mm256_unpackhi_pd(r[0].v, r[1].v);
    const __m256d c = _mm256_unpacklo_pd(r[2].v, r[3].v);
    const __m256d d = _mm256_unpackhi_pd(r[2].v, r[3].v);
    r[0].v = _mm256_permute2f128_pd(a, c, 0x20);
    r[1].v = _mm256_permute2f128_pd(b, d, 0x20);
    r[2].v = _mm256_permute2f128_pd(a, c, 0x31);
    r[3].v = _mm256_permute2f128_pd(b, d, 0x31);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
