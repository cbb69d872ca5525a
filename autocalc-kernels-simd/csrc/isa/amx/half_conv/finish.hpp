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

// The same for most strips: whole ones of bfloat16, with no activation but ReLU.
template <bool relu>
AC_NOINLINE void finish_whole(const Finish& f, const StripPixels& pixels, int64_t strip,
                              const float* sums) {
    const int64_t c = strip * strip_width;
    f32 bias[2] = {zero<float>(), zero<float>()};
    if (f.bias != nullptr) {
        bias[0] = load(f.bias + c);
        bias[1] = load(f.bias + c + half_strip);
    }
    for (int64_t i = 0; i < strip_width; ++i) {
        if (pixels.to[i] < 0) continue;
        const float* from =
            sums + i / half_strip * 2 * sums_of_tile + i % half_strip * half_strip;
        f32 low = load(from) + bias[0], high = load(from + sums_of_tile) + bias[1];
        if (relu) {
            low = max(zero<float>(), low);
            high = max(zero<float>(), high);
        }
        const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high.v, low.v));
        _mm512_storeu_si512(f.to.from.half + pixels.to[i] + c, both);
    }
}

AC_INLINE bool is_whole(const Finish& f, int64_t strip) {
    return f.to.from.half != nullptr && f.to.channel == 1 && !f.accumulate &&
           !f.other.from.any() && f.results - strip * strip_width >= strip_width &&
           f.what <= PostOp::relu;
}

AC_NOINLINE void finish_strip(const Finish& f, const StripPixels& pixels, int64_t strip,
                              const float* sums) {
    if (is_whole(f, strip)) {
        if (f.what == PostOp::relu) return finish_whole<true>(f, pixels, strip, sums);
        return finish_whole<false>(f, pixels, strip, sums);
    }
    with_post_op(f.what, [&](auto what) {
        finish_pixels_as<what.value>(f, pixels, strip, sums);
    });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
