// SPDX-License-Identifier: MIT
//
// Convolutions of many channels whose windows are more than one element apart: a part
// of the image is copied as [pixel][channel], and every tap is a product of pixels, a
// stride apart, with the tap's weights [channel][output channel], added into a tile of
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

template <class T>
struct StridedJob {
    Windows windows;
    Images<const T> from, weight;
    Images<T> to;
    int64_t pitch;        // of a pixel that is read: channels in whole registers
    int64_t band, bands;  // rows of results in a task
    int64_t parts;        // of the panels, each a task of a band
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

// The taps of `lanes` channels of filters whose elements follow each other: whole
// squares of [filter][channel and tap], whose rows go to their places.
template <class T>
void pack_whole_channels(const Windows& w, const T* from, int64_t filter, int64_t n,
                         int64_t width, T* to) {
    constexpr int lanes = vec<T>::lanes;
    int64_t tap = 0, channel = 0;
    for (int64_t k = 0; k < w.taps(); ++k, from += lanes) {
        vec<T> r[lanes];
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i)
            r[i] = i < n ? load(from + i * filter) : zero<T>();
        transpose(r);
        for (int i = 0; i < lanes; ++i) {
            store(to + (tap * w.ins + channel) * width, r[i]);
            if (++tap == w.taps()) {
                tap = 0;
                ++channel;
            }
        }
    }
}

// A register of filters' part of a panel, for `channels` channels.
template <class T>
void pack_filters_of(const StridedJob<T>& job, const T* from, int64_t n,
                     int64_t channels, int64_t width, T* to) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const Images<const T>& weight = job.weight;
    if (channels == lanes && weight.column == 1 &&
        (w.y.kernel == 1 || weight.row == w.x.kernel) && weight.channel == w.taps()) {
        return pack_whole_channels(w, from, weight.image, n, width, to);
    }
    alignas(64) T taps[strided_most_taps * lanes];
    for (int64_t c = 0; c < channels; ++c) {
        gather_filters(weight, w, from + c * weight.channel, weight.image, n, taps);
        for (int64_t k = 0; k < w.taps(); ++k)
            store(to + (k * w.ins + c) * width, load(taps + k * lanes));
    }
}

// Registers of channels `begin` to `end`, counted through the groups.
template <class T>
void pack_strided(const StridedJob<T>& job, int64_t begin, int64_t end) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const Panels<T> panels(w.outs, tile_vectors);
    const int64_t registers = ceil_div(w.ins, lanes);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t group = t / registers, c = t % registers * lanes;
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            T* to = job.weights + group * job.group_weights() +
                    w.taps() * w.ins * panel.begin + c * panel.width;
            for (int64_t o = 0; o < panel.width; o += lanes) {
                const int64_t first = group * w.outs + panel.begin + o;
                pack_filters_of(
                    job,
                    job.weight.data + first * job.weight.image + c * job.weight.channel,
                    smaller<int64_t>(lanes, panel.columns - o),
                    smaller<int64_t>(lanes, w.ins - c), panel.width, to + o);
            }
        }
    }
}

// ---- tasks

// Results [row][column][panel's width] of one band. With 3 x 3 windows by 2, 64
// channels and 14 results a line, tap (i, j) of line y is a product of 14 pixels, 2 *
// pitch apart, from row 2 y + i and column j on, with the tap's [64][panel]. Merged,
// the three taps of a row are one product with k = 192.
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
    // while their weights fit L1 together with the results.
    const bool fits =
        bytes_of<T>(w.x.kernel * w.ins * panel.width) <= Costs::strided_weights;
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
    const int64_t together = larger<int64_t>(1, Costs::strided_results / line);
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

// Tasks of a convolution by bands: parts of the panels count fastest, then bands,
// groups and images.
struct StridedTask {
    int64_t image, group, band;
    int64_t part, part_end;  // those of a band that a thread does in one go
};
template <class Job>
AC_INLINE StridedTask strided_task(const Job& job, int64_t begin, int64_t end) {
    const int64_t part = begin % job.parts, band = begin / job.parts;
    return {band / job.bands / job.windows.groups,
            band / job.bands % job.windows.groups, band % job.bands, part,
            smaller(job.parts, part + end - begin)};
}

// So many tasks are enough; where images and bands are fewer, the channels that they
// make are shared, too.
constexpr int64_t strided_tasks = 8;
template <class Job>
AC_INLINE int64_t strided_parts(const Job& job, int64_t panels) {
    const int64_t tasks = job.windows.batch * job.windows.groups * job.bands;
    const int64_t enough = tasks_for(job.context, strided_tasks, 1);
    return smaller(panels, ceil_div(enough, larger<int64_t>(1, tasks)));
}

template <class T>
void run_strided_task(const StridedJob<T>& job, const StridedTask& task, T* data,
                      T* results) {
    constexpr int lanes = vec<T>::lanes;
    const Phase phase(job.context, AC_PHASE_PACK);
    const Windows& w = job.windows;
    const int64_t image = task.image, group = task.group;
    const int64_t top = task.band * job.band;
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
    phase.next(AC_PHASE_COMPUTE);
    const Panels<T> panels(w.outs, tile_vectors);
    const Shares share(panels.count, job.parts);
    for (int64_t p = share.at(task.part); p < share.at(task.part_end); ++p) {
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
    while (begin < end) {
        const StridedTask task = strided_task(job, begin, end);
        run_strided_task(job, task, pixels, results);
        begin += task.part_end - task.part;
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
    parallel(job.context, w.groups * ceil_div(w.ins, vec<T>::lanes), all > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 pack_strided(job, begin, end);
             });
    job.parts = strided_parts(job, Panels<T>(w.outs, tile_vectors).count);
    const int64_t tasks = w.batch * w.groups * job.bands * job.parts;
    const int64_t work = w.batch * w.y.out * w.x.out * all;
    return try_parallel(job.context, tasks, work >= serial_work,
                        [&](int64_t begin, int64_t end) {
                            return run_strided_tasks<T>(job, begin, end);
                        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
