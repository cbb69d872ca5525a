// SPDX-License-Identifier: MIT
//
// A recurrent layer backward. Each thread goes through its rows from the last step to
// the first and writes the gradients of all sums, [T, B, blocks * H]; then come the
// gradients of weights and input, each one product over all steps and rows.
#pragma once

#include "common/transpose.hpp"
#include "recurrent/recurrent.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// `count` blocks of the gradients of sums, and the block of the weights' rows that they
// belong to.
struct GradientBlocks {
    int first, weight, count;
};

// All contiguous; null where not wanted.
template <class T>
struct LayerGradients {
    T *dx, *dw_ih, *dw_hh, *db_ih, *db_hh, *dh0, *dc0;
};

// Cell: `gates`; `blocks` of gradients; `of_x` lists those of the input's sums, those
// of the state's are `gates` from `of_h` on; `carries` if its rows leave a part of the
// next dh that the product is added to; `has_cell`; and return_row().
template <class T, class Cell>
struct Backward {
    Layer layer;
    Sequence<T> x, w_ih, w_hh, out, h0, gc;
    LayerGradients<T> to;
    Cell cell;
    int64_t width;   // H in whole registers
    T* packed;       // w_hh
    T* sums;         // [units][blocks * H]: gradients of biases
    T* d = nullptr;  // [T, B, blocks * H]
    ac_context* context = nullptr;

    [[nodiscard]] AC_INLINE int64_t row_elements() const {
        return Cell::blocks * layer.hidden;
    }
    [[nodiscard]] AC_INLINE bool sums_wanted() const {
        return to.db_ih != nullptr || to.db_hh != nullptr;
    }
    void lay_out(Arena<T>& arena) {
        packed = arena.take(packed_size<T>(Cell::gates * layer.hidden, layer.hidden));
        const int64_t units = sums_wanted() ? Units(layer.batch).count : 0;
        sums = arena.take(units * row_elements());
    }
};

// ---- steps

template <class T, class Cell>
struct BackwardWorkspace {
    const Backward<T, Cell>* job;
    int64_t rows;
    T* dh;    // [rows][width]
    T* dc;    // [rows][width]
    T* room;  // of a row whose elements are apart
    BackwardWorkspace(const Backward<T, Cell>& backward, int64_t most)
        : job(&backward), rows(most), dh(nullptr), dc(nullptr), room(nullptr) {}
    void lay_out(Arena<T>& arena) {
        dh = arena.take(rows * job->width);
        if (Cell::has_cell) dc = arena.take(rows * job->width);
        room = arena.take(Cell::rooms * job->width);
    }
};

template <class T, class Cell>
void multiply_dh(const BackwardWorkspace<T, Cell>& w, const T* d, int64_t rows) {
    const Backward<T, Cell>& job = *w.job;
    const int64_t depth = Cell::gates * job.layer.hidden;
    const PackedGemm<T> product = {
        rows,
        job.layer.hidden,
        depth,
        {d + Cell::of_h * job.layer.hidden, job.row_elements(), 1},
        {job.packed, depth, 0},
        {w.dh, job.width},
        T(1),
        Cell::carries ? T(1) : T(0)};
    multiply_step(product);
}

template <class T>
AC_INLINE void copy_rows(const T* from, int64_t step, int64_t rows, int64_t width,
                         T* to) {
    for (int64_t r = 0; to != nullptr && r < rows; ++r)
        memcpy(to + r * width, from + r * step,
               static_cast<size_t>(bytes_of<T>(width)));
}

template <class T, class Cell>
void begin_rows(const BackwardWorkspace<T, Cell>& w, int64_t b0, int64_t rows) {
    const Backward<T, Cell>& job = *w.job;
    clear(w.dh, rows * job.width);
    if (!Cell::has_cell) return;
    clear(w.dc, rows * job.width);
    for (int64_t r = 0; job.gc.data != nullptr && r < rows; ++r)
        job.gc.copy_row(0, b0 + r, w.dc + r * job.width);
}

// Step number i of the rows of some units.
template <class T, class Cell>
AC_INLINE void return_step(const BackwardWorkspace<T, Cell>& w, const Units& units,
                           int64_t i, int64_t first, int64_t last, const Phase& phase) {
    const Backward<T, Cell>& job = *w.job;
    phase.next(AC_PHASE_GATES);
    const int64_t b0 = units.rows.at(first);
    T* d = job.d + (job.layer.at(i) * job.layer.batch + b0) * job.row_elements();
    for (int64_t unit = first; unit < last; ++unit) {
        T* sums = job.sums_wanted() ? job.sums + unit * job.row_elements() : nullptr;
        for (int64_t b = units.rows.at(unit); b < units.rows.at(unit + 1); ++b)
            job.cell.return_row(job.layer, i, b, w.dh + (b - b0) * job.width,
                                w.dc + (b - b0) * job.width,
                                d + (b - b0) * job.row_elements(), sums, w.room);
    }
    phase.next(AC_PHASE_COMPUTE);
    if (i > 0 || job.to.dh0 != nullptr) multiply_dh(w, d, units.rows.at(last) - b0);
}

template <class T, class Cell>
void return_units(const BackwardWorkspace<T, Cell>& w, const Units& units,
                  int64_t first, int64_t last) {
    const Backward<T, Cell>& job = *w.job;
    const Layer& layer = job.layer;
    const int64_t b0 = units.rows.at(first), rows = units.rows.at(last) - b0;
    const Phase phase(job.context, AC_PHASE_GATES);
    begin_rows(w, b0, rows);
    if (job.sums_wanted())
        clear(job.sums + first * job.row_elements(),
              (last - first) * job.row_elements());
    for (int64_t i = layer.steps - 1; i >= 0; --i)
        return_step(w, units, i, first, last, phase);
    const int64_t at = b0 * layer.hidden;
    if (job.to.dh0 != nullptr)
        copy_rows(w.dh, job.width, rows, layer.hidden, job.to.dh0 + at);
    if (job.to.dc0 != nullptr)
        copy_rows(w.dc, job.width, rows, layer.hidden, job.to.dc0 + at);
}

// ---- products over all steps

template <class T>
bool multiply_whole(int64_t m, int64_t n, int64_t k, const Strided<T>& a,
                    const Strided<T>& b, const Written<T>& c, T beta,
                    ac_context* context) {
    Gemm<T> p = {};
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = a.data;
    p.a_row = a.row;
    p.a_col = a.column;
    p.b = b.data;
    p.b_row = b.row;
    p.b_col = b.column;
    p.c = c.data;
    p.c_row = c.row;
    p.alpha = 1;
    p.beta = beta;
    p.activation = Activation::none;
    return multiply(p, context);
}

template <class T, class Cell>
bool input_gradient(const Backward<T, Cell>& job, ac_context* context) {
    const Layer& layer = job.layer;
    if (job.to.dx == nullptr) return true;
    T beta = 0;
    for (const GradientBlocks& blocks : Cell::of_x) {
        const Strided<T> d = {job.d + blocks.first * layer.hidden, job.row_elements(),
                              1};
        const Strided<T> w = {job.w_ih.at(0, blocks.weight * layer.hidden),
                              job.w_ih.row, job.w_ih.column};
        const Written<T> dx = {job.to.dx, layer.features};
        if (!multiply_whole(layer.steps * layer.batch, layer.features,
                            blocks.count * layer.hidden, d, w, dx, beta, context))
            return false;
        beta = 1;
    }
    return true;
}

// What the weights were multiplied with: rows [x | h] of all steps, h that of the step
// before, of which the first had h0.
template <class T, class Cell>
void take_lines(const Backward<T, Cell>& job, T* lines, ac_context* context) {
    const Layer& layer = job.layer;
    const int64_t line = layer.features + layer.hidden;
    parallel(context, layer.steps, layer.work() >= serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 for (int64_t i = begin * layer.batch; i < end * layer.batch; ++i) {
                     const int64_t step = i / layer.batch, b = i % layer.batch;
                     T* to = lines + (layer.at(step) * layer.batch + b) * line;
                     job.x.copy_row(layer.at(step), b, to);
                     to += layer.features;
                     if (step == 0) {
                         job.h0.copy_row(0, b, to);
                     } else {
                         job.out.copy_row(layer.at(step - 1), b, to);
                     }
                 }
             });
}

// Rows of blocks as columns of d, times columns of the lines.
template <class T, class Cell>
bool weight_gradient(const Backward<T, Cell>& job, const GradientBlocks& blocks,
                     const T* lines, const Written<T>& out, int64_t columns,
                     ac_context* context) {
    const Layer& layer = job.layer;
    return multiply_whole(
        blocks.count * layer.hidden, columns, layer.steps * layer.batch,
        Strided<T>{job.d + blocks.first * layer.hidden, 1, job.row_elements()},
        Strided<T>{lines, layer.features + layer.hidden, 1}, out, T(0), context);
}

constexpr int64_t turned_rows = 64;  // of a task

// A gradient of [rows][columns] from its transpose.
template <class T>
void turn_back(const T* turned, int64_t rows, int64_t columns, T* to,
               ac_context* context) {
    parallel_range(context, rows, turned_rows, rows * columns > serial_work,
                   [&](int64_t begin, int64_t end) {
                       transpose_items(reinterpret_cast<char*>(to + begin * columns),
                                       bytes_of<T>(columns),
                                       reinterpret_cast<const char*>(turned + begin),
                                       bytes_of<T>(rows), end - begin, columns,
                                       item_size<T>);
                   });
}

// Where both weights have the same gradients of sums, one product serves both, of which
// each has some of the columns.
template <class T, class Cell>
bool both_gradients(const Backward<T, Cell>& job, const T* lines, T* both,
                    ac_context* context) {
    const int64_t features = job.layer.features, hidden = job.layer.hidden;
    const int64_t line = features + hidden, rows = Cell::gates * hidden;
    if (!weight_gradient(job, {Cell::of_h, 0, Cell::gates}, lines,
                         Written<T>{both, line}, line, context))
        return false;
    copy_rows(both, line, rows, features, job.to.dw_ih);
    copy_rows(both + features, line, rows, hidden, job.to.dw_hh);
    return true;
}

// The same by their transpose: an LSTM's lines have fewer columns than its gradients,
// which then, being the right operand, need no packing where tiles are wide. (Where
// they are not, a step of 28 x 128 rows of 156 takes 1.05 times as long this way,
// Zen 3.)
template <class T, class Cell>
bool both_turned(const Backward<T, Cell>& job, const T* lines, T* both,
                 ac_context* context) {
    const Layer& layer = job.layer;
    const int64_t line = layer.features + layer.hidden, row = job.row_elements();
    if (!multiply_whole(line, row, layer.steps * layer.batch,
                        Strided<T>{lines, 1, line}, Strided<T>{job.d, row, 1},
                        Written<T>{both, row}, T(0), context))
        return false;
    turn_back(both, row, layer.features, job.to.dw_ih, context);
    turn_back(both + layer.features * row, row, layer.hidden, job.to.dw_hh, context);
    return true;
}

template <class T, class Cell>
bool weight_gradients(const Backward<T, Cell>& job, ac_context* context) {
    const Layer& layer = job.layer;
    const bool both = job.to.dw_ih != nullptr && job.to.dw_hh != nullptr;
    if (job.to.dw_ih == nullptr && job.to.dw_hh == nullptr) return true;
    const int64_t line = layer.features + layer.hidden;
    const int64_t rows = layer.steps * layer.batch;
    T* lines =
        scratch_of<T>(context, slot_lines, (rows + Cell::gates * layer.hidden) * line);
    if (lines == nullptr) return false;
    take_lines(job, lines, context);
    if (both && Cell::blocks == Cell::gates)
        return wide_tiles ? both_turned(job, lines, lines + rows * line, context)
                          : both_gradients(job, lines, lines + rows * line, context);
    for (const GradientBlocks& blocks : Cell::of_x) {
        if (job.to.dw_ih == nullptr) break;
        T* to = job.to.dw_ih + blocks.weight * layer.hidden * layer.features;
        if (!weight_gradient(job, blocks, lines, Written<T>{to, layer.features},
                             layer.features, context))
            return false;
    }
    return job.to.dw_hh == nullptr ||
           weight_gradient(job, {Cell::of_h, 0, Cell::gates}, lines + layer.features,
                           Written<T>{job.to.dw_hh, layer.hidden}, layer.hidden,
                           context);
}

template <class T, class Cell>
void bias_gradients(const Backward<T, Cell>& job, const Units& units) {
    const int64_t row = job.row_elements(), hidden = job.layer.hidden;
    const auto add = [&](int64_t first, int64_t count, T* to) {
        for (int64_t j = 0; to != nullptr && j < count; ++j) {
            T sum = 0;
            for (int64_t i = 0; i < units.count; ++i)
                sum += job.sums[i * row + first + j];
            to[j] = sum;
        }
    };
    for (const GradientBlocks& blocks : Cell::of_x) {
        T* to = job.to.db_ih;
        add(blocks.first * hidden, blocks.count * hidden,
            to == nullptr ? to : to + blocks.weight * hidden);
    }
    add(Cell::of_h * hidden, Cell::gates * hidden, job.to.db_hh);
}

// Of no steps, or no rows.
template <class T, class Cell>
void empty_gradients(const Backward<T, Cell>& job) {
    const Layer& layer = job.layer;
    const int64_t rows = Cell::gates * layer.hidden;
    clear(job.to.dx, layer.steps * layer.batch * layer.features);
    clear(job.to.dw_ih, rows * layer.features);
    clear(job.to.dw_hh, rows * layer.hidden);
    clear(job.to.db_ih, rows);
    clear(job.to.db_hh, rows);
    clear(job.to.dh0, layer.batch * layer.hidden);
    clear(job.to.dc0, layer.batch * layer.hidden);
    for (int64_t b = 0;
         job.to.dc0 != nullptr && job.gc.data != nullptr && b < layer.batch; ++b)
        job.gc.copy_row(0, b, job.to.dc0 + b * layer.hidden);
}

// The weights of the states.
template <class T, class Cell>
void pack_states(const Backward<T, Cell>& job) {
    const Sequence<T>& w = job.w_hh;
    const int64_t hidden = job.layer.hidden, depth = Cell::gates * hidden;
    const Panels<T> panels(hidden, tile_vectors);
    if (w.column == 1) {
        const Phase phase(job.context, AC_PHASE_PACK);
        return pack_as_rows(w.data, w.row, depth, hidden, job.packed);
    }
    parallel(job.context, panels.count, depth * hidden > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 for (int64_t i = begin; i < end; ++i)
                     pack_panel(depth, panels.at(i), w.data, w.row, w.column,
                                job.packed);
             });
}

// job has all but its memory.
template <class T, class Cell>
bool run_backward(Backward<T, Cell>& job, ac_context* context) {
    const Layer& layer = job.layer;
    if (layer.empty()) {
        empty_gradients(job);
        return true;
    }
    job.width = padded<T>(layer.hidden);
    job.context = context;
    const Units units(layer.batch);
    job.d = scratch_of<T>(context, slot_sums,
                          layer.steps * layer.batch * job.row_elements());
    if (job.d == nullptr || !take_memory<T>(job, context, slot_shared_arrays))
        return false;
    pack_states(job);
    const int64_t together = units_together<T>(job.row_elements() + 2 * job.width);
    const bool ran = for_units<T, BackwardWorkspace<T, Cell>>(
        job, units, together, layer.work() * Cell::gates >= serial_work, context,
        [&](const BackwardWorkspace<T, Cell>& w, int64_t first, int64_t last) {
            return_units(w, units, first, last);
        });
    if (!ran || !input_gradient(job, context) || !weight_gradients(job, context))
        return false;
    bias_gradients(job, units);
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
