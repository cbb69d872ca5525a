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
constexpr bool multiplies_pairs = false;  // of bfloat16
constexpr int tile_rows[tile_vectors + 1] = {0, 12, 6};
// Tiles of dot products, for operands that both run along k.
constexpr int dot_rows = 3;
constexpr int dot_columns = 4;

// Elements, then pairs interleave, which transposes the 4 x 4 squares; then halves
// move. Shuffles within 128-bit halves, marked |, take one cycle, the one across them
// three, so that it comes once. With a b c d for rows 0 to 3, and for rows 4 to 7:
//     t    a0 b0 a1 b1 | a4 b4 a5 b5    and    a2 b2 a3 b3 | a6 b6 a7 b7
//     u    a0 b0 c0 d0 | a4 b4 c4 d4    to     a3 b3 c3 d3 | a7 b7 c7 d7
//     r    the same half of both fours of rows: column j, and column 4 + j
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

// Of rows p q r s:    a    p0 q0 | p2 q2    b    p1 q1 | p3 q3    c, d the same of r s
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
