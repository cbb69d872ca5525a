// SPDX-License-Identifier: MIT
//
// Where a grid reads images: the pixels that a place is a sum of, their weights, and
// the slopes of these. `_kernels/resize/_places.py` of core says the same.
#pragma once

#include "common/call.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Mode { bilinear, nearest, bicubic };
enum class Padding { zeros, border, reflection };

// Places of a task: what they read is found once for all channels.
constexpr int64_t block_places = 64;
constexpr int max_axes = 3;

// Without the library's functions, whose calls would leave no loop in vectors. Places
// are less than 2^31 apart from 0.
template <class T>
AC_INLINE T floor_of(T x) {
    const T whole = static_cast<T>(static_cast<int32_t>(x));
    return whole > x ? whole - 1 : whole;
}
// Halves go to the even neighbour.
template <class T>
AC_INLINE T nearest_to(T x) {
    const T low = floor_of(x), rest = x - low;
    const bool odd = (static_cast<int32_t>(low) & 1) != 0;
    return rest > T(0.5) || (rest == T(0.5) && odd) ? low + 1 : low;
}

// Places along one axis of `n` pixels.
template <class T>
struct Axis {
    int64_t n;
    Padding padding;
    bool align_corners;

    [[nodiscard]] AC_INLINE T scale() const {
        return static_cast<T>(n - (align_corners ? 1 : 0)) / 2;
    }
    [[nodiscard]] AC_INLINE T place(T c) const {
        const T size = static_cast<T>(n);
        return align_corners ? (c + 1) * ((size - 1) / 2) : ((c + 1) * size - 1) / 2;
    }
    // Between two ends; at these and beyond them there is no slope. NaN goes to `low`.
    static AC_INLINE void within(T low, T high, T& place, T& slope) {
        slope = place > low && place < high ? slope : T(0);
        place = place > low ? place : low;
        place = place < high ? place : high;
    }
    // Where an integer holds it.
    AC_INLINE void not_far(T& place, T& slope) const {
        const T limit = padding == Padding::reflection ? static_cast<T>(1 << 30)
                                                       : static_cast<T>(n) + 4;
        within(-limit, limit, place, slope);
    }
    AC_INLINE void bring_in(T& place, T& slope) const {
        if (padding == Padding::zeros) return;
        if (padding == Padding::reflection) mirror(place, slope);
        within(0, static_cast<T>(n - 1), place, slope);
    }
    AC_INLINE void mirror(T& place, T& slope) const {
        const T first = align_corners ? T(0) : T(-0.5);
        const T span = static_cast<T>(align_corners ? n - 1 : n);
        if (span == 0) {
            place = slope = 0;
            return;
        }
        T distance = place - first;
        if (distance < 0) {
            distance = -distance;
            slope = -slope;
        }
        const T turns = floor_of(distance / span), rest = distance - turns * span;
        const bool back = (static_cast<int32_t>(turns) & 1) != 0;
        place = (back ? span - rest : rest) + first;
        slope = back ? -slope : slope;
    }
};

// The pixels along one axis that a place reads: numbers, -1 for one that is outside.
template <class T>
struct Line {
    int32_t pixel[4];
    T weight[4], slope[4];
};

template <class T>
AC_INLINE int32_t pixel_of(const Axis<T>& axis, T place) {
    const auto pixel = static_cast<int32_t>(place);
    return place >= 0 && pixel < axis.n ? pixel : -1;
}

// Cubic convolution (Keys, 1981) with the slope -0.75 at distance 1.
template <class T>
AC_INLINE void near_weight(T d, T& weight, T& slope) {
    weight = (T(1.25) * d - T(2.25)) * d * d + 1;
    slope = (T(3.75) * d - T(4.5)) * d;
}
template <class T>
AC_INLINE void far_weight(T d, T& weight, T& slope) {
    weight = (((d - 5) * d + 8) * d - 4) * T(-0.75);
    slope = ((3 * d - 10) * d + 8) * T(-0.75);
}

template <class T, Mode mode>
AC_INLINE void read_line(const Axis<T>& axis, T c, Line<T>& line) {
    T place = axis.place(c), slope = axis.scale();
    axis.not_far(place, slope);
    if constexpr (mode == Mode::bicubic) {
        const T low = floor_of(place), t = place - low;
        far_weight(1 + t, line.weight[0], line.slope[0]);
        near_weight(t, line.weight[1], line.slope[1]);
        near_weight(1 - t, line.weight[2], line.slope[2]);
        far_weight(2 - t, line.weight[3], line.slope[3]);
        for (int i = 0; i < 4; ++i) {
            T tap = low + static_cast<T>(i - 1), unused = 0;
            axis.bring_in(tap, unused);
            line.pixel[i] = pixel_of(axis, tap);
            line.slope[i] *= i < 2 ? slope : -slope;
        }
        return;
    }
    axis.bring_in(place, slope);
    if constexpr (mode == Mode::nearest) {
        line.pixel[0] = pixel_of(axis, nearest_to(place));
        line.weight[0] = 1;
        line.slope[0] = 0;
        return;
    }
    const T low = floor_of(place), t = place - low;
    line.pixel[0] = pixel_of(axis, low);
    line.pixel[1] = pixel_of(axis, low + 1);
    line.weight[0] = 1 - t;
    line.weight[1] = t;
    line.slope[0] = -slope;
    line.slope[1] = slope;
}

template <Mode mode>
constexpr int taps_along = mode == Mode::bilinear ? 2 : mode == Mode::nearest ? 1 : 4;

constexpr int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

// What the places of a block read: `taps` pixels each.
template <class T, Mode mode, int axes>
struct Taps {
    static constexpr int taps = power(taps_along<mode>, axes);
    int32_t pixel[taps][block_places];  // in its image; -1: outside, where 0 is read
    T weight[taps][block_places];
    Line<T> lines[axes][block_places];
    bool outside[taps];  // whether one of the block's places reads outside

    // From the `count` places that stand at `grid`, x first.
    void find(const T* grid, int64_t count, const Axis<T>* axis) {
        for (int a = 0; a < axes; ++a) {
            for (int64_t p = 0; p < count; ++p)
                read_line<T, mode>(axis[a], grid[p * axes + axes - 1 - a], lines[a][p]);
        }
        for (int tap = 0; tap < taps; ++tap) {
            int32_t out = 0;
            for (int64_t p = 0; p < count; ++p) {
                int32_t at = 0, beyond = 0;
                T product = 1;
                for (int a = 0; a < axes; ++a) {
                    const int i = along(tap, a);
                    beyond |= lines[a][p].pixel[i];
                    at = at * static_cast<int32_t>(axis[a].n) + lines[a][p].pixel[i];
                    product *= lines[a][p].weight[i];
                }
                pixel[tap][p] = beyond < 0 ? -1 : at;
                weight[tap][p] = product;
                out |= beyond;
            }
            outside[tap] = out < 0;
        }
    }

    // Which pixel along axis `a` a tap reads.
    static AC_INLINE int along(int tap, int a) {
        return tap / power(taps_along<mode>, axes - 1 - a) % taps_along<mode>;
    }

    // The slope of a tap's weight along axis `a`.
    [[nodiscard]] AC_INLINE T slope(int tap, int a, int64_t p) const {
        T product = lines[a][p].slope[along(tap, a)];
        for (int b = 0; b < axes; ++b) {
            if (b != a) product *= lines[b][p].weight[along(tap, b)];
        }
        return product;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
