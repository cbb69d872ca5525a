// SPDX-License-Identifier: MIT
//
// Register tiles of the matrix product on NEON, and the transpose that packing uses.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// 32 registers. 6 x 4 (6 rows of 16 floats) and 8 x 3 (8 of 12) both keep 24 sums,
// enough for four pipes of four cycles; the first loads 10 registers for them, the
// second 11.
constexpr int tile_vectors = 4;
constexpr bool multiplies_pairs = false;  // of bfloat16
constexpr int tile_rows[tile_vectors + 1] = {0, 14, 12, 8, 6};
constexpr int fewest_tall_rows = 0;  // none
// Tiles of dot products, for operands that both run along k.
constexpr int dot_rows = 4;
constexpr int dot_columns = 5;

// The even and the odd elements of two rows side by side:
//     low[i] = a0 b0 a2 b2    high[i] = a1 b1 a3 b3
// then the same with pairs.
AC_INLINE void transpose(f32 (&r)[4]) {
    const float64x2_t low0 = vreinterpretq_f64_f32(vtrn1q_f32(r[0].v, r[1].v));
    const float64x2_t high0 = vreinterpretq_f64_f32(vtrn2q_f32(r[0].v, r[1].v));
    const float64x2_t low1 = vreinterpretq_f64_f32(vtrn1q_f32(r[2].v, r[3].v));
    const float64x2_t high1 = vreinterpretq_f64_f32(vtrn2q_f32(r[2].v, r[3].v));
    r[0].v = vreinterpretq_f32_f64(vtrn1q_f64(low0, low1));
    r[1].v = vreinterpretq_f32_f64(vtrn1q_f64(high0, high1));
    r[2].v = vreinterpretq_f32_f64(vtrn2q_f64(low0, low1));
    r[3].v = vreinterpretq_f32_f64(vtrn2q_f64(high0, high1));
}

AC_INLINE void transpose(f64 (&r)[2]) {
    const float64x2_t low = vtrn1q_f64(r[0].v, r[1].v);
    r[1].v = vtrn2q_f64(r[0].v, r[1].v);
    r[0].v = low;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
