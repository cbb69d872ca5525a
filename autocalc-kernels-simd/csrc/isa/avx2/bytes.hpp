// SPDX-License-Identifier: MIT
//
// Products of 32 signed bytes on AVX2. Names: ../README.md.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Bytes {
    __m256i v;
};

AC_INLINE Bytes load_bytes(const uint8_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
}

AC_INLINE Bytes load_nibbles(const uint8_t* p) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m256i apart = _mm256_set_m128i(_mm_srli_epi16(both, 4), both);
    const __m256i codes = _mm256_and_si256(apart, _mm256_set1_epi8(15));
    return {_mm256_sub_epi8(codes, _mm256_set1_epi8(8))};
}

// One operand of the instruction is unsigned: |a|, and b with the sign of a. Pairs of
// products stay below 2^15, since no b is -128.
AC_INLINE f32 dot_bytes(Bytes a, Bytes b) {
    const __m256i size = _mm256_abs_epi8(a.v), turned = _mm256_sign_epi8(b.v, a.v);
    const __m256i pairs = _mm256_maddubs_epi16(size, turned);
    const __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    return {_mm256_cvtepi32_ps(sums)};
}

// A float16 in all lanes.
AC_INLINE f32 spread_float16(const uint8_t* p) {
    int16_t bits;
    memcpy(&bits, p, sizeof bits);  // at any address
    return {_mm256_cvtph_ps(_mm_set1_epi16(bits))};
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
