// SPDX-License-Identifier: MIT
//
// What moves elements for the matrix product and for copies: transposes, panels of b,
// groups of rows of a.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "common/transpose.hpp"
#include "gemm/pack.hpp"

using namespace autocalc::simd::AC_ISA;

namespace {

// k x n numbers, each its own, as panels are cut from them: with columns side by side,
// with rows side by side, and with gaps in both directions.
template <class T>
struct Source {
    int64_t k, n;
    std::vector<T> rows, columns, spread;
    Source(int64_t k_, int64_t n_)
        : k(k_), n(n_), rows(size()), columns(size()), spread(6 * size()) {
        for (int64_t i = 0; i < k; ++i) {
            for (int64_t j = 0; j < n; ++j) {
                rows[static_cast<std::size_t>(i * n + j)] = at(i, j);
                columns[static_cast<std::size_t>(j * k + i)] = at(i, j);
                spread[static_cast<std::size_t>(i * 6 * n + j * 3)] = at(i, j);
            }
        }
    }
    std::size_t size() const { return static_cast<std::size_t>(k * n); }
    static T at(int64_t i, int64_t j) { return T(i * 1000 + j + 1); }
};

constexpr int guard = -7;

}  // namespace

TEST_CASE_TEMPLATE("squares of registers are transposed", T, float, double) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> rows[lanes];
    T a[lanes];
    for (int i = 0; i < lanes; ++i) {
        for (int j = 0; j < lanes; ++j) a[j] = T(i * 100 + j);
        rows[i] = load(a);
    }
    transpose(rows);
    for (int i = 0; i < lanes; ++i) {
        store(a, rows[i]);
        for (int j = 0; j < lanes; ++j) CHECK(a[j] == T(j * 100 + i));
    }
}

TEST_CASE_TEMPLATE("blocks of any size are transposed", T, uint8_t, uint16_t, float,
                   double) {
    for (const int64_t rows : {1, 2, 5, 16, 37}) {
        for (const int64_t columns : {1, 3, 8, 33}) {
            CAPTURE(rows);
            CAPTURE(columns);
            const int64_t in_row = rows + 3;
            const int64_t out_row = columns + 2;
            std::vector<T> in(static_cast<std::size_t>(columns * in_row));
            std::vector<T> out(static_cast<std::size_t>(rows * out_row), T(guard));
            for (std::size_t i = 0; i < in.size(); ++i) in[i] = T(i % 251);
            constexpr auto size = static_cast<int64_t>(sizeof(T));
            transpose_items(reinterpret_cast<char*>(out.data()), out_row * size,
                            reinterpret_cast<const char*>(in.data()), in_row * size,
                            rows, columns, size);
            int64_t wrong = 0;
            for (int64_t r = 0; r < rows; ++r) {
                for (int64_t c = 0; c < out_row; ++c) {
                    const T want = c < columns ? T((c * in_row + r) % 251) : T(guard);
                    wrong += out[static_cast<std::size_t>(r * out_row + c)] != want;
                }
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE_TEMPLATE("panels of b hold its columns, then zeros", T, float, double) {
    constexpr int64_t lanes = vec<T>::lanes;
    for (const int64_t k : {1, 15, 37}) {
        for (const int64_t n : {lanes, 3 * lanes + 1, 7 * lanes - 1}) {
            CAPTURE(k);
            CAPTURE(n);
            const Source<T> source(k, n);
            const Panels<T> panels(n, 2);
            const auto size = static_cast<std::size_t>(k * (n + lanes));
            std::vector<T> packed[3];
            for (std::vector<T>& out : packed) out.assign(size, T(guard));
            pack_rows(k, panels, 0, source.rows.data(), n, packed[0].data());
            int64_t columns = 0;
            int64_t wrong = 0;
            for (int64_t t = 0; t < panels.count; ++t) {
                const Panel panel = panels.at(t);
                CHECK(panel.begin == columns);
                CHECK(panel.width <= 2 * lanes);
                columns += panel.columns;
                pack_panel(k, panel, source.columns.data(), 1, k, packed[1].data());
                pack_panel(k, panel, source.spread.data(), 6 * n, 3, packed[2].data());
                for (int64_t i = 0; i < k; ++i) {
                    for (int64_t j = 0; j < panel.width; ++j) {
                        const T want = j < panel.columns
                                           ? Source<T>::at(i, panel.begin + j)
                                           : T(0);
                        const auto at = static_cast<std::size_t>(panel.begin * k +
                                                                 i * panel.width + j);
                        for (const std::vector<T>& out : packed)
                            wrong += out[at] != want;
                    }
                }
            }
            CHECK(columns == n);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE_TEMPLATE("rows of a are packed step by step", T, float, double) {
    constexpr int64_t m = 7;
    constexpr int64_t k = 5;
    const Source<T> source(m, k);
    T out[m * k];
    pack_tile_any<T>(m, k, source.spread.data(), 6 * k, 3, out);
    for (int64_t i = 0; i < k; ++i) {
        for (int64_t r = 0; r < m; ++r) CHECK(out[i * m + r] == Source<T>::at(r, i));
    }
}

TEST_CASE_TEMPLATE("groups of rows are packed side by side", T, float, double) {
    constexpr int64_t lanes = vec<T>::lanes;
    constexpr int64_t k = 21;
    // A register, less than one, more than one; the last group may be smaller, and is
    // the end of the rows that may be read.
    for (const int64_t width : {lanes, lanes - 1, lanes + 1}) {
        const int64_t starts[] = {2, 2 + width, 2 + 2 * width, 1 + 3 * width};
        const Source<T> source(k, starts[3]);  // step i along k is row i here
        std::vector<T> out(static_cast<std::size_t>(3 * group_size<T>(width, k)),
                           T(guard));
        pack_groups(starts, 3, width, k, source.rows.data(), starts[3], out.data());
        for (int64_t g = 0; g < 3; ++g) {
            for (int64_t i = 0; i < k; ++i) {
                for (int64_t r = 0; r < starts[g + 1] - starts[g]; ++r) {
                    const int64_t at = g * group_size<T>(width, k) + i * width + r;
                    CHECK(out[static_cast<std::size_t>(at)] ==
                          Source<T>::at(i, starts[g] + r));
                }
            }
        }
    }
}
