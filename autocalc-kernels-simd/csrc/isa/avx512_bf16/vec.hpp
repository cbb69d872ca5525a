// SPDX-License-Identifier: MIT
//
// AVX-512's vectors, and their rounding to bfloat16 in one instruction, for which
// numbers below 2^-126 are 0.
#pragma once

#include "../avx512/vec.hpp"

#define AC_ROUNDS_TO_BFLOAT16

namespace autocalc::simd::AC_ISA {
namespace {

AC_INLINE void store_bfloat16(uint16_t* p, f32 a) {
    const auto rounded = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(a.v));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), rounded);
}
AC_INLINE void store_bfloat16_first(uint16_t* p, f32 a, int64_t n) {
    const auto rounded = reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(a.v));
    _mm256_mask_storeu_epi16(p, first<float>(n).m, rounded);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
