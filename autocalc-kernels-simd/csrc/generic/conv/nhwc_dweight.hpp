// SPDX-License-Identifier: MIT
//
// The weight gradient of images whose channels are neighbours: a product whose inner
// dimension are the windows. Its rows are the taps, each an element at a fixed distance
// from where a window begins, its columns the output channels, which a pixel of g holds
// one after the other: nothing is transposed but the result.
//
// Scratch: up to 8 gradients, each of a part of the windows, added in their order; and
// for each thread the windows of a task: an eighth of L2, half of it where the gradient
// is larger than L2, unless one line takes more.
#pragma once

#include "conv/nhwc_band.hpp"
#include "conv/nhwc_dweight_tile.hpp"
#include "gemm/pack.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { nhwc_x = 0, nhwc_g = 1, nhwc_sums = 2, nhwc_distances = 3 };
constexpr int64_t nhwc_parts = 8;
// Of registers across: 2 or 3 beat 4 by 4 to 8 %, since taller tiles read less of g.
constexpr int64_t nhwc_panel = 3;
constexpr int64_t nhwc_near = 8;  // neighbours that are worth tiles of their own

// ---- tasks

// Memory that holds the next windows. The hardware looks ahead within a page only, and
// a tile reads some lines of many pages.
template <class T>
struct Ahead {
    const T* from[2] = {nullptr, nullptr};
    int64_t left[2] = {0, 0};  // elements
    AC_INLINE void take(NhwcTile<T>& tile) {
        constexpr int64_t line = 64 / item_size<T>;
        const int64_t count = tile.images * tile.lines * tile.length * line;
        tile.ask = reinterpret_cast<const char*>(tile.a);
        tile.ask_step = 0;
        for (int i = 0; i < 2; ++i) {
            if (left[i] <= 0) continue;
            tile.ask = reinterpret_cast<const char*>(from[i]);
            tile.ask_step = 64;
            from[i] += count;
            left[i] -= count;
            return;
        }
    }
};

template <class T>
struct NhwcWeights {
    Windows windows;
    Images<const T> g;
    Images<T> to;
    Band<T> band;          // of x
    int64_t lines, bands;  // of windows, together
    int64_t together;      // images
    int64_t units, parts;
    int64_t blocks;  // of the taps
    int64_t near;    // taps that are neighbours, if many, or 0
    int64_t panel;   // most registers across a tile
    int64_t row;     // of the sums: output channels, in whole registers
    bool copies_g;
    int64_t* distances;  // of [tap][channel]
    T* sums;             // [parts][groups][tap][channel][row]
    bool accumulate;
    ac_context* context;

    [[nodiscard]] AC_INLINE int64_t taps() const {
        return windows.taps() * windows.ins;
    }
    [[nodiscard]] AC_INLINE int64_t first_tap(int64_t block) const {
        return blocks == 1 ? block * taps()
                           : Shares(taps() / near, blocks).at(block) * near;
    }
};

// Lines of g with whole registers of channels, zeros beyond.
template <class T>
void copy_g(const NhwcWeights<T>& job, const T* from, int64_t lines, T* to) {
    const int64_t outs = job.windows.outs;
    for (int64_t y = 0; y < lines; ++y) {
        for (int64_t x = 0; x < job.windows.x.out; ++x, to += job.row) {
            copy_run(from + y * job.g.row + x * job.g.column, 1, outs, to);
            clear_run(to + outs, job.row - outs);
        }
    }
}

// Rows of the sums from number `first` on: `count` taps that are cut into tiles.
template <class T, bool near>
void add_taps(const NhwcWeights<T>& job, NhwcTile<T> tile, int64_t first, int64_t count,
              int64_t vectors, Ahead<T>& ahead, T* sums) {
    const int64_t tiles = ceil_div(count, nhwc_rows<near>(vectors));
    const Cuts cuts(count, tiles);
    for (int64_t i = 0; i < tiles; ++i) {
        const int64_t row = first + cuts.at(i);
        tile.distances = job.distances + row;
        tile.sums = sums + row * job.row;
        ahead.take(tile);
        multiply_nhwc<T, near>(vectors, cuts.size(i), tile);
    }
}

template <class T>
void add_windows(const NhwcWeights<T>& job, NhwcTile<T> tile, int64_t block,
                 Ahead<T>& ahead, T* sums) {
    const Panels<T> panels(job.windows.outs, job.panel);
    const T* g = tile.b;
    for (int64_t p = 0; p < panels.count; ++p) {
        const Panel panel = panels.at(p);
        const int64_t vectors = panel.width / vec<T>::lanes;
        tile.b = g + panel.begin;
        T* to = sums + panel.begin;
        if (job.near == 0) {
            add_taps<T, false>(job, tile, 0, job.taps(), vectors, ahead, to);
            continue;
        }
        const int64_t end = job.first_tap(block + 1);
        for (int64_t tap = job.first_tap(block); tap < end; tap += job.near)
            add_taps<T, true>(job, tile, tap, job.near, vectors, ahead, to);
    }
}

// Band `index` of `images` images from number `image` on.
template <class T>
void add_unit(const NhwcWeights<T>& job, int64_t image, int64_t images, int64_t group,
              int64_t index, int64_t block, T* x, T* g, Ahead<T>& ahead, T* sums) {
    const Windows& w = job.windows;
    const Band<T>& band = job.band;
    const int64_t top = index * job.lines;
    const int64_t lines = smaller(job.lines, w.y.out - top);
    NhwcTile<T> tile = {};
    tile.images = images;
    tile.lines = lines;
    tile.length = w.x.out;
    tile.a_image = band.direct ? band.from.image : band.size(lines);
    tile.a_line = band.step_y * band.line;
    tile.a_step = band.step_x * band.pitch;
    tile.sums_row = job.row;
    tile.b_image = job.copies_g ? lines * w.x.out * job.row : job.g.image;
    tile.b_line = job.copies_g ? w.x.out * job.row : job.g.row;
    tile.b_step = job.copies_g ? job.row : job.g.column;
    for (int64_t n = 0; n < images; ++n) {
        const Phase phase(job.context, AC_PHASE_PACK);
        const T* pixels =
            take_band(band, image + n, group * w.ins, top, lines, x + n * tile.a_image);
        const T* from = job.g.data + (image + n) * job.g.image + top * job.g.row +
                        group * w.outs * job.g.channel;
        if (job.copies_g) copy_g(job, from, lines, g + n * tile.b_image);
        if (n > 0) continue;
        tile.a = pixels;
        tile.b = job.copies_g ? g : from;
    }
    add_windows(job, tile, block, ahead, sums);
}

// What a unit reads without a copy, if that is one piece of memory.
template <class T>
Ahead<T> next_unit(const NhwcWeights<T>& job, int64_t unit) {
    const Windows& w = job.windows;
    Ahead<T> ahead;
    if (w.groups > 1) return ahead;
    const int64_t image = unit / job.bands * job.together;
    const int64_t images = smaller(job.together, w.batch - image) - 1;
    const int64_t top = unit % job.bands * job.lines;
    const int64_t lines = smaller(job.lines, w.y.out - top);
    ahead.from[0] = job.g.data + image * job.g.image + top * job.g.row;
    ahead.left[0] = images * job.g.image + lines * job.g.row;
    if (job.band.direct) {
        const Images<const T>& x = job.band.from;
        ahead.from[1] = x.data + image * x.image + top * w.y.stride * x.row;
        ahead.left[1] = images * x.image + lines * w.y.stride * x.row;
    }
    return ahead;
}

template <class T>
bool run_nhwc_weight_tasks(NhwcWeights<T>& job, int64_t begin, int64_t end) {
    const Windows& w = job.windows;
    const int64_t whole = job.band.direct ? 0 : job.band.size(job.lines);
    const int64_t g_size = job.copies_g ? job.lines * w.x.out * job.row : 0;
    T* x = scratch_of<T>(job.context, nhwc_x, job.together * whole + 1);
    T* g = scratch_of<T>(job.context, nhwc_g, job.together * g_size + 1);
    if (x == nullptr || g == nullptr) return false;
    const Phase phase(job.context, AC_PHASE_COMPUTE);
    const Cuts units(job.units, job.parts);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t block = t % job.blocks, group = t / job.blocks % w.groups;
        const int64_t part = t / job.blocks / w.groups;
        T* sums = job.sums + t / job.blocks * job.taps() * job.row;
        const int64_t first = job.first_tap(block);
        clear_run(sums + first * job.row, (job.first_tap(block + 1) - first) * job.row);
        const int64_t end_unit = units.at(part + 1);
        for (int64_t u = units.at(part); u < end_unit; ++u) {
            Ahead<T> ahead;
            if (u + 1 < end_unit) ahead = next_unit(job, u + 1);
            const int64_t image = u / job.bands * job.together;
            add_unit(job, image, smaller(job.together, w.batch - image), group,
                     u % job.bands, block, x, g, ahead, sums);
        }
    }
    return true;
}

// ---- the result

// Adds the parts of `count` rows of sums, `step` apart, and writes them as
// to[output channel][row].
template <class T>
AC_INLINE void put_square(const NhwcWeights<T>& job, const T* sums, int64_t step,
                          int64_t count, int64_t o, T* to) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t part = job.windows.groups * job.taps() * job.row;
    vec<T> r[lanes];
    for (int i = 0; i < lanes; ++i) {
        r[i] = zero<T>();
        if (i >= count) continue;
        const T* from = sums + i * step + o;
        r[i] = load(from);
        for (int64_t p = 1; p < job.parts; ++p) r[i] = r[i] + load(from + p * part);
    }
    transpose(r);
    const int64_t n = smaller<int64_t>(lanes, job.windows.outs - o);
    for (int64_t i = 0; i < n; ++i) {
        T* place = to + (o + i) * job.to.image;
        if (job.accumulate) r[i] = r[i] + load_first(place, count);
        store_first(place, r[i], count);
    }
}

// Of the channels `begin` to `end` of x, counted through the groups. Taps of a channel
// are neighbours, and channels where there is one tap.
template <class T>
void put_last_weights(const NhwcWeights<T>& job, int64_t begin, int64_t end) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const int64_t taps = w.taps();
    const bool single = taps == 1;
    for (int64_t t = begin; t < end;) {
        const int64_t group = t / w.ins, c = t % w.ins;
        const int64_t channels =
            single ? smaller<int64_t>(lanes, smaller(end - t, w.ins - c)) : 1;
        const T* sums = job.sums + (group * job.taps() + c) * job.row;
        T* to = job.to.data + group * w.outs * job.to.image + c * taps;
        const int64_t step = single ? job.row : w.ins * job.row;
        for (int64_t o = 0; o < w.outs; o += lanes) {
            for (int64_t k = 0; k < taps; k += lanes) {
                const int64_t count =
                    single ? channels : smaller<int64_t>(lanes, taps - k);
                put_square(job, sums + k * step, step, count, o, to + k);
            }
        }
        t += channels;
    }
}

// ---- how it is cut

// Windows whose pixels of x and of g take an eighth of L2: images together, or bands of
// one. While they are worked on the next ones come in: 64 - 256 channels of 1 x 1 took
// 13.5 ms without asking for them, and take 9.3; 10.3 with a quarter, 12.1 with half.
// Sums that do not fit L2 themselves would come and go for every one of them: there it
// is half of L2, and the taps are cut rather than the windows, so that sums are fewer.
template <class T>
void cut_last_weights(NhwcWeights<T>& job) {
    const Windows& w = job.windows;
    const Band<T>& band = job.band;
    const int64_t wanted = ceil_div(nhwc_parts, w.groups);
    const bool heavy = bytes_of<T>(job.taps() * job.row) > l2_bytes();
    job.blocks = 1;
    if (heavy && job.near != 0) job.blocks = smaller(wanted, job.taps() / job.near);
    const int64_t tasks = ceil_div(wanted, job.blocks);
    const int64_t line =
        larger<int64_t>(1, bytes_of<T>(band.step_y * band.line + w.x.out * job.row));
    const int64_t room = l2_bytes() / (heavy ? 2 : 8);
    const int64_t spare = room - bytes_of<T>(band.size(1));
    const int64_t fitting = 1 + larger<int64_t>(0, spare / line);
    const int64_t even =
        ceil_div(w.y.out, ceil_div(tasks, larger<int64_t>(1, w.batch)));
    job.bands = ceil_div(w.y.out, larger<int64_t>(1, smaller(fitting, even)));
    job.lines = ceil_div(w.y.out, larger<int64_t>(1, job.bands));
    job.bands = ceil_div(w.y.out, larger<int64_t>(1, job.lines));
    const int64_t image = bytes_of<T>(band.size(w.y.out) + w.y.out * w.x.out * job.row);
    const int64_t most = larger<int64_t>(1, w.batch / tasks);
    job.together = 1;
    if (job.bands == 1 && image > 0)
        job.together = larger<int64_t>(1, smaller(most, room / image));
    job.units = ceil_div(w.batch, job.together) * job.bands;
    job.parts = larger<int64_t>(1, smaller(job.units, tasks));
    // Taps have sums of their own: more threads may have more blocks of them.
    const int64_t enough = ceil_div(tasks_for(job.context, 1, 1), job.parts * w.groups);
    if (job.near != 0)
        job.blocks = larger(job.blocks, smaller(enough, job.taps() / job.near));
}

template <class T>
bool sum_nhwc_dweight(NhwcWeights<T>& job) {
    const Windows& w = job.windows;
    const Images<const T> x = job.band.from;
    job.band = band_of_windows(w, x);
    job.row = round_up(w.outs, vec<T>::lanes);
    job.copies_g = job.row != w.outs;
    const bool merged = job.band.pitch == w.ins && w.x.dilation == 1;
    job.near = merged ? w.x.kernel * w.ins : w.ins;
    if (job.near < nhwc_near) job.near = 0;
    job.panel = smaller<int64_t>(tile_vectors, nhwc_panel);
    cut_last_weights(job);
    const int64_t count = w.groups * job.taps() * job.row;
    job.sums = scratch_of<T>(job.context, nhwc_sums, job.parts * count);
    job.distances = scratch_of<int64_t>(job.context, nhwc_distances, job.taps());
    if (job.sums == nullptr || job.distances == nullptr) return false;
    for (int64_t t = 0; t < job.taps(); ++t) {
        const int64_t tap = t / w.ins;
        job.distances[t] = tap / w.x.kernel * w.y.dilation * job.band.line +
                           tap % w.x.kernel * w.x.dilation * job.band.pitch + t % w.ins;
    }
    const int64_t tasks = job.parts * w.groups * job.blocks;
    const int64_t work = w.batch * w.y.out * w.x.out * count;
    if (!try_parallel(job.context, tasks, work >= serial_work,
                      [&](int64_t begin, int64_t end) {
                          return run_nhwc_weight_tasks<T>(job, begin, end);
                      }))
        return false;
    const int64_t turn = w.taps() == 1 ? vec<T>::lanes : 1;
    parallel_range(job.context, w.groups * w.ins, turn, job.parts * count > serial_work,
                   [&](int64_t begin, int64_t end) {
                       const Phase phase(job.context, AC_PHASE_EPILOGUE);
                       put_last_weights(job, begin, end);
                   });
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
