// SPDX-License-Identifier: MIT
//
// A recurrent layer forward. A thread holds [x | h] of its rows side by side, so that a
// step is one product with both weights, packed one below the other: the sums of the
// input's part, [T, B, gates * H], never go to memory. Written by a product of their
// own and read again they would be 15 MB for 28 steps of 128 rows and 4 gates of 128.
//
// Few rows do not pay for both weights' way from the caches at every step: the input's
// part of many steps is one product, and a step reads the state's weights alone.
#pragma once

#include "recurrent/recurrent.hpp"

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
    bool few;       // rows: packing the weights would take as long as the products
    int64_t ahead;  // steps whose inputs are multiplied together; 1: with the states
    ac_context* context;
    T* packed[run_count];
    T* bias;  // [blocks][width]

    [[nodiscard]] AC_INLINE int64_t sums() const { return Cell::blocks * width; }
    [[nodiscard]] AC_INLINE int64_t line() const { return layer.features + width; }
    [[nodiscard]] AC_INLINE int64_t row_elements() const {
        return sums() + line() + (Cell::has_cell ? width : 0);
    }
    // Of the inputs that are ready: none where each step takes its own.
    [[nodiscard]] AC_INLINE int64_t inputs_ahead() const {
        return ahead > 1 ? ahead * layer.features : 0;
    }
    [[nodiscard]] AC_INLINE int64_t depth(const SumBlocks& run) const {
        return (run.of_x ? layer.features : 0) + (run.of_h ? layer.hidden : 0);
    }
    void lay_out(Arena<T>& arena) {
        for (int i = 0; i < run_count && !few; ++i)
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

// A register of all sums: the run of blocks that it belongs to, and its rows of
// weights.
struct Register {
    int run;
    int64_t row, columns;
};
template <class T, class Cell>
AC_INLINE Register register_at(const Forward<T, Cell>& job, int64_t index) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t hidden = job.layer.hidden;
    const int64_t block = index * lanes / job.width;
    const int64_t unit = index * lanes % job.width;
    Register at = {0, smaller<int64_t>(block, Cell::gates - 1) * hidden + unit,
                   smaller(lanes, hidden - unit)};
    while (Cell::runs[at.run].first + Cell::runs[at.run].count <= block) ++at.run;
    return at;
}

template <class T, class Cell>
void pack_weights(const Forward<T, Cell>& job, int64_t index) {
    const Register at = register_at(job, index);
    const SumBlocks& run = Cell::runs[at.run];
    const int64_t depth = job.depth(run);
    const int64_t column = index * vec<T>::lanes - run.first * job.width;
    const Panels<T> panels(run.count * job.width, tile_vectors);
    int64_t p = 0;
    while (panels.at(p).begin + panels.at(p).width <= column) ++p;
    const Panel panel = panels.at(p);
    T* out = job.packed[at.run] + panel.begin * depth + column - panel.begin;
    if (run.of_x) {
        pack_register(job.weights.w_ih, at.row, at.columns, out, panel.width);
        out += job.layer.features * panel.width;
    }
    if (run.of_h) pack_register(job.weights.w_hh, at.row, at.columns, out, panel.width);
}

template <class T, class Cell>
void take_biases(const Forward<T, Cell>& job) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Sequence<T>&b_ih = job.weights.b_ih, &b_hh = job.weights.b_hh;
    for (int64_t index = 0; index < job.sums() / lanes; ++index) {
        const Register at = register_at(job, index);
        T* to = job.bias + index * lanes;
        for (int64_t j = 0; j < lanes; ++j) {
            const int64_t row = at.row + j;
            to[j] = 0;
            if (j >= at.columns) continue;
            if (Cell::runs[at.run].of_x && b_ih.data != nullptr)
                to[j] += b_ih.data[row * b_ih.column];
            if (Cell::runs[at.run].of_h && b_hh.data != nullptr)
                to[j] += b_hh.data[row * b_hh.column];
        }
    }
}

// ---- steps

template <class T, class Cell>
struct ForwardWorkspace {
    const Forward<T, Cell>* job;
    int64_t rows;
    T* line;    // [rows][features + width]: x and h
    T* inputs;  // [steps][rows][features], of the steps ahead
    T* sums;    // [steps][rows][blocks * width]
    T* cells;   // [rows][width]
    ForwardWorkspace(const Forward<T, Cell>& forward, int64_t most)
        : job(&forward),
          rows(most),
          line(nullptr),
          inputs(nullptr),
          sums(nullptr),
          cells(nullptr) {}
    void lay_out(Arena<T>& arena) {
        line = arena.take(rows * job->line());
        inputs = arena.take(rows * job->inputs_ahead());
        sums = arena.take(rows * job->ahead * job->sums());
        if (Cell::has_cell) cells = arena.take(rows * job->width);
    }
};

template <class T, class Cell>
void begin_rows(const ForwardWorkspace<T, Cell>& w, int64_t b0, int64_t rows) {
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

// The sums of `rows` lines, `step` apart, of inputs, states, or [x | h]; those of
// states alone are added to the inputs' sums.
template <bool inputs, bool states, class T, class Cell>
void multiply_sums(const Forward<T, Cell>& job, int64_t rows, const T* line,
                   int64_t step, T* sums) {
    for (int i = 0; i < job.run_count; ++i) {
        const SumBlocks& run = Cell::runs[i];
        const bool of_x = run.of_x && inputs, of_h = run.of_h && states;
        if (!of_x && !of_h) continue;
        const bool added = run.of_x && !of_x;
        const PackedGemm<T> product = {
            rows,
            run.count * job.width,
            (of_x ? job.layer.features : 0) + (of_h ? job.layer.hidden : 0),
            {line + (inputs && !of_x ? job.layer.features : 0), step, 1},
            {job.packed[i], job.depth(run), added ? job.layer.features : 0},
            {sums + run.first * job.width, job.sums()},
            T(1),
            added ? T(1) : T(0)};
        multiply_step(product);
    }
}

// The inputs' part of the sums of the steps that go together, from the i-th on.
template <class T, class Cell>
void multiply_ahead(const ForwardWorkspace<T, Cell>& w, int64_t i, int64_t b0,
                    int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    const int64_t features = job.layer.features;
    const int64_t steps = smaller(job.ahead, job.layer.steps - i);
    for (int64_t s = 0; s < steps; ++s) {
        for (int64_t r = 0; r < rows; ++r)
            job.x.copy_row(job.layer.at(i + s), b0 + r,
                           w.inputs + (s * rows + r) * features);
    }
    multiply_sums<true, false>(job, steps * rows, w.inputs, features, w.sums);
}

// The sums of the i-th step, of packed weights.
template <class T, class Cell>
T* multiply_packed_step(const ForwardWorkspace<T, Cell>& w, int64_t i, int64_t b0,
                        int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    if (job.ahead == 1) {
        for (int64_t r = 0; r < rows; ++r)
            job.x.copy_row(job.layer.at(i), b0 + r, w.line + r * job.line());
        multiply_sums<true, true>(job, rows, w.line, job.line(), w.sums);
        return w.sums;
    }
    const int64_t within = i % job.ahead;
    if (within == 0) multiply_ahead(w, i, b0, rows);
    T* sums = w.sums + within * rows * job.sums();
    multiply_sums<false, true>(job, rows, w.line + job.layer.features, job.line(),
                               sums);
    return sums;
}

// Some blocks of sums, with one of the weights as it is in memory.
template <class T, class Cell>
bool multiply_blocks(const ForwardWorkspace<T, Cell>& w, const SumBlocks& run,
                     const Sequence<T>& weights, const T* left, int64_t rows, T beta) {
    const Forward<T, Cell>& job = *w.job;
    const int64_t hidden = job.layer.hidden;
    Gemm<T> p = {};
    p.m = rows;
    p.n = hidden;
    p.k = weights.width;
    p.a = left;
    p.a_row = job.line();
    p.a_col = 1;
    p.b = weights.at(0, smaller(run.first, Cell::gates - 1) * hidden);
    p.b_row = weights.column;
    p.b_col = weights.row;
    p.c = w.sums + run.first * job.width;
    p.c_row = job.sums();
    p.alpha = 1;
    p.beta = beta;
    p.activation = Activation::none;
    p.batch_dims = 1;
    p.batch[0] = run.count;
    p.b_step[0] = hidden * weights.row;
    p.c_step[0] = job.width;
    return multiply(p, job.context);
}

template <class T, class Cell>
bool multiply_few(const ForwardWorkspace<T, Cell>& w, int64_t t, int64_t b0,
                  int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    for (int64_t r = 0; r < rows; ++r)
        job.x.copy_row(t, b0 + r, w.line + r * job.line());
    for (const SumBlocks& run : Cell::runs) {
        bool done = true;
        if (run.of_x)
            done = multiply_blocks(w, run, job.weights.w_ih, w.line, rows, T(0));
        if (done && run.of_h)
            done =
                multiply_blocks(w, run, job.weights.w_hh, w.line + job.layer.features,
                                rows, run.of_x ? T(1) : T(0));
        if (!done) return false;
    }
    return true;
}

// False without memory.
template <class T, class Cell>
bool run_rows(const ForwardWorkspace<T, Cell>& w, int64_t b0, int64_t rows) {
    const Forward<T, Cell>& job = *w.job;
    const Layer& layer = job.layer;
    // Products of few rows wait for each other, and tell their phases themselves.
    const ac_phase products = job.few ? AC_PHASE_NONE : AC_PHASE_COMPUTE;
    const Phase phase(job.context, products);
    begin_rows(w, b0, rows);
    for (int64_t i = 0; i < layer.steps; ++i) {
        const int64_t t = layer.at(i);
        phase.next(products);
        T* sums = w.sums;
        if (!job.few) {
            sums = multiply_packed_step(w, i, b0, rows);
        } else if (!multiply_few(w, t, b0, rows)) {
            return false;
        }
        phase.next(AC_PHASE_GATES);
        for (int64_t r = 0; r < rows; ++r)
            job.cell.advance_row(job, t * layer.batch + b0 + r, sums + r * job.sums(),
                                 w.line + r * job.line() + layer.features,
                                 w.cells + r * job.width);
    }
    if constexpr (Cell::has_cell) {
        for (int64_t r = 0; r < rows; ++r)
            memcpy(job.cell.c_n + (b0 + r) * layer.hidden, w.cells + r * job.width,
                   static_cast<size_t>(bytes_of<T>(layer.hidden)));
    }
    return true;
}

// A text is written with one row and one step a call: two layers of 512 features take
// 4.9 ms a character where the weights are packed for it, and 2.2 ms with this path.
constexpr int64_t few_rows = 16;

// Steps whose inputs are multiplied together, of so many rows in all. From 4 rows on a
// tile is full enough: 0.97 to 1.01 times as fast, where one row is 1.3 times.
constexpr int64_t ahead_rows = 48, ahead_batch = 2;
AC_INLINE int64_t inputs_together(const Layer& layer) {
    if (layer.batch > ahead_batch) return 1;
    return larger<int64_t>(1, smaller(layer.steps, ahead_rows / layer.batch));
}

// job has all but its memory.
template <class T, class Cell>
bool run_forward(Forward<T, Cell>& job, ac_context* context) {
    bool whole = true;
    const Layer& layer = job.layer;
    job.width = padded<T>(layer.hidden);
    job.few = layer.steps * layer.batch <= few_rows;
    job.context = context;
    if (layer.batch == 0 || layer.hidden == 0) return true;
    job.ahead = job.few ? 1 : inputs_together(layer);
    if (!take_memory<T>(job, context, slot_shared_arrays)) return false;
    take_biases(job);
    // Products of few rows are shared out one by one: one thread is here, and `whole`
    // is its own.
    const bool worthwhile = !job.few && layer.work() * Cell::gates >= serial_work;
    if (!job.few) {
        parallel(context, job.sums() / vec<T>::lanes, worthwhile,
                 [&](int64_t begin, int64_t end) {
                     const Phase phase(context, AC_PHASE_PACK);
                     for (int64_t i = begin; i < end; ++i) pack_weights(job, i);
                 });
    }
    const Units units(layer.batch);
    const int64_t together =
        job.few ? units.count : units_together<T>(job.row_elements());
    const bool ran = for_units<T, ForwardWorkspace<T, Cell>>(
        job, units, together, worthwhile, context,
        [&](const ForwardWorkspace<T, Cell>& w, int64_t first, int64_t last) {
            const int64_t b0 = units.rows.at(first);
            if (!run_rows(w, b0, units.rows.at(last) - b0)) whole = false;
        });
    return ran && whole;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
