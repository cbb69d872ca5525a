// SPDX-License-Identifier: MIT
//
// A recurrent layer forward. A thread holds [x | h] of its rows side by side, so that a
// step is one product with both weights, packed one below the other: the sums of the
// input's part, [T, B, gates * H], never go to memory. Written by a product of their
// own and read again they would be 15 MB for 28 steps of 128 rows and 4 gates of 128.
#pragma once

#include "recurrent.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Neighbouring blocks of sums with the same factors: of the input, of the state, or
// both.
struct SumBlocks {
    int first, count;
    bool of_x, of_h;
};

template <class T>
struct LayerWeights {
    Sequence<T> w_ih, w_hh, b_ih, b_hh;  // vectors have one row
};

// Cell: `gates` blocks of weights, `blocks` of sums (a block beyond the gates has the
// weights of the last one), `runs` that cover them, `has_cell`, and advance_row().
template <class T, class Cell>
struct Forward {
    static constexpr int run_count = sizeof(Cell::runs) / sizeof(Cell::runs[0]);
    Layer layer;
    Sequence<T> x, h0, c0;
    LayerWeights<T> weights;
    Cell cell;
    int64_t width;  // H in whole registers
    T* packed[run_count];
    T* bias;  // [blocks][width]

    [[nodiscard]] AC_INLINE int64_t sums() const { return Cell::blocks * width; }
    [[nodiscard]] AC_INLINE int64_t line() const { return layer.features + width; }
    [[nodiscard]] AC_INLINE int64_t row_elements() const {
        return sums() + line() + (Cell::has_cell ? width : 0);
    }
    [[nodiscard]] AC_INLINE int64_t depth(const SumBlocks& run) const {
        return (run.of_x ? layer.features : 0) + (run.of_h ? layer.hidden : 0);
    }
    void lay_out(Arena<T>& arena) {
        for (int i = 0; i < run_count; ++i)
            packed[i] = arena.take(depth(Cell::runs[i]) * Cell::runs[i].count * width);
        bias = arena.take(sums());
    }
};

// ---- weights

// `columns` rows of w as a register's columns of a right side, whose rows are `step`
// apart.
template <class T>
void pack_register(const Sequence<T>& w, int64_t row, int64_t columns, T* out,
                   int64_t step) {
    constexpr int64_t lanes = vec<T>::lanes;
    const T* from = w.at(0, row);
    if (w.column == 1) {
        for (int64_t k = 0; k < w.width; k += lanes)
            pack_square(smaller(lanes, w.width - k), columns, from + k, w.row,
                        out + k * step, step);
        return;
    }
    for (int64_t k = 0; k < w.width; ++k) {
        for (int64_t j = 0; j < lanes; ++j)
            out[k * step + j] = j < columns ? from[j * w.row + k * w.column] : T(0);
    }
}

// Register `index` of all sums: its columns of the weights, and its biases.
template <class T, class Cell>
void take_register(const Forward<T, Cell>& job, int64_t index) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Layer& layer = job.layer;
    const int64_t block = index * lanes / job.width;
    const int64_t unit = index * lanes % job.width;
    const int64_t columns = smaller(lanes, layer.hidden - unit);
    const int64_t row = smaller<int64_t>(block, Cell::gates - 1) * layer.hidden + unit;
    int i = 0;
    while (Cell::runs[i].first + Cell::runs[i].count <= block) ++i;
    const SumBlocks& run = Cell::runs[i];
    const int64_t depth = job.depth(run);
    const int64_t column = index * lanes - run.first * job.width;
    const Panels<T> panels(run.count * job.width, tile_vectors);
    int64_t p = 0;
    while (panels.at(p).begin + panels.at(p).width <= column) ++p;
    const Panel panel = panels.at(p);
    T* out = job.packed[i] + panel.begin * depth + column - panel.begin;
    const LayerWeights<T>& weights = job.weights;
    if (run.of_x) {
        pack_register(weights.w_ih, row, columns, out, panel.width);
        out += layer.features * panel.width;
    }
    if (run.of_h) pack_register(weights.w_hh, row, columns, out, panel.width);
    for (int64_t j = 0; j < lanes; ++j) {
        T sum = 0;
        const int64_t at = row + j;
        if (j < columns && run.of_x && weights.b_ih.data != nullptr)
            sum += weights.b_ih.data[at * weights.b_ih.column];
        if (j < columns && run.of_h && weights.b_hh.data != nullptr)
            sum += weights.b_hh.data[at * weights.b_hh.column];
        job.bias[index * lanes + j] = sum;
    }
}

// ---- steps

template <class T, class Cell>
struct ForwardBench {
    const Forward<T, Cell>* job;
    int64_t rows;
    T* line;   // [rows][features + width]: x and h
    T* sums;   // [rows][blocks * width]
    T* cells;  // [rows][width]
    ForwardBench(const Forward<T, Cell>& forward, int64_t most)
        : job(&forward), rows(most), line(nullptr), sums(nullptr), cells(nullptr) {}
    void lay_out(Arena<T>& arena) {
        line = arena.take(rows * job->line());
        sums = arena.take(rows * job->sums());
        if (Cell::has_cell) cells = arena.take(rows * job->width);
    }
};

template <class T, class Cell>
void begin_rows(const ForwardBench<T, Cell>& w, int64_t b0, int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    for (int64_t r = 0; r < rows; ++r) {
        T* h = w.line + r * job.line() + job.layer.features;
        clear(h, job.width);
        job.h0.copy_row(0, b0 + r, h);
        if (!Cell::has_cell) continue;
        clear(w.cells + r * job.width, job.width);
        job.c0.copy_row(0, b0 + r, w.cells + r * job.width);
    }
}

template <class T, class Cell>
void multiply_sums(const ForwardBench<T, Cell>& w, int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    for (int i = 0; i < job.run_count; ++i) {
        const SumBlocks& run = Cell::runs[i];
        const int64_t depth = job.depth(run);
        const T* left = w.line + (run.of_x ? 0 : job.layer.features);
        T* sums = w.sums + run.first * job.width;
        const PackedProduct<T> product = {rows,
                                          run.count * job.width,
                                          depth,
                                          {left, job.line(), 1},
                                          {job.packed[i], depth, 0},
                                          {sums, job.sums()},
                                          T(1),
                                          T(0)};
        multiply_step(product);
    }
}

template <class T, class Cell>
void run_rows(const ForwardBench<T, Cell>& w, int64_t b0, int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    const Layer& layer = job.layer;
    begin_rows(w, b0, rows);
    for (int64_t i = 0; i < layer.steps; ++i) {
        const int64_t t = layer.at(i);
        for (int64_t r = 0; r < rows; ++r)
            job.x.copy_row(t, b0 + r, w.line + r * job.line());
        multiply_sums(w, rows);
        for (int64_t r = 0; r < rows; ++r)
            job.cell.advance_row(job, t * layer.batch + b0 + r, w.sums + r * job.sums(),
                                 w.line + r * job.line() + layer.features,
                                 w.cells + r * job.width);
    }
    if constexpr (Cell::has_cell) {
        for (int64_t r = 0; r < rows; ++r)
            memcpy(job.cell.c_n + (b0 + r) * layer.hidden, w.cells + r * job.width,
                   static_cast<size_t>(bytes_of<T>(layer.hidden)));
    }
}

// job has all but its memory.
template <class T, class Cell>
bool run_forward(Forward<T, Cell>& job, ac_context* context) {
    job.width = padded<T>(job.layer.hidden);
    if (job.layer.batch == 0 || job.layer.hidden == 0) return true;
    if (!take_memory<T>(job, context, slot_shared_arrays)) return false;
    const bool worthwhile = job.layer.work() * Cell::gates >= serial_work;
    if (job.layer.steps > 0) {
        parallel(context, job.sums() / vec<T>::lanes, worthwhile,
                 [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) take_register(job, i);
                 });
    }
    const Units units(job.layer.batch);
    return for_units<T, ForwardBench<T, Cell>>(
        job, units, units_together<T>(job.row_elements()), worthwhile, context,
        [&](const ForwardBench<T, Cell>& w, int64_t first, int64_t last) {
            const int64_t b0 = units.rows.at(first);
            run_rows(w, b0, units.rows.at(last) - b0);
        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
