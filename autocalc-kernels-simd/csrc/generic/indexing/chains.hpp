// SPDX-License-Identifier: MIT
//
// Sums of rows at indices, by chains: out[indices[j]] += g[j], for j in order.
//
// The rows of g that belong to one row of the result are chained; threads share out
// these chains, so that each such row is summed in the L1 cache. Adding the rows of g
// as they come moves the result through the caches once for each.
#pragma once

#include "indexing/crowded.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The rows of g for one row of the result.
struct Chain {
    int64_t row, first, last, count;
};
// chain_of[row] needs no first values: what it holds counts only if that chain exists
// and is the row's (P. Briggs, L. Torczon, "An Efficient Representation for Sparse
// Sets", 1993). A table may have many more rows than there are indices.
struct Chains {
    Chain* list;
    int64_t *chain_of, *next;  // of a row of the result; after a row of g
    int64_t count;

    bool reserve(ac_context* context, int64_t rows, int64_t indices) {
        list = scratch_of<Chain>(context, 0, indices + 1);
        chain_of = scratch_of<int64_t>(context, 3, rows + indices + 1);
        if (list == nullptr || chain_of == nullptr) return false;
        next = chain_of + rows;
        count = 0;
        return true;
    }
    AC_INLINE void add(int64_t row, int64_t j) {
        int64_t at = chain_of[row];
        if (at < 0 || at >= count || list[at].row != row) {
            at = chain_of[row] = count++;
            list[at] = {row, j, j, 0};
        }
        Chain& chain = list[at];
        next[chain.last] = j;
        chain.last = j;
        ++chain.count;
    }
    [[nodiscard]] int64_t longest() const {
        int64_t most = 0;
        for (int64_t i = 0; i < count; ++i) most = larger(most, list[i].count);
        return most;
    }
};

// Chains of contiguous indices, up to the first that is out of range. By value they
// stay in registers.
inline Chains chained(Chains chains, const int64_t* indices, int64_t count,
                      int64_t skipped, IndexReader reader) {
    for (int64_t j = 0; j < count; ++j) {
        int64_t row;
        if (!reader.read(indices + j, row)) break;
        if (row != skipped) chains.add(row, j);
    }
    return chains;
}

constexpr int64_t most_chain_columns = 2048;  // 8 KiB of floats stay in the L1 cache

// Columns for a task: all of them, unless one row of the result has more than a
// thread's share of the work.
inline int64_t columns_for(const ac_context* context, const Chains& chains,
                           int64_t count, int64_t width) {
    constexpr int64_t most = most_chain_columns;
    const int64_t threads = tasks_for(context, 1, 1);
    if (chains.longest() * threads <= count) return smaller(width, most);
    return smaller(round_up(ceil_div(width, threads), least_columns_of_task), most);
}

// Adds n columns of a chain's rows of g, which are `row` bytes long, to `to`; with
// twice the digits, if there are many.
template <class T, class Op>
void add_chain(const Chain& chain, const int64_t* next, const char* g, int64_t row,
               char* to, int64_t n) {
    int64_t j = chain.first;
    if (chain.count <= few_terms) {
        for (int64_t left = chain.count; left > 0; --left, j = next[j])
            Op::run(to, g + j * row, n);
        return;
    }
    LineSum<T> sums[most_chain_columns];
    T* out = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) sums[i].add(out[i]);
    for (int64_t left = chain.count; left > 0; --left, j = next[j]) {
        const T* from = reinterpret_cast<const T*>(g + j * row);
        for (int64_t i = 0; i < n; ++i) sums[i].add(from[i]);
    }
    for (int64_t i = 0; i < n; ++i) out[i] = sums[i].value();
}

// Adds contiguous rows of g, as many as there were indices, to rows of out whose
// elements are adjacent.
template <class T, class Op>
void add_chains(ac_context* context, const Chains& chains, const ac_array& out,
                const char* g, int64_t indices) {
    const int64_t width = out.shape[1], row = width * Op::item;
    const int64_t chunk = columns_for(context, chains, indices, width);
    const int64_t chunks = ceil_div(width, chunk);
    parallel(
        context, chains.count * chunks, indices * width >= 16384,
        [&](int64_t begin, int64_t end) {
            for (int64_t task = begin; task < end; ++task) {
                const Chain chain = chains.list[task / chunks];
                const int64_t column = task % chunks * chunk;
                const int64_t n = smaller(chunk, width - column);
                char* to =
                    data<char>(&out) + chain.row * out.strides[0] + column * Op::item;
                add_chain<T, Op>(chain, chains.next, g + column * Op::item, row, to, n);
            }
        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
