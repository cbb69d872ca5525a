// SPDX-License-Identifier: MIT
//
// From the sums of a block to the pixels that are written: bias, what is added, and the
// activation.
#pragma once

#include "elementwise/post_ops.hpp"
#include "half_conv/mixed_images.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Finish {
    MixedImages to, other;  // `other` may be absent
    int64_t results;
    const float* bias;  // whole strips, or null
    bool accumulate;
    PostOp what;
    PostOpParams<float> of;
};

// Where the pixels of a strip are; -1 is none.
struct StripPixels {
    int64_t to[strip_width], other[strip_width];
};

template <PostOp what>
void finish_pixels_as(const Finish& f, const StripPixels& pixels, int64_t strip,
                      const float* sums) {
    constexpr int64_t lanes = f32::lanes;
    for (int64_t half = 0; half < 2; ++half) {
        const int64_t c = strip * strip_width + half * lanes;
        const int64_t n = smaller(lanes, f.results - c);
        if (n <= 0) return;
        const f32 bias = f.bias == nullptr ? zero<float>() : load(f.bias + c);
        for (int64_t i = 0; i < strip_width; ++i) {
            if (pixels.to[i] < 0) continue;
            const float* from = sums + (i / half_strip * 2 + half) * sums_of_tile +
                                i % half_strip * half_strip;
            f32 x = load(from);
            if (f.bias != nullptr) x = x + bias;
            if (f.accumulate) x = x + f.to.get(pixels.to[i], c, n);
            if (f.other.from.any()) x = x + f.other.get(pixels.other[i], c, n);
            f.to.put(pixels.to[i], c, activated<what>(x, f.of), n);
        }
    }
}

AC_NOINLINE void finish_strip(const Finish& f, const StripPixels& pixels, int64_t strip,
                              const float* sums) {
    with_post_op(f.what, [&](auto what) {
        finish_pixels_as<what.value>(f, pixels, strip, sums);
    });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
