// SPDX-License-Identifier: MIT
//
// The loop that conv and conv_dx share: a task copies its part of the input to planes,
// and every pass sums the taps of its results from them, a tile at a time.
#pragma once

#include "conv/depthwise.hpp"
#include "conv/register_tile.hpp"
#include "conv/windows.hpp"
#include "gemm/pack.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t enough_tasks = 16;
constexpr int64_t fewest_rows = 16;  // channels of a task, where tasks are few

enum { slot_planes = 0, slot_weights = 1, slot_distances = 2, slot_passes = 3 };

// Results in rows [row_begin, row_end) and columns [column_begin, column_end) of the
// planes go to out[row_to + row_step * row][column_to + column_step * column].
template <class T>
struct Pass {
    int64_t taps;  // all of them: of every channel
    const int64_t* distances;
    const T* weights;  // of group 0
    int64_t row_begin, row_end, column_begin, column_end;
    int64_t row_to, row_step, column_to, column_step;
};

template <class T>
struct ConvJob {
    Windows windows;
    Axis from_y, from_x;  // of what is read: bounds, and phases if there are any
    Images<const T> from;
    Images<T> to;
    int64_t ins, outs;  // channels of a group that are read and written
    Planes planes;      // `top` is that of row 0
    const Pass<T>* passes;
    int64_t pass_count;
    int64_t rows;  // of all passes: 0 to rows
    int64_t band;  // rows of a task
    int64_t bands, blocks;
    int64_t vectors, height;  // of a tile, at most
    bool by_lines;            // no tile goes on from one line of results to the next
    int64_t group_weights;
    int64_t square;  // depthwise with code of its own: rows and columns of taps, or 0
    bool turned;     // the last tap reads the first element
    const T* start;  // of every output channel: the bias
    bool accumulate;
    ac_context* context;
};

// ---- results

template <class T>
AC_INLINE void put(T* to, int64_t step, const T* from, int64_t count, bool add) {
    if (step != 1) {
        for (int64_t i = 0; i < count; ++i)
            to[i * step] = add ? to[i * step] + from[i] : from[i];
        return;
    }
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < count; i += lanes) {
        const int64_t n = smaller<int64_t>(lanes, count - i);
        vec<T> x = load(from + i);
        if (add) x = x + load_last(to + i, n);
        store_last(to + i, x, n);
    }
}

// A tile's sums, without the gaps between the rows of the output. `at` counts from the
// first column of row `row`. A tile goes on over the planes' zeros: of 32 columns in
// planes of 16 columns, 14 of which are results, 14, 2, 14 and 2 are stored, skipped,
// stored and skipped.
template <class T>
void put_tile(const ConvJob<T>& job, const Pass<T>& pass, T* to, int64_t row,
              int64_t at, const T* sums, int64_t height, int64_t width,
              int64_t columns) {
    row += at / job.planes.width;
    int64_t column = at % job.planes.width;
    for (int64_t i = 0; i < columns;) {
        if (column < pass.column_begin) {  // a panel may begin there
            i += pass.column_begin - column;
            column = pass.column_begin;
            continue;
        }
        if (column >= pass.column_end) {
            i += job.planes.width - column + pass.column_begin;
            column = pass.column_begin;
            ++row;
            continue;
        }
        const int64_t n = smaller(columns - i, pass.column_end - column);
        T* line = to + (pass.row_to + pass.row_step * row) * job.to.row +
                  (pass.column_to + pass.column_step * column) * job.to.column;
        for (int64_t r = 0; r < height; ++r) {
            put(line + r * job.to.channel, pass.column_step * job.to.column,
                sums + r * width + i, n, job.accumulate);
        }
        i += n;
        column += n;
    }
}

// ---- tasks

struct Task {
    int64_t image, group, block, band;
};

template <class T>
void run_square(const ConvJob<T>& job, const Pass<T>& pass, const Task& task,
                const T* first, int64_t begin, int64_t end) {
    T taps[depthwise_most * depthwise_most];
    const T* weights = pass.weights + task.group * job.group_weights;
    for (int64_t k = 0; k < pass.taps; ++k)
        taps[job.turned ? pass.taps - 1 - k : k] = weights[k];
    T* to = job.to.data + task.image * job.to.image + task.group * job.to.channel;
    run_depthwise<T>(
        job.square,
        {first, job.planes.width, taps, job.start[task.group],
         to + (pass.row_to + begin) * job.to.row + pass.column_to + pass.column_begin,
         job.to.row, end - begin, pass.column_end - pass.column_begin, job.accumulate});
}

// What a pass computes in a task, and where: tiles of rows for one panel of places.
template <class T>
struct PassTask {
    const ConvJob<T>* job;
    const Pass<T>* pass;
    const Task* task;
    T* to;  // the first channel
};

template <class T>
AC_INLINE void run_panel(const PassTask<T>& at, const T* from, int64_t row,
                         int64_t column, const Panel& panel) {
    constexpr int lanes = vec<T>::lanes;
    const ConvJob<T>& job = *at.job;
    const Pass<T>& pass = *at.pass;
    const int64_t tiles = ceil_div(job.outs, job.height);
    const Cuts cuts(job.outs, tiles);
    const Shares blocks(tiles, job.blocks);
    const T* weights = pass.weights + at.task->group * job.group_weights;
    const T* start = job.start + at.task->group * job.outs;
    alignas(64) T sums[conv_rows * tile_vectors * lanes];
    const int64_t last = blocks.at(at.task->block + 1);
    for (int64_t i = blocks.at(at.task->block); i < last; ++i) {
        const int64_t channel = cuts.at(i);
        T* to = at.to + channel * job.to.channel;
        TapTile<T> tile = {pass.taps,
                           weights + channel * pass.taps,
                           from,
                           pass.distances,
                           start + channel,
                           sums,
                           panel.width,
                           panel.width,
                           false};
        if (job.by_lines) {
            tile.sums = to + (pass.row_to + pass.row_step * row) * job.to.row +
                        pass.column_to + column;
            tile.sums_row = job.to.channel;
            tile.columns = panel.columns;
            tile.add = job.accumulate;
        }
        multiply_taps(panel.width / lanes, cuts.size(i), tile);
        if (!job.by_lines) {
            put_tile(job, pass, to, row, column, sums, cuts.size(i), panel.width,
                     panel.columns);
        }
    }
}

template <class T>
void run_pass(const ConvJob<T>& job, const Pass<T>& pass, const Task& task,
              const T* planes) {
    const int64_t top = task.band * job.band;
    const int64_t begin = larger(top, pass.row_begin);
    const int64_t end = smaller(top + job.band, pass.row_end);
    const int64_t width = pass.column_end - pass.column_begin;
    if (begin >= end || width <= 0) return;
    const T* first = planes + (begin - top) * job.planes.width + pass.column_begin;
    if (job.square != 0) {
        run_square(job, pass, task, first, begin, end);
        return;
    }
    const PassTask<T> at = {&job, &pass, &task,
                            job.to.data + task.image * job.to.image +
                                task.group * job.outs * job.to.channel};
    const int64_t lines = job.by_lines ? end - begin : 1;
    const int64_t count =
        job.by_lines ? width : (end - begin - 1) * job.planes.width + width;
    const Panels<T> panels(count, job.vectors);
    for (int64_t y = 0; y < lines; ++y) {
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            run_panel(at, first + y * job.planes.width + panel.begin, begin + y,
                      pass.column_begin + panel.begin, panel);
        }
    }
}

template <class T>
bool run_conv_tasks(ConvJob<T>& job, int64_t begin, int64_t end) {
    const int64_t slack = 2 * tile_vectors * vec<T>::lanes;
    T* planes =
        scratch_of<T>(job.context, slot_planes, job.ins * job.planes.channel() + slack);
    if (planes == nullptr) return false;
    const Phase phase(job.context, AC_PHASE_PACK);
    for (int64_t t = begin; t < end; ++t) {
        Task task;
        task.band = t % job.bands;
        task.block = t / job.bands % job.blocks;
        task.group = t / job.bands / job.blocks % job.windows.groups;
        task.image = t / job.bands / job.blocks / job.windows.groups;
        Planes part = job.planes;
        part.top += task.band * job.band * part.step_y;
        Images<const T> image = job.from;
        image.data += task.image * image.image + task.group * job.ins * image.channel;
        phase.next(AC_PHASE_PACK);
        copy_planes(part, job.from_y, job.from_x, job.ins, image, planes);
        phase.next(AC_PHASE_COMPUTE);
        for (int64_t p = 0; p < job.pass_count; ++p)
            run_pass(job, job.passes[p], task, planes);
    }
    return true;
}

// Rows and columns of taps if a channel reads one, at stride 1, or 0.
template <class T>
int64_t square_of(const ConvJob<T>& job) {
    const Axis &y = job.windows.y, &x = job.windows.x;
    const bool plain = y.stride * y.dilation * x.stride * x.dilation == 1;
    const bool known = y.kernel == x.kernel && (y.kernel == 3 || y.kernel == 5);
    const bool single = job.ins == 1 && job.outs == 1 && job.to.column == 1;
    return plain && known && single ? y.kernel : 0;
}

// Whether tiles that end with a line of results, and store them where they belong, are
// faster than tiles that go on with the next line, whose results are sorted out
// afterwards. In half cycles for a register of a row: 1 for a tap, a little more in
// tiles of 2 or 3 registers, some 40 for sorting, 8 for storing.
template <class T>
bool ends_with_lines(const ConvJob<T>& job, int64_t taps, int64_t columns,
                     int64_t step) {
    constexpr int64_t lanes = vec<T>::lanes;
    constexpr double sorting = 40, storing = 8;
    const int64_t registers = ceil_div(columns, lanes);
    if (step != 1 || job.to.column != 1 || job.square != 0 || registers < 2 ||
        job.outs < conv_rows)
        return false;
    const double slower = registers == 2 ? 1.15 : 1.03;
    const auto number = [](int64_t n) { return static_cast<double>(n); };
    return number(registers * lanes) * (slower * number(taps) + storing) <
           number(job.planes.width) * (number(taps) + sorting);
}

// How many rows a task takes: its planes fit half of L2, and there are enough tasks.
template <class T>
void choose_tasks(ConvJob<T>& job, int64_t reach, int64_t taps, int64_t written,
                  int64_t step) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t images = job.windows.batch * job.windows.groups;
    const int64_t line =
        larger<int64_t>(1, bytes_of<T>(job.ins * job.planes.slots_y *
                                       job.planes.slots_x * job.planes.width));
    const int64_t fitting = larger<int64_t>(1, l2_bytes() / 2 / line - reach);
    const int64_t full = ceil_div(tile_vectors * lanes, job.planes.width);
    const int64_t enough = tasks_for(job.context, enough_tasks, 2);
    const int64_t even = ceil_div(job.rows, ceil_div(enough, images));
    job.band = smaller(smaller(job.rows, fitting), larger(full, even));
    job.bands = ceil_div(job.rows, job.band);
    job.band = ceil_div(job.rows, job.bands);
    job.planes.height = job.band + reach;
    job.by_lines = ends_with_lines(job, taps, written, step);
    const int64_t columns = job.by_lines ? written : job.band * job.planes.width;
    job.vectors = smaller<int64_t>(tile_vectors, ceil_div(columns, lanes));
    job.height = rows_for(static_cast<int>(job.vectors));
    const int64_t most = larger<int64_t>(1, job.outs / fewest_rows);
    job.blocks = smaller(most, ceil_div(enough / 2, images * job.bands));
}

template <class T>
bool run_conv(ConvJob<T>& job, int64_t taps) {
    const int64_t tasks =
        job.windows.batch * job.windows.groups * job.blocks * job.bands;
    const int64_t work = job.windows.batch * job.windows.groups * job.outs * taps *
                         job.rows * job.planes.width;
    return try_parallel(
        job.context, tasks, work >= serial_work,
        [&](int64_t begin, int64_t end) { return run_conv_tasks<T>(job, begin, end); });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
