// SPDX-License-Identifier: MIT
//
// Sums and products that run on over any number of terms: what their steps round off is
// kept, so that the error does not grow with the number of terms. V is a number or a
// register.
#pragma once

#include <utility>

#include "common/lanes.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_INLINE bool is_finite(double a) { return a - a == 0; }
template <class T>
AC_INLINE mask<T> is_finite(vec<T> a) {
    return eq(a - a, zero<T>());
}

// ---- along the lanes of a register

// Where lane i of a moved register comes from, in `fill` and then in the register.
constexpr int source_of(int i, int distance, bool reverse, int lanes) {
    if (reverse) return i + distance < lanes ? lanes + i + distance : i;
    return i < distance ? i : lanes + i - distance;
}

template <int distance, bool reverse, class T, int... i>
AC_INLINE vec<T> moved(vec<T> a, vec<T> fill, std::integer_sequence<int, i...>) {
    constexpr int lanes = vec<T>::lanes;
    return {__builtin_shufflevector(fill.v, a.v,
                                    source_of(i, distance, reverse, lanes)...)};
}

// The elements `distance` lanes further up, or down if `reverse`; `fill` before them.
template <int distance, bool reverse, class T>
AC_INLINE vec<T> moved(vec<T> a, vec<T> fill) {
    constexpr int lanes = vec<T>::lanes;
    return moved<distance, reverse>(a, fill, std::make_integer_sequence<int, lanes>{});
}

// The sums of the first 1, 2, ... lanes, or of the last, by pairs (W. D. Hillis,
// G. L. Steele, Data Parallel Algorithms, 1986).
template <bool reverse, int distance = 1, class T>
AC_INLINE vec<T> running_sums(vec<T> a) {
    if constexpr (distance < vec<T>::lanes) {
        const vec<T> before = moved<distance, reverse>(a, zero<T>());
        return running_sums<reverse, 2 * distance>(a + before);
    }
    return a;
}

// The last lane that running_sums computes, in all lanes.
template <bool reverse, class T, int... i>
AC_INLINE vec<T> total_of_lanes(vec<T> a, std::integer_sequence<int, i...>) {
    constexpr int total = reverse ? 0 : vec<T>::lanes - 1;
    return {__builtin_shufflevector(a.v, a.v, (total + 0 * i)...)};
}
template <bool reverse, class T>
AC_INLINE vec<T> total_of_lanes(vec<T> a) {
    return total_of_lanes<reverse>(a, std::make_integer_sequence<int, vec<T>::lanes>{});
}

// ---- sums

// Terms between two calls of carry().
constexpr int64_t carried_terms = 32;

// A sum in three parts: an addition is rounded at the size of what was added since the
// last carry(), not of the whole sum. A part begins at zero, so that the processor need
// not wait for the one before.
template <class V>
struct RunningSum {
    V whole{}, part{}, lost{};

    AC_INLINE void add(V term) { part = part + term; }
    [[nodiscard]] AC_INLINE V value() const { return whole + part; }
    AC_INLINE V next(V term) {
        add(term);
        return value();
    }
    // Adds `part` to `whole`; what that rounds off is in `lost`, and added the next
    // time (D. Knuth, The Art of Computer Programming, volume 2, section 4.2.2, theorem
    // B).
    AC_INLINE void carry() {
        const V term = part + lost, sum = whole + term, added = sum - whole;
        lost = (whole - (sum - added)) + (term - added);
        whole = sum;
        part = V{};
    }
};

// The sum of a line, with twice the digits: a term for a whole register.
template <class T>
struct LineSum {
    double whole = 0, lost = 0;
    AC_INLINE void add(double term) {
        const double sum = whole + term, added = sum - whole;
        lost += (whole - (sum - added)) + (term - added);
        whole = sum;
    }
    // Beyond the numbers there is nothing to correct.
    [[nodiscard]] AC_INLINE double value() const {
        return is_finite(lost) ? whole + lost : whole;
    }
};
template <>
struct LineSum<float> {
    double whole = 0;
    AC_INLINE void add(float term) { whole += double(term); }
    [[nodiscard]] AC_INLINE float value() const { return float(whole); }
};

// ---- products of doubles

// Of many doubles what the steps round off is kept; of fewer it is little, and keeping
// it takes two to five times as long.
constexpr int64_t many_factors = 4096;

// 26 bits of the significand: products of such halves are exact.
AC_INLINE double upper_half(double a) {
    int64_t half;
    memcpy(&half, &a, sizeof half);
    half &= -(int64_t{1} << 27);
    memcpy(&a, &half, sizeof half);
    return a;
}
AC_INLINE f64 upper_half(f64 a) {
    return floats(bits(a) & set1<int64_t>(-(int64_t{1} << 27)));
}
AC_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
AC_INLINE f64 fused(f64 a, f64 b, f64 c) { return fma(a, b, c); }

// a b - product, exactly.
template <class V>
AC_INLINE V rounded_off(V a, V b, V product) {
    if constexpr (has_fma) return fused(a, b, -product);
    const V a1 = upper_half(a), b1 = upper_half(b), a2 = a - a1, b2 = b - b1;
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
}

AC_INLINE double corrected(double whole, double lost) {
    return is_finite(lost) ? whole + lost : whole;
}
template <class T>
AC_INLINE vec<T> corrected(vec<T> whole, vec<T> lost) {
    return whole + keep(is_finite(lost), lost);
}

// A product, and what its steps rounded off if it is `exact`.
template <class V, bool exact>
struct RunningProduct {
    V whole, lost;

    AC_INLINE RunningProduct times(const RunningProduct& b) const {
        const V product = whole * b.whole;
        if constexpr (!exact) return {product, lost};
        return {product,
                whole * b.lost + lost * b.whole + rounded_off(whole, b.whole, product)};
    }
    [[nodiscard]] AC_INLINE V value() const {
        if constexpr (!exact) return whole;
        return corrected(whole, lost);
    }
};

template <bool exact>
using ProductOfLanes = RunningProduct<f64, exact>;

// The products of the first 1, 2, ... lanes.
template <int distance = 1, bool exact>
AC_INLINE ProductOfLanes<exact> running_products(ProductOfLanes<exact> a) {
    if constexpr (distance < f64::lanes) {
        const f64 one = set1<double>(1);
        ProductOfLanes<exact> before = {moved<distance, false>(a.whole, one), a.lost};
        if constexpr (exact)
            before.lost = moved<distance, false>(a.lost, zero<double>());
        return running_products<2 * distance>(a.times(before));
    } else {
        return a;
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
