// SPDX-License-Identifier: MIT
//
// What attention_backward works on: the call, a thread's scratch memory, and a block of
// keys with a block of queries.
#pragma once

#include "attention/attention.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { dq_at, dk_at, dv_at, g_at, q_at, k_at, v_at, out_at, lse_at, mask_at };
enum { slot_workspace = 0, slot_rows = 4, slot_delta = 5, slot_copies = 6 };

constexpr int64_t query_block = 128;
constexpr int64_t key_block = 128;
constexpr int64_t tasks_wanted = 16;
// Of long sequences more tasks are wanted: a range of so many blocks of keys repays the
// copy of dq that it adds to. Ranges follow from the shape, for dq is a sum over them.
constexpr int64_t many_tasks_wanted = 64;
constexpr int64_t worthy_range = 4;

template <class T, class E = T>
struct Backward {
    Dims dims;
    Filter filter;
    T scale;
    Heads<E> g, q, k, v, out, dq, dk, dv;
    const ac_array* lse;
    const T* delta;  // [B, H, S]: sum(g * out)
    // Or null: [B, H, S] each, the largest score of a row, one over the sum of the
    // exponentials above it, and from which score above the largest on weights are
    // normal numbers.
    T* tops;
    T* shares;
    T* lowest;
    // [copied][B, S, H, D]: dq of ranges of keys, all but the first, or all where dq
    // has too few digits to be added to.
    T* copies;
    Blocks<T> queries, keys;
    int64_t ranges;  // of blocks of keys
    Backward(const ac_call* call, const Dims& dims_)
        : dims(dims_),
          filter(filter_of(call, mask_at, dims_)),
          scale(T(float_attribute(call, 0))),
          g(operand(call, g_at)),
          q(operand(call, q_at)),
          k(operand(call, k_at)),
          v(operand(call, v_at)),
          out(operand(call, out_at)),
          dq(operand(call, dq_at)),
          dk(operand(call, dk_at)),
          dv(operand(call, dv_at)),
          lse(operand(call, lse_at)),
          delta(nullptr),
          tops(nullptr),
          shares(nullptr),
          lowest(nullptr),
          copies(nullptr),
          queries(dims_.queries, query_block),
          keys(dims_.keys, key_block),
          ranges(range_count(keys.count, dims_.batch * dims_.groups)) {}

    static int64_t range_count(int64_t blocks, int64_t heads) {
        const int64_t few = ceil_div(tasks_wanted, heads);
        const int64_t many = ceil_div(many_tasks_wanted, heads);
        return smaller(blocks, larger(few, smaller(many, blocks / worthy_range)));
    }

    // How many ranges have a copy of dq.
    [[nodiscard]] int64_t copied() const {
        if (ranges == 1 || dq.data == nullptr) return 0;
        return sizeof(T) == sizeof(E) ? ranges - 1 : ranges;
    }
    // The copy of dq that a range adds its part to: one of the last `copied()`.
    [[nodiscard]] Heads<T> copy_of(int64_t range) const {
        Heads<T> copy(nullptr);
        copy.head = dims.features;
        copy.row = dims.heads * copy.head;
        copy.batch = dims.queries * copy.row;
        const int64_t place = range - (ranges - copied());
        copy.data = copies + place * dims.batch * copy.batch;
        return copy;
    }
};

template <class T, class E = T>
struct BackwardWorkspace {
    static constexpr bool makes_words = word_elements<T, E> != 1;
    const Backward<T, E>* job;
    int64_t width;  // of the block of keys, in whole registers
    int64_t step;   // from one query's scores to the next
    T* scores;      // [query_block][step], then weights after dropout
    T* dscores;     // [query_block][step]: gradients of weights, then of scores
    // Packed; what sums run along is in words.
    T* keys_across;    // [features][width]
    T* values_across;  // [values][width]
    T* keys;           // [key_block][features]
    T* queries;        // [queries][features] of a head
    T* g;              // [queries][values]
    // Left operands, where words are made for them.
    T* left_queries;     // [query_block][features]
    T* left_g;           // [query_block][values]
    T* left_dscores;     // [query_block][width]
    int64_t left_width;  // a row of these, whichever is widest
    // Sums: of a head, and of a block of keys. In memory their rows would be far apart.
    T* dq;                  // [queries][features]
    T* dk;                  // [key_block][features]
    T* dv;                  // [key_block][values]
    int64_t feature_width;  // a row of these, in whole registers
    int64_t value_width;    // likewise
    T* line;                // [width]: a row of a mask or of dropout
    T* room;                // for copies of rows whose elements are apart
    T* room_g;              // likewise

    void lay_out(const Backward<T, E>& backward, Arena<T>& arena) {
        const Dims& d = backward.dims;
        job = &backward;
        width = backward.keys.largest();
        step = score_step<T>(width);
        const int64_t rows = backward.queries.largest();
        scores = arena.take(rows * step);
        dscores = arena.take(rows * step);
        keys_across = arena.take(d.features * width);
        values_across = arena.take(d.values * width);
        keys = arena.take(packed_size<T>(width, d.features));
        queries = arena.take(packed_size<T>(d.queries, d.features));
        g = arena.take(packed_size<T>(d.queries, d.values));
        left_width =
            round_up(words_of<T, E>(larger(larger(d.features, d.values), width)),
                     vec<T>::lanes) +
            vec<T>::lanes;
        const int64_t left = makes_words ? rows * left_width : 0;
        left_queries = arena.take(left);
        left_g = arena.take(left);
        left_dscores = arena.take(left);
        feature_width = packed_size<T>(1, d.features);
        value_width = packed_size<T>(1, d.values);
        dq = arena.take(d.queries * feature_width);
        dk = arena.take(width * feature_width);
        dv = arena.take(width * value_width);
        line = arena.take(width);
        const bool gaps = backward.q.column != 1 || backward.g.column != 1 ||
                          backward.k.column != 1 || backward.v.column != 1;
        const int64_t longest = larger(width, d.queries);
        room = arena.take(gaps ? longest * larger(d.features, d.values) : 0);
        room_g = arena.take(gaps ? rows * d.values : 0);
    }
};

// A block of keys, and of the queries of one head that it serves.
struct Pair {
    int64_t b, h, group;
    int64_t k0, keys;
    int64_t q0, queries;
    bool first_keys;     // of the range
    bool first_queries;  // of the head
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
