// SPDX-License-Identifier: MIT
//
// What attention works on: the call, a thread's scratch memory, and a block of queries.
#pragma once

#include "attention/attention.hpp"
#include "reduce/running.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { out_at, lse_at, q_at, k_at, v_at, mask_at };
enum { scratch_slot = 0 };

constexpr int64_t query_block = 64;
constexpr int64_t key_block = 256;
// Blocks of keys that are added one after the other. Of more the sums are kept with
// twice the digits, so that the error does not grow with the number of keys.
constexpr int64_t group_blocks = 16;
constexpr int64_t group_keys = group_blocks * key_block;

// Sums over groups of keys: `whole`, and what their additions rounded off.
template <class T>
struct GroupSums {
    T *whole, *lost;

    void lay_out(Arena<T>& arena, int64_t count) {
        whole = arena.take(count);
        lost = arena.take(count);
    }
    void clear(int64_t count) const {
        memset(whole, 0, static_cast<size_t>(bytes_of<T>(count)));
        memset(lost, 0, static_cast<size_t>(bytes_of<T>(count)));
    }
    // Adds a register of a group's sums at i, after the others were multiplied by
    // `rescale`. Beyond the numbers nothing is kept.
    AC_INLINE void add(int64_t i, vec<T> group, vec<T> rescale) const {
        RunningSum<vec<T>> sum = {load(whole + i) * rescale, group,
                                  load(lost + i) * rescale};
        sum.carry();
        store(whole + i, sum.whole);
        store(lost + i, keep(is_finite(sum.lost), sum.lost));
    }
    [[nodiscard]] AC_INLINE vec<T> value(int64_t i) const {
        return load(whole + i) + load(lost + i);
    }
};

template <class T, class E = T>
struct Forward {
    Dims dims;
    Filter filter;
    T scale;
    Heads<E> q, k, v, out;
    const ac_array* lse;
    Blocks<T> blocks;  // of queries
    Forward(const ac_call* call, const Dims& dims_)
        : dims(dims_),
          filter(filter_of(call, mask_at, dims_)),
          scale(T(float_attribute(call, 0))),
          q(operand(call, q_at)),
          k(operand(call, k_at)),
          v(operand(call, v_at)),
          out(operand(call, out_at)),
          lse(operand(call, lse_at)),
          blocks(dims_.queries, query_block) {}
};

// Scratch memory of a thread, and the block that it works on.
template <class T, class E = T>
struct ForwardWorkspace {
    const Forward<T, E>* job;
    int64_t width;        // of the block of queries, in whole registers
    int64_t step;         // from one key's scores to the next
    int64_t value_width;  // of values, in whole registers
    T* packed_q;          // [words of features][width]
    T* scores;            // [key_block][step], then weights
    T* packed_v;          // [words of keys, or of key_block][values]
    T* keys;              // [keys][key_width]; of a block if its words are to be made
    int64_t key_width;    // of words of features, in whole registers
    // Keys and values of a head are packed once if several blocks of queries need them.
    // Interleaved with other heads they would use an eighth of L2's sets: 1024
    // positions of 8 heads of 64 took 1.2 times as long.
    bool whole;
    int64_t head;  // whose they are
    static constexpr bool makes_words = word_elements<T, E> != 1;
    T* sums;     // [width][value_width]
    T* row_max;  // [width]: the largest score so far, ...
    T* row_sum;  // ... the sum of exponentials, ...
    T* rescale;  // ... and what the sums so far are multiplied by
    // Where there are more keys than those of a group: the sums over groups, their
    // exponentials', and the largest score when they were added.
    GroupSums<T> all_sums;      // [width][value_width]
    GroupSums<T> all_row_sums;  // [width]
    T* all_row_max;             // [width]
    T* room;                    // for copies of rows
    T* lines;                   // [width][key_block]: rows of a mask or of dropout ...
    T* turned;                  // [key_block][width]: ... and their transpose

    void lay_out(const Forward<T, E>& forward, Arena<T>& arena) {
        constexpr int64_t lanes = vec<T>::lanes;
        const Dims& d = forward.dims;
        job = &forward;
        width = forward.blocks.largest();
        step = score_step<T>(width);
        value_width = round_up(d.values, lanes);
        const int64_t depth = words_of<T, E>(d.features);
        packed_q = arena.take(depth * width);
        scores = arena.take(key_block * step);
        whole = forward.blocks.count * d.heads_of_group() > 1;
        head = -1;
        const int64_t kept = whole ? d.keys : key_block;
        packed_v = arena.take(words_of<T, E>(kept) * value_width);
        key_width = round_up(depth, lanes);
        keys = arena.take(whole || makes_words ? kept * key_width : 0);
        sums = arena.take(width * value_width);
        row_max = arena.take(width);
        row_sum = arena.take(width);
        rescale = arena.take(width);
        const int64_t kept_width = d.keys > group_keys ? width : 0;
        all_sums.lay_out(arena, kept_width * value_width);
        all_row_sums.lay_out(arena, kept_width);
        all_row_max = arena.take(kept_width);
        const bool gaps =
            forward.q.column != 1 || forward.k.column != 1 || forward.v.column != 1;
        room =
            arena.take(gaps ? larger(width, kept) * larger(d.features, d.values) : 0);
        const bool filtered = forward.filter.mask != nullptr || forward.filter.drops;
        lines = arena.take(filtered ? width * key_block : 0);
        turned = arena.take(filtered ? key_block * width : 0);
    }
};

// One block of queries of a head.
struct QueryBlock {
    int64_t b, h, group, q0, queries;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
