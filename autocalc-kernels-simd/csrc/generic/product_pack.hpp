// SPDX-License-Identifier: MIT
//
// Packing: blocks of a and b are copied so that the microkernels read them in one
// straight run.
#pragma once

#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- panels of b: a block's columns are cut into as few and as even panels as
// possible. A panel is `k` rows of `width` elements, a whole number of registers, with
// zeros beyond `columns`.

struct Panel {
    int64_t begin, width, columns;
};

template <class T>
struct Panels {
    int64_t columns, count;
    Cuts cuts;
    AC_INLINE Panels(int64_t n, int64_t most_registers)
        : columns(n),
          count(ceil_div(ceil_div(n, vec<T>::lanes), most_registers)),
          cuts(ceil_div(n, vec<T>::lanes), count) {}
    [[nodiscard]] AC_INLINE Panel at(int64_t i) const {
        const int64_t begin = cuts.at(i) * vec<T>::lanes;
        const int64_t width = cuts.size(i) * vec<T>::lanes;
        return {begin, width, smaller(columns - begin, width)};
    }
};

// Rows that are packed in one go: few enough for L1 and for its 64 pages.
constexpr int64_t rows_at_once = 16;

// `rows` rows of a panel. The rows after them are asked for meanwhile: they may be
// pages apart, where the hardware does not look.
template <class T>
AC_INLINE void pack_panel_rows(int64_t rows, const Panel& panel, const T* b,
                               int64_t b_row, int64_t ahead, T* out) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < rows; ++i) {
        const T* from = b + i * b_row;
        T* to = out + i * panel.width;
        int64_t j = 0;
        for (; j + lanes <= panel.columns; j += lanes) {
            __builtin_prefetch(from + ahead + j);
            store(to + j, load(from + j));
        }
        if (j < panel.columns) store(to + j, load_first(from + j, panel.columns - j));
    }
}

// b runs along its rows.
template <class T>
AC_NOINLINE void pack_rows(int64_t k, const Panels<T>& panels, int64_t first,
                           const T* b, int64_t b_row, T* out) {
    for (int64_t i = 0; i < k; i += rows_at_once) {
        const int64_t rows = smaller(rows_at_once, k - i);
        const int64_t ahead = i + 2 * rows_at_once <= k ? rows_at_once * b_row : 0;
        for (int64_t t = first; t < panels.count; ++t) {
            const Panel panel = panels.at(t);
            pack_panel_rows(rows, panel, b + i * b_row + panel.begin, b_row, ahead,
                            out + panel.begin * k + i * panel.width);
        }
    }
}

// Squares of lanes x lanes elements; `b_col` is the step from one source row to the
// next.
template <class T>
AC_INLINE void pack_square(int64_t k, int64_t columns, const T* b, int64_t b_col,
                           T* out, int64_t width) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> r[lanes];
    if (k == lanes && columns == lanes) {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) r[i] = load(b + i * b_col);
        transpose(r);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(out + i * width, r[i]);
        return;
    }
    for (int i = 0; i < lanes; ++i)
        r[i] = i < columns ? load_first(b + i * b_col, k) : zero<T>();
    transpose(r);
    for (int i = 0; i < k; ++i) store(out + i * width, r[i]);
}

// b runs along its columns: transposed in registers.
template <class T>
AC_INLINE void pack_columns(int64_t k, int64_t columns, int64_t width, const T* b,
                            int64_t b_col, T* out) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t j = 0; j < width; j += lanes) {
        for (int64_t i = 0; i < k; i += lanes) {
            pack_square(smaller<int64_t>(lanes, k - i),
                        smaller<int64_t>(lanes, columns - j), b + j * b_col + i, b_col,
                        out + i * width + j, width);
        }
    }
}

template <class T>
void pack_any(int64_t k, int64_t columns, int64_t width, const T* b, int64_t b_row,
              int64_t b_col, T* out) {
    for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < width; ++j) {
            out[i * width + j] = j < columns ? b[i * b_row + j * b_col] : T(0);
        }
    }
}

// One panel of a b that does not run along its rows.
template <class T>
AC_NOINLINE void pack_panel(int64_t k, const Panel& panel, const T* b, int64_t b_row,
                            int64_t b_col, T* out) {
    b += panel.begin * b_col;
    out += panel.begin * k;
    if (b_row == 1) {
        pack_columns(k, panel.columns, panel.width, b, b_col, out);
    } else {
        pack_any(k, panel.columns, panel.width, b, b_row, b_col, out);
    }
}

// ---- rows of a

// Rows of a for a tile, step by step along k: out[k][rows].
template <class T>
AC_INLINE void pack_tile_any(int64_t rows, int64_t k, const T* a, int64_t a_row,
                             int64_t a_col, T* out) {
    for (int64_t i = 0; i < k; ++i) {
        for (int64_t r = 0; r < rows; ++r) out[i * rows + r] = a[r * a_row + i * a_col];
    }
}

// Groups of rows of an a that runs along its columns (a_row is 1). Group g has rows
// starts[g] to starts[g + 1] and goes to out + g * k * width as [k][width]: whole
// registers, the last ones ragged.
template <class T>
AC_NOINLINE void pack_groups(const int64_t* starts, int64_t groups, int64_t width,
                             int64_t k, const T* a, int64_t a_col, T* out) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < k; i += rows_at_once) {
        const int64_t steps = smaller(rows_at_once, k - i);
        const int64_t ahead = i + 2 * rows_at_once <= k ? rows_at_once * a_col : 0;
        for (int64_t g = 0; g < groups; ++g) {
            const int64_t rows = starts[g + 1] - starts[g];
            for (int64_t r = 0; r < rows; r += lanes) {
                const int64_t n = smaller<int64_t>(lanes, rows - r);
                const T* from = a + i * a_col + starts[g] + r;
                T* to = out + (g * k + i) * width + r;
                for (int64_t step = 0; step < steps; ++step) {
                    __builtin_prefetch(from + ahead);
                    store(to, load_first(from, n));
                    from += a_col;
                    to += width;
                }
            }
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
