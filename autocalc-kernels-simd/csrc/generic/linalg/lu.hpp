// SPDX-License-Identifier: MIT
//
// P A = L U with pivots from whole columns, and what follows from it.
#pragma once

#include "linalg/blocked.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { factor_slot = 3, solution_slot = 4, order_slot = 5 };

template <class T>
struct Lu {
    ac_context* context;
    int64_t n;
    Block<T> a = {};           // L below the diagonal, of ones there, and U
    int32_t* order = nullptr;  // which row of A each row is
    bool odd = false, singular = false;

    // False without memory.
    bool take_room() {
        order = static_cast<int32_t*>(
            context->scratch(context, order_slot, static_cast<size_t>(n + 1) * 4));
        return order != nullptr && take(a, context, factor_slot, n, n);
    }

    bool factor() {
        odd = singular = false;
        for (int64_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
        for (int64_t first = 0; first < n; first += block_width) {
            const int64_t width = smaller(block_width, n - first), next = first + width;
            factor_columns(first, width);
            if (singular) return true;
            const Block<T> diagonal = a.from(first, first), right = a.from(first, next);
            solve_rows<T>(right, width, n - next,
                          {diagonal.at, a.pitch, 1, nullptr, false});
            if (!subtract_product(context, a.from(next, next), a.row(next) + first,
                                  a.pitch, 1, right, n - next, n - next, width))
                return false;
        }
        return true;
    }

    // x becomes U^-1 L^-1 x, its rows in `order`; false without memory.
    bool solve(Block<T> x, int64_t columns) const {
        for (int64_t first = 0; first < n; first += block_width) {
            const int64_t width = smaller(block_width, n - first), next = first + width;
            const Block<T> rows = x.from(first, 0);
            solve_rows<T>(rows, width, columns,
                          {a.row(first) + first, a.pitch, 1, nullptr, false});
            if (!subtract_product(context, x.from(next, 0), a.row(next) + first,
                                  a.pitch, 1, rows, n - next, columns, width))
                return false;
        }
        for (int64_t end = n; end > 0;) {
            const int64_t width = (end - 1) % block_width + 1, first = end - width;
            const Block<T> rows = x.from(first, 0);
            T inverse[block_width];
            for (int64_t i = 0; i < width; ++i)
                inverse[i] = T(1) / a.row(first + i)[first + i];
            solve_rows<T>(rows, width, columns,
                          {a.row(first) + first, a.pitch, 1, inverse, true});
            if (!subtract_product(context, x, a.at + first, a.pitch, 1, rows, first,
                                  columns, width))
                return false;
            end = first;
        }
        return true;
    }

  private:
    AC_NOINLINE void swap_rows(int64_t i, int64_t j) {
        odd = !odd;
        const int32_t row = order[i];
        order[i] = order[j];
        order[j] = row;
        for (int64_t k = 0; k < a.pitch; k += vec<T>::lanes) {
            const vec<T> x = load(a.row(i) + k);
            store(a.row(i) + k, load(a.row(j) + k));
            store(a.row(j) + k, x);
        }
    }

    // Columns `first` to `first + width`, of all rows from `first` on.
    AC_NOINLINE void factor_columns(int64_t first, int64_t width) {
        constexpr int64_t lanes = vec<T>::lanes, most = block_width / lanes;
        int64_t pivot = largest(first, first);
        for (int64_t k = 0; k < width; ++k) {
            const int64_t at = first + k;
            if (pivot != at) swap_rows(pivot, at);
            const T* top = a.row(at) + first;
            if (top[k] == 0) {
                singular = true;
                return;
            }
            const T inverse = T(1) / top[k];
            // The pivot's row right of it, and in its own column the factor of a row.
            vec<T> right[most];
            mask<T> own[most];
            const int64_t begin = k / lanes, end = ceil_div(width, lanes);
            for (int64_t v = begin; v < end; ++v) {
                T values[lanes];
                for (int64_t j = 0; j < lanes; ++j)
                    values[j] = v * lanes + j > k ? top[v * lanes + j] : T(0);
                right[v] = load(values);
                for (int64_t j = 0; j < lanes; ++j) values[j] = v * lanes + j == k;
                own[v] = gt(load(values), zero<T>());
            }
            T size = -1;
            for (int64_t i = at + 1; i < n; ++i) {
                T* row = a.row(i) + first;
                const vec<T> factor = set1<T>(row[k] * inverse);
                for (int64_t v = begin; v < end; ++v) {
                    T* p = row + v * lanes;
                    store(p, select(own[v], factor, fnma(factor, right[v], load(p))));
                }
                if (k + 1 == width) continue;
                const T found = row[k + 1] < 0 ? -row[k + 1] : row[k + 1];
                if (found > size) {
                    size = found;
                    pivot = i;
                }
            }
            if (size < 0) pivot = at + 1;
        }
    }

    [[nodiscard]] AC_INLINE int64_t largest(int64_t first, int64_t column) const {
        int64_t place = first;
        T size = -1;
        for (int64_t i = first; i < n; ++i) {
            const T x = a.row(i)[column], found = x < 0 ? -x : x;
            if (found > size) {
                size = found;
                place = i;
            }
        }
        return place;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
