// SPDX-License-Identifier: MIT
//
// Factors of matrices of any size, in blocks of 32 columns: what is outside of a block
// is updated by products of matrices, which do nearly all of the work. Right-hand sides
// are solved for in blocks of rows alike.
#pragma once

#include "gemm/gemm.hpp"
#include "linalg/matrices.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t block_width = 32;
constexpr int64_t row_bytes = 64;  // rows begin and end with whole vectors

// Rows of `pitch` elements, zeros after the columns.
template <class T>
struct Block {
    T* at;
    int64_t pitch;
    [[nodiscard]] AC_INLINE T* row(int64_t i) const { return at + i * pitch; }
    [[nodiscard]] AC_INLINE Block from(int64_t i, int64_t j) const {
        return {at + i * pitch + j, pitch};
    }
};

// Not a multiple of 1 KiB, where columns would fight for few places of the cache.
template <class T>
AC_INLINE int64_t pitch_for(int64_t columns) {
    constexpr int64_t unit = row_bytes / item_size<T>;
    const int64_t pitch = round_up(larger<int64_t>(columns, 1), unit);
    return pitch * item_size<T> % 1024 == 0 ? pitch + unit : pitch;
}

template <class T>
AC_INLINE bool take(Block<T>& block, ac_context* context, int slot, int64_t rows,
                    int64_t columns) {
    block.pitch = pitch_for<T>(columns);
    block.at = scratch_of<T>(context, slot, larger<int64_t>(rows, 1) * block.pitch);
    if (block.at != nullptr)
        memset(block.at, 0, static_cast<size_t>(rows * block.pitch) * sizeof(T));
    return block.at != nullptr;
}

// f(i, j) over a matrix, in strips that suit rows and columns that change places.
template <class F>
AC_INLINE void each_element(int64_t rows, int64_t columns, F&& f) {
    constexpr int64_t strip = 16;
    for (int64_t first = 0; first < columns; first += strip) {
        const int64_t end = smaller(first + strip, columns);
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = first; j < end; ++j) f(i, j);
    }
}

// Answers whether all elements are finite.
template <class T>
AC_NOINLINE bool read_matrix(const Matrices& from, const char* place, Block<T> to) {
    const T* a = reinterpret_cast<const T*>(place);
    const int64_t down = stride_of<T>(from.array, -2);
    const int64_t across = stride_of<T>(from.array, -1);
    T none = 0;  // of others this becomes NaN
    each_element(from.rows, from.columns, [&](int64_t i, int64_t j) {
        const T x = a[i * down + j * across];
        none += x - x;
        to.row(i)[j] = x;
    });
    return none == 0;
}
template <class T>
AC_NOINLINE void write_matrix(const Matrices& to, char* place, Block<T> from) {
    T* a = reinterpret_cast<T*>(place);
    const int64_t down = stride_of<T>(to.array, -2);
    const int64_t across = stride_of<T>(to.array, -1);
    if (across == 1) {
        for (int64_t i = 0; i < to.rows; ++i)
            memcpy(a + i * down, from.row(i),
                   static_cast<size_t>(to.columns) * sizeof(T));
        return;
    }
    each_element(to.rows, to.columns, [&](int64_t i, int64_t j) {
        a[i * down + j * across] = from.row(i)[j];
    });
}

// c -= a b, b and c of `n` columns; false without memory.
template <class T>
bool subtract_product(ac_context* context, Block<T> c, const T* a, int64_t a_row,
                      int64_t a_col, Block<T> b, int64_t m, int64_t n, int64_t k) {
    if (m <= 0 || n <= 0) return true;
    Gemm<T> p = {};
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = a;
    p.a_row = a_row;
    p.a_col = a_col;
    p.b = b.at;
    p.b_row = b.pitch;
    p.b_col = 1;
    p.c = c.at;
    p.c_row = c.pitch;
    p.alpha = -1;
    p.beta = 1;
    return multiply(p, context);
}

// The coefficients of a triangular system: of row k in the equation of row i, and 1
// over that of row i itself (null: 1).
template <class T>
struct Triangle {
    const T* at;
    int64_t down, across;
    const T* inverse;
    bool upward;  // the last equation has one unknown
};

template <class T, int vectors>
AC_NOINLINE void solve_strip(Block<T> x, int64_t rows, const Triangle<T>& triangle) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t last = rows - 1;
    for (int64_t s = 0; s < rows; ++s) {
        const int64_t i = triangle.upward ? last - s : s;
        const T* factors = triangle.at + i * triangle.down;
        vec<T> sum[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[v] = load(x.row(i) + v * lanes);
        for (int64_t t = 0; t < s; ++t) {
            const int64_t k = triangle.upward ? last - t : t;
            const vec<T> factor = set1<T>(factors[k * triangle.across]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                sum[v] = fnma(factor, load(x.row(k) + v * lanes), sum[v]);
        }
        const vec<T> scale =
            set1<T>(triangle.inverse == nullptr ? T(1) : triangle.inverse[i]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) store(x.row(i) + v * lanes, sum[v] * scale);
    }
}

// Rows of at least `columns` elements, whole vectors of which are written.
template <class T>
void solve_rows(Block<T> x, int64_t rows, int64_t columns,
                const Triangle<T>& triangle) {
    constexpr int64_t lanes = vec<T>::lanes;
    int64_t j = 0;
    for (; j + 4 * lanes <= columns; j += 4 * lanes)
        solve_strip<T, 4>(x.from(0, j), rows, triangle);
    for (; j < columns; j += lanes) solve_strip<T, 1>(x.from(0, j), rows, triangle);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
