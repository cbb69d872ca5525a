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

// Added to this number, all digits after the point are rounded away; halves go to the
// even neighbour. (The library's functions are calls, which leave no loop in vectors.)
template <class T>
constexpr T without_fraction = T(6755399441055744);  // 1.5 * 2^52
template <>
constexpr float without_fraction<float> = 12582912;  // 1.5 * 2^23
template <class T>
AC_INLINE T nearest_to(T x) {
    const T size = x < 0 ? -x : x, most = without_fraction<T> / 3;
    const T whole = (x + without_fraction<T>)-without_fraction<T>;
    return size < most ? whole : x;
}
template <class T>
AC_INLINE T floor_of(T x) {
    const T whole = nearest_to(x);
    return whole - (whole > x ? T(1) : T(0));
}

// Places along one axis of `n` pixels.
template <class T, Padding padding>
struct Axis {
    int64_t n;
    bool align_corners;

    [[nodiscard]] AC_INLINE T scale() const {
        return static_cast<T>(n - (align_corners ? 1 : 0)) / 2;
    }
    [[nodiscard]] AC_INLINE T place(T c) const {
        const T size = static_cast<T>(n - (align_corners ? 1 : 0));
        const T shift = align_corners ? T(0) : T(1);
        return ((c + 1) * size - shift) / 2;
    }
    // The number of a pixel, -1 of one that is outside.
    [[nodiscard]] AC_INLINE int32_t pixel(T place) const {
        const T below = place < static_cast<T>(n) ? place : T(-1);
        return static_cast<int32_t>(below >= 0 ? below : T(-1));
    }
    // Between two ends; at these and beyond them there is no slope. NaN goes to `low`.
    static AC_INLINE void within(T low, T high, T& place, T& slope) {
        const T behind = place > low ? slope : T(0);
        slope = place < high ? behind : T(0);
        const T from = place > low ? place : low;
        place = from < high ? from : high;
    }
    // Where an integer holds it.
    AC_INLINE void not_far(T& place, T& slope) const {
        const T limit = padding == Padding::reflection ? static_cast<T>(1 << 30)
                                                       : static_cast<T>(n) + 4;
        within(-limit, limit, place, slope);
    }
    AC_INLINE void bring_in(T& place, T& slope) const {
        if constexpr (padding == Padding::zeros) return;
        if constexpr (padding == Padding::reflection) mirror(place, slope);
        within(0, static_cast<T>(n - 1), place, slope);
    }
    AC_INLINE void mirror(T& place, T& slope) const {
        const T first = align_corners ? T(0) : T(-0.5);
        const T span = static_cast<T>(align_corners ? n - 1 : n);
        const T safe = span > 0 ? span : T(1), some = span > 0 ? T(1) : T(0);
        const T distance = place - first, size = distance < 0 ? -distance : distance;
        const T turns = floor_of(size / safe), rest = size - turns * safe;
        const T half = turns / 2, odd = (half - floor_of(half)) * 2;  // 0 or 1
        place = (odd * safe + (1 - 2 * odd) * rest + first) * some;
        slope = (distance < 0 ? -slope : slope) * (1 - 2 * odd);
    }
};

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

template <Mode mode>
constexpr int taps_along = 1;
template <>
constexpr int taps_along<Mode::bilinear> = 2;
template <>
constexpr int taps_along<Mode::bicubic> = 4;

// What the places of a block read along one axis: the pixels' numbers, -1 for one that
// is outside, their weights, and the slopes of these by the grid's numbers.
template <class T, Mode mode>
struct AxisTaps {
    static constexpr int taps = taps_along<mode>;
    int32_t pixel[taps][block_places];
    T weight[taps][block_places], slope[taps][block_places];

    // Loops without branches and calls, and short ones: the compiler makes vectors of
    // them.
    template <Padding padding>
    AC_INLINE void find(const Axis<T, padding>& axis, const T* c) {
        T low[block_places], share[block_places], by[block_places];
        for (int p = 0; p < block_places; ++p) {
            T place = axis.place(c[p]), slope_of_place = axis.scale();
            axis.not_far(place, slope_of_place);
            if constexpr (mode != Mode::bicubic) axis.bring_in(place, slope_of_place);
            low[p] = mode == Mode::nearest ? nearest_to(place) : floor_of(place);
            share[p] = place - low[p];
            by[p] = slope_of_place;
        }
        constexpr int first = mode == Mode::bicubic ? -1 : 0;
        for (int i = 0; i < taps; ++i) {
            for (int p = 0; p < block_places; ++p) {
                T tap = low[p] + static_cast<T>(first + i), unused = 0;
                if constexpr (mode == Mode::bicubic) axis.bring_in(tap, unused);
                pixel[i][p] = axis.pixel(tap);
            }
        }
        weigh(share, by);
    }

    AC_INLINE void weigh(const T* share, const T* by) {
        for (int p = 0; p < block_places; ++p) {
            const T t = share[p];
            if constexpr (mode == Mode::nearest) {
                weight[0][p] = 1;
                slope[0][p] = 0;
            } else if constexpr (mode == Mode::bilinear) {
                weight[0][p] = 1 - t;
                weight[1][p] = t;
                slope[0][p] = -by[p];
                slope[1][p] = by[p];
            } else {
                far_weight(1 + t, weight[0][p], slope[0][p]);
                near_weight(t, weight[1][p], slope[1][p]);
                near_weight(1 - t, weight[2][p], slope[2][p]);
                far_weight(2 - t, weight[3][p], slope[3][p]);
                slope[0][p] *= by[p];
                slope[1][p] *= by[p];
                slope[2][p] *= -by[p];
                slope[3][p] *= -by[p];
            }
        }
    }
};

constexpr int power(int base, int exponent) {
    int product = 1;
    for (int i = 0; i < exponent; ++i) product *= base;
    return product;
}

// The sizes of an image, and the values beyond them.
struct Edges {
    int64_t size[max_axes];
    Padding padding;
    bool align_corners;
};

// What the places of a block read: `taps` pixels each.
template <class T, Mode mode, int axes>
struct Taps {
    static constexpr int taps = power(taps_along<mode>, axes);
    int32_t pixel[taps][block_places];  // in its image; -1: outside, where 0 is read
    T weight[taps][block_places];
    AxisTaps<T, mode> lines[axes];
    bool outside;  // whether one of the block's places reads outside

    // From the `count` places at `grid`, x first; the rest are at 0.
    void find(const T* grid, int64_t count, const Edges& edges) {
        for (int a = 0; a < axes; ++a) {
            T c[block_places] = {};
            for (int64_t p = 0; p < count; ++p) c[p] = grid[p * axes + axes - 1 - a];
            const int64_t n = edges.size[a];
            const bool align_corners = edges.align_corners;
            if (edges.padding == Padding::zeros) {
                lines[a].find(Axis<T, Padding::zeros>{n, align_corners}, c);
            } else if (edges.padding == Padding::border) {
                lines[a].find(Axis<T, Padding::border>{n, align_corners}, c);
            } else {
                lines[a].find(Axis<T, Padding::reflection>{n, align_corners}, c);
            }
        }
        int32_t out = 0;
        for (int tap = 0; tap < taps; ++tap) out |= join(tap, edges);
        outside = out < 0;
    }

    // One tap of all places; answers a negative number if one is outside.
    int32_t join(int tap, const Edges& edges) {
        int32_t out = 0;
        for (int p = 0; p < block_places; ++p) {
            int32_t at = 0, beyond = 0;
            T product = 1;
#pragma GCC unroll 3
            for (int a = 0; a < axes; ++a) {
                const int32_t i = lines[a].pixel[along(tap, a)][p];
                beyond |= i;
                at = at * static_cast<int32_t>(edges.size[a]) + i;
                product *= lines[a].weight[along(tap, a)][p];
            }
            pixel[tap][p] = beyond < 0 ? -1 : at;
            weight[tap][p] = product;
            out |= beyond;
        }
        return out;
    }

    // Which pixel along axis `a` a tap reads.
    static AC_INLINE int along(int tap, int a) {
        return tap / power(taps_along<mode>, axes - 1 - a) % taps_along<mode>;
    }

    // The slopes of a tap's weight along axis `a`, times those of `by`, added up.
    void add_slopes(int tap, int a, const T* by, T* sum) const {
        for (int p = 0; p < block_places; ++p) {
            T product = by[p] * lines[a].slope[along(tap, a)][p];
#pragma GCC unroll 3
            for (int b = 0; b < axes; ++b) {
                if (b != a) product *= lines[b].weight[along(tap, b)][p];
            }
            sum[p] += product;
        }
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
