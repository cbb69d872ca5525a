// SPDX-License-Identifier: MIT
//
// Register tiles of the matrix product on AVX-512, and the transpose that packing uses.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A tile is `rows` by `vectors` registers of sums; in addition a step along k needs
// `vectors` registers of B and one of A, 32 in all. 6 x 4 loads least for its 24
// multiply-adds (10 loads, which is 97 % of the peak with B in L2); fewer vectors leave
// room for more rows.
constexpr int tile_vectors = 4;
constexpr int tile_rows[tile_vectors + 1] = {0, 14, 14, 8, 6};
constexpr int fewest_tall_rows = 0;  // none

// sum[v] + *a * b[v] in sum's registers: one row of a tile at one step. `from_memory`:
// each multiply-add loads the factor itself. Left to itself the compiler loads it once
// for several, and often takes another register for the sum, with a copy: of the 149
// instructions of four steps of 6 x 4 registers 9 to 12 were copies, of 142 still 6
// where every multiply-add was a statement of its own.
// What avx512_bf16 defines adds the products of the two bfloat16 of each word.
#ifdef AC_FMA_OF_FLOATS
constexpr bool multiplies_pairs = true;
#else
#define AC_FMA_OF_FLOATS "vfmadd231ps"
constexpr bool multiplies_pairs = false;
#endif
// NOLINTBEGIN(portability-no-assembler): no intrinsic says which register, or insists
#define AC_FMA_1(fma, factor) fma " " factor ", %[b0], %[c0]\n\t"
#define AC_FMA_2(fma, factor) AC_FMA_1(fma, factor) fma " " factor ", %[b1], %[c1]\n\t"
#define AC_FMA_3(fma, factor) AC_FMA_2(fma, factor) fma " " factor ", %[b2], %[c2]\n\t"
#define AC_FMA_4(fma, factor) AC_FMA_3(fma, factor) fma " " factor ", %[b3], %[c3]\n\t"
#define AC_SUMS_1 [c0] "+&v"(c[0])
#define AC_SUMS_2 AC_SUMS_1, [c1] "+&v"(c[1])
#define AC_SUMS_3 AC_SUMS_2, [c2] "+&v"(c[2])
#define AC_SUMS_4 AC_SUMS_3, [c3] "+&v"(c[3])
#define AC_RIGHT_1 [b0] "v"(b[0].v)
#define AC_RIGHT_2 AC_RIGHT_1, [b1] "v"(b[1].v)
#define AC_RIGHT_3 AC_RIGHT_2, [b2] "v"(b[2].v)
#define AC_RIGHT_4 AC_RIGHT_3, [b3] "v"(b[3].v)
#define AC_ROW_OF(n, type, fma, repeat)                                            \
    if constexpr (vectors == n) {                                                  \
        if constexpr (from_memory) {                                               \
            asm(AC_FMA_##n(fma, "%[a]%{" repeat "%}")                              \
                : AC_SUMS_##n                                                      \
                : AC_RIGHT_##n, [a] "m"(*a));                                      \
        } else {                                                                   \
            asm("vbroadcasts" type " %[a], %%zmm31\n\t" AC_FMA_##n(fma, "%%zmm31") \
                : AC_SUMS_##n                                                      \
                : AC_RIGHT_##n, [a] "m"(*a)                                        \
                : "zmm31");                                                        \
        }                                                                          \
    }
#define AC_ADD_ROW(T, V, R, type, fma, repeat)                                   \
    template <bool from_memory, int vectors>                                     \
    AC_INLINE void add_row(const T* a, const V(&b)[vectors], V(&sum)[vectors]) { \
        R c[vectors];                                                            \
        for (int v = 0; v < vectors; ++v) c[v] = sum[v].v;                       \
        AC_ROW_OF(1, type, fma, repeat)                                          \
        AC_ROW_OF(2, type, fma, repeat)                                          \
        AC_ROW_OF(3, type, fma, repeat)                                          \
        AC_ROW_OF(4, type, fma, repeat)                                          \
        for (int v = 0; v < vectors; ++v) sum[v].v = c[v];                       \
    }
AC_ADD_ROW(float, f32, __m512, "s", AC_FMA_OF_FLOATS, "1to16")
AC_ADD_ROW(double, f64, __m512d, "d", "vfmadd231pd", "1to8")
// NOLINTEND(portability-no-assembler)
// Tiles of dot products, for operands that both run along k.
constexpr int dot_rows = 4;
constexpr int dot_columns = 5;

// The sums of one register and of four, by the same tree: equal columns of b give equal
// results. Four become one step by step, in 8 shuffles instead of 16, or of 12.
//
// Of one, in each quarter of four lanes:    0 1 2 3  ->  02 13 20 31  ->  the quarter's
// sum in every lane; then the upper half is added to the lower, and quarter 1 to 0.
AC_INLINE void store_sum(float* to, f32 x) {
    __m512 a = _mm512_add_ps(x.v, _mm512_permute_ps(x.v, 0x4e));
    a = _mm512_add_ps(a, _mm512_permute_ps(a, 0xb1));
    const __m256 half =
        _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    *to = _mm_cvtss_f32(
        _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}
AC_INLINE void store_sum(double* to, f64 x) {
    const __m512d a = _mm512_add_pd(x.v, _mm512_permute_pd(x.v, 0x55));
    const __m512d b = _mm512_add_pd(a, _mm512_shuffle_f64x2(a, a, 0xb1));
    *to = _mm256_cvtsd_f64(
        _mm256_add_pd(_mm512_castpd512_pd256(b), _mm512_extractf64x4_pd(b, 1)));
}
// Of four registers p q r s, in each quarter:
//     a           p02 q02 p13 q13      b    r02 s02 r13 s13
//     quarters    p q r s, the sums of the quarter
// and the quarters are added as above.
AC_INLINE void store_sums(float* to, const f32* x) {
    const __m512 a = _mm512_add_ps(_mm512_unpacklo_ps(x[0].v, x[1].v),
                                   _mm512_unpackhi_ps(x[0].v, x[1].v));
    const __m512 b = _mm512_add_ps(_mm512_unpacklo_ps(x[2].v, x[3].v),
                                   _mm512_unpackhi_ps(x[2].v, x[3].v));
    const __m512d c = _mm512_castps_pd(a);
    const __m512d d = _mm512_castps_pd(b);
    const __m512 quarters = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(c, d)),
                                          _mm512_castpd_ps(_mm512_unpackhi_pd(c, d)));
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(quarters),
                                      _mm512_extractf32x8_ps(quarters, 1));
    _mm_storeu_ps(
        to, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

// The same with two lanes to a quarter:
//     a    p q of quarters 0 | 1 | 2 | 3      b    r s
//     c    p q of 0 + 1 | p q of 2 + 3 | r s of 0 + 1 | r s of 2 + 3
//     d    p q r s, the sums
AC_INLINE void store_sums(double* to, const f64* x) {
    const __m512d a = _mm512_add_pd(_mm512_unpacklo_pd(x[0].v, x[1].v),
                                    _mm512_unpackhi_pd(x[0].v, x[1].v));
    const __m512d b = _mm512_add_pd(_mm512_unpacklo_pd(x[2].v, x[3].v),
                                    _mm512_unpackhi_pd(x[2].v, x[3].v));
    const __m512d c =
        _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88),   // quarters 0 2 | 0 2
                      _mm512_shuffle_f64x2(a, b, 0xdd));  // 1 3 | 1 3
    const __m512d d = _mm512_add_pd(_mm512_shuffle_f64x2(c, c, 0x88),
                                    _mm512_shuffle_f64x2(c, c, 0xdd));
    _mm256_storeu_pd(to, _mm512_castpd512_pd256(d));
}

// In four steps: pairs of rows are interleaved by elements, then by pairs of elements,
// which transposes the 4 x 4 squares; then 128-bit quarters move to their places in two
// steps. In quarter q, of four rows a b c d:
//     t    a b of columns 4q, 4q + 1    and    of columns 4q + 2, 4q + 3
//     u    a b c d of column 4q + j, for j = 0 .. 3
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
