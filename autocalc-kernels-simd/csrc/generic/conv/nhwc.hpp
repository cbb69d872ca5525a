// SPDX-License-Identifier: MIT
//
// Convolutions of images whose channels are neighbours, [image][row][column][channel].
// A window is then a few runs of elements, one for each row of taps, and no matrix of
// windows is needed: the register tiles of products read their rows from the image, run
// after run, and store results where they belong.
//
// conv and conv_dx share the loop. For a stride of s the elements of an input gradient
// fall into s * s classes, each with its own taps at stride 1; conv has one class.
//
// Scratch: the weights once, and for each thread a band of the input with zeros around
// it, half of L2 unless one line of results reads more. Where no tap is outside the
// image, it is read in its place.
#pragma once

#include "conv/nhwc_band.hpp"
#include "conv/strided_dx.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { nhwc_band = 2, nhwc_classes = 3, nhwc_offsets = 4, nhwc_weights = 5 };

// Results of the places y0 to y1, x0 to x1: place (y, x) is result
// (to_y + step * y, to_x + step * x).
template <class T>
struct NhwcClass {
    int64_t y0, y1, x0, x1;
    int64_t to_y, to_x;
    int64_t first_tap;       // in the order of the weights
    int64_t runs, k;         // of a window, k elements each
    const int64_t* offsets;  // of the runs, from where the band's window begins
    const int64_t* gaps;     // from the end of a run to the next one
};

template <class T>
struct NhwcJob {
    Windows windows;
    Images<const T> weight;
    Images<T> to;
    int64_t ins, outs;  // channels of a group that are read and written
    int64_t read_step, written_step, group_step;  // between their weights
    Band<T> band;
    int64_t to_step_y, to_step_x;
    int64_t first_y, end_y, first_x;  // places
    int64_t lines, bands;             // lines of places in a task
    int64_t panel;                    // most registers across a tile
    NhwcClass<T>* classes;
    int64_t class_count;
    int64_t* order;  // of the taps in the weights
    T* weights;      // [group][panel][tap][ins][panel's width]
    T* start;        // the bias, [group][whole registers], or null
    bool accumulate;
    ac_context* context;
    Epilogue<T> finish;

    [[nodiscard]] AC_INLINE int64_t wide() const {
        return round_up(outs, vec<T>::lanes);
    }
    [[nodiscard]] AC_INLINE int64_t group_weights() const {
        return windows.taps() * ins * wide();
    }
};

// ---- weights

// `count` taps from number `first` on of `n` channels as [tap][lanes], zeros beyond.
template <class T>
AC_INLINE void gather_taps(const NhwcJob<T>& job, const T* from, int64_t first,
                           int64_t count, int64_t n, T* to) {
    constexpr int lanes = vec<T>::lanes;
    const Images<const T>& weight = job.weight;
    const int64_t across = job.windows.x.kernel;
    if (weight.column == 1 && (job.windows.y.kernel == 1 || weight.row == across)) {
        pack_square(count, n, from + first, job.written_step, to, lanes);
        return;
    }
    for (int64_t k = 0; k < count; ++k, to += lanes) {
        const T* tap = from + (first + k) / across * weight.row +
                       (first + k) % across * weight.column;
        for (int64_t i = 0; i < lanes; ++i)
            to[i] = i < n ? tap[i * job.written_step] : T(0);
    }
}

// A panel's weights of the channels c0 to c1 of a group. Panel by panel, so that each
// filter is read in line: with all filters for each channel in turn, 512 filters of 512
// channels fall into 32 sets of L2, and packing them took 19 ms instead of 3 (a Zen 3).
template <class T>
void pack_panel(const NhwcJob<T>& job, const Panel& panel, int64_t group, int64_t c0,
                int64_t c1) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t taps = job.windows.taps();
    alignas(64) T square[lanes * lanes];
    for (int64_t c = c0; c < c1; ++c) {
        const T* weight = job.weight.data + group * job.group_step + c * job.read_step;
        T* to = job.weights + group * job.group_weights() +
                taps * job.ins * panel.begin + c * panel.width;
        for (int64_t o = 0; o < panel.width; o += lanes) {
            const int64_t out = panel.begin + o;
            for (int64_t k = 0; k < taps; k += lanes) {
                const int64_t count = smaller<int64_t>(lanes, taps - k);
                gather_taps(job, weight + out * job.written_step, k, count,
                            smaller<int64_t>(lanes, job.outs - out), square);
                for (int64_t i = 0; i < count; ++i) {
                    store(to + job.order[k + i] * job.ins * panel.width + o,
                          load(square + i * lanes));
                }
            }
        }
    }
}

// The same of filters whose channels follow each other: squares of a register's size.
template <class T>
void pack_panel_last(const NhwcJob<T>& job, const Panel& panel, int64_t group,
                     int64_t c0, int64_t c1) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t taps = job.windows.taps(), across = job.windows.x.kernel;
    const Images<const T>& weight = job.weight;
    for (int64_t o = 0; o < panel.width; o += lanes) {
        const int64_t out = panel.begin + o;
        const int64_t n = smaller(lanes, job.outs - out);
        const T* filter = weight.data + group * job.group_step + out * job.written_step;
        for (int64_t k = 0; k < taps; ++k) {
            const T* tap =
                filter + k / across * weight.row + k % across * weight.column;
            T* to = job.weights + group * job.group_weights() +
                    taps * job.ins * panel.begin +
                    job.order[k] * job.ins * panel.width + o;
            for (int64_t c = c0; c < c1; c += lanes)
                pack_square(smaller(lanes, c1 - c), n, tap + c, job.written_step,
                            to + c * panel.width, panel.width);
        }
    }
}

// Of the channels `begin` to `end` that are read, counted through the groups.
template <class T>
void pack_last(const NhwcJob<T>& job, int64_t begin, int64_t end) {
    const Panels<T> panels(job.outs, job.panel);
    for (int64_t t = begin; t < end;) {
        const int64_t group = t / job.ins;
        const int64_t next = smaller(end, (group + 1) * job.ins);
        const int64_t c0 = t - group * job.ins, c1 = next - group * job.ins;
        for (int64_t p = 0; p < panels.count; ++p) {
            if (job.read_step == 1) {
                pack_panel_last(job, panels.at(p), group, c0, c1);
            } else {
                pack_panel(job, panels.at(p), group, c0, c1);
            }
        }
        t = next;
    }
}

// ---- tasks

// Order whose weights stay in L2 while the places of a band pass.
template <class T>
AC_INLINE int64_t nhwc_weight_bytes() {
    return l2_bytes() / 4;
}

// Rows of a tile, of which not too many may compete for the same sets of L1.
template <class T>
AC_INLINE int64_t most_rows(int64_t vectors, int64_t a_row) {
    const bool oversubscribed = bytes_of<T>(a_row) % bad_stride_bytes == 0;
    return oversubscribed ? smaller<int64_t>(tile_rows[vectors], bad_stride_rows)
                          : tile_rows[vectors];
}

// The places `y0` to `y1` of a class. `from` is what the band's place (0, 0) reads,
// `to` the panel's first channel of result (0, 0).
template <class T>
void multiply_places(const NhwcJob<T>& job, const NhwcClass<T>& part, int64_t y0,
                     int64_t y1, const T* from, const T* weights, const T* start, T* to,
                     const Panel& panel) {
    const int64_t columns = part.x1 - part.x0;
    const Band<T>& band = job.band;
    const int64_t vectors = panel.width / vec<T>::lanes;
    Tile<T> tile = {};
    tile.k = part.k;
    tile.a_row = band.step_x * band.pitch;
    tile.a_col = 1;
    tile.b_row = panel.width;
    tile.c_row = job.to_step_x * job.to.column;
    tile.columns = panel.columns;
    tile.alpha = 1;
    tile.beta = job.accumulate ? T(1) : T(0);
    tile.bias = start;
    tile.low = job.finish.low();
    tile.high = job.finish.high();
    const int64_t blocks = ceil_div(columns, most_rows<T>(vectors, tile.a_row));
    const Cuts cuts(columns, blocks);
    const int64_t each = larger<int64_t>(1, bytes_of<T>(part.k * panel.width));
    const int64_t together = larger<int64_t>(1, nhwc_weight_bytes<T>() / each);
    for (int64_t run = 0; run == 0 || run < part.runs; run += together) {
        tile.runs = smaller(together, part.runs - run);
        tile.gaps = part.gaps + run;
        tile.b = weights + run * part.k * panel.width;
        const int64_t offset = part.runs == 0 ? 0 : part.offsets[run];
        tile.clamped = job.finish.is_clamp() && run + tile.runs >= part.runs;
        for (int64_t y = y0; y < y1; ++y) {
            const T* line = from + y * band.step_y * band.line + offset +
                            (part.x0 - job.first_x) * tile.a_row;
            T* out = to + (part.to_y + job.to_step_y * y) * job.to.row +
                     (part.to_x + job.to_step_x * part.x0) * job.to.column;
            for (int64_t b = 0; b < blocks; ++b) {
                tile.a = line + cuts.at(b) * tile.a_row;
                tile.c = out + cuts.at(b) * tile.c_row;
                multiply_tile(tile, vectors, Order::row_major, cuts.size(b));
            }
        }
        tile.beta = 1;
        tile.bias = nullptr;
    }
}

template <class T>
void run_nhwc_task(const NhwcJob<T>& job, int64_t image, int64_t group, int64_t index,
                   T* scratch) {
    const Phase phase(job.context, AC_PHASE_PACK);
    const Band<T>& band = job.band;
    const int64_t top = job.first_y + index * job.lines;
    const int64_t end = smaller(top + job.lines, job.end_y);
    const T* pixels = take_band(band, image, group * job.ins, top, end - top, scratch);
    phase.next(AC_PHASE_COMPUTE);
    const T* from = pixels - top * band.step_y * band.line;
    T* to = job.to.data + image * job.to.image + group * job.outs;
    const Panels<T> panels(job.outs, job.panel);
    for (int64_t p = 0; p < panels.count; ++p) {
        const Panel panel = panels.at(p);
        const T* weights = job.weights + group * job.group_weights() +
                           job.windows.taps() * job.ins * panel.begin;
        const T* start = job.start == nullptr
                             ? nullptr
                             : job.start + group * job.wide() + panel.begin;
        for (int64_t c = 0; c < job.class_count; ++c) {
            const NhwcClass<T>& part = job.classes[c];
            const int64_t y0 = larger(top, part.y0), y1 = smaller(end, part.y1);
            if (y0 >= y1 || part.x0 >= part.x1) continue;
            multiply_places(job, part, y0, y1, from,
                            weights + part.first_tap * job.ins * panel.width, start,
                            to + panel.begin, panel);
        }
    }
    if (!job.finish.is_pass()) return;
    phase.next(AC_PHASE_EPILOGUE);
    for (int64_t y = top; y < end; ++y)
        finish_pixels(job.finish, job.to, image, y, job.windows.x.out, group * job.outs,
                      job.outs);
}

template <class T>
bool run_nhwc_tasks(NhwcJob<T>& job, int64_t begin, int64_t end) {
    const int64_t groups = job.windows.groups;
    T* scratch = nullptr;
    if (!job.band.direct) {
        scratch = scratch_of<T>(job.context, nhwc_band, job.band.size(job.lines));
        if (scratch == nullptr) return false;
    }
    for (int64_t t = begin; t < end; ++t) {
        run_nhwc_task(job, t / job.bands / groups, t / job.bands % groups,
                      t % job.bands, scratch);
    }
    return true;
}

// ---- how a job is cut

// The registers across a tile that cost fewest loads: of weights, once for each tile,
// from L2 mostly, and of pixels, once for each panel.
template <class T>
int64_t choose_last_panel(int64_t outs, int64_t columns) {
    constexpr double weight = 1, pixel = 0.5;  // cycles of a register's load
    const int64_t registers = ceil_div(outs, vec<T>::lanes);
    int64_t best = 1;
    double least = 0;
    for (int64_t v = 1; v <= tile_vectors; ++v) {
        const int64_t panels = ceil_div(registers, v);
        const int64_t rows = tile_rows[ceil_div(registers, panels)];
        const double loads =
            weight * static_cast<double>(registers * ceil_div(columns, rows)) +
            pixel * static_cast<double>(panels * columns);
        if (v == 1 || loads < least) {
            best = v;
            least = loads;
        }
    }
    return best;
}

constexpr int64_t nhwc_tasks = 16;  // at least, where lines and threads are enough

template <class T>
void cut_last(NhwcJob<T>& job) {
    const int64_t places = job.end_y - job.first_y;
    const Band<T>& band = job.band;
    const int64_t images = job.windows.batch * job.windows.groups;
    const int64_t bytes = larger<int64_t>(1, bytes_of<T>(band.step_y * band.line));
    const int64_t spare = l2_bytes() / 2 - bytes_of<T>(band.size(1));
    const int64_t fitting = 1 + larger<int64_t>(0, spare / bytes);
    const int64_t even =
        ceil_div(places, ceil_div(tasks_for(job.context, nhwc_tasks, 2), images));
    job.bands = ceil_div(places, smaller(fitting, even));
    job.lines = ceil_div(places, job.bands);
    job.bands = ceil_div(places, job.lines);
}

template <class T>
bool run_nhwc(NhwcJob<T>& job, const ac_array* bias) {
    const Windows& w = job.windows;
    const int64_t all = w.groups * job.group_weights();
    const int64_t starts = bias == nullptr ? 0 : w.groups * job.wide();
    job.weights = scratch_of<T>(job.context, nhwc_weights, all + starts);
    if (job.weights == nullptr) return false;
    job.start = bias == nullptr ? nullptr : job.weights + all;
    if (bias != nullptr) copy_bias<T>(bias, w.groups, job.outs, job.wide(), job.start);
    parallel(job.context, w.groups * job.ins, all > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 pack_last(job, begin, end);
             });
    cut_last(job);
    const int64_t tasks = w.batch * w.groups * job.bands;
    const int64_t work = w.batch * w.y.out * w.x.out * all;
    return try_parallel(
        job.context, tasks, work >= serial_work,
        [&](int64_t begin, int64_t end) { return run_nhwc_tasks<T>(job, begin, end); });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
