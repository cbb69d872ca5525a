// SPDX-License-Identifier: MIT
//
// Channels near the ends of a format, whose squares overflow or vanish: they are taken
// again in double precision, times a power of two.
#pragma once

#include "norm/blocks.hpp"
#include "reduce/range.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A channel is normalised as (unit x - mean) rstd. `unit` is 1, or a power of two where
// squares leave the range of T; mean and rstd are those of unit x, the others of x.
struct Scaled {
    double unit, mean, rstd, mean_of_x, var_of_x;
};

// The power of two that brings `square` near 1, as far as unit times it is a normal T.
template <class T>
AC_INLINE double closer(double unit, double square) {
    if (!(square > 0) || !__builtin_isfinite(square)) return 1;
    const int most = sizeof(T) == 4 ? 126 : 1022, have = __builtin_ilogb(unit);
    const int more = -__builtin_ilogb(square) / 2;
    return __builtin_ldexp(1, larger(-most, smaller(most, have + more)) - have);
}

template <class T>
AC_NOINLINE Scaled scaled_channel(const T* x, int dtype, const Channels& of, int64_t c,
                                  double mean, double square, double eps) {
    double unit = static_cast<double>(factor_for(static_cast<T>(square)));
    // Equal numbers far from zero: no power of two brings them closer.
    if (unit > 1 && __builtin_fabs(mean) * unit > Range<T>::most) unit = 1;
    const auto values = static_cast<double>(of.values());
    Moments m = moments_of(values, unit, true, [&](auto&& f) {
        for (int64_t i = 0; i < of.images; ++i) {
            const int64_t plane = (i * of.channels + c) * of.size;
            for (int64_t k = 0; k < of.size; ++k)
                f(static_cast<double>(element_at(x, dtype, plane + k)));
        }
    });
    // Deviations near 1, so that no product of them and rstd leaves the range either.
    const double more = closer<T>(unit, m.square);
    unit *= more;
    m = {m.mean * more, m.square * more * more};
    return {unit, m.mean, inverse_deviation(m.square, scaled_eps(eps, unit)),
            m.mean / unit, m.square / unit / unit};
}

// By the statistics of channel `c`, of which those of other units are made.
template <class T>
AC_INLINE Scaled scaled_by(const T* x, int dtype, const Channels& of, int64_t c,
                           double mean, double var, double rstd, double eps) {
    if (in_range(static_cast<T>(var + eps))) return {1, mean, rstd, mean, var};
    return scaled_channel(x, dtype, of, c, mean, var + eps, eps);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
