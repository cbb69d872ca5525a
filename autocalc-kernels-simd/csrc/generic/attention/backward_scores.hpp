// SPDX-License-Identifier: MIT
//
// A block of keys and the queries of a head: packed, and their scores.
#pragma once

#include "attention/backward.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T, class E>
void take_keys(const BackwardWorkspace<T, E>& w, const Pair& at) {
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const RowsAt<E> v =
        rows_of(job.v, at.b, at.k0, at.group, at.keys, d.values, w.room);
    pack_as_columns(v.data, v.step, d.values, at.keys, w.values_across);
    const RowsAt<E> k =
        rows_of(job.k, at.b, at.k0, at.group, at.keys, d.features, w.room);
    pack_as_columns(k.data, k.step, d.features, at.keys, w.keys_across);
    if (job.dq.data != nullptr)
        pack_as_rows(k.data, k.step, at.keys, d.features, w.keys);
}

// All queries of a head, and the gradients of its results, packed once for all blocks
// of keys.
template <class T, class E>
void take_queries(const BackwardWorkspace<T, E>& w, const Pair& at) {
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const RowsAt<E> q = rows_of(job.q, at.b, 0, at.h, d.queries, d.features, w.room);
    pack_as_rows(q.data, q.step, d.queries, d.features, w.queries);
    const RowsAt<E> g = rows_of(job.g, at.b, 0, at.h, d.queries, d.values, w.room);
    pack_as_rows(g.data, g.step, d.queries, d.values, w.g);
}

// A block of rows of a head as a left operand: from what was packed, if that has whole
// rows, else from memory.
template <class T, class E>
AC_INLINE RowsAt<T> left_rows(const BackwardWorkspace<T, E>& w, const Heads<E>& x,
                              const T* packed, const Pair& at, int64_t width, T* room,
                              T* words) {
    if constexpr (word_elements<T, E> == 1) {
        if (!packed_together<T>(width))
            return rows_of(x, at.b, at.q0, at.h, at.queries, width, room);
        const int64_t step = round_up(width, vec<T>::lanes);
        return {packed + at.q0 * step, step};
    } else {
        const RowsAt<E> rows = rows_of(x, at.b, at.q0, at.h, at.queries, width, room);
        copy_left(rows, at.queries, width, words, w.left_width);
        return {words, w.left_width};
    }
}

// scores = scale * queries @ keys^T and dscores = g @ values^T, in each tile of queries
// for the keys that the last of them sees.
template <class T, class E>
void score_pair(const BackwardWorkspace<T, E>& w, const Pair& at) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Backward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const int64_t features = words_of<T, E>(d.features);
    const int64_t values = words_of<T, E>(d.values);
    const RowsAt<T> q =
        left_rows(w, job.q, w.queries, at, d.features, w.room, w.left_queries);
    const RowsAt<T> g = left_rows(w, job.g, w.g, at, d.values, w.room_g, w.left_g);
    const int64_t columns = round_up(at.keys, lanes);
    const auto seen = [&](int64_t depth, int64_t end) AC_INLINE_LAMBDA {
        const int64_t keys = job.filter.visible(at.q0 + end - 1) - at.k0;
        return Part{0, depth, 0,
                    smaller(round_up(larger<int64_t>(keys, 0), lanes), columns)};
    };
    const PackedGemm<T> scores = {at.queries,
                                  columns,
                                  features,
                                  {q.data, q.step, 1},
                                  {w.keys_across, features, 0},
                                  {w.scores, w.step},
                                  job.scale,
                                  T(0)};
    multiply_packed(scores, [&](int64_t, int64_t end)
                                AC_INLINE_LAMBDA { return seen(features, end); });
    if (job.dq.data == nullptr && job.dk.data == nullptr) return;
    const PackedGemm<T> dscores = {at.queries,
                                   columns,
                                   values,
                                   {g.data, g.step, 1},
                                   {w.values_across, values, 0},
                                   {w.dscores, w.step},
                                   T(1),
                                   T(0)};
    multiply_packed(dscores, [&](int64_t, int64_t end)
                                 AC_INLINE_LAMBDA { return seen(values, end); });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
