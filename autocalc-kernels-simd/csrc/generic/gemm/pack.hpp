// SPDX-License-Identifier: MIT
//
// Packing: blocks of a and b are copied so that the microkernels read them in one
// straight run.
#pragma once

#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- panels of b: a block's columns are cut into as few and as even panels as
// possible. A panel is `k` rows of `width` elements, a whole number of registers, with
// zeros beyond `columns`.

// With AVX-512 (16 floats a register, panels of at most 4) 150 columns are 10
// registers: three panels of 4, 3 and 3, 64, 48 and 48 wide, the last with 38 columns
// and 10 zeros. The panels are stored one after the other, panel p at out + panel.begin
// * k.

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

// b runs along its rows. Sixteen rows go into all panels before the next sixteen, so
// that b is read in the order of memory; the panels are written in turn.
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

// b runs along its columns: transposed in registers, squares of lanes x lanes. A panel
// of k = 100 and 48 columns is 7 x 3 squares with AVX-512, the last ones of 4 steps.
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

constexpr int64_t groups_at_once = 8;  // of rows of a: 96 rows are six lines
constexpr int64_t most_registers = 8;  // of a group: seven for 14 rows of two lanes
// Steps ahead for which a is asked for.
constexpr int64_t group_rows_ahead = 8;

// What a group of rows takes when it is packed: the last register of its last step may
// reach beyond it.
template <class T>
AC_INLINE int64_t group_size(int64_t width, int64_t k) {
    return width * k + vec<T>::lanes;
}

// Groups of rows of an a that runs along its columns (a_row is 1). Group g has rows
// starts[g] to starts[g + 1] and goes to out + g * group_size as [k][width]. A step
// goes through all groups before the next one: so its line of a is read once, in order,
// and sixteen steps, which may all fall into one set of L1, need not stay there
// together. From 1024 columns to 128, 16 steps of each group in turn made the product
// 1.19 times as slow (Zen 3). Registers are stored whole, and each one overwrites what
// the one before it wrote too much.
template <class T>
AC_NOINLINE void pack_groups(const int64_t* starts, int64_t groups, int64_t width,
                             int64_t k, const T* a, int64_t a_col, T* out) {
    constexpr int64_t lanes = vec<T>::lanes;
    constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));
    const int64_t end = starts[groups];
    // Where each register of rows comes from in a step, and where it goes to in the
    // group's first step: the same in every step, but for a_col and width.
    struct Move {
        int64_t from, to;
    } moves[groups_at_once * most_registers];
    int64_t count = 0;
    for (int64_t g = 0; g < groups; ++g) {
        const int64_t to = g * group_size<T>(width, k) - starts[g];
        for (int64_t r = starts[g]; r < starts[g + 1]; r += lanes)
            moves[count++] = {r, to + r};
    }
    // The last registers may reach beyond the last row; only those are loaded in part.
    int64_t whole = count;
    while (whole > 0 && moves[whole - 1].from + lanes > end) --whole;
    for (int64_t i = 0; i < k; ++i) {
        if (i + group_rows_ahead < k) {
            for (int64_t r = starts[0]; r < end; r += line)
                __builtin_prefetch(a + group_rows_ahead * a_col + r);
        }
        // A register that is wider than what is left of its group writes into the place
        // of the group's next step, which comes later; the last step's excess has room
        // of its own (`group_size`).
        for (int64_t m = 0; m < whole; ++m)
            store(out + moves[m].to, load(a + moves[m].from));
        for (int64_t m = whole; m < count; ++m)
            store(out + moves[m].to,
                  load_first(a + moves[m].from, end - moves[m].from));
        a += a_col;
        out += width;
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
