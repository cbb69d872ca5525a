// SPDX-License-Identifier: MIT
//
// AVX-512's register tiles with another instruction: where float32's multiply a word of
// a and one of b, these multiply two bfloat16 of each and add both products to the sum,
// each of them exactly. Products and sums are rounded as float32's are, to the nearest;
// numbers below 2^-126 count as 0 and become 0.
#pragma once

#define AC_FMA_OF_FLOATS "vdpbf16ps"

#include "../avx512/microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The same in one register for dot products.
AC_INLINE f32 add_pairs(f32 a, f32 b, f32 sum) {
    return {_mm512_dpbf16_ps(sum.v, reinterpret_cast<__m512bh>(a.v),
                             reinterpret_cast<__m512bh>(b.v))};
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
