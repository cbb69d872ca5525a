// SPDX-License-Identifier: MIT
//
// gru and gru_backward.
#include "common/families.hpp"
#include "recurrent/gates.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- forward

template <class T>
struct GruCell {
    // Of n the input's and the state's sums stay apart: r multiplies the latter alone.
    static constexpr int gates = 3, blocks = 4;
    static constexpr bool has_cell = false;
    static constexpr SumBlocks runs[] = {
        {0, 2, true, true}, {2, 1, true, false}, {3, 1, false, true}};
    T *out, *acts;

    // n = tanh(xn + r * hn)    h = n + z * (h - n)
    template <class Job>
    AC_INLINE void advance_row(const Job& job, int64_t at, const T* sums, T* h,
                               T*) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const int64_t hidden = job.layer.hidden, width = job.width;
        T* kept = acts == nullptr ? nullptr : acts + at * 4 * hidden;
        for (int64_t j = 0; j < hidden; j += lanes) {
            const int64_t count = smaller(lanes, hidden - j);
            const auto sum = [&](int64_t block) AC_INLINE_LAMBDA {
                const int64_t from = block * width + j;
                return load(sums + from) + load(job.bias + from);
            };
            const vec<T> r = gate_of(sum(0)), z = gate_of(sum(1));
            const vec<T> hn = sum(3), n = tanh(fma(r, hn, sum(2)));
            const vec<T> state = fma(z, load(h + j) - n, n);
            store(h + j, state);
            store_last(out + at * hidden + j, state, count);
            if (kept == nullptr) continue;
            store_last(kept + j, r, count);
            store_last(kept + hidden + j, z, count);
            store_last(kept + 2 * hidden + j, n, count);
            store_last(kept + 3 * hidden + j, hn, count);
        }
    }
};

enum { out_at, acts_at, x_at, w_ih_at, w_hh_at, b_ih_at, b_hh_at, h0_at };

template <class T>
bool gru_typed(const ac_call* call, ac_context* context, const Layer& layer) {
    Forward<T, GruCell<T>> job = {};
    job.layer = layer;
    job.x = Sequence<T>(operand(call, x_at));
    job.h0 = Sequence<T>(operand(call, h0_at));
    job.weights = weights_of<T>(call, w_ih_at);
    job.cell = {data_of<T>(operand(call, out_at)), data_of<T>(operand(call, acts_at))};
    return run_forward(job, context);
}

void gru(const ac_call* call, ac_context* context, ac_status* status) {
    const Layer layer =
        layer_of(operand(call, x_at), operand(call, w_hh_at), int_attribute(call, 0));
    if (!all_contiguous(call, x_at)) return unsupported(status);
    const bool ok = operand(call, x_at)->dtype == AC_FLOAT32
                        ? gru_typed<float>(call, context, layer)
                        : gru_typed<double>(call, context, layer);
    if (!ok) no_memory(status);
}

double gru_work(const ac_call* call) {
    return forward_ns(layer_of(operand(call, x_at), operand(call, w_hh_at), 0), 3);
}

// ---- backward

template <class T>
struct GruReturn {
    // In the order n of the input's sums, r, z, n of the state's: the state's three are
    // adjacent, in the order of the weights.
    static constexpr int gates = 3, blocks = 4, of_h = 1, rooms = 6;
    static constexpr bool has_cell = false, carries = true;
    static constexpr GradientBlocks of_x[] = {{1, 0, 2}, {0, 2, 1}};
    Sequence<T> g, acts, out, h0;

    // dn = dh (1 - z) (1 - n^2)    dz = dh (h - n) z (1 - z)    dr = dn hn r (1 - r)
    AC_INLINE void return_row(const Layer& layer, int64_t i, int64_t b, T* dh, T*, T* d,
                              T* sums, T* room) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const int64_t hidden = layer.hidden, t = layer.at(i);
        const int64_t space = padded<T>(hidden);
        const T* up = g.row_at(t, b, room);
        const T* gate = acts.row_at(t, b, room + space);
        const T* before = i == 0 ? h0.row_at(0, b, room + 5 * space)
                                 : out.row_at(layer.at(i - 1), b, room + 5 * space);
        const vec<T> one = set1<T>(1);
        for (int64_t j = 0; j < hidden; j += lanes) {
            const int64_t count = smaller(lanes, hidden - j);
            const vec<T> r = load_asking(gate + j, count, acts.row);
            const vec<T> z = load_asking(gate + hidden + j, count, acts.row);
            const vec<T> n = load_asking(gate + 2 * hidden + j, count, acts.row);
            const vec<T> hn = load_asking(gate + 3 * hidden + j, count, acts.row);
            const vec<T> dhj = load(dh + j) + load_asking(up + j, count, g.row);
            const vec<T> dn = dhj * (one - z) * fnma(n, n, one);
            const vec<T> change = load_asking(before + j, count, out.row) - n;
            const vec<T> parts[] = {dn, dn * hn * slope_of_gate(r),
                                    dhj * change * slope_of_gate(z), dn * r};
            store(dh + j, dhj * z);
            store_parts(parts, d + j, sums == nullptr ? sums : sums + j, hidden, count);
        }
    }
};

enum { dx_at, dw_ih_at, dw_hh_at, db_ih_at, db_hh_at, dh0_at, g_at, bx_at, bw_ih_at };
enum { bw_hh_at = bw_ih_at + 1, bout_at, bacts_at, bh0_at };

template <class T>
bool backward_typed(const ac_call* call, ac_context* context, const Layer& layer) {
    const auto sequence = [&](int i) { return Sequence<T>(operand(call, i)); };
    const auto result = [&](int i) { return data_of<T>(operand(call, i)); };
    Backward<T, GruReturn<T>> job = {};
    job.layer = layer;
    job.x = sequence(bx_at);
    job.w_ih = sequence(bw_ih_at);
    job.w_hh = sequence(bw_hh_at);
    job.out = sequence(bout_at);
    job.h0 = sequence(bh0_at);
    job.to = {result(dx_at),    result(dw_ih_at), result(dw_hh_at), result(db_ih_at),
              result(db_hh_at), result(dh0_at),   nullptr};
    job.cell = {sequence(g_at), sequence(bacts_at), job.out, job.h0};
    return run_backward(job, context);
}

void gru_backward(const ac_call* call, ac_context* context, ac_status* status) {
    const Layer layer =
        layer_of(operand(call, bx_at), operand(call, bw_hh_at), int_attribute(call, 0));
    if (!all_contiguous(call, g_at)) return unsupported(status);
    const bool ok = operand(call, g_at)->dtype == AC_FLOAT32
                        ? backward_typed<float>(call, context, layer)
                        : backward_typed<double>(call, context, layer);
    if (!ok) no_memory(status);
}

double gru_backward_work(const ac_call* call) {
    return 2 *
           forward_ns(layer_of(operand(call, bx_at), operand(call, bw_hh_at), 0), 3);
}

const ac_kernel_entry entries[] = {
    {"gru", "out acts? ; x w_ih w_hh b_ih? b_hh? h0 ; reverse:bool", gru, nullptr,
     gru_work, 0, float_dtypes, nullptr},
    {"gru_backward",
     "dx? dw_ih? dw_hh? db_ih? db_hh? dh0? ; "
     "g x w_ih w_hh out acts h0 ; reverse:bool",
     gru_backward, nullptr, gru_backward_work, 0, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(gru, entries);
}  // namespace autocalc::simd::AC_ISA
