// SPDX-License-Identifier: MIT
//
// attention: the scores of a block of queries and a block of keys are in L1 or L2,
// never all of them in memory; maxima and sums of a row follow from block to block
// (online softmax).
//
// A block's scores are kept transposed, keys down and queries across. So keys need no
// transpose, a maximum over keys is one of registers, without a step across lanes, and
// the scores are at once the left operand of the product with the values.
#pragma once

#include "attention/few_queries.hpp"
#include "attention/key_groups.hpp"
#include "common/phase.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T, class E>
void take_head(ForwardWorkspace<T, E>& w, const QueryBlock& at) {
    const Forward<T, E>& job = *w.job;
    const Dims& d = job.dims;
    const int64_t head = at.b * d.groups + at.group;
    if (!w.whole || w.head == head) return;
    w.head = head;
    const RowsAt<E> v = rows_of(job.v, at.b, 0, at.group, d.keys, d.values, w.room);
    pack_as_rows(v.data, v.step, d.keys, d.values, w.packed_v);
    if (d.features == 0) return;
    const RowsAt<E> k = rows_of(job.k, at.b, 0, at.group, d.keys, d.features, w.room);
    copy_left(k, d.keys, d.features, w.keys, w.key_width);
}

// A block of keys as a left operand.
template <class T, class E>
AC_INLINE RowsAt<T> keys_of(const ForwardWorkspace<T, E>& w, const QueryBlock& at,
                            int64_t k0, int64_t n) {
    const Forward<T, E>& job = *w.job;
    const int64_t width = job.dims.features;
    if (w.whole) return {w.keys + k0 * w.key_width, w.key_width};
    const RowsAt<E> rows = rows_of(job.k, at.b, k0, at.group, n, width, w.room);
    if constexpr (word_elements<T, E> == 1) {
        return rows;
    } else {
        copy_left(rows, n, width, w.keys, w.key_width);
        return {w.keys, w.key_width};
    }
}

// scores = scale * keys @ queries^T. Tiles of keys begin at the first register of
// queries that sees one of them.
template <class T, class E>
void score_block(const ForwardWorkspace<T, E>& w, const QueryBlock& at, int64_t k0,
                 int64_t n) {
    const Forward<T, E>& job = *w.job;
    const int64_t depth = words_of<T, E>(job.dims.features);
    const RowsAt<T> keys = keys_of(w, at, k0, n);
    const PackedGemm<T> product = {n,
                                   w.width,
                                   depth,
                                   {keys.data, keys.step, 1},
                                   {w.packed_q, depth, 0},
                                   {w.scores, w.step},
                                   job.scale,
                                   T(0)};
    multiply_packed(product, [&](int64_t first, int64_t) AC_INLINE_LAMBDA {
        const int64_t query = job.filter.first_query(k0 + first) - at.q0;
        const int64_t n0 = larger<int64_t>(query, 0) / vec<T>::lanes * vec<T>::lanes;
        return Part{0, depth, n0, w.width};
    });
}

// Calls f(scores, added) for the block's registers: what `row` writes for each query,
// turned as the scores are.
template <class T, class E, class Row, class F>
AC_INLINE void with_rows(const ForwardWorkspace<T, E>& w, const QueryBlock& at,
                         int64_t n, Row&& row, F&& f) {
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t i = 0; i < at.queries; ++i) row(i, w.lines + i * key_block);
    pack_columns<T>(n, at.queries, w.width, w.lines, key_block, w.turned);
    for (int64_t i = 0; i < n; ++i) {
        T* scores = w.scores + i * w.step;
        const T* turned = w.turned + i * w.width;
        for (int64_t j = 0; j < w.width; j += lanes)
            store(scores + j, f(load(scores + j), load(turned + j)));
    }
}

template <class T, class E>
AC_NOINLINE void mask_block(const ForwardWorkspace<T, E>& w, const QueryBlock& at,
                            int64_t k0, int64_t n) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Filter& filter = w.job->filter;
    if (filter.mask_step[2] != 0) {
        return with_rows(
            w, at, n,
            [&](int64_t i, T* line) {
                mask_row(filter, {at.b, at.h, at.q0 + i, k0, n}, line);
            },
            [](vec<T> s, vec<T> added) { return masked(s, added); });
    }
    mask_row(filter, {at.b, at.h, 0, k0, n}, w.lines);  // the same for all queries
    for (int64_t i = 0; i < n; ++i) {
        const vec<T> added = set1<T>(w.lines[i]);
        T* scores = w.scores + i * w.step;
        for (int64_t j = 0; j < w.width; j += lanes)
            store(scores + j, masked(load(scores + j), added));
    }
}

template <class T, class E>
AC_NOINLINE void drop_block(const ForwardWorkspace<T, E>& w, const QueryBlock& at,
                            int64_t k0, int64_t n) {
    const Forward<T, E>& job = *w.job;
    with_rows(
        w, at, n,
        [&](int64_t i, T* line) {
            dropout_row(job.filter, job.dims, {at.b, at.h, at.q0 + i, k0, n}, line);
        },
        [](vec<T> weight, vec<T> factor) { return weight * factor; });
}

// Exponentials of a register of queries, `whole` keys that all of them see and then up
// to `part` that some see; zeros for the others of n keys.
template <class T>
struct Column {
    T* scores;
    int64_t step;
    int64_t whole, part, n;
    int64_t first_hidden;  // lanes of key `whole` that do not see it
    [[nodiscard]] AC_INLINE mask<T> seen(int64_t i) const {
        const int64_t hidden = first_hidden + i - whole;
        return ~first<T>(smaller<int64_t>(hidden, vec<T>::lanes));
    }
};

constexpr int chains = 4;  // a maximum takes four cycles, and so does a sum

template <class T>
AC_INLINE vec<T> top_of(const Column<T>& c) {
    const vec<T> lowest = set1<T>(-limits<T>::infinity);
    vec<T> top[chains] = {lowest, lowest, lowest, lowest};
    int64_t i = 0;
    for (; i + chains <= c.whole; i += chains) {
#pragma GCC unroll 4
        for (int j = 0; j < chains; ++j)
            top[j] = max(top[j], load(c.scores + (i + j) * c.step));
    }
    for (; i < c.whole; ++i) top[0] = max(top[0], load(c.scores + i * c.step));
    for (; i < c.part; ++i) {
        const vec<T> s = load(c.scores + i * c.step);
        top[1] = max(top[1], select(c.seen(i), s, lowest));
    }
    return max(max(top[0], top[1]), max(top[2], top[3]));
}

template <class T>
AC_INLINE vec<T> exponentials(const Column<T>& c, vec<T> top) {
    vec<T> sum[chains] = {zero<T>(), zero<T>(), zero<T>(), zero<T>()};
    const auto at = [&](int64_t i) AC_INLINE_LAMBDA {
        return exp_negative(load(c.scores + i * c.step) - top);
    };
    int64_t i = 0;
    for (; i + chains <= c.whole; i += chains) {
#pragma GCC unroll 4
        for (int j = 0; j < chains; ++j) {
            const vec<T> e = at(i + j);
            store(c.scores + (i + j) * c.step, e);
            sum[j] = sum[j] + e;
        }
    }
    for (; i < c.part; ++i) {
        const vec<T> e = i < c.whole ? at(i) : keep(c.seen(i), at(i));
        store(c.scores + i * c.step, e);
        sum[0] = sum[0] + e;
    }
    for (; i < c.n; ++i) store(c.scores + i * c.step, zero<T>());
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Scores become weights, still to be divided by the row's total.
template <class T, class E>
AC_NOINLINE void weigh_block(const ForwardWorkspace<T, E>& w, const QueryBlock& at,
                             int64_t k0, int64_t n) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Filter& filter = w.job->filter;
    const vec<T> lowest = set1<T>(-limits<T>::infinity);
    for (int64_t j = 0; j < w.width; j += lanes) {
        const int64_t q = at.q0 + j;
        const int64_t whole = larger<int64_t>(filter.visible(q) - k0, 0);
        const int64_t part = larger<int64_t>(filter.visible(q + lanes - 1) - k0, 0);
        const Column<T> column = {
            w.scores + j,     w.step, smaller(whole, n),
            smaller(part, n), n,      filter.first_query(k0 + whole) - q};
        const vec<T> before = load(w.row_max + j);
        const vec<T> top = max(before, top_of(column));
        // A row that sees nothing yet: its exponentials are those of -inf.
        const vec<T> base = select(eq(top, lowest), zero<T>(), top);
        const vec<T> rescale = exp_negative(before - base);
        const vec<T> sum = exponentials(column, base);
        store(w.row_max + j, top);
        store(w.rescale + j, rescale);
        store(w.row_sum + j, fma(load(w.row_sum + j), rescale, sum));
    }
}

// sums = rescale * sums + weights^T @ values
template <class T, class E>
void add_values(const ForwardWorkspace<T, E>& w, const QueryBlock& at, int64_t k0,
                int64_t n, bool is_first) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Forward<T, E>& job = *w.job;
    if (!w.whole) {
        const RowsAt<E> values =
            rows_of(job.v, at.b, k0, at.group, n, job.dims.values, w.room);
        pack_as_rows(values.data, values.step, n, job.dims.values, w.packed_v);
    }
    for (int64_t i = 0; !is_first && i < at.queries; ++i) {
        const vec<T> rescale = set1<T>(w.rescale[i]);
        T* sums = w.sums + i * w.value_width;
        for (int64_t j = 0; j < w.value_width; j += lanes)
            store(sums + j, load(sums + j) * rescale);
    }
    pair_rows<T, E>(w.scores, w.step, n, w.width);
    const auto words = [](int64_t keys)
                           AC_INLINE_LAMBDA { return words_of<T, E>(keys); };
    const PackedRows<T> values = {w.packed_v, words(w.whole ? job.dims.keys : n),
                                  words(w.whole ? k0 : 0)};
    const PackedGemm<T> product = {
        at.queries, w.value_width,           words(n), {w.scores, 1, w.step},
        values,     {w.sums, w.value_width}, T(1),     is_first ? T(0) : T(1)};
    multiply_packed(product, [&](int64_t, int64_t end) AC_INLINE_LAMBDA {
        const int64_t seen = job.filter.visible(at.q0 + end - 1) - k0;
        return Part{0, words(smaller(larger<int64_t>(seen, 0), n)), 0, w.value_width};
    });
}

template <class T, class E>
void write_block(const ForwardWorkspace<T, E>& w, const QueryBlock& at) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Forward<T, E>& job = *w.job;
    for (int64_t j = 0; j < w.width; j += lanes) {
        const vec<T> total = load(w.row_sum + j);
        const mask<T> nothing = eq(total, zero<T>());
        store(w.row_max + j, load(w.row_max + j) + log(total));
        store(w.rescale + j, select(nothing, zero<T>(), set1<T>(1) / total));
    }
    for (int64_t i = 0; i < at.queries; ++i) {
        const vec<T> share = set1<T>(w.rescale[i]);
        const T* sums = w.sums + i * w.value_width;
        E* out = job.out.at(at.b, at.q0 + i, at.h);
        for (int64_t j = 0; j < job.dims.values; j += lanes) {
            store_last(out + j, flushed(load(sums + j) * share),
                       smaller(lanes, job.dims.values - j));
        }
        if (job.lse != nullptr) {
            const ac_array& lse = *job.lse;
            *reinterpret_cast<T*>(data<char>(&lse) + at.b * lse.strides[0] +
                                  at.h * lse.strides[1] +
                                  (at.q0 + i) * lse.strides[2]) = w.row_max[i];
        }
    }
}

template <class T, class E>
void attend(ForwardWorkspace<T, E>& w, const QueryBlock& at, const Phase& phase) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Forward<T, E>& job = *w.job;
    const Dims& dims = job.dims;
    w.width = round_up(at.queries, lanes);
    w.step = score_step<T>(w.width);
    phase.next(AC_PHASE_PACK);
    take_head(w, at);
    const RowsAt<E> queries =
        rows_of(job.q, at.b, at.q0, at.h, at.queries, dims.features, w.room);
    pack_as_columns(queries.data, queries.step, dims.features, at.queries, w.packed_q);
    for (int64_t j = 0; j < w.width; j += lanes) {
        store(w.row_max + j, set1<T>(-limits<T>::infinity));
        store(w.row_sum + j, zero<T>());
    }
    const int64_t seen = job.filter.visible(at.q0 + at.queries - 1);
    const int64_t blocks = ceil_div(seen, key_block);
    constexpr int64_t unit = word_elements<T, E>;
    const Cuts keys(words_of<T, E>(seen), larger<int64_t>(blocks, 1));
    if (blocks > group_blocks) clear_groups(w);
    for (int64_t i = 0; i < blocks; ++i) {
        const int64_t k0 = keys.at(i) * unit;
        const int64_t n = smaller(seen, keys.at(i + 1) * unit) - k0;
        const bool is_first = i % group_blocks == 0;
        if (is_first && i > 0) add_group(w, at.queries);
        phase.next(AC_PHASE_SCORES);
        score_block(w, at, k0, n);
        phase.next(AC_PHASE_SOFTMAX);
        if (job.filter.mask != nullptr) mask_block(w, at, k0, n);
        weigh_block(w, at, k0, n);
        if (job.filter.drops) drop_block(w, at, k0, n);
        phase.next(AC_PHASE_PRODUCTS);
        add_values(w, at, k0, n, is_first);
    }
    phase.next(AC_PHASE_EPILOGUE);
    if (blocks == 0) {
        memset(w.sums, 0, static_cast<size_t>(bytes_of<T>(at.queries * w.value_width)));
    }
    if (blocks > group_blocks) take_groups(w, at.queries);
    write_block(w, at);
}

// Lays out a thread's memory; false if there is none.
template <class Workspace, class T, class E>
bool take_scratch(Workspace& w, const Forward<T, E>& job, ac_context* context) {
    Arena<T> arena;
    w.lay_out(job, arena);
    arena.memory = static_cast<T*>(context->scratch(
        context, scratch_slot, static_cast<size_t>(bytes_of<T>(arena.used))));
    if (arena.memory == nullptr) return false;
    arena.used = 0;
    w.lay_out(job, arena);
    return true;
}

template <class T>
bool few_queries_typed(const Forward<T>& job, ac_context* context) {
    const Dims& dims = job.dims;
    return try_parallel(context, dims.batch * dims.heads, dims.work() >= serial_work,
                        [&](int64_t begin, int64_t end) {
                            FewQueries<T> w;
                            if (!take_scratch(w, job, context)) return false;
                            for (int64_t t = begin; t < end; ++t)
                                attend_few(w, t / dims.heads, t % dims.heads);
                            return true;
                        });
}

template <class T, class E = T>
bool attention_typed(const ac_call* call, ac_context* context, const Dims& dims) {
    const Forward<T, E> job(call, dims);
    if constexpr (sizeof(T) == sizeof(E)) {
        if (takes_few_queries(dims, job.lse)) return few_queries_typed(job, context);
    }
    const int64_t blocks = job.blocks.count;
    return try_parallel(context, dims.batch * dims.heads * blocks,
                        dims.work() >= serial_work, [&](int64_t begin, int64_t end) {
                            const Phase phase(context, AC_PHASE_PACK);
                            ForwardWorkspace<T, E> w;
                            if (!take_scratch(w, job, context)) return false;
                            for (int64_t t = begin; t < end; ++t) {
                                const int64_t head = t / blocks;
                                const int64_t block = balanced(t % blocks, blocks);
                                const int64_t h = head % dims.heads;
                                attend(
                                    w,
                                    {head / dims.heads, h, h / dims.heads_of_group(),
                                     job.blocks.begin(block), job.blocks.size(block)},
                                    phase);
                            }
                            return true;
                        });
}

inline double attention_flops(const ac_call* call) {
    return 2 * dims_of(operand(call, q_at), operand(call, k_at), operand(call, v_at))
                   .work();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
