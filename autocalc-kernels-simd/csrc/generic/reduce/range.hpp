// SPDX-License-Identifier: MIT
//
// Squares of numbers near the ends of a format overflow, or vanish. Where the mean of
// squares leaves the range below, the numbers are multiplied by a power of two, which
// is exact, and taken again; what is made of them is divided by it.
#pragma once

#include "reduce/reduce.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct Range;
template <>
struct Range<float> {
    static constexpr float least = 0x1p-100F, most = 0x1p100F, up = 0x1p80F,
                           tiny = 0x1p-126F;
};
template <>
struct Range<double> {
    static constexpr double least = 0x1p-800, most = 0x1p800, up = 0x1p640,
                            tiny = 0x1p-1022;
};

// Whether a mean of squares is exact to the last digits; false for NaN.
template <class T>
AC_INLINE bool in_range(T square) {
    return square >= Range<T>::least && square <= Range<T>::most;
}

// What to multiply numbers by whose mean of squares is not in the range.
template <class T>
AC_INLINE T factor_for(T square) {
    return square < Range<T>::least ? Range<T>::up : 1 / Range<T>::up;
}

// eps of numbers times `factor`; it does not vanish, so that it still keeps equal
// numbers from a division by 0.
template <class T>
AC_INLINE T scaled_eps(T eps, T factor) {
    return eps > T(0) ? larger(eps * factor * factor, Range<T>::tiny) : eps;
}

// A sum in double precision whose error does not grow with the number of terms
// (Neumaier 1974).
struct LongSum {
    double sum = 0, lost = 0;
    AC_INLINE void add(double x) {
        const double next = sum + x;
        const bool first = __builtin_fabs(sum) >= __builtin_fabs(x);
        lost += first ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    // An infinite sum has lost NaN.
    [[nodiscard]] AC_INLINE double total() const {
        return __builtin_isfinite(sum) ? sum + lost : sum;
    }
};

// Mean of numbers times a factor, and the mean of squares about it.
struct Moments {
    double mean, square;
};

// Those of `n` numbers, which `each(f)` gives to f one by one; about 0 if not
// `centered`. The mean of the deviations corrects that of the numbers.
template <class Each>
AC_INLINE Moments moments_of(double n, double factor, bool centered, Each&& each) {
    LongSum sum, rest, square;
    if (centered) each([&](double x) { sum.add(x * factor); });
    const double mean = centered ? sum.total() / n : 0;
    each([&](double x) {
        const double d = x * factor - mean;
        if (centered) rest.add(d);
        square.add(d * d);
    });
    const double shift = rest.total() / n;
    if (!__builtin_isfinite(shift)) return {mean, square.total() / n};
    return {mean + shift, larger(square.total() / n - shift * shift, 0.0)};
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
