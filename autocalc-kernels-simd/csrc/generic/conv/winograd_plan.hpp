// SPDX-License-Identifier: MIT
//
// How Winograd's convolution is cut into tasks. A task transforms its tiles of all
// channels of a group, at most half of L2, and multiplies them with the transformed
// weights, which come from further away; so it has as many tiles as possible.
#pragma once

#include "conv/nhwc_patches.hpp"
#include "conv/pixels.hpp"
#include "conv/winograd.hpp"
#include "gemm/pack.hpp"
#include "gemm/plan.hpp"
#include "tuning.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t wino_most_tiles = 64;  // more gain nothing: weights are read seldom
constexpr int64_t wino_fewest_tiles =
    32;  // for each look at the weights, of many channels too
constexpr int64_t wino_even_tasks = 4;  // shared well by 2 and 4 threads
// Of so few tiles every panel of output channels is a task, which transforms the
// weights that it alone needs, a part at a time, and never stores them all.
constexpr int64_t wino_few_tiles = 64;
constexpr int64_t wino_weight_work = 4;  // a weight's transform, in multiply-adds

// A part of an image: rows and columns of tiles.
struct Segment {
    int64_t image, y, rows, x, columns;
    [[nodiscard]] AC_INLINE int64_t tiles() const { return rows * columns; }
};

// How images are cut into tasks of at most `most` tiles. Of images of 56 x 56 results,
// 14 x 14 tiles of 4 x 4, with 56 tiles for a task: 4 rows of 14 tiles are a band, so
// an image is 4 bands (3 or 4 rows each); of images of 7 x 7, 2 x 2 tiles, at most 14
// go to a task.
//
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

// Of images of `height` x `width` results, `out` x `out` to a tile.
AC_INLINE Segments segments_of(int64_t batch, int64_t height, int64_t width,
                               int64_t out, int64_t most) {
    Segments s = {batch, ceil_div(height, out), ceil_div(width, out), 1, 1, 1};
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

// A matrix for each place. They are one register further apart than they need to be,
// since a tile's stores would else fall into the same lines of L1.
AC_INLINE int64_t wino_step(int64_t rows, int64_t row) {
    return rows * row + vec<float>::lanes;
}

// As many tiles as half of L2 has room for, `row` floats each in all places: with 1 MiB
// of L2 and 64 channels 524288 / (36 * 64 * 4) = 56.
AC_INLINE int64_t tiles_for(int64_t row, int64_t places) {
    const int64_t fitting = l2_bytes() / 2 / bytes_of<float>(places * row);
    return larger(wino_fewest_tiles, smaller(wino_most_tiles, fitting));
}

// ---- tiles

// The pixels of a tile: `size` x `size` of them, tiles `out` apart, in images of `rows`
// x `columns`. The first tile begins `above` rows and `before` columns outside.
template <int out_, int size_>
struct Tiling {
    static constexpr int out = out_, size = size_;
    int64_t rows, columns, above, before;

    // Those of a segment.
    [[nodiscard]] AC_INLINE Pixels<float> pixels(const Segment& s, float* data) const {
        return {data,
                out * (s.rows - 1) + size,
                out * (s.columns - 1) + size,
                out * s.y - above,
                out * s.x - before,
                rows,
                columns,
                vec<float>::lanes};
    }
    // Scratch for the largest segment.
    [[nodiscard]] AC_INLINE static int64_t pixels_of(const Segments& s) {
        return (out * (s.rows() - 1) + size) * (out * (s.columns() - 1) + size) *
               vec<float>::lanes;
    }
};
// The elements that tiles read, and their results: as many as the tiles have.
template <int out>
AC_INLINE Tiling<out, out + 2> elements_of(const Axis& y, const Axis& x) {
    return {y.in, x.in, y.padding, x.padding};
}
template <int out>
AC_INLINE Tiling<out, out> results_of(const Axis& y, const Axis& x) {
    return {y.out, x.out, 0, 0};
}

// The places of the pixels of one tile, channels-last; outside of the image there are
// `zeros`. So no tile is copied: in images of 28 x 28 half of them, in smaller ones
// nearly all, reach beyond the border.
template <int size>
struct TilePixels {
    const float* at[size][size];

    template <int out>
    AC_INLINE TilePixels(const Images<const float>& image, const Tiling<out, size>& t,
                         int64_t tile_y, int64_t tile_x, const float* zeros) {
        const int64_t top = out * tile_y - t.above, left = out * tile_x - t.before;
#pragma GCC unroll 6
        for (int y = 0; y < size; ++y) {
            const bool row = top + y >= 0 && top + y < t.rows;
            const int64_t first = (top + y) * image.row + left * image.column;
#pragma GCC unroll 6
            for (int x = 0; x < size; ++x) {
                const bool inside = row && left + x >= 0 && left + x < t.columns;
                at[y][x] = inside ? image.data + (first + x * image.column) : zeros;
            }
        }
    }
};

// Transforms `channels` neighbouring channels of a tile.
template <class Line>
AC_INLINE void read_tile(const TilePixels<Line::from>& pixels, int64_t channels,
                         float* to, int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    int64_t c = 0;
    const auto whole = [&](int y, int x)
                           AC_INLINE_LAMBDA { return load(pixels.at[y][x] + c); };
    for (; c + lanes <= channels; c += lanes)
        transform<Line>(whole, Places<Line::to>{to + c, step});
    if (c == channels) return;
    const auto some = [&](int y, int x) AC_INLINE_LAMBDA {
        return load_first(pixels.at[y][x] + c, channels - c);
    };
    transform<Line>(some, Places<Line::to>{to + c, step});
}

// Tiles of segments `first` to `last`, [place][tile][row]: `channels` channels of
// `from`. `scratch` has room for a segment's pixels and for a pixel's channels.
template <class Line, int out>
AC_INLINE void read_tiles(const Segments& segments, int64_t first, int64_t last,
                          const Images<const float>& from,
                          const Tiling<out, Line::from>& tiling, int64_t channels,
                          float* scratch, float* to, int64_t row, int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    const bool last_channels = from.channel == 1;
    if (last_channels) clear_run(scratch, channels);
    for (int64_t i = first; i < last; ++i) {
        const Segment s = segments.at(i);
        Images<const float> image = from;
        image.data += s.image * image.image;
        if (last_channels) {
            for (int64_t y = 0; y < s.rows; ++y) {
                for (int64_t x = 0; x < s.columns; ++x, to += row) {
                    const TilePixels<Line::from> pixels(image, tiling, s.y + y, s.x + x,
                                                        scratch);
                    read_tile<Line>(pixels, channels, to, step);
                }
            }
            continue;
        }
        const Pixels<float> pixels = tiling.pixels(s, scratch);
        for (int64_t c = 0; c < channels;
             c += lanes, image.data += lanes * image.channel) {
            gather_pixels(image, smaller<int64_t>(lanes, channels - c), pixels);
            float* tile = to + c;
            for (int64_t y = 0; y < s.rows; ++y) {
                const float* line = pixels.data + out * y * pixels.line();
                for (int64_t x = 0; x < s.columns; ++x, tile += row) {
                    transform<Line>(
                        Registers{line + out * lanes * x, pixels.line(), lanes},
                        Places<Line::to>{tile, step});
                }
            }
        }
        to += s.tiles() * row;
    }
}

// Room for `read_tiles`.
template <class Of>
AC_INLINE int64_t tile_scratch(const Of&, const Segments& segments, int64_t channels) {
    return larger(Of::pixels_of(segments),
                  round_up(channels, int64_t(vec<float>::lanes)));
}

// ---- which convolutions

// Cycles, with the constants of tuning.hpp: a step of a product is `lanes` * 2
// multiply-adds. Close to the border the rule may err: 17 to 19 channels at 300 x 300
// are accepted at 0.83 to 1.04 times the speed.
AC_INLINE double wino_steps(int64_t ins, int64_t outs) {
    constexpr int64_t lanes = vec<float>::lanes;
    return static_cast<double>(ins * round_up(outs, lanes)) / (2 * lanes);
}
// Of `batch` images of height x width results, the tiles.
template <int out>
AC_INLINE int64_t wino_tiles(int64_t batch, const Axis& y, const Axis& x) {
    return batch * ceil_div(y.out, out) * ceil_div(x.out, out);
}
template <int out>
AC_INLINE bool are_few_tiles(int64_t batch, const Axis& y, const Axis& x) {
    return wino_tiles<out>(batch, y, x) <= wino_few_tiles;
}
template <int out>
AC_INLINE double winograd_transform() {
    return out == 4 ? Costs::winograd_transform_4 : Costs::winograd_transform_2;
}
// Of so many tiles, and `transforms` of a register of channels.
template <int out>
AC_INLINE double wino_cost(int64_t tiles, double steps, int64_t transforms) {
    return steps * static_cast<double>(tiles * Wino<out>::places) /
               Costs::product_share +
           winograd_transform<out>() * static_cast<double>(transforms);
}
// Matrices of filters or of sums, `ins` x `outs` for each place, written and read in
// `passes` in all: 512 x 512 are 38 MB, which took 20 of 23 ms for one image of 7 x 7.
constexpr int64_t wino_cached_bytes = int64_t{8} << 20;
template <int out>
AC_INLINE double wino_matrices_cost(int64_t ins, int64_t outs, int64_t matrices,
                                    int64_t passes) {
    const int64_t elements = Wino<out>::places * ins * outs;
    const bool cached = bytes_of<float>(matrices * elements) <= wino_cached_bytes;
    return static_cast<double>(elements * passes) *
           (cached ? Costs::winograd_element / 2 : Costs::winograd_element);
}
// Of the direct sum.
AC_INLINE double plain_cost(const Windows& w, double steps) {
    return steps * static_cast<double>(wino_taps) *
               static_cast<double>(w.batch * w.y.out * w.x.out) / Costs::plain_share +
           Costs::planes_channel * conv_filters(w);
}

// Results of a tile, 4 or 2 in each dimension, or 0 where neither is cheaper than the
// direct sum.
AC_INLINE int cheapest(double four, double two, double plain) {
    if (smaller(four, two) >= plain) return 0;
    return two < four ? 2 : 4;
}
AC_INLINE const char* wino_answer(int out) {
    return out == 0 ? "the transforms would take longer than they save" : nullptr;
}
AC_INLINE const char* wino_words(int out) {
    return out == 4 ? "F(4 x 4, 3 x 3)" : "F(2 x 2, 3 x 3)";
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
