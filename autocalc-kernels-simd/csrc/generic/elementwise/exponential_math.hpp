// SPDX-License-Identifier: MIT
//
// Of a vector: exp2, expm1, log2, log10, log1p, and the hyperbolic functions and their
// inverses, which are made of expm1 and log1p. NaN stays everywhere.
#pragma once

#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct exponential_constants;
template <>
struct exponential_constants<float> {
    // 2^-25: e^x - 1, and its like, is x below.
    static constexpr float tiny = 2.98023224e-8f;
    static constexpr float lowest = -18.0f;  // e^x - 1 is -1
    static constexpr float highest = 89.5f;  // and (e^x - 1) / 2 infinite
    static constexpr float exp2_lowest = -155.0f, exp2_highest = 130.0f;
    static constexpr float huge = 33554432.0f;  // 2^25: x^2 + 1 is x^2, x + 1 is x
    static constexpr float ln2 = 0.693147182f;
    // 1 / ln 2, 1 / ln 10 and log10(2), the first part of each of so few bits that its
    // products with what `clear_low` leaves, and with exponents, are exact.
    static constexpr float log2e_high = 1.44287109f, log2e_low = -0.000176052854f;
    static constexpr float log10e_high = 0.434326172f, log10e_low = -3.16899714e-05f;
    static constexpr float log10_2_high = 0.301029205f, log10_2_low = 7.90341517e-07f;
};
template <>
struct exponential_constants<double> {
    static constexpr double tiny = 5.5511151231257827e-17;  // 2^-54
    static constexpr double lowest = -40.0;
    static constexpr double highest = 710.5;
    static constexpr double exp2_lowest = -1080.0, exp2_highest = 1030.0;
    static constexpr double huge = 36028797018963968.0;  // 2^55
    static constexpr double ln2 = 0.69314718055994529;
    static constexpr double log2e_high = 1.4426950407214463,
                            log2e_low = 1.6751713164886512e-10;
    static constexpr double log10e_high = 0.43429448187816888,
                            log10e_low = 2.5082946711645275e-11;
    static constexpr double log10_2_high = 0.30102999566361177,
                            log10_2_low = 3.6942390771589308e-13;
};

// ---- 2^x = 2^n e^(r ln 2)
template <class T>
AC_INLINE vec<T> exp2(vec<T> x) {
    using constants = exponential_constants<T>;
    x = min(set1<T>(constants::exp2_highest), max(set1<T>(constants::exp2_lowest), x));
    const vec<T> n = round_even(x);
    const vec<T> tail = exp_tail((x - n) * set1<T>(constants::ln2));
    return scale2_any(set1<T>(1) + tail, n);
}

// ---- (e^x - 1) / 4 from `lowest` to `highest`, not too near 0
//
// 2^n (1 + r + curve) - 1 with what r and the sums lose; a quarter does not overflow
// where (e^x - 1) / 2 is finite.
template <class T>
AC_INLINE vec<T> expm1_quarter(vec<T> x) {
    using constants = exp_constants<T>;
    const vec<T> n = exp_exponent(x), low = set1<T>(constants::ln2_low);
    const vec<T> high = fnma(n, set1<T>(constants::ln2_high), x);
    const vec<T> r = fnma(n, low, high);
    const vec<T> r_lost = fnma(n, low, high - r);
    const vec<T> power = power2(n - set1<T>(2)), past = power - set1<T>(T(0.25));
    const vec<T> curve = fma(r * r, polynomial(r, constants::tail), r_lost);
    const vec<T> line = fma(power, r, past), q = fma(power, curve, line);
    return q + (fma(power, curve, line - q) + fma(power, r, past - line));
}

template <class T>
AC_INLINE vec<T> expm1(vec<T> x) {
    using constants = exponential_constants<T>;
    const vec<T> near =
        min(set1<T>(constants::highest), max(set1<T>(constants::lowest), x));
    const vec<T> y = expm1_quarter(near) * set1<T>(4);
    return select(lt(abs(x), set1<T>(constants::tiny)), x, y);
}

// With q = (e^|x| - 1) / 4: 2 q + 2 q / (e^|x|).
template <class T>
AC_INLINE vec<T> sinh(vec<T> x) {
    using constants = exponential_constants<T>;
    const vec<T> a = abs(x);
    const vec<T> q = expm1_quarter(min(set1<T>(constants::highest), a));
    const vec<T> part = q / fma(q, set1<T>(4), set1<T>(1));  // 0 where 4 q overflows
    const vec<T> y = (q + q) + (part + part);
    return select(lt(a, set1<T>(constants::tiny)), x, copysign(y, x));
}

template <class T>
AC_INLINE vec<T> cosh(vec<T> x) {
    const vec<T> highest = set1<T>(exponential_constants<T>::highest);
    const vec<T> q = expm1_quarter(min(highest, abs(x)));
    const vec<T> half = fma(q, set1<T>(2), set1<T>(T(0.5)));  // e^|x| / 2
    return half + set1<T>(T(0.25)) / half;
}

// ---- log2, log10
//
// log(m) as a number of so few bits that its products with such constants are exact,
// and the rest (as FreeBSD's e_log2.c).
AC_INLINE f32 clear_low(f32 x) {
    return floats(bits(x) & set1<int32_t>(static_cast<int32_t>(0xfffff000u)));
}
AC_INLINE f64 clear_low(f64 x) {
    return floats(bits(x) & set1<int64_t>(static_cast<int64_t>(0xffffffff00000000u)));
}

// log(1 + f) - f + f^2 / 2
AC_INLINE f32 log_rest(f32 f, f32) {
    return f * f * f * polynomial(f, log_constants<float>::tail);
}
AC_INLINE f64 log_rest(f64 f, f64 half_square) {
    const f64 s = f / (set1<double>(2) + f);
    const f64 z = s * s;
    return s * fma(z, polynomial(z, log_constants<double>::tail), half_square);
}

template <class T>
AC_INLINE void log_parts(vec<T> m, vec<T>& high, vec<T>& low) {
    const vec<T> f = m - set1<T>(1);
    const vec<T> half_square = set1<T>(T(0.5)) * f * f;
    high = clear_low(f - half_square);
    low = ((f - high) - half_square) + log_rest(f, half_square);
}

// Of floats, where products are added with one rounding, from log(m) itself: its error
// counts once more, 1.9 ULP in place of 0.8, and 100,000 take 27 us instead of 35.
template <class T>
constexpr bool log_is_enough = has_fma && sizeof(T) == 4;

AC_INLINE f32 log_of_significand(f32 m) {
    const f32 f = m - set1<float>(1);
    return fnma(set1<float>(0.5f) * f, f, log_rest(f, f)) + f;
}

template <class T>
AC_INLINE vec<T> log2(vec<T> x) {
    using constants = exponential_constants<T>;
    vec<T> m, e, high, low;
    if constexpr (log_is_enough<T>) {
        split_exponent(x, m, e);
        const f32 y = log_of_significand(m);
        const f32 rest = fma(y, set1<float>(1.92596299e-8f), e);
        return log_ends(x, fma(y, set1<float>(1.44269502f), rest));
    }
    split_exponent(x, m, e);
    log_parts(m, high, low);
    const vec<T> first = high * set1<T>(constants::log2e_high);
    const vec<T> sum = e + first;
    const vec<T> rest = fma(low + high, set1<T>(constants::log2e_low),
                            low * set1<T>(constants::log2e_high));
    return log_ends(x, (rest + ((e - sum) + first)) + sum);
}

template <class T>
AC_INLINE vec<T> log10(vec<T> x) {
    using constants = exponential_constants<T>;
    vec<T> m, e, high, low;
    if constexpr (log_is_enough<T>) {
        split_exponent(x, m, e);
        const f32 y = log_of_significand(m), part = set1<float>(constants::log10_2_low);
        const f32 rest = fma(y, set1<float>(0.434294492f), e * part);
        return log_ends(x, fma(e, set1<float>(constants::log10_2_high), rest));
    }
    split_exponent(x, m, e);
    log_parts(m, high, low);
    const vec<T> first = high * set1<T>(constants::log10e_high);
    const vec<T> of_exponent = e * set1<T>(constants::log10_2_high);
    const vec<T> sum = of_exponent + first;
    const vec<T> parts = fma(low + high, set1<T>(constants::log10e_low),
                             low * set1<T>(constants::log10e_high));
    const vec<T> rest = fma(e, set1<T>(constants::log10_2_low), parts);
    return log_ends(x, (rest + ((of_exponent - sum) + first)) + sum);
}

// ---- log1p
//
// u = 1 + x loses a little, which counts 1 / u; where u's exponent is 0, x itself is
// the f of log's polynomial and nothing is lost.
template <class T>
AC_INLINE vec<T> log1p(vec<T> x) {
    using constants = exp_constants<T>;
    const vec<T> one = set1<T>(1), u = one + x, back = u - one;
    const vec<T> lost = (one - (u - back)) + (x - back);
    vec<T> m, e;
    split_exponent(u, m, e);
    const mask<T> near = eq(e, zero<T>());
    const vec<T> f = select(near, x, m - one);
    const vec<T> half_square = set1<T>(T(0.5)) * f * f;
    const vec<T> more = select(near, zero<T>(), lost / u);
    const vec<T> low = fma(e, set1<T>(constants::ln2_low), more);
    const vec<T> y = f - (half_square - (log_rest(f, half_square) + low));
    const vec<T> sum = fma(e, set1<T>(constants::ln2_high), y);
    return select(eq(x, zero<T>()), x, log_ends(u, sum));
}

// ---- inverse hyperbolic functions
template <class T>
AC_INLINE vec<T> asinh(vec<T> x) {
    using constants = exponential_constants<T>;
    const vec<T> a = abs(x), one = set1<T>(1), square = a * a;
    const mask<T> huge = gt(a, set1<T>(constants::huge));  // log(2 a)
    const vec<T> more = square / (one + sqrt(square + one));
    const vec<T> y = log1p(select(huge, a, a + more));
    return copysign(y + keep(huge, set1<T>(constants::ln2)), x);
}

template <class T>
AC_INLINE vec<T> acosh(vec<T> x) {
    using constants = exponential_constants<T>;
    const vec<T> one = set1<T>(1), less = x - one;
    const mask<T> huge = gt(x, set1<T>(constants::huge));
    const vec<T> root = sqrt(fma(less, less, less + less));
    const vec<T> y = log1p(select(huge, x, less + root));
    const vec<T> result = y + keep(huge, set1<T>(constants::ln2));
    return select(lt(x, one), set1<T>(limits<T>::nan), result);
}

template <class T>
AC_INLINE vec<T> atanh(vec<T> x) {
    const vec<T> a = abs(x);
    const vec<T> y = log1p((a + a) / (set1<T>(1) - a));
    return copysign(set1<T>(T(0.5)) * y, x);
}

// ---- logarithms of sums: the larger one, and log(1 + e^-|a - b|)
//
// Infinities of one sign differ by nothing.
template <class T>
AC_INLINE vec<T> gap_of(vec<T> a, vec<T> b) {
    return keep(ne(a, b), minimum(a, b) - maximum(a, b));
}
template <class T>
AC_INLINE vec<T> logaddexp(vec<T> a, vec<T> b) {
    return maximum(a, b) + log1p(exp(gap_of(a, b)));
}
template <class T>
AC_INLINE vec<T> logaddexp2(vec<T> a, vec<T> b) {
    const vec<T> log2e = set1<T>(T(1.4426950408889634));
    return log1p(exp2(gap_of(a, b))) * log2e + maximum(a, b);  // exact at a = b
}

// a log(b), and 0 where a is 0 and b a number.
template <class T>
AC_INLINE vec<T> xlogy(vec<T> a, vec<T> b) {
    const vec<T> product = keep(ne(a, zero<T>()), a * log(b));
    return select(is_nan(b), b, product);
}
template <class T>
AC_INLINE vec<T> xlog1py(vec<T> a, vec<T> b) {
    const vec<T> product = keep(ne(a, zero<T>()), a * log1p(b));
    return select(is_nan(b), b, product);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
