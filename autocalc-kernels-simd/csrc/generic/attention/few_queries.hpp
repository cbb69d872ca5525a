// SPDX-License-Identifier: MIT
//
// Attention of a few queries, as when text is generated: nothing is packed, since every
// key and value is used once or a few times. Scores are tiles of dots with the keys as
// they are in memory; rows of values are added to the result, each times its weight.
//
// The gradient computes scores again and subtracts what the forward pass has kept of
// them: both have to round alike, so calls that keep it go in blocks.
#pragma once

#include "attention/forward.hpp"
#include "gemm/gemv.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// What a tile of dots takes; more queries are worth packing.
constexpr int64_t most_few_queries = dot_rows;
AC_INLINE bool takes_few_queries(const Dims& dims, const ac_array* lse) {
    return dims.queries <= most_few_queries && lse == nullptr;
}
// Four sums of registers are stored together.
constexpr int64_t keys_at_once = 4;

// Scratch memory of a thread.
template <class T>
struct FewQueries {
    const Forward<T>* job;
    int64_t step;                 // from one query's scores to the next
    T* scores;                    // [queries][step], then weights
    T* added;                     // [step]: what a mask adds, or dropout multiplies by
    GroupSums<T> all_values;      // [values]: sums over groups of keys, if several
    T *q_room, *k_room, *v_room;  // for copies of rows whose elements are apart

    void lay_out(const Forward<T>& forward, Arena<T>& arena) {
        const Dims& d = forward.dims;
        job = &forward;
        step = round_up(d.keys, vec<T>::lanes);
        scores = arena.take(d.queries * step);
        const bool filtered = forward.filter.mask != nullptr || forward.filter.drops;
        added = arena.take(filtered ? step : 0);
        const int64_t values = round_up(d.values, vec<T>::lanes);
        all_values.lay_out(arena, d.keys > group_keys ? values : 0);
        q_room = arena.take(forward.q.column != 1 ? d.queries * d.features : 0);
        k_room = arena.take(forward.k.column != 1 ? d.keys * d.features : 0);
        v_room = arena.take(forward.v.column != 1 ? d.keys * d.values : 0);
    }
};

// scores = queries @ keys^T
template <class T>
void score_few(const FewQueries<T>& w, RowsAt<T> q, RowsAt<T> k) {
    const Dims& d = w.job->dims;
    if (d.features == 0) {
        memset(w.scores, 0, static_cast<size_t>(bytes_of<T>(d.queries * w.step)));
        return;
    }
    for (int64_t k0 = 0; k0 < d.keys; k0 += keys_at_once) {
        const int64_t n = smaller(keys_at_once, d.keys - k0);
        dot_function<T>(d.queries, n)({d.features, q.data, q.step, k.data + k0 * k.step,
                                       k.step, w.scores + k0, w.step});
    }
}

// Calls f(scores, n) for the registers of a row; n is how many elements count.
template <class T, class F>
AC_INLINE void for_registers(T* scores, int64_t count, F&& f) {
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t i = 0; i < count; i += lanes) f(scores + i, smaller(lanes, count - i));
}

// The scores of one query become weights, still to be divided by their sum, which is
// what this answers.
template <class T>
T weigh_row(const FewQueries<T>& w, T* scores, int64_t seen) {
    const vec<T> lowest = set1<T>(-limits<T>::infinity);
    const vec<T> scale = set1<T>(w.job->scale);
    const bool masked_too = w.job->filter.mask != nullptr;
    vec<T> tops = lowest;
    for_registers<T>(scores, seen, [&](T* at, int64_t n) {
        vec<T> s = load(at) * scale;
        if (masked_too) s = masked(s, load(w.added + (at - scores)));
        store(at, s);
        tops = max(tops, select(first<T>(n), s, lowest));
    });
    const T top = reduce_max(tops);
    const vec<T> base = set1<T>(top == -limits<T>::infinity ? T(0) : top);
    RunningSum<vec<T>> sums;
    for (int64_t k0 = 0; k0 < seen; k0 += group_keys) {
        for_registers<T>(
            scores + k0, smaller(group_keys, seen - k0), [&](T* at, int64_t n) {
                const vec<T> e = keep(first<T>(n), exp_negative(load(at) - base));
                store(at, e);
                sums.add(e);
            });
        sums.carry();
    }
    return reduce_add(sums.whole + sums.lost);
}

// out = weights @ values
template <class T>
void add_few_values(const T* weights, int64_t seen, RowsAt<T> v, int64_t width,
                    T* out) {
    memset(out, 0, static_cast<size_t>(bytes_of<T>(width)));
    int64_t i = 0;
    for (; i + vector_rows <= seen; i += vector_rows) {
        add_rows<T, vector_rows>(weights + i, 1, T(1), v.data + i * v.step, v.step,
                                 width, out);
    }
    for (; i < seen; ++i) {
        add_rows<T, 1>(weights + i, 1, T(1), v.data + i * v.step, v.step, width, out);
    }
}

// The same, of more keys than those of a group.
template <class T>
void add_groups_of_values(const FewQueries<T>& w, const T* weights, int64_t seen,
                          RowsAt<T> v, T* out) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t width = w.job->dims.values;
    w.all_values.clear(round_up(width, lanes));
    for (int64_t k0 = 0; k0 < seen; k0 += group_keys) {
        const RowsAt<T> rows = {v.data + k0 * v.step, v.step};
        add_few_values(weights + k0, smaller(group_keys, seen - k0), rows, width, out);
        each_vector<T>(width, [&](int64_t i, auto part) {
            w.all_values.add(i, part.get(out + i), set1<T>(1));
        });
    }
    each_vector<T>(
        width, [&](int64_t i, auto part) { part.put(out + i, w.all_values.value(i)); });
}

template <class T>
void attend_few(const FewQueries<T>& w, int64_t b, int64_t h) {
    const Forward<T>& job = *w.job;
    const Dims& d = job.dims;
    const int64_t group = h / d.heads_of_group();
    score_few(w, rows_of(job.q, b, 0, h, d.queries, d.features, w.q_room),
              rows_of(job.k, b, 0, group, d.keys, d.features, w.k_room));
    const RowsAt<T> v = rows_of(job.v, b, 0, group, d.keys, d.values, w.v_room);
    for (int64_t i = 0; i < d.queries; ++i) {
        const int64_t seen = job.filter.visible(i);
        T* scores = w.scores + i * w.step;
        if (job.filter.mask != nullptr)
            mask_row(job.filter, {b, h, i, 0, seen}, w.added);
        const T sum = weigh_row(w, scores, seen);
        for (int64_t k0 = 0; job.filter.drops && k0 < seen; k0 += dropout_keys) {
            const int64_t n = smaller(dropout_keys, seen - k0);
            dropout_row(job.filter, d, {b, h, i, k0, n}, w.added);
            for_registers<T>(scores + k0, n, [&](T* at, int64_t) {
                store(at, load(at) * load(w.added + (at - scores - k0)));
            });
        }
        const T share = sum == 0 ? T(0) : 1 / sum;
        T* out = job.out.at(b, i, h);
        if (seen > group_keys) {
            add_groups_of_values(w, scores, seen, v, out);
        } else {
            add_few_values(scores, seen, v, d.values, out);
        }
        each_vector<T>(d.values, [&](int64_t j, auto part) {
            part.put(out + j, flushed(part.get(out + j) * set1<T>(share)));
        });
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
