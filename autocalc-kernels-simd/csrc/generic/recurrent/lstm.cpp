// SPDX-License-Identifier: MIT
//
// lstm and lstm_backward.
#include "common/families.hpp"
#include "recurrent/backward.hpp"
#include "recurrent/forward.hpp"
#include "recurrent/gates.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- forward

template <class T>
struct LstmCell {
    static constexpr int gates = 4, blocks = 4;
    static constexpr bool has_cell = true;
    static constexpr SumBlocks runs[] = {{0, 4, true, true}};
    T *out, *c_n, *acts, *cells;

    // c = f * c + i * g    h = o * tanh(c)
    template <class Job>
    AC_INLINE void advance_row(const Job& job, int64_t at, const T* sums, T* h,
                               T* c) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const int64_t hidden = job.layer.hidden, width = job.width;
        T* kept = acts == nullptr ? nullptr : acts + at * 4 * hidden;
        for (int64_t j = 0; j < hidden; j += lanes) {
            const int64_t n = smaller(lanes, hidden - j);
            const auto sum = [&](int64_t gate) AC_INLINE_LAMBDA {
                const int64_t from = gate * width + j;
                return load(sums + from) + load(job.bias + from);
            };
            const vec<T> i = gate_of(sum(0)), f = gate_of(sum(1));
            const vec<T> g = tanh(sum(2)), o = gate_of(sum(3));
            const vec<T> cell = fma(f, load(c + j), i * g);
            const vec<T> state = o * tanh(cell);
            store(c + j, cell);
            store(h + j, state);
            store_last(out + at * hidden + j, state, n);
            if (cells != nullptr) store_last(cells + at * hidden + j, cell, n);
            if (kept == nullptr) continue;
            store_last(kept + j, i, n);
            store_last(kept + hidden + j, f, n);
            store_last(kept + 2 * hidden + j, g, n);
            store_last(kept + 3 * hidden + j, o, n);
        }
    }
};

enum { out_at, c_n_at, acts_at, cells_at, x_at, w_ih_at, w_hh_at, b_ih_at, b_hh_at };
enum { h0_at = b_hh_at + 1, c0_at };

template <class T>
bool lstm_typed(const ac_call* call, ac_context* context, const Layer& layer) {
    const auto sequence = [&](int i) { return Sequence<T>(operand(call, i)); };
    const auto result = [&](int i) { return data_of<T>(operand(call, i)); };
    Forward<T, LstmCell<T>> job = {};
    job.layer = layer;
    job.x = sequence(x_at);
    job.h0 = sequence(h0_at);
    job.c0 = sequence(c0_at);
    job.weights = weights_of<T>(call, w_ih_at);
    job.cell = {result(out_at), result(c_n_at), result(acts_at), result(cells_at)};
    return run_forward(job, context);
}

void lstm(const ac_call* call, ac_context* context, ac_status* status) {
    const Layer layer =
        layer_of(operand(call, x_at), operand(call, w_hh_at), int_attribute(call, 0));
    if (!all_contiguous(call, x_at)) return unsupported(status);
    const bool ok = operand(call, x_at)->dtype == AC_FLOAT32
                        ? lstm_typed<float>(call, context, layer)
                        : lstm_typed<double>(call, context, layer);
    if (!ok) no_memory(status);
}

double lstm_work(const ac_call* call) {
    return forward_ns(layer_of(operand(call, x_at), operand(call, w_hh_at), 0), 4);
}

// ---- backward

template <class T>
struct LstmReturn {
    static constexpr int gates = 4, blocks = 4, of_h = 0, rooms = 7;
    static constexpr bool has_cell = true, carries = false;
    static constexpr GradientBlocks of_x[] = {{0, 0, 4}};
    Sequence<T> g, acts, cells, c0;

    // Of step number i: dc += dh * o * (1 - tanh(c)^2), and the gradients of sums.
    AC_INLINE void return_row(const Layer& layer, int64_t i, int64_t b, T* dh, T* dc,
                              T* d, T* sums, T* room) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const int64_t hidden = layer.hidden, t = layer.at(i);
        const int64_t space = padded<T>(hidden);
        const T* up = g.row_at(t, b, room);
        const T* gate = acts.row_at(t, b, room + space);
        const T* cell = cells.row_at(t, b, room + 5 * space);
        const T* before = i == 0 ? c0.row_at(0, b, room + 6 * space)
                                 : cells.row_at(layer.at(i - 1), b, room + 6 * space);
        const vec<T> one = set1<T>(1);
        for (int64_t j = 0; j < hidden; j += lanes) {
            const int64_t n = smaller(lanes, hidden - j);
            const vec<T> in = load_asking(gate + j, n, acts.row);
            const vec<T> forget = load_asking(gate + hidden + j, n, acts.row);
            const vec<T> value = load_asking(gate + 2 * hidden + j, n, acts.row);
            const vec<T> open = load_asking(gate + 3 * hidden + j, n, acts.row);
            const vec<T> top = tanh(load_last(cell + j, n));
            const vec<T> dhj = load(dh + j) + load_asking(up + j, n, g.row);
            const vec<T> dcj = fma(dhj * open, fnma(top, top, one), load(dc + j));
            const vec<T> parts[] = {
                dcj * value * slope_of_gate(in),
                dcj * load_asking(before + j, n, cells.row) * slope_of_gate(forget),
                dcj * in * fnma(value, value, one), dhj * top * slope_of_gate(open)};
            store(dc + j, dcj * forget);
            store_parts(parts, d + j, sums == nullptr ? sums : sums + j, hidden, n);
        }
    }
};

enum { dx_at, dw_ih_at, dw_hh_at, dbias_at, dh0_at, dc0_at, g_at, gc_at, bx_at };
enum { bw_ih_at = bx_at + 1, bw_hh_at, bout_at, bacts_at, bcells_at, bh0_at, bc0_at };

template <class T>
bool backward_typed(const ac_call* call, ac_context* context, const Layer& layer) {
    const auto sequence = [&](int i) { return Sequence<T>(operand(call, i)); };
    const auto result = [&](int i) { return data_of<T>(operand(call, i)); };
    Backward<T, LstmReturn<T>> job = {};
    job.layer = layer;
    job.x = sequence(bx_at);
    job.w_ih = sequence(bw_ih_at);
    job.w_hh = sequence(bw_hh_at);
    job.out = sequence(bout_at);
    job.h0 = sequence(bh0_at);
    job.gc = sequence(gc_at);
    job.to = {result(dx_at), result(dw_ih_at), result(dw_hh_at), result(dbias_at),
              nullptr,       result(dh0_at),   result(dc0_at)};
    job.cell = {sequence(g_at), sequence(bacts_at), sequence(bcells_at),
                sequence(bc0_at)};
    return run_backward(job, context);
}

void lstm_backward(const ac_call* call, ac_context* context, ac_status* status) {
    const Layer layer =
        layer_of(operand(call, bx_at), operand(call, bw_hh_at), int_attribute(call, 0));
    if (!all_contiguous(call, g_at)) return unsupported(status);
    const bool ok = operand(call, g_at)->dtype == AC_FLOAT32
                        ? backward_typed<float>(call, context, layer)
                        : backward_typed<double>(call, context, layer);
    if (!ok) no_memory(status);
}

double lstm_backward_work(const ac_call* call) {
    return 2 *
           forward_ns(layer_of(operand(call, bx_at), operand(call, bw_hh_at), 0), 4);
}

const ac_kernel_entry entries[] = {
    {"lstm", "out c_n acts? cells? ; x w_ih w_hh b_ih? b_hh? h0 c0 ; reverse:bool",
     lstm, nullptr, lstm_work, 0, float_dtypes, nullptr},
    {"lstm_backward",
     "dx? dw_ih? dw_hh? dbias? dh0? dc0? ; "
     "g gc? x w_ih w_hh out acts cells h0 c0 ; reverse:bool",
     lstm_backward, nullptr, lstm_backward_work, 0, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(lstm, entries);
}  // namespace autocalc::simd::AC_ISA
