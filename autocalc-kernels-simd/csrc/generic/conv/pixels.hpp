// SPDX-License-Identifier: MIT
//
// A register of channels for each pixel: parts of images as [row][column][lanes] and
// back, through squares of registers where the pixels of a channel are neighbours.
#pragma once

#include "conv/windows.hpp"
#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Row y, column x is pixel (top + y, left + x) of an image of `rows` by `columns`.
template <class T>
struct Pixels {
    T* data;
    int64_t height, width;
    int64_t top, left;
    int64_t rows, columns;
    int64_t pitch;  // from one pixel to the next
    // The part that is inside the image.
    [[nodiscard]] AC_INLINE int64_t y0() const { return larger<int64_t>(0, -top); }
    [[nodiscard]] AC_INLINE int64_t x0() const { return larger<int64_t>(0, -left); }
    [[nodiscard]] AC_INLINE int64_t y1() const {
        return larger(y0(), smaller(height, rows - top));
    }
    [[nodiscard]] AC_INLINE int64_t x1() const {
        return larger(x0(), smaller(width, columns - left));
    }
    [[nodiscard]] AC_INLINE int64_t line() const { return width * pitch; }
};

template <class T>
AC_INLINE void clear_pixels(T* to, int64_t pitch, int64_t count) {
    for (int64_t i = 0; i < count; ++i) store(to + i * pitch, zero<T>());
}

// Zeros around the part inside.
template <class T>
void clear_border(const Pixels<T>& p) {
    clear_pixels(p.data, p.pitch, p.y0() * p.width);
    for (int64_t y = p.y0(); y < p.y1(); ++y) {
        T* line = p.data + y * p.line();
        clear_pixels(line, p.pitch, p.x0());
        clear_pixels(line + p.x1() * p.pitch, p.pitch, p.width - p.x1());
    }
    clear_pixels(p.data + p.y1() * p.line(), p.pitch, (p.height - p.y1()) * p.width);
}

// Goes along the pixels inside, row after row.
template <class T>
struct PixelWalk {
    T* at;
    int64_t pitch;
    int64_t left, length, skip;  // pixels of this row, of all, elements between rows
    AC_INLINE PixelWalk(const Pixels<T>& p, int64_t y)
        : at(p.data + y * p.line() + p.x0() * p.pitch),
          pitch(p.pitch),
          left(p.x1() - p.x0()),
          length(left),
          skip((p.width - left) * p.pitch) {}
    AC_INLINE T* next() {
        T* here = at;
        at += pitch;
        if (--left == 0) {
            at += skip;
            left = length;
        }
        return here;
    }
};

// Pixels of one line in memory: `count` of them, `lanes` channels at most.
template <class T>
AC_INLINE void gather_run(const T* from, int64_t channel, int64_t channels,
                          int64_t count, PixelWalk<T> walk) {
    constexpr int lanes = vec<T>::lanes;
    alignas(64) T square[lanes * lanes];
    for (int64_t q = 0; q < count; q += lanes) {
        const int64_t n = smaller<int64_t>(lanes, count - q);
        vec<T> r[lanes];
        if (n == lanes && channels == lanes) {
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i) r[i] = load(from + i * channel + q);
        } else {
            for (int i = 0; i < lanes; ++i) {
                r[i] = i < channels ? load_first(from + i * channel + q, n) : zero<T>();
            }
        }
        transpose(r);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(square + i * lanes, r[i]);
        for (int64_t i = 0; i < n; ++i) store(walk.next(), load(square + i * lanes));
    }
}

// Fills `p` with `channels` channels of an image, at most `lanes`, zeros beyond.
template <class T>
AC_NOINLINE void gather_pixels(const Images<const T>& image, int64_t channels,
                               const Pixels<T>& p) {
    constexpr int lanes = vec<T>::lanes;
    clear_border(p);
    const int64_t length = p.x1() - p.x0();
    const int64_t height = p.y1() - p.y0();
    if (length <= 0 || height <= 0) return;
    const T* from =
        image.data + (p.top + p.y0()) * image.row + (p.left + p.x0()) * image.column;
    if (image.column == 1 && (image.row == length || height == 1)) {
        gather_run(from, image.channel, channels, height * length,
                   PixelWalk<T>(p, p.y0()));
        return;
    }
    for (int64_t y = p.y0(); y < p.y1(); ++y, from += image.row) {
        PixelWalk<T> walk(p, y);
        if (image.column == 1) {
            gather_run(from, image.channel, channels, length, walk);
        } else if (image.channel == 1) {
            for (int64_t x = 0; x < length; ++x)
                store(walk.next(), load_first(from + x * image.column, channels));
        } else {
            for (int64_t x = 0; x < length; ++x) {
                T* to = walk.next();
                for (int i = 0; i < lanes; ++i)
                    to[i] = i < channels ? from[x * image.column + i * image.channel]
                                         : T(0);
            }
        }
    }
}

template <class T>
AC_INLINE void scatter_run(T* to, int64_t channel, int64_t channels, int64_t count,
                           bool add, PixelWalk<T> walk) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t q = 0; q < count; q += lanes) {
        const int64_t n = smaller<int64_t>(lanes, count - q);
        vec<T> r[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) r[i] = i < n ? load(walk.next()) : zero<T>();
        transpose(r);
        if (n == lanes && channels == lanes && !add) {
#pragma GCC unroll 16
            for (int i = 0; i < lanes; ++i) store(to + i * channel + q, r[i]);
            continue;
        }
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) {
            if (i >= channels) continue;
            T* place = to + i * channel + q;
            store_first(place, add ? r[i] + load_first(place, n) : r[i], n);
        }
    }
}

// Writes or adds the part of `p` that is inside the image.
template <class T>
AC_NOINLINE void scatter_pixels(const Images<T>& image, int64_t channels,
                                const Pixels<T>& p, bool add) {
    const int64_t length = p.x1() - p.x0();
    const int64_t height = p.y1() - p.y0();
    if (length <= 0 || height <= 0) return;
    T* to =
        image.data + (p.top + p.y0()) * image.row + (p.left + p.x0()) * image.column;
    if (image.column == 1 && (image.row == length || height == 1)) {
        scatter_run(to, image.channel, channels, height * length, add,
                    PixelWalk<T>(p, p.y0()));
        return;
    }
    for (int64_t y = p.y0(); y < p.y1(); ++y, to += image.row) {
        PixelWalk<T> walk(p, y);
        if (image.column == 1) {
            scatter_run(to, image.channel, channels, length, add, walk);
            continue;
        }
        for (int64_t x = 0; x < length; ++x) {
            const T* from = walk.next();
            T* place = to + x * image.column;
            for (int64_t i = 0; i < channels; ++i, place += image.channel)
                *place = add ? *place + from[i] : from[i];
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
