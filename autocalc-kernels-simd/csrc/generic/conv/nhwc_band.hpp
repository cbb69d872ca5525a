// SPDX-License-Identifier: MIT
//
// Bands of images as [row][column][channel], for kernels that read windows of them:
// copied with zeros around them where windows reach outside, else where they are.
#pragma once

#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Channels in planes of their own that are worth bringing together: images of users
// have three, one after the other.
constexpr int64_t nhwc_few = 8;

template <class T>
AC_INLINE bool is_nhwc(const Images<T>& images, int64_t channels) {
    return channels == 1 || images.channel == 1;
}

// Line y of windows reads the rows top + step_y * y to top + step_y * y + reach_y of an
// image, each of them from column `left` on.
template <class T>
struct Band {
    Images<const T> from;
    int64_t rows, columns;  // of the image
    int64_t channels;       // that are read together
    int64_t top, left, width;
    int64_t step_y, step_x;  // from one window to the next
    int64_t reach_y;
    bool direct;          // read where it is
    int64_t pitch, line;  // from a pixel, or a row, to the next

    // Elements that so many lines of windows read.
    [[nodiscard]] AC_INLINE int64_t size(int64_t lines) const {
        return ((lines - 1) * step_y + reach_y) * line;
    }
};

// Finds out whether the windows of lines y0 to y1 may be read where they are.
template <class T>
AC_INLINE void place_band(Band<T>& band, int64_t y0, int64_t y1) {
    const int64_t last = band.top + (y1 - 1) * band.step_y + band.reach_y;
    band.direct = is_nhwc(band.from, band.channels) && band.left >= 0 &&
                  band.left + band.width <= band.columns &&
                  band.top + y0 * band.step_y >= 0 && last <= band.rows;
    band.pitch = band.direct ? band.from.column : band.channels;
    band.line = band.direct ? band.from.row : band.width * band.channels;
}

// The band that the windows of a convolution read.
template <class T>
AC_INLINE Band<T> band_of_windows(const Windows& w, const Images<const T>& from) {
    const auto reach = [](const Axis& axis) {
        return (axis.kernel - 1) * axis.dilation + 1;
    };
    Band<T> band = {from,
                    w.y.in,
                    w.x.in,
                    w.ins,
                    -w.y.padding,
                    -w.x.padding,
                    (w.x.out - 1) * w.x.stride + reach(w.x),
                    w.y.stride,
                    w.x.stride,
                    reach(w.y),
                    false,
                    0,
                    0};
    place_band(band, 0, w.y.out);
    return band;
}

// `count` pixels of a line.
template <class T>
AC_INLINE void copy_pixels(const Band<T>& band, const T* from, int64_t count, T* to) {
    const int64_t channels = band.channels;
    const Images<const T>& images = band.from;
    if (images.channel == 1 && (images.column == channels || count == 1)) {
        copy_run(from, 1, count * channels, to);
    } else if (images.channel == 1) {
        for (int64_t x = 0; x < count; ++x)
            copy_run(from + x * images.column, 1, channels, to + x * channels);
    } else if (channels == 1) {
        copy_run(from, images.column, count, to);
    } else {
        for (int64_t c = 0; c < channels; ++c) {
            const T* plane = from + c * images.channel;
            for (int64_t x = 0; x < count; ++x)
                to[x * channels + c] = plane[x * images.column];
        }
    }
}

template <class T>
AC_NOINLINE void copy_band(const Band<T>& band, const T* image, int64_t row,
                           int64_t rows, T* to) {
    const int64_t channels = band.channels;
    const int64_t x0 = smaller(band.width, larger<int64_t>(0, -band.left));
    const int64_t x1 = larger(x0, smaller(band.width, band.columns - band.left));
    for (int64_t end = row + rows; row < end; ++row, to += band.line) {
        if (row < 0 || row >= band.rows) {
            clear_run(to, band.line);
            continue;
        }
        clear_run(to, x0 * channels);
        copy_pixels(band,
                    image + row * band.from.row + (band.left + x0) * band.from.column,
                    x1 - x0, to + x0 * channels);
        clear_run(to + x1 * channels, (band.width - x1) * channels);
    }
}

// What `lines` lines of windows from line `y` on read, of the channels from `channel`
// on: the first element of the first window.
template <class T>
AC_INLINE const T* take_band(const Band<T>& band, int64_t image, int64_t channel,
                             int64_t y, int64_t lines, T* scratch) {
    const T* from =
        band.from.data + image * band.from.image + channel * band.from.channel;
    const int64_t row = band.top + band.step_y * y;
    if (band.direct) return from + row * band.from.row + band.left * band.from.column;
    copy_band(band, from, row, (lines - 1) * band.step_y + band.reach_y, scratch);
    return scratch;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
