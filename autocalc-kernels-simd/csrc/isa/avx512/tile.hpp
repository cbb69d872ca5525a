// SPDX-License-Identifier: MIT
//
// Register tiles of the matrix product on AVX-512, and the transpose that packing uses.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A tile is `rows` by `vectors` registers of sums; beside them a step along k needs
// `vectors` registers of B and one of A, 32 in all. 6 x 4 loads least for its 24
// multiply-adds (10 loads, which is 97 % of the peak with B in L2); fewer vectors leave
// room for more rows.
constexpr int tile_vectors = 4;
constexpr int tile_rows[tile_vectors + 1] = {0, 14, 14, 8, 6};
// c + a * b and c + *a * b, in c's register. Left to itself the compiler loads *a once
// for several, and often takes another register for the sum, with a copy: of the 149
// instructions of four steps of 6 x 4 registers 9 to 12 were copies.
// NOLINTBEGIN(portability-no-assembler): no intrinsic says which register, or insists
AC_INLINE f32 fma_in_place(f32 a, f32 b, f32 c) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(c.v) : "v"(a.v), "v"(b.v));
    return c;
}
AC_INLINE f64 fma_in_place(f64 a, f64 b, f64 c) {
    asm("vfmadd231pd %2, %1, %0" : "+v"(c.v) : "v"(a.v), "v"(b.v));
    return c;
}
AC_INLINE f32 fma_of_memory(const float* a, f32 b, f32 c) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(c.v) : "v"(b.v), "m"(*a));
    return c;
}
AC_INLINE f64 fma_of_memory(const double* a, f64 b, f64 c) {
    asm("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(c.v) : "v"(b.v), "m"(*a));
    return c;
}
// NOLINTEND(portability-no-assembler)
// Tiles of dot products, for operands that both run along k.
constexpr int dot_rows = 4;
constexpr int dot_columns = 5;

// In four steps: pairs of rows are interleaved by elements, then by pairs of elements,
// which transposes the 4 x 4 squares; then 128-bit quarters move to their places in two
// steps.
AC_INLINE void transpose(f32 (&r)[16]) {
    __m512 t[16];
    __m512 u[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
        t[2 * i] = _mm512_unpacklo_ps(r[2 * i].v, r[2 * i + 1].v);
        t[2 * i + 1] = _mm512_unpackhi_ps(r[2 * i].v, r[2 * i + 1].v);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const __m512d a = _mm512_castps_pd(t[4 * i]);
        const __m512d b = _mm512_castps_pd(t[4 * i + 1]);
        const __m512d c = _mm512_castps_pd(t[4 * i + 2]);
        const __m512d d = _mm512_castps_pd(t[4 * i + 3]);
        u[4 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
        u[4 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
        u[4 * i + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
        u[4 * i + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
    }
    // u[4 * i + j], quarter q: rows 4i .. 4i + 3 of column 4q + j.
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
        const __m512 a =
            _mm512_shuffle_f32x4(u[j], u[4 + j], 0x88);  // quarters 0 2 | 0 2
        const __m512 b =
            _mm512_shuffle_f32x4(u[j], u[4 + j], 0xdd);  // quarters 1 3 | 1 3
        const __m512 c =
            _mm512_shuffle_f32x4(u[8 + j], u[12 + j], 0x88);  // of rows 8 .. 15
        const __m512 d = _mm512_shuffle_f32x4(u[8 + j], u[12 + j], 0xdd);
        r[j].v = _mm512_shuffle_f32x4(a, c, 0x88);
        r[8 + j].v = _mm512_shuffle_f32x4(a, c, 0xdd);
        r[4 + j].v = _mm512_shuffle_f32x4(b, d, 0x88);
        r[12 + j].v = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

AC_INLINE void transpose(f64 (&r)[8]) {
    __m512d t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        t[2 * i] = _mm512_unpacklo_pd(r[2 * i].v, r[2 * i + 1].v);
        t[2 * i + 1] = _mm512_unpackhi_pd(r[2 * i].v, r[2 * i + 1].v);
    }
    // t[2 * i + j], quarter q: rows 2i and 2i + 1 of column 2q + j.
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
        const __m512d a = _mm512_shuffle_f64x2(t[j], t[2 + j], 0x88);
        const __m512d b = _mm512_shuffle_f64x2(t[j], t[2 + j], 0xdd);
        const __m512d c = _mm512_shuffle_f64x2(t[4 + j], t[6 + j], 0x88);
        const __m512d d = _mm512_shuffle_f64x2(t[4 + j], t[6 + j], 0xdd);
        r[j].v = _mm512_shuffle_f64x2(a, c, 0x88);
        r[4 + j].v = _mm512_shuffle_f64x2(a, c, 0xdd);
        r[2 + j].v = _mm512_shuffle_f64x2(b, d, 0x88);
        r[6 + j].v = _mm512_shuffle_f64x2(b, d, 0xdd);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
