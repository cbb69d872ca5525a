// SPDX-License-Identifier: MIT
//
// The microkernels: a tile of c stays in registers while k runs through.
#pragma once

#include "product.hpp"
#include "tile.hpp"
#include "vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct Tile {
    int64_t k;
    const T* a;
    int64_t a_row, a_col;
    const T* next_a;  // `rows` * k elements to bring nearer meanwhile, or null
    const T* b;       // rows of `vectors` full registers
    int64_t b_row;
    int64_t b_ahead;  // how far ahead of b to ask for memory
    T* c;
    int64_t c_row;
    int64_t columns;  // of c; only the last register may be partly used
    const T* bias;
    T* pre;
    int64_t pre_row;
    T alpha, beta;
    bool relu;
};

template <class T>
AC_INLINE vec<T> load_last(const T* p, int64_t n) {
    return n == vec<T>::lanes ? load(p) : load_first(p, n);
}
template <class T>
AC_INLINE void store_last(T* p, vec<T> x, int64_t n) {
    if (n == vec<T>::lanes) {
        store(p, x);
    } else {
        store_first(p, x, n);
    }
}

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

template <class T, int rows, int vectors>
AC_NOINLINE void run_tile(const Tile<T>& t) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> sum[rows][vectors];
    const T* a = t.a;
    const T* b = t.b;
    const int64_t a_row = t.a_row;
    for_tile<rows, vectors, lanes>(
        0, [&](int i, int v, int64_t) { sum[i][v] = zero<T>(); });
    const T* next = t.next_a != nullptr ? t.next_a : t.a;
    for (int64_t k = t.k; k > 0; --k) {
        vec<T> bv[vectors];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
            bv[v] = load(b + v * lanes);
            if (v % (64 / static_cast<int>(sizeof(vec<T>))) == 0)
                __builtin_prefetch(b + t.b_ahead + v * lanes);
        }
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
            const vec<T> ai = set1<T>(a[i * a_row]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) sum[i][v] = fma(ai, bv[v], sum[i][v]);
        }
        a += t.a_col;
        b += t.b_row;
        __builtin_prefetch(next);
        next += rows;
    }
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
    if (t.relu) {  // a NaN stays: it is the second operand
        each([&](int i, int v, int64_t) { sum[i][v] = max(zero<T>(), sum[i][v]); });
    }
    each([&](int i, int v, int64_t n) {
        store_last(t.c + i * t.c_row + v * lanes, sum[i][v], n);
    });
}

template <class T>
using TileFunction = void (*)(const Tile<T>&);

// tile_functions<T, vectors>[rows]
template <class T, int vectors, int... rows>
struct TileList {
    static constexpr TileFunction<T> functions[] = {nullptr,
                                                    run_tile<T, rows, vectors>...};
};
template <class T, int vectors, int left, int... rows>
struct MakeTileList : MakeTileList<T, vectors, left - 1, left, rows...> {};
template <class T, int vectors, int... rows>
struct MakeTileList<T, vectors, 0, rows...> {
    using type = TileList<T, vectors, rows...>;
};
template <class T, int vectors>
AC_INLINE TileFunction<T> tile_of(int64_t rows) {
    return MakeTileList<T, vectors, tile_rows[vectors]>::type::functions[rows];
}

template <class T>
AC_INLINE TileFunction<T> tile_function(int64_t vectors, int64_t rows) {
    if (vectors == 1) return tile_of<T, 1>(rows);
    if (vectors == 2) return tile_of<T, 2>(rows);
    if constexpr (tile_vectors == 4) {
        return vectors == 3 ? tile_of<T, 3>(rows) : tile_of<T, 4>(rows);
    }
    return nullptr;
}

// ---- activations that are too long to stand in every tile

template <class T>
AC_INLINE vec<T> gelu(vec<T> x) {
    const vec<T> half = set1<T>(T(0.5));
    return x * fma(half, erf(x * set1<T>(T(0.70710678118654752440))), half);
}
template <class T>
AC_INLINE vec<T> gelu_tanh(vec<T> x) {
    const vec<T> half = set1<T>(T(0.5));
    const vec<T> cubic = fma(x * x, x * set1<T>(T(0.044715)), x);
    return x * fma(half, tanh(cubic * set1<T>(T(0.79788456080286535588))), half);
}

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

// ---- dot products: both operands run along k

template <class T>
struct DotTile {
    int64_t k;
    const T* a;
    int64_t a_row;
    const T* b;
    int64_t b_col;
    T* sums;  // [rows][dot_columns]
};

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
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
        for (int j = 0; j < columns; ++j)
            t.sums[i * dot_columns + j] = reduce_add(sum[i][j]);
    }
}

template <class T>
using DotFunction = void (*)(const DotTile<T>&);

template <class T, int rows, int... columns>
struct DotList {
    static constexpr DotFunction<T> functions[] = {nullptr,
                                                   run_dots<T, rows, columns>...};
};
template <class T, int rows, int left, int... columns>
struct MakeDotList : MakeDotList<T, rows, left - 1, left, columns...> {};
template <class T, int rows, int... columns>
struct MakeDotList<T, rows, 0, columns...> {
    using type = DotList<T, rows, columns...>;
};

template <class T>
AC_INLINE DotFunction<T> dot_function(int64_t rows, int64_t columns) {
    if (rows == 1) return MakeDotList<T, 1, dot_columns>::type::functions[columns];
    if (rows == 2) return MakeDotList<T, 2, dot_columns>::type::functions[columns];
    if constexpr (dot_rows >= 3) {
        if (rows == 3) return MakeDotList<T, 3, dot_columns>::type::functions[columns];
    }
    if constexpr (dot_rows >= 4) {
        if (rows == 4) return MakeDotList<T, 4, dot_columns>::type::functions[columns];
    }
    return nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
