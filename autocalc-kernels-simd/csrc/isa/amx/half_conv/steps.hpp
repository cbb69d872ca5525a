// SPDX-License-Identifier: MIT
//
// Which elements the results of a convolution read along one dimension. conv and the
// classes of conv_dx (conv/stride_classes.hpp) differ in nothing else.
#pragma once

#include "conv/stride_classes.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t most_taps = 16;

// Result to + to_step * q of `places` results reads elements step * q + offset[t], for
// tap[t] of the filters. Offsets rise.
struct Steps {
    int64_t size;  // of what is read
    int64_t places, to, to_step;
    int64_t step, taps;
    int64_t tap[most_taps], offset[most_taps];

    [[nodiscard]] AC_INLINE int64_t base() const { return taps == 0 ? 0 : offset[0]; }
    // Elements step * i + base() + phase(t) for each i, of which tap t reads i from
    // q + shift(t) on.
    [[nodiscard]] AC_INLINE int64_t phase(int64_t t) const {
        return (offset[t] - offset[0]) % step;
    }
    [[nodiscard]] AC_INLINE int64_t shift(int64_t t) const {
        // At most `most_taps`. NOLINTNEXTLINE(clang-analyzer-security.ArrayBound)
        return (offset[t] - offset[0]) / step;
    }
    [[nodiscard]] AC_INLINE int64_t last_shift() const {
        return taps == 0 ? 0 : shift(taps - 1);
    }
};

AC_INLINE Steps conv_steps(const Axis& axis) {
    Steps s = {axis.in, axis.out, 0, 1, axis.stride, axis.kernel, {}, {}};
    for (int64_t t = 0; t < s.taps; ++t) {
        s.tap[t] = t;
        s.offset[t] = t * axis.dilation - axis.padding;
    }
    return s;
}

// Of the elements of conv's input whose place is `rest` relative to the stride.
AC_INLINE Steps dx_steps(const Axis& axis, int64_t rest) {
    const Lattice part = lattice(axis, rest);
    const int64_t places = larger<int64_t>(0, part.end - part.begin);
    const int64_t to = axis.stride * part.begin + part.from;
    Steps s = {axis.out, places, to, axis.stride, 1, 0, {}, {}};
    for (int64_t tap = axis.kernel - 1; tap >= 0; --tap) {
        if (axis.phase(tap) != rest) continue;
        s.tap[s.taps] = tap;
        s.offset[s.taps++] = part.begin - axis.shift(tap);
    }
    return s;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
