// SPDX-License-Identifier: MIT
//
// Calls of conv and conv_dx, which go from images to images over the same windows, and
// of conv_dweight.
#pragma once

#include "conv/finish.hpp"
#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct ConvCall {
    Windows windows;
    bool turned;  // from the windows' results back to the images
    bool accumulate;
    Images<const T> from, weight;
    Images<T> to;
    const ac_array* bias;  // or null
    ac_context* context;   // null where a call is only described
    Epilogue<T> finish = {};

    // Channels of a group, on either side.
    [[nodiscard]] AC_INLINE int64_t ins() const {
        return turned ? windows.outs : windows.ins;
    }
    [[nodiscard]] AC_INLINE int64_t outs() const {
        return turned ? windows.ins : windows.outs;
    }
    // From one of those channels to the next in the weights.
    [[nodiscard]] AC_INLINE int64_t in_step() const {
        return turned ? weight.image : weight.channel;
    }
    [[nodiscard]] AC_INLINE int64_t out_step() const {
        return turned ? weight.channel : weight.image;
    }
};

template <class T>
struct DweightCall {
    Windows windows;
    Images<const T> x, g;
    Images<T> to;
    bool accumulate;
    ac_context* context;  // null where a call is only described
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
