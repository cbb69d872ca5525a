// SPDX-License-Identifier: MIT
//
// Rounding groups of numbers to codes.
#pragma once

#include "quantized/groups.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// max |x|; infinity where an element is infinite or NaN.
AC_INLINE float largest(const float* x, int64_t n) {
    f32 most = zero<float>();
    const f32 infinity = set1<float>(__builtin_inff());
    for (int64_t i = 0; i < n; i += f32::lanes) {
        const f32 size = abs(load(x + i));
        most = max(most, select(is_nan(size), infinity, size));
    }
    return reduce_max(most);
}

template <int bits>
AC_INLINE float exact_scale(const float* x, int64_t n) {
    const float most = largest(x, n);
    if (most > __FLT_MAX__) return __builtin_nanf("");
    if constexpr (bits == 8) return most / 127.0f;
    int64_t i = 0;
    while (__builtin_fabsf(x[i]) != most) ++i;
    return x[i] / -8.0f;
}

// The scale as it is stored, rounded to float16; NaN if it is too large. `bits` gets
// its bits.
AC_INLINE float stored_scale(float exact, uint16_t& bits) {
    const i32 half = to_float16(set1<float>(exact));
    int32_t all[i32::lanes];
    float scale[f32::lanes];
    store(all, half);
    store(scale, from_float16(half));
    const bool fits = __builtin_fabsf(scale[0]) <= 65504.0f;
    bits = fits ? static_cast<uint16_t>(all[0]) : 0x7e00;
    return fits ? scale[0] : __builtin_nanf("");
}

// Codes of n numbers: round(x / scale) within their range.
template <int bits>
AC_INLINE void round_codes(const float* x, float scale, int8_t* codes, int64_t n) {
    if (!(scale == scale) || scale == 0.0f) {
        memset(codes, 0, static_cast<size_t>(n));
        return;
    }
    const f32 step = set1<float>(scale);
    const f32 least = set1<float>(bits == 8 ? -127.0f : -8.0f);
    const f32 most = set1<float>(bits == 8 ? 127.0f : 7.0f);
    for (int64_t i = 0; i < n; i += f32::lanes) {
        const f32 exact = load(x + i) / step;
        int32_t whole[i32::lanes];
        store(whole, to_int(max(min(exact, most), least)));
        for (int j = 0; j < f32::lanes; ++j)
            codes[i + j] = static_cast<int8_t>(whole[j]);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
