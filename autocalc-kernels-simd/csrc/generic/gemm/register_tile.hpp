// SPDX-License-Identifier: MIT
//
// The microkernels: a tile of c stays in registers while k runs through. A tile of 6 x
// 4 registers (AVX-512) has 24 sums; a step of k loads 4 registers of b, and for each
// of 6 rows broadcasts one element of a and does 4 multiply-adds: 24 for 4 loads of
// vectors.
#pragma once

#include <limits>

#include "common/by_size.hpp"
#include "common/lanes.hpp"
#include "elementwise/activation_math.hpp"
#include "gemm/gemm.hpp"
#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Calls f(row, vector, number of elements) for every register of the tile. The loops
// vanish: the sums must stay in registers, so every index has to be a constant.
template <int rows, int vectors, int lanes, class F>
AC_INLINE void for_tile(int64_t columns, F f) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            f(i, v, v + 1 < vectors ? lanes : columns - (vectors - 1) * lanes);
        }
    }
}

// Keeps the compiler from deriving one pointer or distance from another, which would
// cost it registers.
template <class P>
AC_INLINE void hide_origin(P& value) {
    asm("" : "+r"(value));  // NOLINT(portability-no-assembler): no instruction
}

// sum[v] += *a * b[v]. An instruction set may know a better way, and what `from_memory`
// means.
template <bool from_memory, class T, int vectors>
AC_INLINE void add_row(const T* a, const vec<T> (&b)[vectors], vec<T> (&sum)[vectors]) {
    const vec<T> factor = set1<T>(*a);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[v] = fma(factor, b[v], sum[v]);
}

// What follows the sums: alpha, beta, bias and limits, and the results' way to memory.
template <class T, int rows, int vectors>
AC_INLINE void finish_tile(const Tile<T>& t, vec<T> (&sum)[rows][vectors]) {
    constexpr int lanes = vec<T>::lanes;
    const auto each = [&](auto f) { for_tile<rows, vectors, lanes>(t.columns, f); };
    if (t.alpha != 1) {
        const vec<T> alpha = set1<T>(t.alpha);
        each([&](int i, int v, int64_t) { sum[i][v] = sum[i][v] * alpha; });
    }
    if (t.beta != 0) {
        const vec<T> beta = set1<T>(t.beta);
        each([&](int i, int v, int64_t n) {
            sum[i][v] =
                fma(beta, load_last(t.c + i * t.c_row + v * lanes, n), sum[i][v]);
        });
    }
    if (t.bias != nullptr) {
        each([&](int i, int v, int64_t n) {
            sum[i][v] = sum[i][v] + load_last(t.bias + v * lanes, n);
        });
    }
    if (t.pre != nullptr) {
        each([&](int i, int v, int64_t n) {
            store_last(t.pre + i * t.pre_row + v * lanes, sum[i][v], n);
        });
    }
    if (t.clamped) {  // a NaN stays: it is the second operand
        const vec<T> low = set1<T>(t.low);
        each([&](int i, int v, int64_t) { sum[i][v] = max(low, sum[i][v]); });
        if (t.high < std::numeric_limits<T>::infinity()) {
            const vec<T> high = set1<T>(t.high);
            each([&](int i, int v, int64_t) { sum[i][v] = min(high, sum[i][v]); });
        }
    }
    each([&](int i, int v, int64_t n) {
        store_last(t.c + i * t.c_row + v * lanes, sum[i][v], n);
    });
}

constexpr int64_t steps_together = 4;
// Where rows of a run along k, an address has room for once and twice their distance:
// three of them share a pointer, and several steps cost one addition.
constexpr int rows_together = 3;

// How a tile finds b: rows anywhere; one after another, so that the distances are
// constants; or anywhere, to be packed on the way.
enum class Right { apart, packed, packing };

// Apart from its multiply-adds a step has as few instructions as possible. Where
// another tenant keeps the core's second hyperthread busy, a step is issued at little
// more than two instructions a cycle, whatever they are: with the four prefetches for b
// that once were in every step, 6 x 4 registers ran at 69 % of the multipliers' rate,
// without them at 78 % (b in L2, Cascade Lake).
template <class T, int rows, int vectors, Order a_order, Right b_lies>
AC_NOINLINE void run_tile(const Tile<T>& t) {
    constexpr bool packed = b_lies == Right::packed;
    constexpr int lanes = vec<T>::lanes;
    constexpr int line = 64 / static_cast<int>(sizeof(T));
    constexpr bool row_major = a_order == Order::row_major;
    constexpr int pointers = row_major ? (rows + rows_together - 1) / rows_together : 1;
    vec<T> sum[rows][vectors];
    for_tile<rows, vectors, lanes>(
        0, [&](int i, int v, int64_t) { sum[i][v] = zero<T>(); });
    const char* b = reinterpret_cast<const char*>(t.b);
    T* copy = t.packed;
    const T* next = t.next;
    const int64_t b_ahead = bytes_of<T>(t.b_ahead);
    // In bytes: needs no scaling.
    int64_t b_row = bytes_of<T>(packed ? vectors * lanes : t.b_row);
    int64_t three_rows = 3 * b_row;
    int64_t a_row = bytes_of<T>(t.a_row);
    const int64_t a_col = bytes_of<T>(t.a_col);
    const char* a[pointers];
#pragma GCC unroll 8
    for (int i = 0; i < pointers; ++i) {
        a[i] = reinterpret_cast<const char*>(t.a) + i * rows_together * a_row;
        hide_origin(a[i]);
    }
    const auto left = [&](int i, int step) __attribute__((always_inline)) {
        return reinterpret_cast<const T*>(
            row_major
                ? a[i / rows_together] + i % rows_together * a_row + bytes_of<T>(step)
                : a[0] + bytes_of<T>(i));
    };
    const auto right = [&](int step) __attribute__((always_inline)) {
        return b + (step == 3 ? three_rows : step * b_row);
    };
    const auto run_step = [&](int step) __attribute__((always_inline)) {
        const T* from = reinterpret_cast<const T*>(right(step));
        vec<T> bv[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) bv[v] = load(from + v * lanes);
        if (b_lies == Right::packing) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v)
                store(copy + (step * vectors + v) * lanes, bv[v]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            // An address with an index would be two instructions again.
            if (i % (row_major ? rows_together : 2) == 0) {
                add_row<true>(left(i, step), bv, sum[i]);
            } else {
                add_row<false>(left(i, step), bv, sum[i]);
            }
        }
        if (!row_major) {
            a[0] += a_col;
            hide_origin(a[0]);
        }
    };
    const auto end_steps = [&](int steps) __attribute__((always_inline)) {
        b += steps * b_row;
        hide_origin(b);
        if (b_lies == Right::packing) {
            copy += steps * vectors * lanes;
            hide_origin(copy);
        }
        if (!packed) {
            hide_origin(b_row);
            hide_origin(three_rows);
        }
        if (!row_major) return;
        hide_origin(a_row);
#pragma GCC unroll 8
        for (int i = 0; i < pointers; ++i) {
            a[i] += bytes_of<T>(steps);
            hide_origin(a[i]);
        }
    };
    for (int64_t run = 1;; ++run) {
        for (int64_t groups = t.k / steps_together; groups > 0;) {
            if (next != nullptr) {  // a line of each of the rows
                const Tile<T>* tile = &t;
                hide_origin(tile);  // read here, the distance takes no register below
                const int64_t next_row = bytes_of<T>(tile->next_row);
                const char* from = reinterpret_cast<const char*>(next);
#pragma GCC unroll 16
                for (int i = 0; i < rows; ++i) __builtin_prefetch(from + i * next_row);
                next += line;
            }
            const int64_t now = smaller<int64_t>(groups, line / steps_together);
            groups -= now;
            for (int64_t i = now; i > 0; --i) {
                if (!packed && b_ahead != 0) {
#pragma GCC unroll 4
                    for (int step = 0; step < steps_together; ++step) {
#pragma GCC unroll 4
                        for (int v = 0; v < vectors * lanes; v += line)
                            __builtin_prefetch(right(step) + b_ahead + bytes_of<T>(v),
                                               0, b_lies == Right::packing ? 2 : 3);
                    }
                }
                run_step(0);
                run_step(1);
                run_step(2);
                run_step(3);
                end_steps(steps_together);
            }
        }
        for (int64_t k = t.k % steps_together; k > 0; --k) {
            run_step(0);
            end_steps(1);
        }
        if (run >= t.runs) break;
        const int64_t gap = bytes_of<T>(t.gaps[run - 1]);
#pragma GCC unroll 8
        for (int i = 0; i < pointers; ++i) {
            a[i] += gap;
            hide_origin(a[i]);
        }
    }
    finish_tile(t, sum);
}

// Sums that begin at nothing.
template <class T>
alignas(64) const T no_sums[tile_rows[2] * 2 * vec<T>::lanes] = {};

// Where the instruction set has a loop of its own for them. One run's sums are where
// the next one's begin.
template <class T, int rows>
AC_NOINLINE void run_tall_tile(const Tile<T>& t) {
    vec<T> sum[rows][2], kept[rows][2];
    const auto* start = reinterpret_cast<const vec<T>(*)[2]>(no_sums<T>);
    const T *a = t.a, *b = t.b;
    for (int64_t run = 1;; ++run) {
        sum_tall(t.k, a, bytes_of<T>(t.a_row), b, bytes_of<T>(t.b_row),
                 t.next == nullptr || t.next_row != t.a_row ? a : t.next, start, sum);
        if (run >= t.runs) break;
        a += t.k + t.gaps[run - 1];
        b += t.k * t.b_row;
        for_tile<rows, 2, 0>(0, [&](int i, int v, int64_t) { kept[i][v] = sum[i][v]; });
        start = kept;
    }
    finish_tile(t, sum);
}

// On packed panels, tall tiles run 1.02 to 1.05 times as fast as functions of their
// own; of low ones, which are rare, the library need not have two.
template <class T, int rows, int vectors, Order a_order>
AC_NOINLINE void run_any_tile(const Tile<T>& t) {
    constexpr bool tall = vectors > 1 && 3 * rows > 2 * tile_rows[vectors];
    constexpr bool has_loop =
        fewest_tall_rows > 0 && vectors == 2 && rows >= fewest_tall_rows;
    if constexpr (has_loop && a_order == Order::row_major) {
        if (t.b_ahead == 0) {
            run_tall_tile<T, rows>(t);
        } else {
            run_tile<T, rows, vectors, a_order, Right::apart>(t);
        }
    } else if (tall && t.b_ahead == 0 && t.b_row == vectors * vec<T>::lanes) {
        run_tile<T, rows, vectors, a_order, tall ? Right::packed : Right::apart>(t);
    } else {
        run_tile<T, rows, vectors, a_order, Right::apart>(t);
    }
}

template <class T>
using TileFunction = void (*)(const Tile<T>&);

// By their rows.
template <class T, int vectors, Order a_order>
struct TilesOf {
    using Function = TileFunction<T>;
    static constexpr int most = tile_rows[vectors];
    template <int rows>
    static constexpr Function at = run_any_tile<T, rows, vectors, a_order>;
};
template <class T, int vectors>
AC_INLINE TileFunction<T> tile_of(Order a_order, int64_t rows) {
    return a_order == Order::row_major
               ? function_of<TilesOf<T, vectors, Order::row_major>>(rows)
               : function_of<TilesOf<T, vectors, Order::column_major>>(rows);
}

// Tiles of most registers and almost as many rows as they can have, which pack b on
// their way. Rows of a run along k.
template <class T>
AC_INLINE TileFunction<T> packing_tile_function(int64_t rows) {
    constexpr int most = tile_rows[tile_vectors];
    return rows == most
               ? run_tile<T, most, tile_vectors, Order::row_major, Right::packing>
               : run_tile<T, most - 1, tile_vectors, Order::row_major, Right::packing>;
}

template <class T>
AC_INLINE TileFunction<T> tile_function(int64_t vectors, Order a_order, int64_t rows) {
    if (vectors == 1) return tile_of<T, 1>(a_order, rows);
    if (vectors == 2) return tile_of<T, 2>(a_order, rows);
    if constexpr (tile_vectors == 4) {
        return vectors == 3 ? tile_of<T, 3>(a_order, rows)
                            : tile_of<T, 4>(a_order, rows);
    }
    return nullptr;
}

// ---- activations that are too long to be inlined in every tile

// c = act(c) on a block that has just been written.
template <class T>
AC_NOINLINE void activate(Activation activation, int64_t rows, int64_t columns, T* c,
                          int64_t c_row) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; j += lanes) {
            T* p = c + i * c_row + j;
            const int64_t n = smaller<int64_t>(lanes, columns - j);
            const vec<T> x = load_last(p, n);
            store_last(p, activation == Activation::gelu ? gelu(x) : gelu_tanh(x), n);
        }
    }
}

// c = 0 where y <= 0, the same.
template <class T>
AC_NOINLINE void mask_rows(int64_t rows, int64_t columns, T* c, int64_t c_row,
                           const T* y, int64_t y_row) {
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < rows; ++i, c += c_row, y += y_row) {
        for (int64_t j = 0; j < columns; j += lanes) {
            const int64_t n = smaller<int64_t>(lanes, columns - j);
            const auto passes = ~le(load_last(y + j, n), zero<T>());  // NaN passes
            store_last(c + j, keep(passes, load_last(c + j, n)), n);
        }
    }
}

// ---- dot products: both operands run along k

template <class T>
struct DotTile {
    int64_t k;
    const T* a;
    int64_t a_row;
    const T* b;
    int64_t b_col;
    T* sums;
    int64_t sums_row;
};

// Stores the sum of a register, and those of four one after another. An instruction set
// may know a better way.
template <class T>
AC_INLINE void store_sum(T* to, vec<T> x) {
    *to = reduce_add(x);
}
template <class T>
AC_INLINE void store_sums(T* to, const vec<T>* x) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) store_sum(to + j, x[j]);
}

template <class T, int rows, int columns>
AC_NOINLINE void run_dots(const DotTile<T>& t) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> sum[rows][columns];
    for_tile<rows, columns, 1>(0,
                               [&](int i, int j, int64_t) { sum[i][j] = zero<T>(); });
    const auto step = [&](auto get) {
        vec<T> av[rows];
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) av[i] = get(t.a + i * t.a_row);
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j) {
            const vec<T> bv = get(t.b + j * t.b_col);
#pragma GCC unroll 8
            for (int i = 0; i < rows; ++i) sum[i][j] = fma(av[i], bv, sum[i][j]);
        }
    };
    int64_t k = 0;
    for (; k + lanes <= t.k; k += lanes) step([k](const T* p) { return load(p + k); });
    if (k < t.k) step([k, &t](const T* p) { return load_first(p + k, t.k - k); });
    constexpr int together = columns / 4 * 4;
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
        T* to = t.sums + i * t.sums_row;
        if constexpr (together != 0) store_sums(to, sum[i]);
#pragma GCC unroll 8
        for (int j = together; j < columns; ++j) store_sum(to + j, sum[i][j]);
    }
}

template <class T>
using DotFunction = void (*)(const DotTile<T>&);

// By their columns.
template <class T, int rows>
struct DotsOf {
    using Function = DotFunction<T>;
    static constexpr int most = dot_columns;
    template <int columns>
    static constexpr Function at = run_dots<T, rows, columns>;
};
template <class T, int rows>
AC_INLINE DotFunction<T> dots_of(int64_t columns) {
    return function_of<DotsOf<T, rows>>(columns);
}
template <class T>
AC_INLINE DotFunction<T> dot_function(int64_t rows, int64_t columns) {
    if (rows == 1) return dots_of<T, 1>(columns);
    if (rows == 2) return dots_of<T, 2>(columns);
    if constexpr (dot_rows >= 3) {
        if (rows == 3) return dots_of<T, 3>(columns);
    }
    if constexpr (dot_rows >= 4) {
        if (rows == 4) return dots_of<T, 4>(columns);
    }
    return nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
