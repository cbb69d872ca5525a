// SPDX-License-Identifier: MIT
//
// Few rows of 16-bit elements times a matrix that is not packed: dot products where it
// runs along k, as a linear layer's weight does, and sums of its rows where it runs
// across.
#pragma once

#include "common/by_size.hpp"
#include "gemm/halves/pack.hpp"
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int half_dot_rows = 4, half_dot_columns = 4;

// sum + a * b over the elements of each word.
template <class V>
AC_INLINE V add_words(V a, V b, V sum) {
    if constexpr (multiplies_pairs) {
        return add_pairs(a, b, sum);
    } else {
        return fma(a, b, sum);
    }
}

// Rows of packed words of a, the lines of b where they are: columns of dot products,
// else rows.
template <class E>
struct HalfDots {
    int64_t k;
    const float* a;
    int64_t a_row;
    const E* b;
    int64_t b_line;
    float* sums;
    int64_t sums_row;
};

template <class E, int rows, int columns>
AC_NOINLINE void run_half_dots(const HalfDots<E>& t) {
    constexpr int64_t lanes = f32::lanes, step = lanes * per_word;
    f32 sum[rows][columns];
    for_tile<rows, columns, 1>(
        0, [&](int i, int j, int64_t) { sum[i][j] = zero<float>(); });
    for (int64_t k = 0; k < t.k; k += step) {
        f32 a[rows];
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) a[i] = load(t.a + i * t.a_row + k / per_word);
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) {
            const E* p = t.b + j * t.b_line + k;
            const f32 b = words_along(p, smaller(step, t.k - k));
            __builtin_prefetch(p + 16 * step);
#pragma GCC unroll 4
            for (int i = 0; i < rows; ++i) sum[i][j] = add_words(a[i], b, sum[i][j]);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
        float* to = t.sums + i * t.sums_row;
        if constexpr (columns == 4) {
            store_sums(to, sum[i]);
        } else {
            for (int j = 0; j < columns; ++j) store_sum(to + j, sum[i][j]);
        }
    }
}

template <class E, int columns>
struct HalfDotsOf {
    using Function = void (*)(const HalfDots<E>&);
    static constexpr int most = half_dot_rows;
    template <int rows>
    static constexpr Function at = run_half_dots<E, rows, columns>;
};

// Sums of all rows of a, `columns` of b; a column's sums do not depend on its
// neighbours.
template <class E>
void run_dots_of(HalfDots<E> t, int64_t rows, int64_t columns) {
    const HalfDots<E> first = t;
    for (int64_t j = 0; j < columns;) {
        const bool all = columns - j >= half_dot_columns;
        for (int64_t i = 0; i < rows; i += half_dot_rows) {
            t.a = first.a + i * t.a_row;
            t.b = first.b + j * t.b_line;
            t.sums = first.sums + i * t.sums_row + j;
            const int64_t some = smaller<int64_t>(half_dot_rows, rows - i);
            if (all) {
                function_of<HalfDotsOf<E, half_dot_columns>>(some)(t);
            } else {
                function_of<HalfDotsOf<E, 1>>(some)(t);
            }
        }
        j += all ? half_dot_columns : 1;
    }
}

// ---- sums of rows
//
// They are in L1; each is read and written once for `together` words of a, so that
// memory sees a few long streams.
constexpr int together = 4;

template <class E, int rows>
AC_NOINLINE void add_half_rows(const HalfDots<E>& t, int64_t columns) {
    constexpr int64_t lanes = f32::lanes;
    f32 factor[rows][together];
    for_tile<rows, together, 1>(0, [&](int i, int w, int64_t) {
        factor[i][w] = set1<float>(t.a[i * t.a_row + w]);
    });
    for (int64_t j = 0; j < columns; j += lanes) {
        const int64_t n = smaller(lanes, columns - j);
        f32 b[together];
#pragma GCC unroll 4
        for (int w = 0; w < together; ++w)
            b[w] = words_across(t.b + w * per_word * t.b_line + j, t.b_line, true, n);
#pragma GCC unroll 4
        for (int i = 0; i < rows; ++i) {
            float* to = t.sums + i * t.sums_row + j;
            f32 sum = load(to);
#pragma GCC unroll 4
            for (int w = 0; w < together; ++w) sum = add_words(factor[i][w], b[w], sum);
            store(to, sum);
        }
    }
}

// The same of one word, which may be the last.
template <class E>
AC_NOINLINE void add_half_row(const HalfDots<E>& t, int64_t columns, bool next) {
    constexpr int64_t lanes = f32::lanes;
    const f32 factor = set1<float>(*t.a);
    for (int64_t j = 0; j < columns; j += lanes) {
        const int64_t n = smaller(lanes, columns - j);
        const f32 b = words_across(t.b + j, t.b_line, next, n);
        store(t.sums + j, add_words(factor, b, load(t.sums + j)));
    }
}

template <class E>
struct HalfRowsOf {
    using Function = void (*)(const HalfDots<E>&, int64_t);
    static constexpr int most = half_dot_rows;
    template <int rows>
    static constexpr Function at = add_half_rows<E, rows>;
};

// Sums of all rows of a, `columns` of b, whose registers are whole.
template <class E>
void run_rows_of(HalfDots<E> t, int64_t rows, int64_t columns) {
    const HalfDots<E> first = t;
    for (int64_t i = 0; i < rows; ++i)
        memset(t.sums + i * t.sums_row, 0,
               static_cast<size_t>(bytes_of<float>(t.sums_row)));
    constexpr int64_t step = together * per_word;
    for (int64_t k = 0; k < t.k;) {
        const bool all = t.k - k >= step;
        const int64_t some_rows = all ? half_dot_rows : 1;
        t.b = first.b + k * t.b_line;
        for (int64_t i = 0; i < rows; i += some_rows) {
            t.a = first.a + i * t.a_row + k / per_word;
            t.sums = first.sums + i * t.sums_row;
            if (all) {
                function_of<HalfRowsOf<E>>(smaller(some_rows, rows - i))(t, columns);
            } else {
                add_half_row(t, columns, k + 1 < t.k);
            }
        }
        k += all ? step : per_word;
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
