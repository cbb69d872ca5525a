// SPDX-License-Identifier: MIT
//
// silu, gelu and softplus of a vector, and their derivatives, for float and double.
//
// Where |x| is large, exponentials are taken of -|x|, which cannot overflow and keeps
// the relative accuracy of both tails.
#pragma once

#include "vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- silu: x sigmoid(x)
template <class T>
AC_INLINE vec<T> silu(vec<T> x) {
    const vec<T> decay = exp(-abs(x));
    const vec<T> top = select(lt(x, zero<T>()), x * decay, x);
    return top / (set1<T>(1) + decay);
}

// sigmoid(x) and sigmoid(-x), of one exponential and one division.
template <class T>
AC_INLINE void both_sigmoids(vec<T> x, vec<T>& s, vec<T>& other) {
    const vec<T> decay = exp(-abs(x));
    const vec<T> large = set1<T>(1) / (set1<T>(1) + decay);
    const vec<T> small = decay * large;
    const mask<T> negative = lt(x, zero<T>());
    s = select(negative, small, large);
    other = select(negative, large, small);
}

template <class T>
AC_INLINE vec<T> silu_slope(vec<T> x) {
    vec<T> s, other;
    both_sigmoids(x, s, other);
    return s * fma(x, other, set1<T>(1));
}

// ---- gelu: x Phi(x), Phi the normal distribution
//
// Phi(-a) for a >= 0. Floats: 2^P(a), weighted so that the error counts absolutely,
// 2.1e-8 at most; beyond 5.6, where that is all there is, P still falls. The result
// then is within 0.6 eps |x| and a unit of gelu. Doubles go through erf's own
// polynomials.
constexpr float normal_tail_f32[] = {
    -0.99999994f,     -1.15110815f,    -0.459180921f,
    -0.0525907949f,   0.00721866777f,  -0.000269636104f,
    -0.000125942301f, 2.57265801e-05f, -1.62996753e-06f};
// 2^r = 1 + r P(r) for |r| <= 1/2: degree 5, error 5.3e-9
constexpr float exp2_f32[] = {0.693147242f,   0.240226552f,   0.0555027314f,
                              0.00961706601f, 0.00134175236f, 0.000158216339f};

// Where 2^P is zero: rounded, or because P rounds to the integer below the exponents.
constexpr float normal_tail_end = has_scale ? 20 : 10.656f;

AC_INLINE f32 normal_tail(f32 a) {
    a = min(set1<float>(normal_tail_end), a);
    const f32 p = polynomial(a, normal_tail_f32);
    const f32 n = nearest(p);
    const f32 r = p - n;
    return scale2_normal(fma(r, polynomial(r, exp2_f32), set1<float>(1)), n);
}

AC_INLINE f64 normal_tail(f64 a) {
    const f64 x = a * set1<double>(0.70710678118654752);
    const f64 half = set1<double>(0.5);
    const f64 near = fma(-half * x, set1<double>(1) + erf_small(x * x), half);
    const f64 end = set1<double>(6);  // half of erfc(6) is 1e-17
    const f64 far = half * exp_normal(erf_large(min(end, x)));
    return select(lt(x, set1<double>(1)), near, keep(~gt(x, end), far));
}

template <class T>
AC_INLINE vec<T> normal_below(vec<T> x) {
    const vec<T> tail = normal_tail(abs(x));
    return select(lt(x, zero<T>()), tail, set1<T>(1) - tail);
}

template <class T>
AC_INLINE vec<T> gelu(vec<T> x) {
    return x * normal_below(x);
}

template <class T>
AC_INLINE vec<T> gelu_slope(vec<T> x) {
    const vec<T> peak = set1<T>(T(0.39894228040143268));  // 1 / sqrt(2 pi)
    const vec<T> density = peak * exp(set1<T>(T(-0.5)) * x * x);
    return fma(x, density, normal_below(x));
}

// ---- gelu's other form: x sigmoid(z), z = 2 sqrt(2 / pi) (x + 0.044715 x^3)
template <class T>
struct GeluTanhConstants {
    static constexpr T root = T(1.5957691216057308);  // 2 sqrt(2 / pi)
    static constexpr T cubic = T(0.044715);
    // Beyond |x| = 10 the sigmoid is 0 or 1, and x^2 need not be larger: an infinite
    // one would make 0 * infinity of what is 0.
    static constexpr T largest_square = 100;
};

template <class T>
AC_INLINE vec<T> gelu_tanh(vec<T> x) {
    using constants = GeluTanhConstants<T>;
    const vec<T> z = x * fma(x * x, set1<T>(-constants::root * constants::cubic),
                             set1<T>(-constants::root));
    return x / (set1<T>(1) + exp(z));
}

template <class T>
AC_INLINE vec<T> gelu_tanh_slope(vec<T> x) {
    using constants = GeluTanhConstants<T>;
    const vec<T> one = set1<T>(1), root = set1<T>(constants::root);
    const vec<T> square = min(set1<T>(constants::largest_square), x * x);
    const vec<T> cubic = set1<T>(constants::cubic) * square;
    vec<T> s, other;
    both_sigmoids(root * x * (one + cubic), s, other);
    const vec<T> inner = root * fma(set1<T>(3), cubic, one);
    return fma(x * (s * other), inner, s);
}

// ---- softplus: log(1 + e^x)
//
// For 0 <= x <= 1: the logarithm of the rounded sum, and what the rounding lost times
// 1 / (1 + x), for which 1 - x / 2 is enough.
template <class T>
AC_INLINE vec<T> log_one_plus(vec<T> x) {
    const vec<T> one = set1<T>(1), sum = one + x;
    const vec<T> lost = x - (sum - one);
    return fma(lost, fnma(set1<T>(T(0.5)), x, one), log_positive(sum));
}

template <class T>
AC_INLINE vec<T> softplus(vec<T> x) {
    return max(zero<T>(), x) + log_one_plus(exp(-abs(x)));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
