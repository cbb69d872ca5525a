// SPDX-License-Identifier: MIT
//
// Products whose sums are too long to run through at once: by halves of k, so that the
// error grows with the square of the logarithm of the number of pieces at most.
#pragma once

#include <stdlib.h>

#include "gemm/run.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Terms of a sum that is taken at once: some blocks, where results are added block by
// block; a shorter run, where they are added term by term. Dot products are summed by
// halves anyway.
constexpr int64_t most_blocks = 64;
constexpr int64_t longest_run = 4096;

template <class T>
int64_t terms_at_once(Gemm<T> p) {
    if (p.k <= longest_run) return longest_run;
    fold_batch(p);
    tidy_strides(p);
    switch (choose_strategy(p)) {
        case Strategy::dots:
            return p.k;
        case Strategy::vector:
        case Strategy::swapped:
            return longest_run;
        default:
            return most_blocks * k_block_limit;
    }
}

// The first `k` terms alone, into `c`, one matrix after the other.
template <class T>
Gemm<T> first_terms(Gemm<T> p, int64_t k, T* c) {
    p.k = k;
    p.c = c;
    p.c_row = p.n;
    p.bias = nullptr;
    p.pre = nullptr;
    p.alpha = 1;
    p.beta = 0;
    p.activation = Activation::none;
    p.mask = nullptr;
    p.epilogue = {};
    int64_t step = p.m * p.n;
    for (int d = p.batch_dims - 1; d >= 0; --d) {
        // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): AC_MAX_DIMS at most
        p.c_step[d] = step;
        step *= p.batch[d];
    }
    return p;
}

template <class T>
int64_t matrices_of(const Gemm<T>& p) {
    int64_t count = 1;
    for (int d = 0; d < p.batch_dims; ++d) count *= p.batch[d];
    return count;
}

// c = beta c + alpha sums
template <class T>
void add_sums(const Gemm<T>& p, const T* sums) {
    const int64_t matrices = matrices_of(p);
    for (int64_t index = 0; index < matrices; ++index) {
        const Matrices<T> at = matrices_at(p, index);
        for (int64_t i = 0; i < p.m; ++i, sums += p.n) {
            T* c = at.c + i * p.c_row;
            for (int64_t j = 0; j < p.n; ++j)
                // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): of the caller
                c[j] = p.alpha * sums[j] + (p.beta == 0 ? T(0) : p.beta * c[j]);
        }
    }
}

// Computes a product whose terms need not be taken in pieces.
template <class T>
using Multiply = bool (*)(const Gemm<T>&, ac_context*);

// `pieces` pieces of `terms` terms; `room` for the sums of each halving. Of four pieces
// p0 to p3 the first half makes room = p0 + p1; then c = room, c += p2 and c += p3. Of
// 64 pieces a term passes through at most 21 such additions instead of 63.
template <class T>
// NOLINTNEXTLINE(misc-no-recursion): each time half of the pieces
bool multiply_pieces(Gemm<T> p, int64_t pieces, int64_t terms, T* room,
                     Multiply<T> once, ac_context* context) {
    if (pieces == 1) return once(p, context);
    const int64_t half = pieces / 2, k = half * terms;
    const Gemm<T> first = first_terms(p, k, room);
    T* more = room + matrices_of(p) * p.m * p.n;
    if (!multiply_pieces(first, half, terms, more, once, context)) return false;
    add_sums(p, room);
    p.k -= k;
    p.a += k * p.a_col;
    p.b += k * p.b_row;
    p.beta = 1;
    return multiply_pieces(p, pieces - half, terms, room, once, context);
}

// `most` terms at once, at most.
template <class T>
bool multiply_long(const Gemm<T>& p, int64_t most, Multiply<T> once,
                   ac_context* context) {
    const int64_t terms = round_up(ceil_div(p.k, ceil_div(p.k, most)), 16);
    const int64_t pieces = ceil_div(p.k, terms);
    int64_t halvings = 1;
    while (int64_t{1} << halvings < pieces) ++halvings;
    const int64_t size = larger<int64_t>(1, halvings * matrices_of(p) * p.m * p.n);
    T* room = static_cast<T*>(malloc(static_cast<size_t>(bytes_of<T>(size))));
    if (room == nullptr) return false;
    const bool ok = multiply_pieces(p, pieces, terms, room, once, context);
    free(room);
    return ok;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
