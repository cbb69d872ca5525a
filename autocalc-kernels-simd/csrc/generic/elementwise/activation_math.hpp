// SPDX-License-Identifier: MIT
//
// silu, gelu and softplus of a vector, and their derivatives, for float and double.
//
// Where |x| is large, exponentials are taken of -|x|, which cannot overflow and keeps
// the relative accuracy of both tails, which end at the normal numbers.
#pragma once

#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- silu: x sigmoid(x)
template <class T>
AC_INLINE vec<T> silu(vec<T> x) {
    const vec<T> decay = exp_negative(-abs(x));
    const vec<T> top = select(lt(x, zero<T>()), x * decay, x);
    return top / (set1<T>(1) + decay);
}

// sigmoid(x) and sigmoid(-x), of one exponential and one division.
template <class T>
AC_INLINE void both_sigmoids(vec<T> x, vec<T>& s, vec<T>& other) {
    const vec<T> decay = exp_negative(-abs(x));
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
// 1.6e-8 at most; beyond 5.6, where that is all there is, P still falls, and never
// rises again. The result then is within 0.6 eps |x| and a unit of gelu. Doubles go
// through erf's own polynomials.
constexpr float normal_tail_f32[] = {
    -0.99999988f,     -1.15110731f,    -0.459188879f,
    -0.0525635406f,   0.00717537198f,  -0.000234342966f,
    -0.000140986449f, 2.88679585e-05f, -1.87887906e-06f};
// 2^r for |r| <= 1/2 but for a factor, 1 - 5.07e-8, which P makes up for, so that the
// first coefficient is 1: degree 5, error 2.8e-8 of Phi. One more degree would make
// that 3e-9, and gelu 0.2 eps |x| better and 10 % slower.
constexpr float exp2_f32[] = {1.0f,          0.693146825f,   0.240221515f,
                              0.0555083863f, 0.00967453606f, 0.00132431742f};

// Where 2^P is zero: rounded, or as power2 has it. Below -126 it is subnormal.
constexpr float normal_tail_zero = has_scale ? -1e4f : -127;

AC_INLINE f32 normal_tail(f32 a) {
    const f32 log_tail = polynomial(a, normal_tail_f32);
    const f32 p = select(lt(log_tail, set1<float>(-126)), set1<float>(normal_tail_zero),
                         log_tail);
    if constexpr (has_scale) {
        const f32 n = nearest(p);
        return scale2_normal(polynomial(p - n, exp2_f32), n);
    } else {
        // One addition rounds p and leaves the exponent's field.
        const f32 lift = set1<float>(layout<float>::rounder + layout<float>::bias);
        const f32 lifted = p + lift, r = p - (lifted - lift);
        return polynomial(r, exp2_f32) * from_field<float>(bits(lifted));
    }
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

// max(0, x) - |x| Phi(-|x|), with one rounding. Beyond 20 that is x, and infinity times
// zero is kept away: of -infinity alone the result is NaN, as that of x Phi(x).
template <class T>
AC_INLINE vec<T> gelu(vec<T> x) {
    const vec<T> a = abs(min(set1<T>(20), x));
    return fnma(a, normal_tail(a), max(zero<T>(), x));
}

template <class T>
AC_INLINE vec<T> gelu_slope(vec<T> x) {
    const vec<T> peak = set1<T>(T(0.39894228040143268));  // 1 / sqrt(2 pi)
    const vec<T> density = exp_negative(set1<T>(T(-0.5)) * x * x);
    return fma(x * peak, density, normal_below(x));
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
    return max(zero<T>(), x) + log_one_plus(exp_negative(-abs(x)));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
