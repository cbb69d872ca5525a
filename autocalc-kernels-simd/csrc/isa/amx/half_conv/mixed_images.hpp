// SPDX-License-Identifier: MIT
//
// Images that are written, of bfloat16 or of float32.
#pragma once

#include "conv/windows.hpp"
#include "gemm/halves/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Images of either type, by strides; channels are neighbours in most.
struct MixedImages {
    Mixed<BFloat16> from;  // the first element
    int64_t image, channel, row, column;

    [[nodiscard]] AC_INLINE int64_t at(int64_t n, int64_t y, int64_t x) const {
        return n * image + y * row + x * column;
    }
    [[nodiscard]] AC_INLINE float one(int64_t at) const {
        return from.half != nullptr ? wide_of(from.half[at]) : from.whole[at];
    }
    AC_INLINE void set(int64_t at, float x) const {
        if (from.half != nullptr) return set_narrow(from.half + at, x);
        from.whole[at] = x;
    }
    [[nodiscard]] AC_INLINE f32 get(int64_t at, int64_t c, int64_t n) const {
        if (channel == 1) return from.get(at + c, n);
        float some[f32::lanes] = {};
        for (int64_t i = 0; i < n; ++i) some[i] = one(at + (c + i) * channel);
        return load(some);
    }
    AC_INLINE void put(int64_t at, int64_t c, f32 x, int64_t n) const {
        if (channel == 1) return from.put(at + c, x, n);
        float some[f32::lanes];
        store(some, x);
        for (int64_t i = 0; i < n; ++i) set(at + (c + i) * channel, some[i]);
    }
};

inline MixedImages mixed_images(const ac_array* array) {
    if (array == nullptr) return {};
    if (array->dtype == AC_FLOAT32) {
        const Images<float> images = images_of<float>(array);
        return {{nullptr, images.data, 0},
                images.image,
                images.channel,
                images.row,
                images.column};
    }
    const Images<BFloat16> images = images_of<BFloat16>(array);
    return {{images.data, nullptr, 0},
            images.image,
            images.channel,
            images.row,
            images.column};
}

// A vector's elements as the channels of one pixel.
inline MixedImages mixed_vector(const ac_array* array) {
    if (array->dtype == AC_FLOAT32)
        return {{nullptr, data<float>(array), 0}, 0, stride_of<float>(array, 0), 0, 0};
    return {
        {data<BFloat16>(array), nullptr, 0}, 0, stride_of<BFloat16>(array, 0), 0, 0};
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
