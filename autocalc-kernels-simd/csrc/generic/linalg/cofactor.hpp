// SPDX-License-Identifier: MIT
//
// det(a) a^-1 of small matrices, singular ones too: by LU with pivots from all that is
// left, R a C = L U, the smallest pivot is the last, and nothing is divided by it.
#pragma once

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t most_adjugate =
    64;  // beyond, a singular value decomposition is faster

struct Pivots {
    int32_t row[most_adjugate], column[most_adjugate];
    double product = 1;  // of all but the last, with the sign of both orders
};

AC_INLINE void swap_places(int32_t* places, int64_t i, int64_t j) {
    const int32_t place = places[i];
    places[i] = places[j];
    places[j] = place;
}

// w, rows of n, becomes L and U in the order of the pivots; false if its rank is below
// n - 1, where all cofactors are 0.
AC_NOINLINE bool factor_by_all(double* w, int64_t n, Pivots& at) {
    for (int64_t i = 0; i < n; ++i) at.row[i] = at.column[i] = static_cast<int32_t>(i);
    const auto entry = [&](int64_t i, int64_t j) AC_INLINE_LAMBDA -> double& {
        return w[at.row[i] * n + at.column[j]];
    };
    for (int64_t k = 0; k + 1 < n; ++k) {
        int64_t p = k, q = k;
        for (int64_t i = k; i < n; ++i)
            for (int64_t j = k; j < n; ++j)
                if (__builtin_fabs(entry(i, j)) > __builtin_fabs(entry(p, q)))
                    p = i, q = j;
        if ((p == k) != (q == k)) at.product = -at.product;
        swap_places(at.row, p, k);
        swap_places(at.column, q, k);
        const double pivot = entry(k, k);
        if (pivot == 0) return false;
        at.product *= pivot;
        for (int64_t i = k + 1; i < n; ++i) {
            const double factor = entry(i, k) /= pivot;
            for (int64_t j = k + 1; j < n; ++j) entry(i, j) -= factor * entry(k, j);
        }
    }
    return true;
}

// put(i, j, value) for each element of det(a) a^-1.
template <class Put>
AC_INLINE void adjugate(double* w, int64_t n, Put&& put) {
    Pivots at;
    const bool some = factor_by_all(w, n, at);
    const int64_t last = n - 1;
    double x[most_adjugate];
    for (int64_t j = 0; j < n; ++j) {
        const auto entry = [&](int64_t i, int64_t k) AC_INLINE_LAMBDA {
            return w[at.row[i] * n + at.column[k]];
        };
        for (int64_t i = 0; some && i < n; ++i) {  // L^-1 of column j of the identity
            x[i] = i == j;
            for (int64_t k = 0; k < i; ++k) x[i] -= entry(i, k) * x[k];
        }
        for (int64_t i = last - 1; some && i >= 0; --i) {
            x[i] = x[i] * entry(last, last) - entry(i, last) * x[last];
            for (int64_t k = i + 1; k < last; ++k) x[i] -= entry(i, k) * x[k];
            x[i] /= entry(i, i);
        }
        for (int64_t i = 0; i < n; ++i)
            put(at.column[i], at.row[j], some ? at.product * x[i] : 0.0);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
