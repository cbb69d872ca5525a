// SPDX-License-Identifier: MIT
//
// The swapped path: tiles of c^T gather in a slab, which is transposed into c square by
// square.
#pragma once

#include "gemm/blocks.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
AC_INLINE vec<T> activated(Activation activation, vec<T> x) {
    switch (activation) {
        case Activation::relu:
            return max(zero<T>(), x);
        case Activation::gelu:
            return gelu(x);
        case Activation::gelu_tanh:
            return gelu_tanh(x);
        default:
            return x;
    }
}

template <class T>
AC_INLINE int64_t slab_rows(const Plan& plan) {
    return round_up(plan.slab * plan.tile_m, vec<T>::lanes);
}

// Rows m0 .. m0 + rows of c^T.
template <class T>
struct Slab {
    T* sums;
    int64_t sums_row;
    int64_t m0, rows;
    int64_t squares, written;
};

template <class T>
AC_NOINLINE void write_square(const Gemm<T>& p, const Matrices<T>& at,
                              const Block& block, const Slab<T>& slab, int64_t square) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t down = ceil_div(slab.rows, lanes);
    const int64_t i =
        square % down * lanes;  // the rows of c are pages apart: stay in them
    const int64_t j = square / down * lanes;
    const int64_t n = smaller<int64_t>(lanes, slab.rows - i);
    const int64_t count = smaller<int64_t>(lanes, block.n1 - block.n0 - j);
    const int64_t column = slab.m0 + i;
    const vec<T> bias = p.bias == nullptr ? zero<T>() : load_last(p.bias + column, n);
    vec<T> x[lanes];
#pragma GCC unroll 16
    for (int r = 0; r < lanes; ++r)
        x[r] = load(slab.sums + (i + r) * slab.sums_row + j);
    transpose(x);
    for (int64_t r = 0; r < count; ++r) {
        const int64_t row = block.n0 + j + r;
        T* c = at.c + row * p.c_row + column;
        vec<T> y = x[r] * set1<T>(p.alpha);
        if (p.beta != 0) y = fma(set1<T>(p.beta), load_last(c, n), y);
        if (p.bias != nullptr) y = y + bias;
        if (at.pre != nullptr) store_last(at.pre + row * p.pre_row + column, y, n);
        store_last(c, activated(p.activation, y), n);
    }
}

template <class T>
void write_squares(const Job<T>& job, const Matrices<T>& at, const Block& block,
                   Slab<T>& slab, int64_t count) {
    const int64_t end = smaller(slab.squares, slab.written + count);
    if (slab.written >= end) return;
    const Phase phase(job.context, AC_PHASE_EPILOGUE);
    for (; slab.written < end; ++slab.written)
        write_square(*job.product, at, block, slab, slab.written);
}

// While one slab fills, the one before is written, a few squares before each tile: the
// misses of their stores then overlap with the tile's work instead of waiting for each
// other.
template <class T>
void run_swapped(Workspace<T>& workspace, const Matrices<T>& at, const Block& block) {
    constexpr int lanes = vec<T>::lanes;
    const Job<T>& job = *workspace.job;
    const Gemm<T>& p = *job.product;
    const Plan& plan = job.plan;
    const int64_t columns = block.n1 - block.n0;
    const RowTiles rows(block.m0, block.m1, plan.tile_m);
    const Panels<T> panels(columns, plan.panel);
    const T* packed =
        job.shared_b == nullptr ? workspace.packed_b : job.shared_b + block.n0 * p.k;
    if (job.shared_b == nullptr)
        pack_block(workspace, at.b + block.n0 * p.b_col, p.k, panels);
    const int64_t row_step = round_up(columns, lanes);
    Slab<T> full = {workspace.packed_a, row_step, 0, 0, 0, 0};
    Slab<T> filling = {
        workspace.packed_a + slab_rows<T>(plan) * row_step, row_step, 0, 0, 0, 0};
    Tile<T> tile = {};
    tile.k = p.k;
    tile.alpha = 1;
    tile.c_row = row_step;
    Asked<T> nothing = {};
    for (int64_t i = 0; i < rows.tiles; ++i) {
        const int64_t in_slab = i % plan.slab;
        if (in_slab == 0) filling.m0 = rows.start(i);
        write_squares(job, at, block, full, ceil_div(full.squares, plan.slab));
        take_rows(workspace, at.a, p.k, rows, i, tile);
        tile.c = filling.sums + (rows.start(i) - filling.m0) * row_step;
        run_row(job, tile, rows.start(i + 1) - rows.start(i),
                static_cast<const T*>(nullptr), packed, panels, nothing);
        if (i + 1 == rows.tiles || in_slab + 1 == plan.slab) {
            write_squares(job, at, block, full, full.squares);
            filling.rows = rows.start(i + 1) - filling.m0;
            filling.squares = ceil_div(filling.rows, lanes) * ceil_div(columns, lanes);
            filling.written = 0;
            const Slab<T> empty = full;
            full = filling;
            filling = empty;
        }
    }
    write_squares(job, at, block, full, full.squares);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
