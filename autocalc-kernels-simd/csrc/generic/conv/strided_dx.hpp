// SPDX-License-Identifier: MIT
//
// The input gradient of convolutions of many channels whose windows are more than one
// element apart. For a stride of s the elements of dx fall into s * s classes by their
// place, and each class sees its own taps, at stride 1: a part of g is copied as
// [pixel][channel], every tap of a class is a product of its pixels with the tap's
// weights [output channel][channel], and the results of all classes are interleaved, as
// [pixel][channel] too, before they are transposed back in one go. Through planes every
// result would be written on its own, s elements from the next one.
#pragma once

#include "conv/stride_classes.hpp"
#include "conv/strided.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct StridedDxJob {
    Windows windows;
    Images<const T> from, weight;
    Images<T> to;
    int64_t pitch;             // of a pixel of g: channels in whole registers
    int64_t first_y, first_x;  // the first place of any class ...
    int64_t end_y, end_x;      // ... and after the last one, in steps of the stride
    int64_t band, bands;       // places down of a task
    int64_t parts;             // of the panels, each a task of a band
    int64_t order[strided_most_taps];  // of the taps in the weights
    T* weights;  // [group][panel][taps, class by class][outs][panel's width]
    T* start;    // the bias, [group][whole registers]
    bool accumulate;
    ac_context* context;

    [[nodiscard]] AC_INLINE int64_t wide() const {
        return round_up(windows.ins, vec<T>::lanes);
    }
    [[nodiscard]] AC_INLINE int64_t group_weights() const {
        return windows.taps() * windows.outs * wide();
    }
    [[nodiscard]] AC_INLINE int64_t columns() const {  // of the results
        return (end_x - first_x) * windows.x.stride;
    }
};

AC_INLINE bool is_strided_dx(const Windows& w) {
    return (w.x.stride > 1 || w.y.stride > 1) && w.outs >= strided_ins &&
           w.ins >= strided_ins && w.taps() <= strided_most_taps;
}

// ---- classes

// The taps of a class along a dimension: the last one reads the first element.
AC_INLINE int64_t taps_of_class(const Axis& axis, int64_t rest) {
    int64_t count = 0;
    for (int64_t i = 0; i < axis.kernel; ++i) count += axis.phase(i) == rest ? 1 : 0;
    return count;
}
AC_INLINE int64_t tap_of_class(const Axis& axis, int64_t rest, int64_t index) {
    for (int64_t i = axis.kernel - 1; i >= 0; --i) {
        if (axis.phase(i) == rest && index-- == 0) return i;
    }
    return -1;
}

// Numbers the taps class by class, row by row of a class, from the last to the first.
template <class T>
void order_taps(StridedDxJob<T>& job) {
    const Windows& w = job.windows;
    int64_t next = 0;
    for (int64_t ry = 0; ry < w.y.stride; ++ry) {
        for (int64_t rx = 0; rx < w.x.stride; ++rx) {
            for (int64_t i = 0; i < taps_of_class(w.y, ry); ++i) {
                for (int64_t j = 0; j < taps_of_class(w.x, rx); ++j) {
                    job.order[tap_of_class(w.y, ry, i) * w.x.kernel +
                              tap_of_class(w.x, rx, j)] = next++;
                }
            }
        }
    }
}

// Output channels `begin` to `end`, counted through the groups.
template <class T>
void pack_strided_dx(const StridedDxJob<T>& job, int64_t begin, int64_t end) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const Panels<T> panels(w.ins, tile_vectors);
    alignas(64) T taps[strided_most_taps * lanes];
    for (int64_t t = begin; t < end; ++t) {
        const int64_t group = t / w.outs, o = t % w.outs;
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            T* to = job.weights + group * job.group_weights() +
                    w.taps() * w.outs * panel.begin + o * panel.width;
            for (int64_t c = 0; c < panel.width; c += lanes) {
                gather_filters(job.weight, w,
                               job.weight.data + t * job.weight.image +
                                   (panel.begin + c) * job.weight.channel,
                               job.weight.channel,
                               smaller<int64_t>(lanes, w.ins - panel.begin - c), taps);
                for (int64_t k = 0; k < w.taps(); ++k) {
                    store(to + job.order[k] * w.outs * panel.width + c,
                          load(taps + k * lanes));
                }
            }
        }
    }
}

// ---- a task

// What a class reads and writes in a band.
struct ClassPart {
    int64_t rest_y, rest_x;
    int64_t first_tap;       // in the order of the weights
    int64_t y0, y1, x0, x1;  // places
};

// Results of a class that has no taps: the bias alone.
template <class T>
void fill_class(const T* start, int64_t width, int64_t rows, int64_t row,
                int64_t columns, int64_t column, T* to) {
    for (int64_t y = 0; y < rows; ++y) {
        for (int64_t x = 0; x < columns; ++x) {
            for (int64_t c = 0; c < width; c += vec<T>::lanes)
                store(to + y * row + x * column + c, load(start + c));
        }
    }
}

template <class T>
void multiply_class(const StridedDxJob<T>& job, const ClassPart& part, int64_t top,
                    int64_t group, const Panel& panel, const Pixels<T>& pixels,
                    T* results) {
    const Windows& w = job.windows;
    const int64_t count_y = taps_of_class(w.y, part.rest_y);
    const int64_t count_x = taps_of_class(w.x, part.rest_x);
    const T* start = job.start + group * job.wide() + panel.begin;
    Tile<T> tile = {};
    tile.c_row = w.x.stride * panel.width;
    const int64_t row = w.y.stride * job.columns() * panel.width;
    T* to = results + (part.y0 - top) * row + (part.x0 - job.first_x) * tile.c_row +
            (part.rest_y * job.columns() + part.rest_x) * panel.width;
    const int64_t rows = part.y1 - part.y0, columns = part.x1 - part.x0;
    if (count_y * count_x == 0) {
        fill_class(start, panel.width, rows, row, columns, tile.c_row, to);
        return;
    }
    const int64_t vectors = panel.width / vec<T>::lanes;
    const int64_t blocks = ceil_div(columns, tile_rows[vectors]);
    const Cuts cuts(columns, blocks);
    // Neighbouring taps of a class read neighbouring pixels: one product for them all,
    // while their weights fit L1 together with the results.
    const bool fits =
        bytes_of<T>(count_x * w.outs * panel.width) <= Costs::strided_weights;
    const int64_t merged =
        w.x.dilation == 1 && job.pitch == w.outs && fits ? count_x : 1;
    tile.k = merged * w.outs;
    tile.a_row = job.pitch;
    tile.a_col = 1;
    tile.b_row = panel.width;
    tile.columns = panel.width;
    tile.alpha = 1;
    const T* weights = job.weights + group * job.group_weights() +
                       (w.taps() * panel.begin + part.first_tap * panel.width) * w.outs;
    const int64_t line = bytes_of<T>(columns * panel.width);
    const int64_t together = larger<int64_t>(1, Costs::strided_results / line);
    for (int64_t y0 = 0; y0 < rows; y0 += together) {
        tile.beta = 0;
        tile.bias = start;
        for (int64_t tap = 0; tap < count_y * count_x; tap += merged) {
            const int64_t i = tap_of_class(w.y, part.rest_y, tap / count_x);
            const int64_t j = tap_of_class(w.x, part.rest_x, tap % count_x);
            const T* from = pixels.data +
                            (part.y0 - w.y.shift(i) - pixels.top) * pixels.line() +
                            (part.x0 - w.x.shift(j) - pixels.left) * job.pitch;
            tile.b = weights + tap * w.outs * panel.width;
            for (int64_t y = y0; y < smaller(rows, y0 + together); ++y) {
                for (int64_t b = 0; b < blocks; ++b) {
                    tile.a = from + y * pixels.line() + cuts.at(b) * tile.a_row;
                    tile.c = to + y * row + cuts.at(b) * tile.c_row;
                    multiply_tile(tile, vectors, Order::row_major, cuts.size(b));
                }
            }
            tile.beta = 1;
            tile.bias = nullptr;
        }
    }
}

template <class T>
void run_strided_dx_task(const StridedDxJob<T>& job, const StridedTask& task, T* data,
                         T* results) {
    constexpr int lanes = vec<T>::lanes;
    const Phase phase(job.context, AC_PHASE_PACK);
    const Windows& w = job.windows;
    const int64_t image = task.image, group = task.group;
    const int64_t top = job.first_y + task.band * job.band;
    const int64_t end = smaller(top + job.band, job.end_y);
    Pixels<T> pixels = {data,
                        end - top + w.y.last_shift(),
                        job.end_x - job.first_x + w.x.last_shift(),
                        top - w.y.last_shift(),
                        job.first_x - w.x.last_shift(),
                        w.y.out,
                        w.x.out,
                        job.pitch};
    for (int64_t o = 0; o < w.outs; o += lanes) {
        Images<const T> from = job.from;
        from.data += image * from.image + (group * w.outs + o) * from.channel;
        pixels.data = data + o;
        gather_pixels(from, smaller<int64_t>(lanes, w.outs - o), pixels);
    }
    pixels.data = data;
    phase.next(AC_PHASE_COMPUTE);
    const Panels<T> panels(w.ins, tile_vectors);
    const Shares share(panels.count, job.parts);
    for (int64_t p = share.at(task.part); p < share.at(task.part_end); ++p) {
        const Panel panel = panels.at(p);
        int64_t taps = 0;
        for (int64_t ry = 0; ry < w.y.stride; ++ry) {
            for (int64_t rx = 0; rx < w.x.stride; ++rx) {
                const Lattice y = lattice(w.y, ry), x = lattice(w.x, rx);
                const ClassPart part = {
                    ry,      rx,   taps, larger(top, y.begin), smaller(end, y.end),
                    x.begin, x.end};
                if (part.y0 < part.y1 && part.x0 < part.x1)
                    multiply_class(job, part, top, group, panel, pixels, results);
                taps += taps_of_class(w.y, ry) * taps_of_class(w.x, rx);
            }
        }
        for (int64_t c = 0; c < panel.columns; c += lanes) {
            Images<T> to = job.to;
            to.data +=
                image * to.image + (group * w.ins + panel.begin + c) * to.channel;
            const Pixels<T> done = {results + c,
                                    (end - top) * w.y.stride,
                                    job.columns(),
                                    top * w.y.stride - w.y.padding,
                                    job.first_x * w.x.stride - w.x.padding,
                                    w.y.in,
                                    w.x.in,
                                    panel.width};
            scatter_pixels(to, smaller<int64_t>(lanes, panel.columns - c), done,
                           job.accumulate);
        }
    }
}

template <class T>
AC_INLINE int64_t strided_dx_results(const StridedDxJob<T>& job) {
    return job.windows.y.stride * job.columns() *
           smaller<int64_t>(job.wide(), tile_vectors * vec<T>::lanes);
}

template <class T>
bool run_strided_dx_tasks(StridedDxJob<T>& job, int64_t begin, int64_t end) {
    const Windows& w = job.windows;
    const int64_t wide = job.end_x - job.first_x + w.x.last_shift();
    T* pixels = scratch_of<T>(job.context, strided_pixels,
                              (job.band + w.y.last_shift()) * wide * job.pitch);
    T* results =
        scratch_of<T>(job.context, strided_results, job.band * strided_dx_results(job));
    if (pixels == nullptr || results == nullptr) return false;
    while (begin < end) {
        const StridedTask task = strided_task(job, begin, end);
        run_strided_dx_task(job, task, pixels, results);
        begin += task.part_end - task.part;
    }
    return true;
}

// Bands whose pixels and results take half of L2, unless one row takes more.
template <class T>
void choose_band(StridedDxJob<T>& job) {
    const Windows& w = job.windows;
    job.pitch = round_up(w.outs, vec<T>::lanes);
    job.first_y = first_of(w.y);
    job.first_x = first_of(w.x);
    job.end_y = end_of(w.y);
    job.end_x = end_of(w.x);
    const int64_t line =
        bytes_of<T>((job.end_x - job.first_x + w.x.last_shift()) * job.pitch);
    const int64_t each = line + bytes_of<T>(strided_dx_results(job));
    const int64_t fitting =
        larger<int64_t>(1, (l2_bytes() / 2 - w.y.last_shift() * line) / each);
    const int64_t places = job.end_y - job.first_y;
    job.band = ceil_div(places, ceil_div(places, fitting));
    job.bands = ceil_div(places, job.band);
}

template <class T>
bool run_strided_dx(StridedDxJob<T>& job, const ac_array* bias) {
    const Windows& w = job.windows;
    choose_band(job);
    order_taps(job);
    const int64_t all = w.groups * job.group_weights();
    job.weights =
        scratch_of<T>(job.context, strided_weights, all + w.groups * job.wide());
    if (job.weights == nullptr) return false;
    job.start = job.weights + all;
    copy_bias<T>(bias, w.groups, w.ins, job.wide(), job.start);
    parallel(job.context, w.groups * w.outs, all > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 pack_strided_dx(job, begin, end);
             });
    job.parts = strided_parts(job, Panels<T>(w.ins, tile_vectors).count);
    const int64_t tasks = w.batch * w.groups * job.bands * job.parts;
    const int64_t work = w.batch * w.y.out * w.x.out * all;
    return try_parallel(job.context, tasks, work >= serial_work,
                        [&](int64_t begin, int64_t end) {
                            return run_strided_dx_tasks<T>(job, begin, end);
                        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
