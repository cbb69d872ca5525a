// SPDX-License-Identifier: MIT
//
// Convolutions of many channels whose windows are more than one element apart: a part
// of the image lies as [pixel][channel], and every tap is a product of pixels, a stride
// apart, with the tap's weights [channel][output channel], added into a tile of
// results. No element is moved for the stride's sake, and registers are full whatever
// the width of the image is: 14 x 14 results waste an eighth of the planes' registers.
#pragma once

#include "conv/pixels.hpp"
#include "gemm/pack.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { strided_pixels = 2, strided_results = 4, strided_weights = 5 };
constexpr int64_t strided_ins = 16;  // channels that make a product worth its start
constexpr int64_t strided_most_taps = 128;
constexpr int64_t strided_outs = 32;  // and fill the registers
constexpr int64_t strided_l1 = 8192;  // bytes of results that are added into
constexpr int64_t strided_l1_weights = 24576;

template <class T>
struct StridedJob {
    Windows windows;
    Images<const T> from, weight;
    Images<T> to;
    int64_t pitch;        // of a pixel that is read: channels in whole registers
    int64_t band, bands;  // rows of results in a task
    T* weights;           // [group][panel][tap][ins][panel's width]
    T* start;             // the bias, [group][whole registers]
    ac_context* context;

    [[nodiscard]] AC_INLINE int64_t wide() const {
        return round_up(windows.outs, vec<T>::lanes);
    }
    [[nodiscard]] AC_INLINE int64_t group_weights() const {
        return windows.taps() * windows.ins * wide();
    }
    // Elements that so many windows read along a dimension.
    [[nodiscard]] AC_INLINE static int64_t reads(const Axis& axis, int64_t windows_) {
        return (windows_ - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1;
    }
};

template <class T>
AC_INLINE bool is_strided(const Windows& w) {
    return (w.x.stride > 1 || w.y.stride > 1) && w.ins >= strided_ins &&
           w.outs >= strided_outs && w.taps() <= strided_most_taps;
}

// ---- weights

// The taps of `n` channels, `step` apart, as [tap][lanes].
template <class T>
void gather_filters(const Images<const T>& weight, const Windows& w, const T* from,
                    int64_t step, int64_t n, T* to) {
    constexpr int lanes = vec<T>::lanes;
    const bool together =
        weight.column == 1 && (w.y.kernel == 1 || weight.row == w.x.kernel);
    for (int64_t k = 0; k < w.taps(); k += lanes) {
        const int64_t count = smaller<int64_t>(lanes, w.taps() - k);
        if (together) {
            pack_square(count, n, from + k, step, to + k * lanes, lanes);
            continue;
        }
        for (int64_t t = k; t < k + count; ++t) {
            const T* tap =
                from + t / w.x.kernel * weight.row + t % w.x.kernel * weight.column;
            for (int64_t i = 0; i < lanes; ++i)
                to[t * lanes + i] = i < n ? tap[i * step] : T(0);
        }
    }
}

// Channels `begin` to `end`, counted through the groups.
template <class T>
void pack_strided(const StridedJob<T>& job, int64_t begin, int64_t end) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const Panels<T> panels(w.outs, tile_vectors);
    alignas(64) T taps[strided_most_taps * lanes];
    for (int64_t t = begin; t < end; ++t) {
        const int64_t group = t / w.ins, c = t % w.ins;
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            T* to = job.weights + group * job.group_weights() +
                    w.taps() * w.ins * panel.begin + c * panel.width;
            for (int64_t o = 0; o < panel.width; o += lanes) {
                const int64_t first = group * w.outs + panel.begin + o;
                gather_filters(
                    job.weight, w,
                    job.weight.data + first * job.weight.image + c * job.weight.channel,
                    job.weight.image, smaller<int64_t>(lanes, w.outs - panel.begin - o),
                    taps);
                for (int64_t k = 0; k < w.taps(); ++k)
                    store(to + o + k * w.ins * panel.width, load(taps + k * lanes));
            }
        }
    }
}

// ---- tasks

// Results [row][column][panel's width] of one band.
template <class T>
void multiply_taps_of(const StridedJob<T>& job, int64_t group, const Panel& panel,
                      const Pixels<T>& pixels, int64_t rows, T* results) {
    const Windows& w = job.windows;
    const int64_t vectors = panel.width / vec<T>::lanes;
    const int64_t blocks = ceil_div(w.x.out, tile_rows[vectors]);
    const Cuts cuts(w.x.out, blocks);
    const T* weights =
        job.weights + group * job.group_weights() + w.taps() * w.ins * panel.begin;
    Tile<T> tile = {};
    // Neighbouring taps of a row read neighbouring pixels: one product for all of them,
    // while their weights fit L1 beside the results.
    const bool fits =
        bytes_of<T>(w.x.kernel * w.ins * panel.width) <= strided_l1_weights;
    const bool merges = w.x.dilation == 1 && job.pitch == w.ins && fits;
    const int64_t merged = merges ? w.x.kernel : 1;
    tile.k = merged * w.ins;
    tile.a_row = w.x.stride * job.pitch;
    tile.a_col = 1;
    tile.b_row = panel.width;
    tile.c_row = panel.width;
    tile.columns = panel.width;
    tile.alpha = 1;
    // Results stay in L1 while all taps pass, a tap's weights while all of them read
    // it.
    const int64_t line = bytes_of<T>(w.x.out * panel.width);
    const int64_t together = larger<int64_t>(1, strided_l1 / line);
    for (int64_t y0 = 0; y0 < rows; y0 += together) {
        tile.beta = 0;
        tile.bias = job.start + group * job.wide() + panel.begin;
        for (int64_t tap = 0; tap < w.taps(); tap += merged) {
            const int64_t i = tap / w.x.kernel, j = tap % w.x.kernel;
            tile.b = weights + tap * w.ins * panel.width;
            for (int64_t y = y0; y < smaller(rows, y0 + together); ++y) {
                const T* from = pixels.data +
                                (y * w.y.stride + i * w.y.dilation) * pixels.line() +
                                j * w.x.dilation * job.pitch;
                for (int64_t b = 0; b < blocks; ++b) {
                    tile.a = from + cuts.at(b) * tile.a_row;
                    tile.c = results + (y * w.x.out + cuts.at(b)) * panel.width;
                    multiply_tile(tile, vectors, Order::row_major, cuts.size(b));
                }
            }
            tile.beta = 1;
            tile.bias = nullptr;
        }
    }
}

template <class T>
void run_strided_task(const StridedJob<T>& job, int64_t image, int64_t group,
                      int64_t band, T* data, T* results) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const int64_t top = band * job.band;
    const int64_t rows = smaller(job.band, w.y.out - top);
    Pixels<T> pixels = {data,
                        job.reads(w.y, rows),
                        job.reads(w.x, w.x.out),
                        top * w.y.stride - w.y.padding,
                        -w.x.padding,
                        w.y.in,
                        w.x.in,
                        job.pitch};
    for (int64_t c = 0; c < w.ins; c += lanes) {
        Images<const T> from = job.from;
        from.data += image * from.image + (group * w.ins + c) * from.channel;
        pixels.data = data + c;
        gather_pixels(from, smaller<int64_t>(lanes, w.ins - c), pixels);
    }
    pixels.data = data;
    const Panels<T> panels(w.outs, tile_vectors);
    for (int64_t p = 0; p < panels.count; ++p) {
        const Panel panel = panels.at(p);
        multiply_taps_of(job, group, panel, pixels, rows, results);
        for (int64_t o = 0; o < panel.columns; o += lanes) {
            Images<T> to = job.to;
            to.data +=
                image * to.image + (group * w.outs + panel.begin + o) * to.channel;
            const Pixels<T> done = {results + o, rows,    w.x.out, top,
                                    0,           w.y.out, w.x.out, panel.width};
            scatter_pixels(to, smaller<int64_t>(lanes, panel.columns - o), done, false);
        }
    }
}

template <class T>
bool run_strided_tasks(StridedJob<T>& job, int64_t begin, int64_t end) {
    const Windows& w = job.windows;
    T* pixels =
        scratch_of<T>(job.context, strided_pixels,
                      job.reads(w.y, job.band) * job.reads(w.x, w.x.out) * job.pitch);
    T* results = scratch_of<T>(job.context, strided_results,
                               job.band * w.x.out * tile_vectors * vec<T>::lanes);
    if (pixels == nullptr || results == nullptr) return false;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t band = t % job.bands, group = t / job.bands % w.groups;
        run_strided_task(job, t / job.bands / w.groups, group, band, pixels, results);
    }
    return true;
}

// Bands whose pixels and results take half of L2, unless one row takes more.
template <class T>
void choose_band(StridedJob<T>& job) {
    const Windows& w = job.windows;
    job.pitch = round_up(w.ins, vec<T>::lanes);
    const int64_t line = bytes_of<T>(job.reads(w.x, w.x.out) * job.pitch);
    const int64_t each =
        w.y.stride * line + bytes_of<T>(w.x.out * tile_vectors * vec<T>::lanes);
    const int64_t reach = (job.reads(w.y, 1) - w.y.stride) * line;
    const int64_t fitting = larger<int64_t>(1, (l2_bytes() / 2 - reach) / each);
    job.bands = ceil_div(w.y.out, fitting);
    job.band = ceil_div(w.y.out, job.bands);
    job.bands = ceil_div(w.y.out, job.band);
}

template <class T>
bool run_strided(StridedJob<T>& job, const ac_array* bias) {
    const Windows& w = job.windows;
    choose_band(job);
    const int64_t all = w.groups * job.group_weights();
    job.weights =
        scratch_of<T>(job.context, strided_weights, all + w.groups * job.wide());
    if (job.weights == nullptr) return false;
    job.start = job.weights + all;
    copy_bias<T>(bias, w.groups, w.outs, job.wide(), job.start);
    parallel(job.context, w.groups * w.ins, all > serial_work,
             [&](int64_t begin, int64_t end) { pack_strided(job, begin, end); });
    const int64_t tasks = w.batch * w.groups * job.bands;
    const int64_t work = w.batch * w.y.out * w.x.out * all;
    return try_parallel(job.context, tasks, work >= serial_work,
                        [&](int64_t begin, int64_t end) {
                            return run_strided_tasks<T>(job, begin, end);
                        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
