// SPDX-License-Identifier: MIT
//
// The weight gradient of windows of one element in planes: a product whose inner
// dimension are the windows of all images. g is read in place, image by image; of
// x what the windows read is transposed, a block of windows and channels that fits L2
// at a time. One job for all images, and no copy of g.
#pragma once

#include "conv/call.hpp"
#include "conv/pixel_rows.hpp"
#include "conv/window_lines.hpp"
#include "gemm/blocks.hpp"
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { pixel_sums_slot = 2 };
constexpr int64_t sums_columns = 512;  // channels of x in a task, at most
constexpr int64_t sums_depth = 1024;   // windows of a block, at most ...
constexpr int64_t sums_windows = 256;  // ... and those that L1 holds on their way
constexpr int64_t sums_tasks = 8;
// Fewer filters, or as many as channels where the pixels of an image are many, are not
// worth the transpose of x.
constexpr int64_t sums_filters = 64;

template <class T>
struct PixelSums {
    DweightCall<T> call;
    WindowLines x;
    int64_t windows;               // of an image
    int64_t cuts, together;        // blocks of an image, images of a block
    int64_t panel, units, blocks;  // registers of a tile, of all channels; tasks
    int64_t parts;                 // of the filters, each a task

    [[nodiscard]] AC_INLINE int64_t begin_of(int64_t block) const {
        return Shares(units, blocks).at(block) * vec<T>::lanes;
    }
    [[nodiscard]] AC_INLINE Panels<T> panels(int64_t block) const {
        return Panels<T>(
            smaller(call.windows.ins, begin_of(block + 1)) - begin_of(block), panel);
    }
    [[nodiscard]] AC_INLINE int64_t block_windows() const {
        return cuts > 1 ? ceil_div(windows, cuts) : windows * together;
    }
    [[nodiscard]] AC_INLINE int64_t block_columns() const {
        return ceil_div(units, blocks) * vec<T>::lanes;
    }
    [[nodiscard]] AC_INLINE RowTiles tiles() const {
        return RowTiles(0, call.windows.outs, tile_rows[panel]);
    }
};

// Windows of all images, counted through: whole images or a part of one.
struct SummedWindows {
    int64_t at, count;
};

// ---- x

// What some windows read of a register's channels, as [window][width].
template <class T>
void transpose_windows(const PixelSums<T>& job, const WindowRun* runs, int64_t found,
                       int64_t count, int64_t channel, int64_t channels, int64_t width,
                       T* to) {
    constexpr int64_t lanes = vec<T>::lanes;
    alignas(64) T lines[lanes * sums_windows];
    const Images<const T>& x = job.call.x;
    const int64_t line = round_up(count, lanes);
    pack_runs(job.x.step, runs, found, x.data + channel * x.channel, x.channel,
              channels, line, lines);
    for (int64_t q = 0; q < count; q += lanes) {
        pack_square(smaller(lanes, count - q), channels, lines + q, line,
                    to + q * width, width);
    }
}

template <class T>
void pack_windows(const PixelSums<T>& job, int64_t block, const SummedWindows& windows,
                  T* packed) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Phase phase(job.call.context, AC_PHASE_PACK);
    const Panels<T> panels = job.panels(block);
    const int64_t first = job.begin_of(block);
    WindowRun runs[most_runs(sums_windows, 1)];
    for (int64_t q = 0; q < windows.count; q += sums_windows) {
        const int64_t here = smaller(sums_windows, windows.count - q);
        const int64_t found =
            find_runs<T>(job.x, windows.at + q, here, round_up(here, lanes), runs);
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            T* to = packed + panel.begin * windows.count + q * panel.width;
            for (int64_t c = 0; c < panel.width; c += lanes) {
                transpose_windows(job, runs, found, here, first + panel.begin + c,
                                  smaller(lanes, panel.columns - c), panel.width,
                                  to + c);
            }
        }
    }
}

// ---- the sums

template <class T>
void add_windows(const PixelSums<T>& job, int64_t block, int64_t part0, int64_t part1,
                 const SummedWindows& windows, const T* packed) {
    constexpr int64_t lanes = vec<T>::lanes;
    const DweightCall<T>& c = job.call;
    const Panels<T> panels = job.panels(block);
    const RowTiles rows = job.tiles();
    const Shares down(rows.tiles, job.parts);
    int64_t gaps[sums_depth];
    Tile<T> tile = {};
    tile.runs = larger<int64_t>(1, windows.count / job.windows);
    tile.k = windows.count / tile.runs;
    for (int64_t i = 0; i < tile.runs; ++i) gaps[i] = c.g.image - tile.k;
    tile.gaps = gaps;
    tile.a_row = c.g.channel;
    tile.a_col = 1;
    tile.alpha = 1;
    tile.beta = windows.at > 0 || c.accumulate ? T(1) : T(0);
    tile.c_row = c.to.image;
    const T* g =
        c.g.data + windows.at / job.windows * c.g.image + windows.at % job.windows;
    for (int64_t i = down.at(part0); i < down.at(part1); ++i) {
        const int64_t row = rows.start(i), next = rows.start(i + 1);
        tile.a = g + row * c.g.channel;
        tile.next_row = tile.a_row;
        tile.next =
            tile.runs == 1 && i + 1 < rows.tiles ? g + next * c.g.channel : nullptr;
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            tile.b = packed + panel.begin * windows.count;
            tile.b_row = panel.width;
            tile.columns = panel.columns;
            tile.c = c.to.data + row * c.to.image + job.begin_of(block) + panel.begin;
            multiply_tile(tile, panel.width / lanes, Order::row_major, next - row);
            tile.next = nullptr;
        }
    }
}

template <class T>
void sum_channels(const PixelSums<T>& job, int64_t block, int64_t part0, int64_t part1,
                  T* packed) {
    const int64_t batch = job.call.windows.batch;
    const Cuts cuts(job.windows, job.cuts);
    for (int64_t n = 0; n < batch; n += job.together) {
        const int64_t images = smaller(job.together, batch - n);
        for (int64_t i = 0; i < job.cuts; ++i) {
            const SummedWindows windows = {
                n * job.windows + cuts.at(i),
                job.cuts > 1 ? cuts.size(i) : images * job.windows};
            pack_windows(job, block, windows, packed);
            add_windows(job, block, part0, part1, windows, packed);
        }
    }
}

// Tasks count parts of the filters fastest: those of the same channels are one.
template <class T>
bool run_sum_tasks(const PixelSums<T>& job, int64_t begin, int64_t end) {
    T* packed = scratch_of<T>(job.call.context, pixel_sums_slot,
                              job.block_columns() * job.block_windows());
    if (packed == nullptr) return false;
    const Phase phase(job.call.context, AC_PHASE_COMPUTE);
    while (begin < end) {
        const int64_t part = begin % job.parts;
        const int64_t part_end = smaller(job.parts, part + end - begin);
        sum_channels(job, begin / job.parts, part, part_end, packed);
        begin += part_end - part;
    }
    return true;
}

template <class T>
bool dweight_by_pixel_sums(const DweightCall<T>& call) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Windows& w = call.windows;
    PixelSums<T> job = {};
    job.call = call;
    job.x = lines_read(w, call.x);
    job.windows = w.y.out * w.x.out;
    job.units = ceil_div(w.ins, lanes);
    // Two threads transpose each their own channels.
    job.blocks = larger(ceil_div(job.units, sums_columns / lanes),
                        smaller<int64_t>(2, job.units));
    job.panel = smaller<int64_t>(tile_vectors, ceil_div(job.units, job.blocks));
    const int64_t fits = l2_bytes() * 11 / 20 / bytes_of<T>(job.block_columns());
    const int64_t depth = smaller(sums_depth, larger(sums_windows, fits));
    job.cuts = ceil_div(job.windows, depth);
    job.together = job.cuts > 1 ? 1 : depth / job.windows;
    const int64_t enough = tasks_for(call.context, sums_tasks, 1);
    job.parts = smaller(job.tiles().tiles, ceil_div(enough, job.blocks));
    const int64_t work = w.batch * job.windows * w.ins * w.outs;
    return try_parallel(
        call.context, job.blocks * job.parts, work >= gemm_serial_work,
        [&](int64_t begin, int64_t end) { return run_sum_tasks(job, begin, end); });
}

// Whether the pixels of a line and the filters have the needed layout, and the sums are
// worth the transpose.
template <class T>
AC_INLINE bool fits_pixel_sums(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const int64_t windows = w.y.out * w.x.out;
    return is_one_element(w) && w.batch * windows * w.ins > 0 &&
           w.outs >= sums_filters && call.to.channel == 1 && call.x.column == 1 &&
           call.g.column == 1 && pixels_in_line(call.g, w.y, w.x.out) &&
           (!is_pointwise(w) || windows < pointwise_pixels || w.outs > w.ins);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
