// SPDX-License-Identifier: MIT
//
// pow of two vectors.
//
// Floats: 2^(y log2 x) in double precision. log2 is good to 3e-14 relative, so the
// exponent, below 150, to 5e-12.
#pragma once

#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr double pow_log_tail[] = {0.66666666675808639, 0.39999995619132606,
                                   0.28572109458384493, 0.22176175508294907,
                                   0.1958435231615574};  // error 3.0e-14
constexpr double pow_exp2[] = {0.99999999996162647,    0.69314718208041382,
                               0.24022651203770015,    0.055504095303249158,
                               0.0096180149064965508,  0.0013333119517109555,
                               0.00015474836928727547, 1.5595940560649356e-05};
// On [-1/2, 1/2], error 2.0e-10.

AC_INLINE f64 pow_positive(f64 x, f64 y) {
    f64 m, e;
    split_exponent(x, m, e);
    const f64 f = m - set1<double>(1);
    const f64 s = f / (set1<double>(2) + f);
    const f64 z = s * s;
    const f64 natural = fma(s * z, polynomial(z, pow_log_tail), s + s);
    const f64 log2 = fma(natural, set1<double>(1.4426950408889634), e);
    // 2^-200 and 2^200 are zero and infinity as floats.
    const f64 t = min(set1<double>(200), max(set1<double>(-200), y * log2));
    const f64 n = round_even(t);
    const f64 p = polynomial(t - n, pow_exp2);
    return scale2_normal(p, n);
}

// What C99 says about zeros, ones, infinities, NaN and negative bases.
template <class T>
AC_INLINE vec<T> pow_special(vec<T> x, vec<T> y, vec<T> magnitude) {
    const vec<T> one = set1<T>(1), infinity = set1<T>(limits<T>::infinity);
    const vec<T> a = abs(x);
    const mask<T> growing = gt(y, zero<T>());
    magnitude =
        select(eq(a, zero<T>()), select(growing, zero<T>(), infinity), magnitude);
    magnitude =
        select(eq(a, infinity), select(growing, infinity, zero<T>()), magnitude);
    const mask<T> to_infinity = lt(a, one) ^ growing;  // |y| infinite
    const vec<T> limit = select(to_infinity, infinity, zero<T>());
    magnitude = select(eq(abs(y), infinity), limit, magnitude);
    magnitude = select(eq(a, one), one, magnitude);
    const vec<T> half = y * set1<T>(T(0.5));
    const mask<T> integral = eq(floor(y), y);
    const mask<T> odd = integral & ne(floor(half), half);
    const vec<T> nan = set1<T>(limits<T>::nan);
    vec<T> result = select(odd, copysign(magnitude, x), magnitude);
    const mask<T> outside = lt(x, zero<T>()) & gt(infinity, a) & ~integral;
    result = select(outside | is_nan(x) | is_nan(y), nan, result);
    return select(eq(y, zero<T>()) | eq(x, one), one, result);
}

AC_INLINE f32 pow(f32 x, f32 y) {
    const f32 a = abs(x);
    const f32 positive = narrow(pow_positive(low_double(a), low_double(y)),
                                pow_positive(high_double(a), high_double(y)));
    const f32 infinity = set1<float>(limits<float>::infinity);
    const m32 usual = gt(x, zero<float>()) & lt(x, infinity) & lt(abs(y), infinity);
    return all(usual) ? positive : pow_special(x, y, positive);
}

// Doubles would need a logarithm of twice the precision: they go through the C library.
AC_NOINLINE void pow_lanes(const double* x, const double* y, double* out) {
    for (int i = 0; i < f64::lanes; ++i) out[i] = __builtin_pow(x[i], y[i]);
}
AC_INLINE f64 pow(f64 x, f64 y) {
    double xs[f64::lanes], ys[f64::lanes];
    store(xs, x);
    store(ys, y);
    pow_lanes(xs, ys, xs);
    return load(xs);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
