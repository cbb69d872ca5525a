// SPDX-License-Identifier: MIT
//
// How Winograd's convolution is cut into tasks. A task transforms its tiles of all
// channels of a group, at most half of L2, and multiplies them with the transformed
// weights, which come from further away; so it has as many tiles as possible.
#pragma once

#include "conv_pixels.hpp"
#include "product_pack.hpp"
#include "product_plan.hpp"
#include "winograd.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t wino_most_tiles = 64;  // more gain nothing: weights are read seldom
constexpr int64_t wino_fewest_tiles =
    32;  // for each look at the weights, of many channels too
constexpr int64_t wino_even_tasks = 4;  // shared well by 2 and 4 threads

// A part of an image: rows and columns of tiles.
struct Segment {
    int64_t image, y, rows, x, columns;
    [[nodiscard]] AC_INLINE int64_t tiles() const { return rows * columns; }
};

// Images whole where a task has room for one, else bands of rows of tiles, else parts
// of one row.
struct Segments {
    int64_t batch, tiles_y, tiles_x;
    int64_t bands, chunks;
    int64_t tasks;
    [[nodiscard]] AC_INLINE int64_t count() const { return batch * bands * chunks; }
    [[nodiscard]] AC_INLINE Cuts of_task() const { return {count(), tasks}; }
    [[nodiscard]] AC_INLINE Segment at(int64_t i) const {
        const Cuts rows(tiles_y, bands), columns(tiles_x, chunks);
        const int64_t chunk = i % chunks, band = i / chunks % bands;
        return {i / chunks / bands, rows.at(band), rows.size(band), columns.at(chunk),
                columns.size(chunk)};
    }
    // The largest one, and the most tiles of a task.
    [[nodiscard]] AC_INLINE int64_t rows() const { return ceil_div(tiles_y, bands); }
    [[nodiscard]] AC_INLINE int64_t columns() const {
        return ceil_div(tiles_x, chunks);
    }
    [[nodiscard]] AC_INLINE int64_t most_tiles() const {
        return ceil_div(count(), tasks) * rows() * columns();
    }
};

AC_INLINE Segments segments_of(int64_t batch, int64_t height, int64_t width,
                               int64_t most) {
    Segments s = {batch, ceil_div(height, wino_out), ceil_div(width, wino_out), 1, 1,
                  1};
    s.chunks = ceil_div(s.tiles_x, most);
    const int64_t rows =
        s.chunks > 1 ? 1 : larger<int64_t>(1, most / larger<int64_t>(1, s.tiles_x));
    s.bands = ceil_div(s.tiles_y, rows);
    const bool whole = s.bands * s.chunks == 1;
    const int64_t together =
        whole ? larger<int64_t>(1, most / larger<int64_t>(1, s.tiles_y * s.tiles_x))
              : 1;
    s.tasks = ceil_div(s.count(), together);
    s.tasks = smaller(s.count(), round_up(s.tasks, wino_even_tasks));
    return s;
}

// Rows of a matrix of `columns` elements, in whole registers; not 2 KiB apart.
AC_INLINE int64_t wino_row(int64_t columns) {
    constexpr int64_t lanes = vec<float>::lanes;
    const int64_t row = round_up(columns, lanes);
    return bytes_of<float>(row) % bad_stride_bytes == 0 ? row + lanes : row;
}

// A matrix for each place. They lie one register further apart than they need to, since
// a tile's 36 stores would else fall into the same lines of L1.
AC_INLINE int64_t wino_step(int64_t rows, int64_t row) {
    return rows * row + vec<float>::lanes;
}

// As many tiles as half of L2 has room for, `row` floats each in 36 places.
AC_INLINE int64_t tiles_for(int64_t row) {
    const int64_t fitting = l2_bytes() / 2 / bytes_of<float>(wino_places * row);
    return larger(wino_fewest_tiles, smaller(wino_most_tiles, fitting));
}

// The elements that the tiles of a segment read, and where its results go.
AC_INLINE Pixels<float> pixels_read(const Segment& s, const Axis& y, const Axis& x,
                                    float* data) {
    return {data,
            wino_out * s.rows + 2,
            wino_out * s.columns + 2,
            wino_out * s.y - y.padding,
            wino_out * s.x - x.padding,
            y.in,
            x.in,
            vec<float>::lanes};
}
// Those of the results are as many as the tiles have, whether read or written.
AC_INLINE Pixels<float> pixels_written(const Segment& s, const Axis& y, const Axis& x,
                                       float* data) {
    return {data,           wino_out * s.rows, wino_out * s.columns,
            wino_out * s.y, wino_out * s.x,    y.out,
            x.out,          vec<float>::lanes};
}

// Tiles of segments `first` to `last`, [36][tile][row]: `channels` channels from
// `from` on. pixels_of(segment, data) says what they read, and transform(pixels, line,
// to, step) is one tile's.
template <class PixelsOf, class Transform>
AC_INLINE void read_tiles(const Segments& segments, int64_t first, int64_t last,
                          const Images<const float>& from, int64_t channels, float* to,
                          int64_t row, int64_t step, PixelsOf&& pixels_of,
                          Transform&& transform) {
    constexpr int lanes = vec<float>::lanes;
    for (int64_t i = first; i < last; ++i) {
        const Segment s = segments.at(i);
        const Pixels<float> pixels = pixels_of(s);
        for (int64_t c = 0; c < channels; c += lanes) {
            Images<const float> image = from;
            image.data += s.image * image.image + c * image.channel;
            gather_pixels(image, smaller<int64_t>(lanes, channels - c), pixels);
            float* tile = to + c;
            for (int64_t y = 0; y < s.rows; ++y) {
                const float* line = pixels.data + wino_out * y * pixels.line();
                for (int64_t x = 0; x < s.columns; ++x, tile += row)
                    transform(line + wino_out * lanes * x, pixels.line(), tile, step);
            }
        }
        to += s.tiles() * row;
    }
}

// ---- which convolutions

// Cycles, estimated for Cascade Lake and taken for registers of any width: a step of a
// product is `lanes` * 2 multiply-adds, and a tile's transform of one register of
// channels with its way from or to memory takes some 300. Close to the border the rule
// may err: 17 to 19 channels at 300 x 300 are accepted at 0.83 to 1.04 times the speed.
constexpr double wino_transform = 300;
constexpr double plain_share = 0.7, product_share = 0.85;  // of the multipliers' rate

// Null if 36 products for each of `tiles` tiles and so many `transforms` of a register
// of channels take fewer cycles than the sum as it stands.
AC_INLINE const char* wino_cheaper(int64_t tiles, int64_t results, int64_t ins,
                                   int64_t outs, int64_t transforms) {
    constexpr int64_t lanes = vec<float>::lanes;
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    const double steps = number(ins * round_up(outs, lanes)) / (2 * lanes);
    const double plain =
        steps * number(wino_kernel * wino_kernel * results) / plain_share;
    const double products = steps * number(tiles * wino_places) / product_share;
    return products + wino_transform * number(transforms) < plain
               ? nullptr
               : "the transforms would take longer than they save";
}

// Whether, and why not, a convolution is one of 3 x 3 windows at stride 1.
AC_INLINE const char* wino_refuses(const Windows& w) {
    if (w.y.kernel != wino_kernel || w.x.kernel != wino_kernel)
        return "windows are not 3 x 3";
    if (w.y.stride != 1 || w.x.stride != 1) return "the stride is not 1";
    if (w.y.dilation != 1 || w.x.dilation != 1) return "the dilation is not 1";
    return nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
