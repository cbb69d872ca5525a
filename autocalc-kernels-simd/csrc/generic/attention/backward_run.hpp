// SPDX-License-Identifier: MIT
//
// attention_backward: weights are computed again, block by block, from the logarithm of
// each row's sum that the forward kernel kept. Of large scores that logarithm is not
// precise enough: their rows are summed first, from the scores that give the weights.
//
// A task is a head of keys and values with a range of keys. It owns those rows of dk
// and dv; of dq it owns a whole copy if there is more than one range, and the copies
// are added in order, so that no sum depends on which thread came first. Here scores
// have queries down and keys across: keys and values are packed once for all queries.
#pragma once

#include "attention/backward_scores.hpp"
#include "attention/row_scales.hpp"
#include "common/phase.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// One query's scores become weights, and the dscores of weights those of scores. Where
// the query does not see a key there are zeros.
template <class T, bool filtered>
AC_INLINE void turn_row(const Filter& filter, const Dims& dims, const KeyRun& run,
                        int64_t seen, RowScale<T> row, T delta, T* line, T* scores,
                        T* dscores) {
    constexpr int64_t lanes = vec<T>::lanes;
    const vec<T> row_max = set1<T>(row.top), toward = set1<T>(delta);
    const vec<T> share = set1<T>(row.share), lowest = set1<T>(row.lowest);
    if (filtered && filter.mask != nullptr) {
        mask_row(filter, run, line);
        for (int64_t j = 0; j < seen; j += lanes)
            store(scores + j, masked(load(scores + j), load(line + j)));
    }
    if (filtered && filter.drops) dropout_row(filter, dims, run, line);
    for (int64_t j = 0; j < seen; j += lanes) {
        vec<T> weight = exp_negative(load(scores + j) - row_max, lowest) * share;
        vec<T> slope = load(dscores + j);
        if (j + lanes > seen) {
            weight = keep(first<T>(seen - j), weight);
            slope = keep(first<T>(seen - j), slope);
        }
        if (filtered && filter.drops) {
            const vec<T> factor = load(line + j);
            store(scores + j, weight * factor);
            slope = slope * factor;
        } else {
            store(scores + j, weight);
        }
        store(dscores + j, flushed(weight * (slope - toward)));
    }
    for (int64_t j = round_up(seen, lanes); j < run.n; j += lanes) {
        store(scores + j, zero<T>());
        store(dscores + j, zero<T>());
    }
}

template <class T, class E>
AC_NOINLINE void turn_pair(const BackwardWorkspace<T, E>& w, const Pair& at) {
    const Backward<T, E>& job = *w.job;
    const Filter& filter = job.filter;
    const bool filtered = filter.mask != nullptr || filter.drops;
    const T* delta =
        job.delta + (at.b * job.dims.heads + at.h) * job.dims.queries + at.q0;
    for (int64_t i = 0; i < at.queries; ++i) {
        const int64_t q = at.q0 + i;
        const RowScale<T> row = scale_of(job, at.b, at.h, q);
        const int64_t seen = larger<int64_t>(filter.visible(q) - at.k0, 0);
        const KeyRun run = {at.b, at.h, q, at.k0, at.keys};
        T* scores = w.scores + i * w.step;
        T* dscores = w.dscores + i * w.step;
        if (filtered) {
            turn_row<T, true>(filter, job.dims, run, smaller(seen, at.keys), row,
                              delta[i], w.line, scores, dscores);
        } else {
            turn_row<T, false>(filter, job.dims, run, smaller(seen, at.keys), row,
                               delta[i], w.line, scores, dscores);
        }
    }
}

// Weights and the gradients of scores become words: pairs of queries for sums over
// queries, and for dq pairs of keys.
template <class T, class E>
AC_INLINE RowsAt<T> make_words(const BackwardWorkspace<T, E>& w, const Pair& at) {
    if constexpr (word_elements<T, E> == 1) {
        return {w.dscores, w.step};
    } else {
        const int64_t width = round_up(at.keys, vec<T>::lanes);
        if (w.job->dq.data != nullptr) {
            for (int64_t i = 0; i < at.queries; ++i)
                narrow_run<E>(w.dscores + i * w.step, width,
                              w.left_dscores + i * w.left_width);
        }
        pair_rows<T, E>(w.scores, w.step, at.queries, width);
        pair_rows<T, E>(w.dscores, w.step, at.queries, width);
        return {w.left_dscores, w.left_width};
    }
}

template <class T, class E>
void add_gradients(const BackwardWorkspace<T, E>& w, const Pair& at) {
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const RowsAt<T> left = make_words(w, at);
    const auto words = [](int64_t count)
                           AC_INLINE_LAMBDA { return words_of<T, E>(count); };
    // Rows are keys: of the queries, those from the first that sees one of them.
    const auto queries = [&](int64_t width) AC_INLINE_LAMBDA {
        return [=, &job, &at](int64_t first, int64_t) AC_INLINE_LAMBDA {
            const int64_t q = job.filter.first_query(at.k0 + first) - at.q0;
            const int64_t before = smaller(larger<int64_t>(q, 0), at.queries);
            return Part{before / word_elements<T, E>, words_of<T, E>(at.queries), 0,
                        width};
        };
    };
    const T beta = at.first_queries ? T(0) : T(1);
    if (job.dv.data != nullptr) {
        const PackedRows<T> g = {w.g, words(d.queries), words(at.q0)};
        const PackedGemm<T> product = {at.keys,
                                       w.value_width,
                                       words(at.queries),
                                       {w.scores, 1, w.step},
                                       g,
                                       {w.dv, w.value_width},
                                       T(1),
                                       beta};
        multiply_packed(product, queries(w.value_width));
    }
    if (job.dk.data != nullptr) {
        const PackedRows<T> q = {w.queries, words(d.queries), words(at.q0)};
        const PackedGemm<T> product = {
            at.keys, w.feature_width,         words(at.queries), {w.dscores, 1, w.step},
            q,       {w.dk, w.feature_width}, job.scale,         beta};
        multiply_packed(product, queries(w.feature_width));
    }
    if (job.dq.data != nullptr) {
        const PackedRows<T> keys = {w.keys, words(at.keys), 0};
        const Written<T> dq = {w.dq + at.q0 * w.feature_width, w.feature_width};
        const PackedGemm<T> product = {at.queries,     w.feature_width,
                                       words(at.keys), {left.data, left.step, 1},
                                       keys,           dq,
                                       job.scale,      at.first_keys ? T(0) : T(1)};
        multiply_packed(product, [&](int64_t, int64_t end) AC_INLINE_LAMBDA {
            const int64_t seen = job.filter.visible(at.q0 + end - 1) - at.k0;
            return Part{0, words(smaller(larger<int64_t>(seen, 0), at.keys)), 0,
                        w.feature_width};
        });
    }
}

template <class T>
void clear_rows(T* rows, int64_t count, int64_t width) {
    memset(rows, 0, static_cast<size_t>(bytes_of<T>(count * width)));
}

// Rows s to s + count of a head of x, from sums with rows of whole registers.
template <class T, class E>
void write_rows(const Heads<E>& x, int64_t b, int64_t s, int64_t h, int64_t count,
                int64_t width, const T* sums, bool add) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t step = round_up(width, lanes);
    for (int64_t i = 0; x.data != nullptr && i < count; ++i) {
        E* to = x.at(b, s + i, h);
        const T* from = sums + i * step;
        for (int64_t j = 0; j < width; j += lanes) {
            const int64_t n = smaller(lanes, width - j);
            const vec<T> sum = load(from + j);
            store_last(to + j, flushed(add ? load_last(to + j, n) + sum : sum), n);
        }
    }
}

// A block of keys with all queries of one of its heads.
template <class T, class E>
void run_keys(const BackwardWorkspace<T, E>& w, Pair at, bool is_first_head,
              const Phase& phase) {
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const int64_t first_query = smaller(job.filter.first_query(at.k0), d.queries);
    phase.next(AC_PHASE_PACK);
    take_keys(w, at);
    at.first_queries = true;
    for (int64_t block = 0; block < job.queries.count; ++block) {
        at.q0 = job.queries.begin(block);
        at.queries = job.queries.size(block);
        if (at.q0 + at.queries <= first_query) {  // these see none of the keys
            if (at.first_keys)
                clear_rows(w.dq + at.q0 * w.feature_width, at.queries, w.feature_width);
            continue;
        }
        phase.next(AC_PHASE_SCORES);
        score_pair(w, at);
        phase.next(AC_PHASE_SOFTMAX);
        turn_pair(w, at);
        phase.next(AC_PHASE_PRODUCTS);
        add_gradients(w, at);
        at.first_queries = false;
    }
    if (at.first_queries) {
        clear_rows(w.dk, at.keys, w.feature_width);
        clear_rows(w.dv, at.keys, w.value_width);
    }
    const bool add = !is_first_head;
    phase.next(AC_PHASE_EPILOGUE);
    write_rows(job.dk, at.b, at.k0, at.group, at.keys, d.features, w.dk, add);
    write_rows(job.dv, at.b, at.k0, at.group, at.keys, d.values, w.dv, add);
}

template <class T, class E>
void run_range(const BackwardWorkspace<T, E>& w, int64_t head, int64_t range,
               const Phase& phase) {
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const Shares shares(job.keys.count, job.ranges);
    const int64_t served = d.heads_of_group();
    Pair at = {};
    at.b = head / d.groups;
    at.group = head % d.groups;
    for (int64_t i = 0; i < served; ++i) {
        at.h = at.group * served + i;
        phase.next(AC_PHASE_PACK);
        take_queries(w, at);
        for (int64_t block = shares.at(range); block < shares.at(range + 1); ++block) {
            at.k0 = job.keys.begin(block);
            at.keys = job.keys.size(block);
            at.first_keys = block == shares.at(range);
            run_keys(w, at, i == 0, phase);
        }
        if (range >= job.ranges - job.copied()) {
            write_rows(job.copy_of(range), at.b, 0, at.h, d.queries, d.features, w.dq,
                       false);
        } else {
            write_rows(job.dq, at.b, 0, at.h, d.queries, d.features, w.dq, false);
        }
    }
}

// ---- before and after

// sum(g * out) of every query.
template <class T, class E>
void find_delta(const Backward<T, E>& job, ac_context* context, T* delta) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Dims& d = job.dims;
    parallel(
        context, d.batch * d.queries, d.work() >= serial_work,
        [&](int64_t begin, int64_t end) {
            const Phase phase(context, AC_PHASE_SOFTMAX);
            for (int64_t t = begin; t < end; ++t) {
                const int64_t b = t / d.queries, s = t % d.queries;
                for (int64_t h = 0; h < d.heads; ++h) {
                    const E* g = job.g.at(b, s, h);
                    const E* out = job.out.at(b, s, h);
                    vec<T> sum = zero<T>();
                    T rest = 0;
                    if (job.g.column == 1 && job.out.column == 1) {
                        for (int64_t j = 0; j < d.values; j += lanes) {
                            const int64_t n = smaller(lanes, d.values - j);
                            sum = fma(load_last(g + j, n), load_last(out + j, n), sum);
                        }
                    } else {
                        for (int64_t j = 0; j < d.values; ++j)
                            rest += wide_of(g[j * job.g.column]) *
                                    wide_of(out[j * job.out.column]);
                    }
                    delta[(b * d.heads + h) * d.queries + s] = reduce_add(sum) + rest;
                }
            }
        });
}

// dq, or zeros, and the copies, in order.
template <class T, class E>
void add_copies(const Backward<T, E>& job, ac_context* context) {
    constexpr int64_t lanes = vec<T>::lanes;
    constexpr bool adds = sizeof(T) == sizeof(E);
    const Dims& d = job.dims;
    const int64_t first = job.ranges - job.copied();
    parallel(context, d.batch * d.queries, true, [&](int64_t begin, int64_t end) {
        const Phase phase(context, AC_PHASE_EPILOGUE);
        for (int64_t t = begin * d.heads; t < end * d.heads; ++t) {
            const int64_t row = t / d.heads, h = t % d.heads;
            const int64_t b = row / d.queries, s = row % d.queries;
            E* to = job.dq.at(b, s, h);
            for (int64_t j = 0; j < d.features; j += lanes) {
                const int64_t n = smaller(lanes, d.features - j);
                vec<T> sum = zero<T>();
                if constexpr (adds) sum = load_last(to + j, n);
                for (int64_t range = first; range < job.ranges; ++range)
                    sum = sum + load_last(job.copy_of(range).at(b, s, h) + j, n);
                store_last(to + j, flushed(sum), n);
            }
        }
    });
}

template <class T, class E = T>
bool backward_typed(const ac_call* call, ac_context* context, const Dims& d) {
    Backward<T, E> job(call, d);
    T* delta = scratch_of<T>(context, slot_delta, d.batch * d.heads * d.queries);
    if (delta == nullptr) return false;
    find_delta(job, context, delta);
    job.delta = delta;
    const bool copied = job.copied() > 0;
    if (copied) {
        job.copies =
            scratch_of<T>(context, slot_copies,
                          job.copied() * d.batch * d.queries * d.heads * d.features);
        if (job.copies == nullptr) return false;
    }
    if (!scale_rows(job, context)) return false;
    const bool finished = with_workspaces(
        job, context, d.batch * d.groups * job.ranges,
        [&](const BackwardWorkspace<T, E>& w, int64_t t, const Phase& phase) {
            run_range(w, t / job.ranges, balanced(t % job.ranges, job.ranges), phase);
        });
    if (finished && copied) add_copies(job, context);
    return finished;
}

// Gradients of the type E; zeros where there is nothing to sum.
template <class T, class E = T>
bool backward_or_zeros(const ac_call* call, ac_context* context) {
    const Dims d =
        dims_of(operand(call, q_at), operand(call, k_at), operand(call, v_at));
    if (d.batch * d.heads * d.queries * d.keys != 0)
        return backward_typed<T, E>(call, context, d);
    for (int i = dq_at; i <= dv_at; ++i) clear_heads<E>(operand(call, i));
    return true;
}

inline bool gradients_written_whole(const ac_call* call) {
    bool whole = true;
    for (int i = dq_at; i <= dv_at; ++i)
        whole = whole && rows_written_whole(operand(call, i));
    return whole;
}

inline double attention_backward_flops(const ac_call* call) {
    return 5 * dims_of(operand(call, q_at), operand(call, k_at), operand(call, v_at))
                   .work();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
