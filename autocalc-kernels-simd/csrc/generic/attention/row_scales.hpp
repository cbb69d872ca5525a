// SPDX-License-Identifier: MIT
//
// What turns a row's scores into weights again: the logarithm of the row's sum that the
// forward kernel kept, or, where that has too few digits, sums of the very scores that
// give the weights.
#pragma once

#include "attention/backward_scores.hpp"
#include "common/phase.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// exp(score - top) * share is a weight, 0 where score - top is below `lowest`.
template <class T>
struct RowScale {
    T top, share, lowest;
};

// A logarithm of a sum up to this one has digits enough: weights are off by as many
// eps.
constexpr int large_sum = 32;

template <class T>
AC_INLINE bool is_precise(T sum) {
    return sum >= -T(large_sum) && sum <= T(large_sum);
}

template <class T, class E>
T sum_of_row(const Backward<T, E>& job, int64_t b, int64_t h, int64_t q) {
    const ac_array& lse = *job.lse;
    const char* at =
        data<char>(&lse) + b * lse.strides[0] + h * lse.strides[1] + q * lse.strides[2];
    if constexpr (sizeof(T) != sizeof(E)) {
        if (lse.dtype == AC_BFLOAT16) return wide_of(*reinterpret_cast<const E*>(at));
    }
    return *reinterpret_cast<const T*>(at);
}

// Of a row that sees nothing all weights are to be zero.
template <class T, class E>
RowScale<T> scale_of(const Backward<T, E>& job, int64_t b, int64_t h, int64_t q) {
    constexpr T lowest = exp_constants<T>::lowest_normal;
    const RowScale<T> nothing = {limits<T>::infinity, T(0), lowest};
    if (job.lse != nullptr) {
        const T sum = sum_of_row(job, b, h, q);
        if (is_precise(sum)) return {sum, T(1), lowest};
        if (job.tops == nullptr) return nothing;
    }
    const int64_t row = (b * job.dims.heads + h) * job.dims.queries + q;
    if (job.tops[row] == -limits<T>::infinity) return nothing;
    return {job.tops[row], job.shares[row], job.lowest[row]};
}

// A sum that runs on: of exponentials above the largest score so far.
template <class T>
AC_INLINE void add_exponentials(const T* scores, int64_t n, T& top, T& total) {
    constexpr int64_t lanes = vec<T>::lanes;
    const vec<T> lowest = set1<T>(-limits<T>::infinity);
    vec<T> largest = lowest;
    for (int64_t j = 0; j < n; j += lanes) {
        const mask<T> some = first<T>(smaller(lanes, n - j));
        largest = max(largest, select(some, load(scores + j), lowest));
    }
    const T found = larger(top, reduce_max(largest));
    if (found == -limits<T>::infinity) return;
    const vec<T> row_max = set1<T>(found);
    vec<T> sum = zero<T>();
    for (int64_t j = 0; j < n; j += lanes) {
        const vec<T> e = exp_negative(load(scores + j) - row_max);
        sum = sum + keep(first<T>(smaller(lanes, n - j)), e);
    }
    T before[lanes];
    store(before, exp_negative(set1<T>(top) - row_max));
    total = total * before[0] + reduce_add(sum);
    top = found;
}

template <class T, class E>
void scale_pair(const BackwardWorkspace<T, E>& w, const Pair& at) {
    const Backward<T, E>& job = *w.job;
    const Filter& filter = job.filter;
    for (int64_t i = 0; i < at.queries; ++i) {
        const int64_t q = at.q0 + i;
        const int64_t seen =
            smaller(larger<int64_t>(filter.visible(q) - at.k0, 0), at.keys);
        T* scores = w.scores + i * w.step;
        if (filter.mask != nullptr) {
            mask_row(filter, {at.b, at.h, q, at.k0, at.keys}, w.line);
            for (int64_t j = 0; j < seen; j += vec<T>::lanes)
                store(scores + j, masked(load(scores + j), load(w.line + j)));
        }
        const int64_t row = (at.b * job.dims.heads + at.h) * job.dims.queries + q;
        add_exponentials(scores, seen, job.tops[row], job.shares[row]);
    }
}

// One head: tops and sums, which become shares.
template <class T, class E>
void scale_head(const BackwardWorkspace<T, E>& w, int64_t b, int64_t h) {
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    T* tops = job.tops + (b * d.heads + h) * d.queries;
    T* shares = job.shares + (b * d.heads + h) * d.queries;
    for (int64_t q = 0; q < d.queries; ++q) {
        tops[q] = -limits<T>::infinity;
        shares[q] = 0;
    }
    Pair at = {};
    at.b = b;
    at.h = h;
    at.group = h / d.heads_of_group();
    take_queries(w, at);
    for (int64_t keys = 0; keys < job.keys.count; ++keys) {
        at.k0 = job.keys.begin(keys);
        at.keys = job.keys.size(keys);
        take_keys(w, at);
        for (int64_t block = 0; block < job.queries.count; ++block) {
            at.q0 = job.queries.begin(block);
            at.queries = job.queries.size(block);
            if (at.q0 + at.queries <= job.filter.first_query(at.k0)) continue;
            score_pair(w, at);
            scale_pair(w, at);
        }
    }
    T* lowest = job.lowest + (b * d.heads + h) * d.queries;
    each_vector<T>(d.queries, [&](int64_t q, auto part) {
        const vec<T> share = set1<T>(1) / part.get(shares + q);
        part.put(shares + q, share);
        part.put(lowest + q, lowest_for(share));
    });
}

template <class T, class E>
bool needs_sums(const Backward<T, E>& job) {
    const Dims& d = job.dims;
    if (job.lse == nullptr) return true;
    for (int64_t b = 0; b < d.batch; ++b) {
        for (int64_t h = 0; h < d.heads; ++h) {
            for (int64_t q = 0; q < d.queries; ++q) {
                const T sum = sum_of_row(job, b, h, q);
                if (sum != -limits<T>::infinity && !is_precise(sum)) return true;
            }
        }
    }
    return false;
}

// Runs f(workspace, task) for all tasks. Answers false if memory is exhausted.
template <class T, class E, class F>
bool with_workspaces(const Backward<T, E>& job, ac_context* context, int64_t tasks,
                     F&& f) {
    return try_parallel(context, tasks, job.dims.work() >= serial_work,
                        [&](int64_t begin, int64_t end) {
                            const Phase phase(context, AC_PHASE_PACK);
                            BackwardWorkspace<T, E> w;
                            Arena<T> arena;
                            w.lay_out(job, arena);
                            arena.memory =
                                scratch_of<T>(context, slot_workspace, arena.used);
                            if (arena.memory == nullptr) return false;
                            arena.used = 0;
                            w.lay_out(job, arena);
                            for (int64_t t = begin; t < end; ++t) f(w, t, phase);
                            return true;
                        });
}

template <class T, class E>
bool scale_rows(Backward<T, E>& job, ac_context* context) {
    if (!needs_sums(job)) return true;
    const Dims& d = job.dims;
    const int64_t rows = d.batch * d.heads * d.queries;
    T* tops = scratch_of<T>(context, slot_rows, 3 * rows);
    if (tops == nullptr) return false;
    Backward<T, E> scores = job;  // alone
    scores.dq.data = scores.dk.data = nullptr;
    job.tops = scores.tops = tops;
    job.shares = scores.shares = tops + rows;
    job.lowest = scores.lowest = tops + 2 * rows;
    return with_workspaces(
        scores, context, d.batch * d.heads,
        [&](const BackwardWorkspace<T, E>& w, int64_t t, const Phase&) {
            scale_head(w, t / d.heads, t % d.heads);
        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
