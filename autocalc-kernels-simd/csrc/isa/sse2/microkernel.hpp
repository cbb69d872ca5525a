// SPDX-License-Identifier: MIT
//
// Register tiles of the matrix product on SSE2, and the transpose that packing uses.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// 16 registers: 4 x 2 sums, two of B, one of A, and one for the product, as there is no
// multiply-add.
constexpr int tile_vectors = 2;
constexpr bool multiplies_pairs = false;  // of bfloat16
constexpr int tile_rows[tile_vectors + 1] = {0, 8, 4};
constexpr int fewest_tall_rows = 0;  // none
// Tiles of dot products, for operands that both run along k.
constexpr int dot_rows = 2;
constexpr int dot_columns = 4;

AC_INLINE void transpose(f32 (&r)[4]) {
    _MM_TRANSPOSE4_PS(r[0].v, r[1].v, r[2].v, r[3].v);
}

// Of rows a b:    a0 b0    and    a1 b1
AC_INLINE void transpose(f64 (&r)[2]) {
    const __m128d low = _mm_unpacklo_pd(r[0].v, r[1].v);
    r[1].v = _mm_unpackhi_pd(r[0].v, r[1].v);
    r[0].v = low;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
