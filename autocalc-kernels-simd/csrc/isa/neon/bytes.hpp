// SPDX-License-Identifier: MIT
//
// Products of 32 signed bytes on NEON. Names: ../README.md.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Bytes {
    int8x16_t low, high;
};

AC_INLINE Bytes load_bytes(const uint8_t* p) {
    return {vreinterpretq_s8_u8(vld1q_u8(p)), vreinterpretq_s8_u8(vld1q_u8(p + 16))};
}

AC_INLINE Bytes load_nibbles(const uint8_t* p) {
    const uint8x16_t both = vld1q_u8(p);
    const int8x16_t eight = vdupq_n_s8(8);
    return {
        vsubq_s8(vreinterpretq_s8_u8(vandq_u8(both, vdupq_n_u8(15))), eight),
        vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(both, 4)), eight),
    };
}

// Sums of two products stay below 2^15, since no b is -128.
AC_INLINE int32x4_t add_sixteen(int32x4_t sum, int8x16_t a, int8x16_t b) {
    const int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
    return vpadalq_s16(sum, vmlal_s8(low, vget_high_s8(a), vget_high_s8(b)));
}

AC_INLINE f32 dot_bytes(Bytes a, Bytes b) {
    const int32x4_t first = add_sixteen(vdupq_n_s32(0), a.low, b.low);
    return {vcvtq_f32_s32(add_sixteen(first, a.high, b.high))};
}

// A float16 in all lanes.
AC_INLINE f32 spread_float16(const uint8_t* p) {
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);  // at any address
    return from_float16(set1<int32_t>(bits));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
