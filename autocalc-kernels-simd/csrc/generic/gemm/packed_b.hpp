// SPDX-License-Identifier: MIT
//
// Products of blocks that are in the cache, on the microkernels of the matrix product:
// b is packed, and every tile of rows says which part of the product it needs.
#pragma once

#include "gemm/pack.hpp"
#include "gemm/plan.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Rows of b as panels: b[depth][columns], at packed_size elements.
template <class T>
AC_INLINE int64_t packed_size(int64_t depth, int64_t columns) {
    return depth * round_up(columns, vec<T>::lanes);
}

// Packs rows that are `step` elements apart.
template <class T>
AC_INLINE void pack_as_rows(const T* rows, int64_t step, int64_t depth, int64_t columns,
                            T* out) {
    if (columns == 0) return;
    pack_rows<T>(depth, Panels<T>(columns, tile_vectors), 0, rows, step, out);
}

// Whether packed rows follow each other without gaps, so that they can be a left
// operand.
template <class T>
AC_INLINE bool packed_together(int64_t columns) {
    return columns > 0 && columns <= tile_vectors * vec<T>::lanes;
}

// Packs the transpose: row i of memory becomes column i.
template <class T>
AC_INLINE void pack_as_columns(const T* rows, int64_t step, int64_t depth,
                               int64_t columns, T* out) {
    if (columns == 0) return;
    const Panels<T> panels(columns, tile_vectors);
    for (int64_t i = 0; i < panels.count; ++i) {
        pack_panel<T>(depth, panels.at(i), rows, 1, step, out);
    }
}

// A matrix in memory: element (i, j) at data[i * row + j * column].
template <class T>
struct Strided {
    const T* data;
    int64_t row, column;
};
// One whose rows are contiguous.
template <class T>
struct Written {
    T* data;
    int64_t row;
};

// Rows of b that were packed, from row `first` on of `depth`.
template <class T>
struct PackedRows {
    const T* data;
    int64_t depth, first;
};

// c = alpha * a @ b + beta * c; a runs along its rows or its columns.
template <class T>
struct PackedGemm {
    int64_t m, n, k;
    Strided<T> a;
    PackedRows<T> b;
    Written<T> c;
    T alpha, beta;
};

// What a tile of rows needs: steps k0 to k1, and columns n0 to n1, n0 on a register's
// boundary. Other columns of c may be left alone.
struct Part {
    int64_t k0, k1, n0, n1;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA

#ifdef AC_MATRIX_TILES
#include "packed_tiles.hpp"
#else
#include "gemm/packed_rows.hpp"
#endif

namespace autocalc::simd::AC_ISA {
namespace {

// The whole product, or its columns of one panel.
template <class T>
AC_INLINE void multiply_whole(const PackedGemm<T>& p) {
    multiply_packed(
        p, [&](int64_t, int64_t) AC_INLINE_LAMBDA { return Part{0, p.k, 0, p.n}; });
}
template <class T>
AC_INLINE void multiply_panel(PackedGemm<T> p, const Panel& panel) {
    p.n = panel.columns;
    p.b.data += panel.begin * p.b.depth;
    p.c.data += panel.begin;
    multiply_whole(p);
}

// ---- rows that fill no tile

// A row and a group of panels, all of whole width: their sums are independent, where
// the two registers of one panel would wait 4 cycles for each step of k.
template <class T, int group, int vectors>
AC_INLINE void multiply_row_group(const PackedGemm<T>& p, int64_t panel) {
    constexpr int64_t lanes = vec<T>::lanes, width = vectors * lanes;
    const T* b[group];
    vec<T> sums[group][vectors];
#pragma GCC unroll 8
    for (int g = 0; g < group; ++g) {
        b[g] = p.b.data + (panel + g) * width * p.b.depth + p.b.first * width;
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) sums[g][v] = zero<T>();
    }
    for (int64_t k = 0; k < p.k; ++k) {
        const vec<T> a = set1<T>(p.a.data[k * p.a.column]);
#pragma GCC unroll 8
        for (int g = 0; g < group; ++g) {
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v)
                sums[g][v] = fma(a, load(b[g] + k * width + v * lanes), sums[g][v]);
        }
    }
#pragma GCC unroll 8
    for (int g = 0; g < group; ++g) {
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            T* c = p.c.data + (panel + g) * width + v * lanes;
            const vec<T> sum = set1<T>(p.alpha) * sums[g][v];
            store(c, p.beta == T(0) ? sum : fma(set1<T>(p.beta), load(c), sum));
        }
    }
}

// One row, of which panels without a group go as tiles.
template <class T>
void multiply_row(PackedGemm<T> p) {
    constexpr int group = 4;
    constexpr int64_t width = tile_vectors * vec<T>::lanes;
    const Panels<T> panels(p.n, tile_vectors);
    int64_t done = 0;
    while (done + group <= panels.count && panels.at(done).width == width &&
           panels.at(done + group - 1).columns == width) {
        multiply_row_group<T, group, tile_vectors>(p, done);
        done += group;
    }
    for (; done < panels.count; ++done) multiply_panel(p, panels.at(done));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
