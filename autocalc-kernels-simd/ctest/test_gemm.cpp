// SPDX-License-Identifier: MIT
//
// The matrix product: its register tiles one by one, then whole products on every path.
// Numbers are small integers, unless said: every sum is exact and compared so.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "gemm/run.hpp"
#include "pool/pool.hpp"

// Doubles run the same code as floats, and each type takes a sanitizer's compiler a
// minute or two.
#if defined(AC_SANITIZED)
#define AC_TYPES float
#else
#define AC_TYPES float, double
#endif

using namespace autocalc::simd::AC_ISA;

namespace {

constexpr int guard = 1000003;  // no sum here is as large

std::size_t index(int64_t i) { return static_cast<std::size_t>(i); }

// A matrix whose elements are `row` and `col` apart, with guards between and around.
template <class T>
struct Matrix {
    int64_t rows, columns, row, col;
    std::vector<T> memory;
    Matrix(int64_t rows_, int64_t columns_, int64_t row_, int64_t col_)
        : rows(rows_),
          columns(columns_),
          row(row_),
          col(col_),
          memory(index(rows_ * row_ + columns_ * col_ + 2 * margin), T(guard)) {}
    T* data() { return memory.data() + margin; }
    const T* data() const { return memory.data() + margin; }
    T at(int64_t i, int64_t j) const { return data()[i * row + j * col]; }
    // -3 .. 3
    Matrix& fill(int64_t seed) {
        for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j)
                data()[i * row + j * col] = T((i * 31 + j * 17 + seed) % 7 - 3);
        }
        return *this;
    }
    int64_t guards() const {
        int64_t count = 0;
        for (const T x : memory) count += x == T(guard);
        return count;
    }

  private:
    static constexpr int64_t margin = 40;
};

enum class Storage { rows, columns, spread };

template <class T>
Matrix<T> matrix(int64_t rows, int64_t columns, Storage order) {
    if (order == Storage::rows) return Matrix<T>(rows, columns, columns + 2, 1);
    if (order == Storage::columns) return Matrix<T>(rows, columns, 1, rows + 2);
    return Matrix<T>(rows, columns, 3 * columns, 3);
}

template <class T>
T product_at(const Matrix<T>& a, const Matrix<T>& b, int64_t i, int64_t j) {
    T sum = 0;
    for (int64_t k = 0; k < a.columns; ++k) sum += a.at(i, k) * b.at(k, j);
    return sum;
}

template <class T>
struct Extras {
    T alpha = 1, beta = 0;
    bool bias = false, pre = false, relu = false;
};

template <class T>
T finished(T sum, T c, T bias, const Extras<T>& extras) {
    T x = extras.alpha * sum;
    if (extras.beta != 0) x += extras.beta * c;
    return extras.bias ? x + bias : x;
}

template <class T>
TileFunction<T> tile_for(const Tile<T>& tile, int64_t vectors, int64_t rows) {
    const Order runs = tile.a_col == 1 ? Order::row_major : Order::column_major;
    return tile_function<T>(vectors, runs, rows);
}

// One tile against the sums; `a` and `b` as the kernel gets them, with `gap` elements
// between the rows of b.
template <class T>
void check_tile(int64_t rows, int64_t vectors, int64_t columns, Storage order,
                const Extras<T>& extras, int64_t gap) {
    constexpr int64_t k = 13;
    constexpr int64_t lanes = vec<T>::lanes;
    CAPTURE(rows);
    CAPTURE(vectors);
    CAPTURE(columns);
    CAPTURE(gap);
    const Matrix<T> a = matrix<T>(rows, k, order).fill(1);
    const Matrix<T> b = Matrix<T>(k, vectors * lanes, vectors * lanes + gap, 1).fill(2);
    Matrix<T> c = Matrix<T>(rows, columns, columns + 5, 1).fill(3);
    Matrix<T> pre = Matrix<T>(rows, columns, columns + 1, 1).fill(4);
    const Matrix<T> bias = Matrix<T>(1, columns, columns, 1).fill(5);
    const Matrix<T> before = c;
    Tile<T> tile = {};
    tile.k = k;
    tile.a = tile.next = a.data();
    tile.a_row = tile.next_row = a.row;
    tile.a_col = a.col;
    tile.b = b.data();
    tile.b_row = b.row;
    tile.c = c.data();
    tile.c_row = c.row;
    tile.columns = columns;
    tile.bias = extras.bias ? bias.data() : nullptr;
    tile.pre = extras.pre ? pre.data() : nullptr;
    tile.pre_row = pre.row;
    tile.alpha = extras.alpha;
    tile.beta = extras.beta;
    tile.clamped = extras.relu;
    tile.high = std::numeric_limits<float>::infinity();
    tile_for(tile, vectors, rows)(tile);
    int64_t wrong = 0;
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            const T x = finished(product_at(a, b, i, j), before.at(i, j), bias.at(0, j),
                                 extras);
            if (extras.pre) wrong += pre.at(i, j) != x;
            wrong += c.at(i, j) != (extras.relu && x < 0 ? 0 : x);
        }
    }
    CHECK(wrong == 0);
    CHECK(c.guards() == before.guards());
}

template <class T>
const Extras<T> all_extras[] = {
    {}, {T(2)}, {T(1), T(-3)}, {T(1), T(0), true}, {T(-2), T(1), true, true, true}};

// A whole product; answers the path that it took.
template <class T>
Strategy check_product(int64_t m, int64_t n, int64_t k, Storage order_a,
                       Storage order_b, const Extras<T>& extras) {
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    CAPTURE(static_cast<int>(order_a));
    CAPTURE(static_cast<int>(order_b));
    const Matrix<T> a = matrix<T>(m, k, order_a).fill(1);
    const Matrix<T> b = matrix<T>(k, n, order_b).fill(2);
    Matrix<T> c = Matrix<T>(m, n, n + 3, 1).fill(3);
    Matrix<T> pre = Matrix<T>(m, n, n, 1).fill(4);
    const Matrix<T> bias = Matrix<T>(1, n, n, 1).fill(5);
    const Matrix<T> before = c;
    Gemm<T> p = {};
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = a.data();
    p.a_row = a.row;
    p.a_col = a.col;
    p.b = b.data();
    p.b_row = b.row;
    p.b_col = b.col;
    p.c = c.data();
    p.c_row = c.row;
    p.bias = extras.bias ? bias.data() : nullptr;
    p.pre = extras.pre ? pre.data() : nullptr;
    p.pre_row = pre.row;
    p.alpha = extras.alpha;
    p.beta = extras.beta;
    p.activation = extras.relu ? Activation::relu : Activation::none;
    REQUIRE(multiply_typed(p, autocalc::runtime::kernel_context()));
    int64_t wrong = 0;
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            const T x = finished(product_at(a, b, i, j), before.at(i, j), bias.at(0, j),
                                 extras);
            if (extras.pre) wrong += pre.at(i, j) != x;
            wrong += c.at(i, j) != (extras.relu && x < 0 ? 0 : x);
        }
    }
    CHECK(wrong == 0);
    CHECK(c.guards() == before.guards());
    tidy_strides(p);
    return make_plan(p, nullptr).strategy;
}

}  // namespace

TEST_CASE_TEMPLATE("every register tile", T, AC_TYPES) {
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t vectors = 1; vectors <= tile_vectors; ++vectors) {
        for (int64_t rows = 1; rows <= tile_rows[vectors]; ++rows) {
            for (const int64_t missing : {int64_t{0}, int64_t{1}, lanes - 1}) {
                const int64_t columns = vectors * lanes - missing;
                for (const Storage order : {Storage::rows, Storage::columns}) {
                    for (const int64_t gap : {int64_t{0}, lanes})
                        check_tile<T>(rows, vectors, columns, order, {}, gap);
                }
            }
            for (const Extras<T>& extras : all_extras<T>)
                check_tile<T>(rows, vectors, vectors * lanes - 1, Storage::rows, extras,
                              0);
        }
    }
}

TEST_CASE_TEMPLATE("every tile of dot products", T, AC_TYPES) {
    for (const int64_t k : {1, 7, 16, 35}) {
        for (int64_t rows = 1; rows <= dot_rows; ++rows) {
            for (int64_t columns = 1; columns <= dot_columns; ++columns) {
                const Matrix<T> a = matrix<T>(rows, k, Storage::rows).fill(1);
                const Matrix<T> b = matrix<T>(k, columns, Storage::columns).fill(2);
                T sums[dot_rows * dot_columns];
                for (T& sum : sums) sum = T(guard);
                const DotTile<T> tile = {k,     a.data(), a.row,      b.data(),
                                         b.col, sums,     dot_columns};
                dot_function<T>(rows, columns)(tile);
                for (int64_t i = 0; i < rows; ++i) {
                    for (int64_t j = 0; j < columns; ++j)
                        CHECK(sums[i * dot_columns + j] == product_at(a, b, i, j));
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("products of all shapes and orders, on every path", T, AC_TYPES) {
    autocalc::runtime::set_num_threads(3);
    autocalc::runtime::set_team_limit(3);
    const int64_t shapes[][3] = {{1, 1, 1},
                                 {1, 70, 40},
                                 {70, 1, 40},
                                 {5, 3, 64},
                                 {17, 33, 65},
                                 {64, 10, 90},
                                 {40, 97, 50},
                                 {16, 300, 120},
                                 {90, 80, 70},
                                 {33, 200, 129},
                                 {1, l2_bytes() / 1000, 259},
                                 {12, 21, 70},
                                 {11, 43, 150}};
    std::set<Strategy> paths;
    int64_t turn = 0;
    for (const auto& shape : shapes) {
        for (const Storage a : {Storage::rows, Storage::columns, Storage::spread}) {
            for (const Storage b : {Storage::rows, Storage::columns, Storage::spread}) {
                const Extras<T>& extras = all_extras<T>[turn++ % 5];
                paths.insert(
                    check_product<T>(shape[0], shape[1], shape[2], a, b, extras));
            }
        }
    }
    CHECK(paths.size() == 5);
    autocalc::runtime::set_num_threads(1);
}

TEST_CASE_TEMPLATE("more steps than one block of k", T, AC_TYPES) {
    constexpr int64_t k = 2 * k_block_limit + 3;
    for (const Storage a : {Storage::rows, Storage::columns, Storage::spread}) {
        for (const Storage b : {Storage::rows, Storage::columns})
            check_product<T>(9, 20, k, a, b, all_extras<T>[4]);
    }
}

// Of an aligned b, of fractions; the same rows a little further on are packed before
// the first tile.
TEST_CASE_TEMPLATE("few rows pack b on their way to the same bits", T, AC_TYPES) {
    constexpr int64_t n = 6144, k = 70;
    constexpr int64_t line = 64 / int64_t{sizeof(T)};
    autocalc::runtime::set_num_threads(2);
    for (const int64_t m : {tile_rows[2] + 1, 32, 48}) {
        CAPTURE(m);
        const Matrix<T> a = matrix<T>(m, k, Storage::rows).fill(1);
        std::vector<T> room(index(k * n + 2 * line));
        std::vector<T> results[2];
        const auto past =
            reinterpret_cast<std::uintptr_t>(room.data()) % 64 / sizeof(T);
        const int64_t aligned = line - static_cast<int64_t>(past);
        for (const int64_t shift : {0, 1}) {
            T* b = room.data() + aligned + shift;
            for (int64_t i = 0; i < k * n; ++i) b[i] = T(1) / T(i % 1013 + 1);
            std::vector<T>& c = results[shift];
            c.assign(index(m * n), T(guard));
            Gemm<T> p = {};
            p.m = m;
            p.n = p.b_row = p.c_row = n;
            p.k = k;
            p.a = a.data();
            p.a_row = a.row;
            p.a_col = p.b_col = 1;
            p.b = b;
            p.c = c.data();
            p.alpha = 1;
            CHECK(rows_aligned(p.b, p.b_row) == (shift == 0));
            CHECK(make_plan(p, nullptr).strategy == Strategy::packed);
            REQUIRE(multiply_typed(p, autocalc::runtime::kernel_context()));
            CHECK(std::abs(c[index(m * n - 1)]) < T(guard));
        }
        CHECK(results[0] == results[1]);
    }
    autocalc::runtime::set_num_threads(1);
}

TEST_CASE_TEMPLATE("products of a batch", T, AC_TYPES) {
    autocalc::runtime::set_num_threads(2);
    constexpr int64_t batch = 5, m = 9, n = 13, k = 11;
    const Matrix<T> a = Matrix<T>(batch * m, k, k, 1).fill(1);
    for (const bool shared : {false, true}) {
        const Matrix<T> b = Matrix<T>(shared ? k : batch * k, n, n, 1).fill(2);
        Matrix<T> c(batch * m, n, n, 1);
        Gemm<T> p = {};
        p.m = m;
        p.n = n;
        p.k = k;
        p.a = a.data();
        p.a_row = k;
        p.a_col = 1;
        p.b = b.data();
        p.b_row = n;
        p.b_col = 1;
        p.c = c.data();
        p.c_row = n;
        p.alpha = 1;
        p.batch_dims = 1;
        p.batch[0] = batch;
        p.a_step[0] = m * k;
        p.b_step[0] = shared ? 0 : k * n;
        p.c_step[0] = m * n;
        REQUIRE(multiply_typed(p, autocalc::runtime::kernel_context()));
        for (int64_t s = 0; s < batch; ++s) {
            const int64_t b0 = shared ? 0 : s * k;
            for (int64_t i = 0; i < m; ++i) {
                for (int64_t j = 0; j < n; ++j) {
                    T sum = 0;
                    for (int64_t l = 0; l < k; ++l)
                        sum += a.at(s * m + i, l) * b.at(b0 + l, j);
                    CHECK(c.at(s * m + i, j) == sum);
                }
            }
        }
    }
    autocalc::runtime::set_num_threads(1);
}
