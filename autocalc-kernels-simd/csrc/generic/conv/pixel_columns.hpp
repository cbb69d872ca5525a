// SPDX-License-Identifier: MIT
//
// Windows of one element in planes: the windows of all images are the columns of one
// product with the filters. Columns are packed from the image itself, so that what a
// stride leaves out costs nothing, and a block of them goes through all filters while
// it is in L2: images of 49 pixels fill registers as large ones do, and filters that
// have to be packed, as those of the input gradient, are packed once for all images.
#pragma once

#include "conv/call.hpp"
#include "conv/pixel_rows.hpp"
#include "conv/window_lines.hpp"
#include "gemm/blocks.hpp"
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { columns_slot = 2, columns_runs_slot = 3, columns_filters_slot = 4 };
constexpr int64_t columns_most = 512;  // of a block
// Channels of a block, and of one where columns are few: without a second block no sum
// goes to memory and back.
constexpr int64_t columns_depth = 1024, columns_depth_of_few = 2048;
constexpr int64_t columns_few = 512;
// Images of more pixels at stride 1 have a product each, which packs rows alone.
constexpr int64_t columns_pixels = 512;
// Sums of fewer channels, put apart into more memory than caches hold, cost more than
// whole lines do that go by way of [pixel][channel].
constexpr int64_t columns_apart_depth = 256;
constexpr int64_t columns_apart_bytes = int64_t{16} << 20;

template <class T>
struct ColumnsJob {
    ConvCall<T> call;
    int64_t rows, depth, columns;  // of the product
    WindowLines from, to;
    int64_t k_blocks;
    int64_t panel, units, blocks;  // registers of a tile, of all columns; blocks
    int64_t tile, group, groups;   // rows of a tile, tiles packed together, their count
    int64_t group_width;
    int64_t parts;     // of the rows, each a task
    const T* filters;  // packed, [block of channels][group], or null
    uint64_t number;

    [[nodiscard]] AC_INLINE Cuts depths() const { return {depth, k_blocks}; }
    [[nodiscard]] AC_INLINE RowTiles tiles() const { return {0, rows, tile}; }
    [[nodiscard]] AC_INLINE int64_t begin_of(int64_t block) const {
        return Shares(units, blocks).at(block) * vec<T>::lanes;
    }
    [[nodiscard]] AC_INLINE int64_t most_columns() const {
        return ceil_div(units, blocks) * vec<T>::lanes;
    }
    // Packed filters of a block of channels begin here.
    [[nodiscard]] AC_INLINE int64_t filters_at(int64_t k_block) const {
        return k_block * groups * group_size<T>(group_width, depths().size(0));
    }
};

// ---- filters

// Chunks of groups, counted through the blocks of channels.
template <class T>
void pack_filters(const ColumnsJob<T>& job, int64_t begin, int64_t end, T* out) {
    const RowTiles rows = job.tiles();
    const int64_t chunks = ceil_div(job.groups, groups_at_once);
    const Cuts depths = job.depths();
    for (int64_t t = begin; t < end; ++t) {
        const int64_t kb = t / chunks, first = t % chunks * groups_at_once;
        int64_t starts[groups_at_once + 1];
        int64_t count = 0;
        starts[0] = rows.start(first * job.group);
        for (int64_t g = first; g < job.groups && count < groups_at_once; ++g)
            starts[++count] = rows.start(smaller(rows.tiles, (g + 1) * job.group));
        const int64_t size = group_size<T>(job.group_width, depths.size(kb));
        pack_groups(starts, count, job.group_width, depths.size(kb),
                    job.call.weight.data + depths.at(kb) * job.call.in_step(),
                    job.call.in_step(), out + job.filters_at(kb) + first * size);
    }
}

// ---- a block of columns

// A panel's way to the results: where it begins, or the runs that it is made of. Two
// images of 7 x 7 are 98 columns; a panel of 64 has the 49 of the first image and 15 of
// the second, two runs, and goes through a buffer. Within one image it is in line, and
// the tile writes its results itself.
struct ColumnPanel {
    Panel panel;
    bool in_line;
    int64_t place;
    const WindowRun* runs;
    int64_t count;
};

template <class T>
struct ColumnBlock {
    int64_t begin;
    Panels<T> panels;
    ColumnPanel panel[columns_most / vec<T>::lanes];
    WindowRun* spare;  // after the panels' runs
};

template <class T>
ColumnBlock<T> open_block(const ColumnsJob<T>& job, int64_t index, WindowRun* runs) {
    const int64_t begin = job.begin_of(index);
    ColumnBlock<T> block = {
        begin,
        Panels<T>(smaller(job.columns, job.begin_of(index + 1)) - begin, job.panel),
        {},
        runs};
    for (int64_t p = 0; p < block.panels.count; ++p) {
        ColumnPanel& to = block.panel[p];
        to.panel = block.panels.at(p);
        const int64_t at = begin + to.panel.begin, columns = to.panel.columns;
        to.in_line = job.call.bias == nullptr && job.to.are_neighbours(at, columns);
        to.place = job.to.place(at);
        to.runs = block.spare;
        to.count =
            to.in_line ? 0 : find_runs<T>(job.to, at, columns, columns, block.spare);
        block.spare += to.count;
    }
    return block;
}

// What a thread has packed: a run of tasks comes in pieces, and the next one may be of
// the same columns.
struct KeptColumns {
    uint64_t number;
    int64_t block, k_block;
    void* packed;
};
thread_local KeptColumns kept_columns = {0, -1, -1, nullptr};

template <class T>
void pack_columns_of(const ColumnsJob<T>& job, const ColumnBlock<T>& block,
                     int64_t index, int64_t kb, T* packed) {
    if (kept_columns.block == index && kept_columns.k_block == kb) return;
    const Phase phase(job.call.context, AC_PHASE_PACK);
    const Cuts depths = job.depths();
    const int64_t channel = job.call.from.channel, k = depths.size(kb);
    for (int64_t p = 0; p < block.panels.count; ++p) {
        const Panel panel = block.panel[p].panel;
        const int64_t found = find_runs<T>(job.from, block.begin + panel.begin,
                                           panel.columns, panel.width, block.spare);
        pack_runs(job.from.step, block.spare, found,
                  job.call.from.data + depths.at(kb) * channel, channel, k, panel.width,
                  packed + panel.begin * k);
    }
    kept_columns.block = index;
    kept_columns.k_block = kb;
}

// ---- tiles

template <class T>
void point_to_filters(const ColumnsJob<T>& job, const RowTiles& rows, int64_t i,
                      int64_t kb, Tile<T>& tile) {
    const ConvCall<T>& c = job.call;
    const int64_t row = rows.start(i);
    tile.next = nullptr;
    if (job.filters == nullptr) {
        tile.a_row = c.out_step();
        tile.a_col = 1;
        const T* a = c.weight.data + job.depths().at(kb);
        tile.a = a + row * tile.a_row;
        tile.next_row = tile.a_row;
        if (i + 1 < rows.tiles) tile.next = a + rows.start(i + 1) * tile.a_row;
        return;
    }
    const int64_t group = i / job.group;
    tile.a_row = 1;
    tile.a_col = job.group_width;
    tile.a = job.filters + job.filters_at(kb) +
             group * group_size<T>(job.group_width, tile.k) + row -
             rows.start(group * job.group);
}

// Rows of sums, to the channels from `row` on.
template <class T>
void put_sums(const ColumnsJob<T>& job, const ColumnPanel& to, int64_t row,
              int64_t height, bool first, const T* sums) {
    const ConvCall<T>& c = job.call;
    const bool has_bias = first && c.bias != nullptr;
    for (int64_t r = row; r < row + height; ++r, sums += to.panel.width) {
        const T start = has_bias ? data<T>(c.bias)[r * stride_of<T>(c.bias, 0)] : T(0);
        put_runs(job.to, to.runs, to.count, sums, start, !first || c.accumulate,
                 c.to.data + r * c.to.channel, c.to.row);
    }
}

template <class T>
void multiply_row(const ColumnsJob<T>& job, const ColumnBlock<T>& block, int64_t row,
                  int64_t height, bool first, const T* packed, Tile<T>& tile) {
    constexpr int64_t lanes = vec<T>::lanes;
    // A register is read from the last column on.
    alignas(64) T sums[tile_rows[1] * tile_vectors * lanes + lanes];
    const Images<T>& to = job.call.to;
    const Order order = job.filters == nullptr ? Order::row_major : Order::column_major;
    for (int64_t p = 0; p < block.panels.count; ++p) {
        const ColumnPanel& into = block.panel[p];
        const Panel& panel = into.panel;
        tile.b = packed + panel.begin * tile.k;
        tile.b_row = panel.width;
        tile.columns = into.in_line ? panel.columns : panel.width;
        tile.beta = into.in_line && (!first || job.call.accumulate) ? T(1) : T(0);
        tile.c = into.in_line ? to.data + into.place + row * to.channel : sums;
        tile.c_row = into.in_line ? to.channel : panel.width;
        multiply_tile(tile, panel.width / lanes, order, height);
        tile.next = nullptr;
        if (!into.in_line) put_sums(job, into, row, height, first, sums);
    }
}

template <class T>
void run_columns(const ColumnsJob<T>& job, int64_t index, int64_t part0, int64_t part1,
                 WindowRun* runs, T* packed) {
    const ColumnBlock<T> block = open_block(job, index, runs);
    const RowTiles rows = job.tiles();
    const Shares down(job.groups, job.parts);
    const int64_t last = smaller(rows.tiles, down.at(part1) * job.group);
    for (int64_t kb = 0; kb < job.k_blocks; ++kb) {
        pack_columns_of(job, block, index, kb, packed);
        Tile<T> tile = {};
        tile.k = job.depths().size(kb);
        tile.alpha = 1;
        for (int64_t i = down.at(part0) * job.group; i < last; ++i) {
            point_to_filters(job, rows, i, kb, tile);
            multiply_row(job, block, rows.start(i), rows.start(i + 1) - rows.start(i),
                         kb == 0, packed, tile);
        }
    }
}

// Tasks count parts of the rows fastest: those of the same columns are one.
template <class T>
bool run_columns_tasks(const ColumnsJob<T>& job, int64_t begin, int64_t end) {
    const int64_t columns = job.most_columns();
    if (kept_columns.number != job.number) {
        kept_columns = {job.number, -1, -1,
                        scratch_of<T>(job.call.context, columns_slot,
                                      columns * job.depths().size(0))};
    }
    // Those of the results, and of a panel that is packed.
    WindowRun* runs = scratch_of<WindowRun>(
        job.call.context, columns_runs_slot,
        most_runs(columns, columns / vec<T>::lanes) + most_runs(columns, 1));
    T* packed = static_cast<T*>(kept_columns.packed);
    if (packed == nullptr || runs == nullptr) return false;
    const Phase phase(job.call.context, AC_PHASE_COMPUTE);
    while (begin < end) {
        const int64_t part = begin % job.parts;
        const int64_t part_end = smaller(job.parts, part + end - begin);
        run_columns(job, begin / job.parts, part, part_end, runs, packed);
        begin += part_end - part;
    }
    return true;
}

// ---- the product

// As gemm/plan.hpp cuts its products.
template <class T>
void cut_columns(ColumnsJob<T>& job) {
    constexpr int64_t lanes = vec<T>::lanes;
    const bool packs = job.call.in_step() != 1;
    job.k_blocks = ceil_div(
        job.depth, job.columns <= columns_few ? columns_depth_of_few : columns_depth);
    job.units = ceil_div(job.columns, lanes);
    job.panel = smaller<int64_t>(tile_vectors, job.units);
    const int64_t fits =
        l2_bytes() * 11 / 20 / bytes_of<T>(job.depths().size(0) * lanes);
    job.blocks = ceil_div(
        job.units, smaller<int64_t>(larger(job.panel, fits), columns_most / lanes));
    if (packs) job.panel = group_panel<T>(ceil_div(job.units, job.blocks), job.panel);
    job.tile = tile_rows[job.panel];
    if (!packs && bytes_of<T>(job.call.out_step()) % bad_stride_bytes == 0)
        job.tile = smaller(job.tile, bad_stride_rows);
    job.group = packs ? larger<int64_t>(1, lanes / job.tile) : 1;
    job.group_width = job.group == 1 ? job.tile : round_up(job.group * job.tile, lanes);
    job.groups = ceil_div(job.tiles().tiles, job.group);
    const int64_t work = job.rows * job.columns * job.depth;
    int64_t wanted = 2;
    while (wanted < task_target && wanted * task_work < work) wanted *= 2;
    job.parts = smaller(job.groups, ceil_div(wanted, job.blocks));
}

template <class T>
ColumnsJob<T> columns_job(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    ColumnsJob<T> job = {};
    job.call = call;
    job.rows = call.outs();
    job.depth = call.ins();
    job.columns = w.batch * w.y.out * w.x.out;
    job.from = call.turned ? lines_made(w, call.from) : lines_read(w, call.from);
    job.to = call.turned ? lines_read(w, call.to) : lines_made(w, call.to);
    job.number = next_number();
    cut_columns(job);
    return job;
}

template <class T>
bool conv_by_columns(const ConvCall<T>& call) {
    ColumnsJob<T> job = columns_job(call);
    const int64_t work = job.rows * job.columns * job.depth;
    if (call.in_step() != 1) {
        T* filters = scratch_of<T>(call.context, columns_filters_slot,
                                   job.filters_at(job.k_blocks));
        if (filters == nullptr) return false;
        const int64_t chunks = job.k_blocks * ceil_div(job.groups, groups_at_once);
        parallel(call.context, chunks, job.rows * job.depth > serial_work,
                 [&](int64_t begin, int64_t end) {
                     const Phase phase(call.context, AC_PHASE_PACK);
                     pack_filters(job, begin, end, filters);
                 });
        job.filters = filters;
    }
    return try_parallel(
        call.context, job.blocks * job.parts, work >= gemm_serial_work,
        [&](int64_t begin, int64_t end) { return run_columns_tasks(job, begin, end); });
}

template <class T>
AC_INLINE bool are_far_apart(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    return call.turned && (w.x.stride > 1 || w.y.stride > 1) &&
           w.y.out * w.x.out >= columns_pixels && w.outs < columns_apart_depth &&
           bytes_of<T>(w.batch * w.ins * w.y.in * w.x.in) > columns_apart_bytes;
}

// Whether the pixels of a line and the filters have the needed layout.
template <class T>
AC_INLINE bool fits_columns(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    return is_one_element(w) && !are_far_apart(call) && reach_all(w) &&
           call.ins() > 0 && w.batch * w.y.out * w.x.out > 0 && call.from.column == 1 &&
           call.to.column == 1 && (call.in_step() == 1 || call.out_step() == 1);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
