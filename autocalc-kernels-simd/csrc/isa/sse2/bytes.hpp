// SPDX-License-Identifier: MIT
//
// Products of 32 signed bytes on SSE2. Names: ../README.md.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Bytes {
    __m128i low, high;
};

AC_INLINE Bytes load_bytes(const uint8_t* p) {
    const auto* at = reinterpret_cast<const __m128i*>(p);
    return {_mm_loadu_si128(at), _mm_loadu_si128(at + 1)};
}

AC_INLINE Bytes load_nibbles(const uint8_t* p) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i four = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
    return {_mm_sub_epi8(_mm_and_si128(both, four), eight),
            _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(both, 4), four), eight)};
}

// Sums of four products of 16 signed bytes.
AC_INLINE __m128i dot_sixteen(__m128i a, __m128i b) {
    const __m128i none = _mm_setzero_si128();
    const __m128i a_sign = _mm_cmpgt_epi8(none, a), b_sign = _mm_cmpgt_epi8(none, b);
    const __m128i low =
        _mm_madd_epi16(_mm_unpacklo_epi8(a, a_sign), _mm_unpacklo_epi8(b, b_sign));
    const __m128i high =
        _mm_madd_epi16(_mm_unpackhi_epi8(a, a_sign), _mm_unpackhi_epi8(b, b_sign));
    return _mm_add_epi32(low, high);
}

AC_INLINE f32 dot_bytes(Bytes a, Bytes b) {
    return {_mm_cvtepi32_ps(
        _mm_add_epi32(dot_sixteen(a.low, b.low), dot_sixteen(a.high, b.high)))};
}

// A float16 in all lanes.
AC_INLINE f32 spread_float16(const uint8_t* p) {
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);  // at any address
    return from_float16(set1<int32_t>(bits));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
