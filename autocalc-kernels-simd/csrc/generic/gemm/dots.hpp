// SPDX-License-Identifier: MIT
//
// Products in which both operands run along k and one of them is slim: tiles of dot
// products.
#pragma once

#include "gemm/plan.hpp"
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Sums that are added to what c holds.
template <class T>
void add_dots(const Gemm<T>& p, const Matrices<T>& at, const Block& block,
              const T* sums) {
    for (int64_t i = block.m0; i < block.m1; ++i) {
        for (int64_t j = block.n0; j < block.n1; ++j) {
            T* c = at.c + i * p.c_row + j;
            *c = p.alpha * sums[(i - block.m0) * dot_columns + j - block.n0] +
                 p.beta * *c;
        }
    }
}

// What is left to do with the values of c, where something is.
template <class T>
AC_NOINLINE void finish_dots(const Gemm<T>& p, const Matrices<T>& at,
                             const Block& block) {
    constexpr int lanes = vec<T>::lanes;
    const T alpha = p.beta == 0 ? p.alpha : T(1);
    const bool relu = p.activation == Activation::relu;
    if (alpha != 1 || p.bias != nullptr || at.pre != nullptr || relu) {
        for (int64_t i = block.m0; i < block.m1; ++i) {
            for (int64_t j = block.n0; j < block.n1; j += lanes) {
                const int64_t n = smaller<int64_t>(lanes, block.n1 - j);
                T* c = at.c + i * p.c_row + j;
                vec<T> x = load_last(c, n) * set1<T>(alpha);
                if (p.bias != nullptr) x = x + load_last(p.bias + j, n);
                if (at.pre != nullptr) store_last(at.pre + i * p.pre_row + j, x, n);
                if (relu) x = max(zero<T>(), x);  // a NaN stays
                store_last(c, x, n);
            }
        }
    }
    if (p.activation > Activation::relu) {
        activate(p.activation, block.m1 - block.m0, block.n1 - block.n0,
                 at.c + block.m0 * p.c_row + block.n0, p.c_row);
    }
}

// Sums that are longer than a block are taken by halves.
template <class T>
constexpr int64_t dot_block = 512 * vec<T>::lanes;

template <class T>
// NOLINTNEXTLINE(misc-no-recursion): each time half of k
void run_long_dots(DotTile<T> tile, DotFunction<T> run, int64_t rows, int64_t columns) {
    if (tile.k <= dot_block<T>) return run(tile);
    T sums[dot_rows * dot_columns];
    DotTile<T> rest = tile;
    tile.k = round_up(tile.k / 2, dot_block<T>);
    rest.k -= tile.k;
    rest.a += tile.k;
    rest.b += tile.k;
    rest.sums = sums;
    rest.sums_row = dot_columns;
    run_long_dots(tile, run, rows, columns);
    run_long_dots(rest, run, rows, columns);
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j)
            tile.sums[i * tile.sums_row + j] += sums[i * dot_columns + j];
    }
}

template <class T>
void run_dot_block(const Gemm<T>& p, const Matrices<T>& at, const Block& block) {
    T sums[dot_rows * dot_columns];
    const int64_t across = ceil_div(block.n1 - block.n0, dot_columns);
    const int64_t down = ceil_div(block.m1 - block.m0, dot_rows);
    const Cuts columns(block.n1 - block.n0, across);
    const Cuts rows(block.m1 - block.m0, down);
    for (int64_t j = 0; j < across; ++j) {  // a few columns of b stay in L1, a streams
        for (int64_t i = 0; i < down; ++i) {
            const Block part = {block.m0 + rows.at(i), block.m0 + rows.at(i + 1),
                                block.n0 + columns.at(j), block.n0 + columns.at(j + 1)};
            DotTile<T> tile = {p.k,        at.a + part.m0 * p.a_row,
                               p.a_row,    at.b + part.n0 * p.b_col,
                               p.b_col,    sums,
                               dot_columns};
            if (p.beta == 0) {
                tile.sums = at.c + part.m0 * p.c_row + part.n0;
                tile.sums_row = p.c_row;
            }
            const int64_t m = part.m1 - part.m0, n = part.n1 - part.n0;
            run_long_dots(tile, dot_function<T>(m, n), m, n);
            if (p.beta != 0) add_dots(p, at, part, sums);
        }
    }
    finish_dots(p, at, block);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
