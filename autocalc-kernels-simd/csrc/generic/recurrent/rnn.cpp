// SPDX-License-Identifier: MIT
//
// rnn and rnn_backward.
#include "common/families.hpp"
#include "recurrent/gates.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Nonlinearity { tanh, relu };  // in the order of the signature's words

// ---- forward

template <class T>
struct RnnCell {
    static constexpr int gates = 1, blocks = 1;
    static constexpr bool has_cell = false;
    static constexpr SumBlocks runs[] = {{0, 1, true, true}};
    T* out;
    Nonlinearity nonlinearity;

    template <class Job>
    AC_INLINE void advance_row(const Job& job, int64_t at, const T* sums, T* h,
                               T*) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const int64_t hidden = job.layer.hidden;
        for (int64_t j = 0; j < hidden; j += lanes) {
            const vec<T> sum = load(sums + j) + load(job.bias + j);
            const vec<T> state =
                nonlinearity == Nonlinearity::tanh ? tanh(sum) : max(zero<T>(), sum);
            store(h + j, state);
            store_last(out + at * hidden + j, state, smaller(lanes, hidden - j));
        }
    }
};

enum { out_at, x_at, w_ih_at, w_hh_at, b_ih_at, b_hh_at, h0_at };

template <class T>
bool rnn_typed(const ac_call* call, ac_context* context, const Layer& layer) {
    Forward<T, RnnCell<T>> job = {};
    job.layer = layer;
    job.x = Sequence<T>(operand(call, x_at));
    job.h0 = Sequence<T>(operand(call, h0_at));
    job.weights = weights_of<T>(call, w_ih_at);
    job.cell = {data_of<T>(operand(call, out_at)),
                static_cast<Nonlinearity>(int_attribute(call, 0))};
    return run_forward(job, context);
}

void rnn(const ac_call* call, ac_context* context, ac_status* status) {
    const Layer layer =
        layer_of(operand(call, x_at), operand(call, w_hh_at), int_attribute(call, 1));
    if (!all_contiguous(call, x_at)) return unsupported(status);
    const bool ok = operand(call, x_at)->dtype == AC_FLOAT32
                        ? rnn_typed<float>(call, context, layer)
                        : rnn_typed<double>(call, context, layer);
    if (!ok) no_memory(status);
}

double rnn_work(const ac_call* call) {
    return forward_ns(layer_of(operand(call, x_at), operand(call, w_hh_at), 0), 1);
}

// ---- backward

template <class T>
struct RnnReturn {
    static constexpr int gates = 1, blocks = 1, of_h = 0, rooms = 2;
    static constexpr bool has_cell = false, carries = false;
    static constexpr GradientBlocks of_x[] = {{0, 0, 1}};
    Sequence<T> g, out;
    Nonlinearity nonlinearity;

    AC_INLINE void return_row(const Layer& layer, int64_t i, int64_t b, T* dh, T*, T* d,
                              T* sums, T* room) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const int64_t hidden = layer.hidden, t = layer.at(i);
        const T* up = g.row_at(t, b, room);
        const T* state = out.row_at(t, b, room + padded<T>(hidden));
        for (int64_t j = 0; j < hidden; j += lanes) {
            const int64_t n = smaller(lanes, hidden - j);
            const vec<T> h = load_asking(state + j, n, out.row);
            const vec<T> dhj = load(dh + j) + load_asking(up + j, n, g.row);
            const vec<T> parts[] = {nonlinearity == Nonlinearity::tanh
                                        ? dhj * fnma(h, h, set1<T>(1))
                                        : keep(gt(h, zero<T>()), dhj)};
            store_parts(parts, d + j, sums == nullptr ? sums : sums + j, hidden, n);
        }
    }
};

enum { dx_at, dw_ih_at, dw_hh_at, dbias_at, dh0_at, g_at, bx_at, bw_ih_at, bw_hh_at };
enum { bout_at = bw_hh_at + 1, bh0_at };

template <class T>
bool backward_typed(const ac_call* call, ac_context* context, const Layer& layer) {
    const auto sequence = [&](int i) { return Sequence<T>(operand(call, i)); };
    const auto result = [&](int i) { return data_of<T>(operand(call, i)); };
    Backward<T, RnnReturn<T>> job = {};
    job.layer = layer;
    job.x = sequence(bx_at);
    job.w_ih = sequence(bw_ih_at);
    job.w_hh = sequence(bw_hh_at);
    job.out = sequence(bout_at);
    job.h0 = sequence(bh0_at);
    job.to = {result(dx_at), result(dw_ih_at), result(dw_hh_at), result(dbias_at),
              nullptr,       result(dh0_at),   nullptr};
    job.cell = {sequence(g_at), job.out,
                static_cast<Nonlinearity>(int_attribute(call, 0))};
    return run_backward(job, context);
}

void rnn_backward(const ac_call* call, ac_context* context, ac_status* status) {
    const Layer layer =
        layer_of(operand(call, bx_at), operand(call, bw_hh_at), int_attribute(call, 1));
    if (!all_contiguous(call, g_at)) return unsupported(status);
    const bool ok = operand(call, g_at)->dtype == AC_FLOAT32
                        ? backward_typed<float>(call, context, layer)
                        : backward_typed<double>(call, context, layer);
    if (!ok) no_memory(status);
}

double rnn_backward_work(const ac_call* call) {
    return 2 *
           forward_ns(layer_of(operand(call, bx_at), operand(call, bw_hh_at), 0), 1);
}

const ac_kernel_entry entries[] = {
    {"rnn", "out ; x w_ih w_hh b_ih? b_hh? h0 ; activation:tanh,relu reverse:bool", rnn,
     nullptr, rnn_work, 0, float_dtypes, nullptr},
    {"rnn_backward",
     "dx? dw_ih? dw_hh? dbias? dh0? ; "
     "g x w_ih w_hh out h0 ; activation:tanh,relu reverse:bool",
     rnn_backward, nullptr, rnn_backward_work, 0, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(rnn, entries);
}  // namespace autocalc::simd::AC_ISA
