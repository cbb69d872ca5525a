// SPDX-License-Identifier: MIT
//
// Of a vector: tan, and the angles asin, acos, atan and atan2.
#pragma once

#include "elementwise/trigonometry.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr double pi = 3.1415926535897932;

// ---- tan = sine / cosine of what is left of n pi / 2, or -cosine / sine if n is odd
template <bool for_float>
AC_INLINE f64 tan_reduced(f64 x) {
    f64 sine, cosine;
    const i64 n = to_int(trig_parts<for_float>(x, sine, cosine));
    const i64 bit = set1<int64_t>(1);
    const mask<double> odd = eq(n & bit, bit);
    return select(odd, -cosine, sine) / select(odd, sine, cosine);
}
AC_INLINE f64 tan_near(f64 x) { return tan_reduced<false>(x); }
AC_INLINE f32 tan_near(f32 x) {
    return narrow(tan_reduced<true>(low_double(x)), tan_reduced<true>(high_double(x)));
}

AC_INLINE float tan_scalar(float x) { return __builtin_tanf(x); }
AC_INLINE double tan_scalar(double x) { return __builtin_tan(x); }
template <class T>
AC_NOINLINE void tan_far(const T* x, T* y) {
    for (int i = 0; i < vec<T>::lanes; ++i) {
        if (!(x[i] <= T(trig_limit) && x[i] >= T(-trig_limit))) y[i] = tan_scalar(x[i]);
    }
}

template <class T>
AC_INLINE vec<T> tan_any(vec<T> x) {
    vec<T> y = tan_near(x);
    if (!all(le(abs(x), set1<T>(T(trig_limit))))) {
        T far_x[vec<T>::lanes], far_y[vec<T>::lanes];
        store(far_x, x);
        store(far_y, y);
        tan_far(far_x, far_y);
        y = load(far_y);
    }
    return y;
}

// Lanes beyond float_limit.
AC_NOINLINE void tan_wide(const float* x, float* y) {
    const f32 at = load(x), wide = tan_any(at);
    store(y, select(le(abs(at), set1<float>(float_limit)), load(y), wide));
}
AC_INLINE f64 tan_of(f64 x) { return tan_any(x); }
AC_INLINE f32 tan_of(f32 x) {
    if constexpr (!has_fma) return tan_any(x);
    f32 sine, cosine;
    const i32 n = to_int(float_parts(x, sine, cosine)), bit = set1<int32_t>(1);
    const mask<float> odd = eq(n & bit, bit);
    f32 y = select(odd, -cosine, sine) / select(odd, sine, cosine);
    if (!all(le(abs(x), set1<float>(float_limit)))) {
        float wide_x[f32::lanes], wide_y[f32::lanes];
        store(wide_x, x);
        store(wide_y, y);
        tan_wide(wide_x, wide_y);
        y = load(wide_y);
    }
    return y;
}
template <class T>
AC_INLINE vec<T> tan(vec<T> x) {
    return select(eq(x, zero<T>()), x, tan_of(x));  // keeps the sign of a zero
}

// ---- constants: quarter_pi's first part has so few bits that 4 times it is exact
template <class T>
struct angle_constants;
template <>
struct angle_constants<float> {
    static constexpr float quarter_pi_high = 0.785400391f;
    static constexpr float quarter_pi_low = -2.22722747e-06f;
    static constexpr float eighth = 0.414213562f;                   // tan(pi / 8)
    static constexpr float large = 1e30f, shrink = 8.6736174e-19f;  // 2^-60
    // atan(t) = t + t z P(z), z = t^2, to tan(pi / 8): degree 4, error 6.8e-10;
    // asin(t) = t + t z P(z) to 1/2: degree 4, error 5.0e-9
    static constexpr float atan_tail[] = {-0.333333164f, 0.19998531f, -0.14244467f,
                                          0.105997726f, -0.0609157458f};
    static constexpr float asin_tail[] = {0.166667536f, 0.0749524906f, 0.0454766564f,
                                          0.0241481476f, 0.0422197878f};
};
template <>
struct angle_constants<double> {
    static constexpr double quarter_pi_high = 0.7853981633670628;
    static constexpr double quarter_pi_low = 3.038550253253096e-11;
    static constexpr double eighth = 0.41421356237309503;
    static constexpr double large = 1e290, shrink = 8.6736173798840355e-19;
    // Degree 10, error 1.3e-18; degree 13, error 1.6e-17
    static constexpr double atan_tail[] = {
        -0.33333333333333198,  0.19999999999953819,   -0.14285714280220504,
        0.11111110784673385,   -0.090908977926965034, 0.076920608325561829,
        -0.066631109654648288, 0.05847938548609289,   -0.050395207140827035,
        0.038069883844730784,  -0.017912847803487772};
    static constexpr double asin_tail[] = {
        0.1666666666666666,   0.07500000000133436,  0.04464285691230907,
        0.030381960290464995, 0.022371568966301981, 0.017366314929239453,
        0.0137595354932608,   0.013681567623420841, -0.0056207426470274687,
        0.085734168776219255, -0.25836390854833907, 0.60155886312418805,
        -0.77944196692065359, 0.47162941243420453};
};

// k pi / 4 + t + tail, k from 0 to 4
template <class T>
AC_INLINE vec<T> add_quarters(vec<T> k, vec<T> t, vec<T> tail) {
    using constants = angle_constants<T>;
    const vec<T> low = fma(k, set1<T>(constants::quarter_pi_low), tail);
    return fma(k, set1<T>(constants::quarter_pi_high), t) + low;
}

// ---- the angle of (x, y), 0 <= angle <= pi, for y >= 0 and x of any sign
//
// q = smaller / larger of |x| and y; above tan(pi / 8) the angle is taken from pi / 4
// on. The angle of the larger is then taken from pi / 2, and that of x < 0 from pi.
template <class T>
AC_INLINE vec<T> angle_of(vec<T> y, vec<T> x_size, mask<T> x_negative) {
    using constants = angle_constants<T>;
    const vec<T> one = set1<T>(1), small = min(y, x_size), big = max(y, x_size);
    const mask<T> steep = gt(y, x_size);
    const mask<T> middle = gt(small, big * set1<T>(constants::eighth));
    const vec<T> t =
        select(middle, small - big, small) / select(middle, small + big, big);
    const vec<T> z = t * t;
    const vec<T> tail = t * z * polynomial(z, constants::atan_tail);
    // Turned once at pi / 4, and once at pi / 2.
    const mask<T> turned = steep ^ x_negative;
    const vec<T> sign = select(turned, set1<T>(T(-0.0)), zero<T>());
    const vec<T> quarters = keep(middle, one);
    const vec<T> first = select(steep, set1<T>(2), keep(x_negative, set1<T>(4)));
    const vec<T> k = first + select(turned, -quarters, quarters);
    return add_quarters(k, floats(bits(t) ^ bits(sign)),
                        floats(bits(tail) ^ bits(sign)));
}

template <class T>
AC_INLINE vec<T> atan(vec<T> x) {
    const vec<T> infinity = set1<T>(limits<T>::infinity), one = set1<T>(1);
    const vec<T> a = abs(x);
    // 1 over a number that is almost infinite would do, infinity would not.
    const vec<T> y = select(eq(a, infinity), set1<T>(angle_constants<T>::large), a);
    const mask<T> never = lt(one, zero<T>());
    const vec<T> angle = copysign(angle_of(y, one, never), x);
    return select(is_nan(x), x, angle);
}

template <class T>
AC_INLINE vec<T> atan2(vec<T> y, vec<T> x) {
    using constants = angle_constants<T>;
    const vec<T> infinity = set1<T>(limits<T>::infinity), one = set1<T>(1);
    vec<T> b = abs(y), a = abs(x);
    const vec<T> big = max(a, b);
    const mask<T> x_negative = lt(copysign(one, x), zero<T>());
    if (!all(lt(big, set1<T>(constants::large)) & gt(big, zero<T>()))) {
        const vec<T> shrink = set1<T>(constants::shrink);
        const mask<T> endless = eq(big, infinity);
        const mask<T> large = ge(big, set1<T>(constants::large));
        b = select(large, b * shrink, b);
        a = select(large, a * shrink, a);
        b = select(endless, keep(eq(b, infinity), one), b);
        a = select(endless, keep(eq(a, infinity), one), a);
        a = select(eq(big, zero<T>()), one, a);
    }
    const vec<T> angle = copysign(angle_of(b, a, x_negative), y);
    return select(is_nan(x) | is_nan(y), x + y, angle);
}

// ---- asin, acos: t + tail of |x|, or of sqrt((1 - |x|) / 2) beyond 1/2
template <class T>
struct ArcSine {
    vec<T> t, tail;
    mask<T> near;
    AC_INLINE explicit ArcSine(vec<T> a) : near(le(a, set1<T>(T(0.5)))) {
        const vec<T> half = set1<T>(T(0.5));
        const vec<T> z = select(near, a * a, fnma(half, a, half));
        t = select(near, a, sqrt(z));
        tail = t * z * polynomial(z, angle_constants<T>::asin_tail);
    }
};

template <class T>
AC_INLINE vec<T> asin(vec<T> x) {
    const ArcSine<T> s(abs(x));
    const vec<T> two = set1<T>(-2);
    const vec<T> y =
        select(s.near, s.t + s.tail, add_quarters(set1<T>(2), s.t * two, s.tail * two));
    return copysign(y, x);
}

template <class T>
AC_INLINE vec<T> acos(vec<T> x) {
    const ArcSine<T> s(abs(x));
    const mask<T> negative = lt(x, zero<T>());
    // Near: pi / 2 - x; else 0 + 2 t, or pi - 2 t.
    const vec<T> k = select(s.near, set1<T>(2), keep(negative, set1<T>(4)));
    const mask<T> minus = s.near ^ negative;
    vec<T> factor = select(s.near, set1<T>(1), set1<T>(2));
    factor = select(minus, -factor, factor);
    return add_quarters(k, s.t * factor, s.tail * factor);
}

// ---- sin(pi x) / (pi x): what is left of the nearest integer is exact
AC_INLINE f64 sinc_near(f64 x, f64 far, f64 sine) {
    const f64 half = set1<double>(0.5) * far, one = set1<double>(1);
    const mask<double> odd = ne(floor(half), half);
    const mask<double> at_0 = eq(x, zero<double>());
    const f64 quotient = select(odd, -sine, sine) / (x * set1<double>(pi));
    return select(at_0, one, quotient);
}
AC_INLINE f64 sinc(f64 x) {
    const f64 far = round_even(x);
    return sinc_near(x, far, trig_reduced<false>((x - far) * set1<double>(pi), 0));
}
AC_INLINE f64 sinc_of_float(f64 x) {
    const f64 far = round_even(x);
    return sinc_near(x, far, trig_reduced<true>((x - far) * set1<double>(pi), 0));
}
AC_INLINE f32 sinc(f32 x) {
    return narrow(sinc_of_float(low_double(x)), sinc_of_float(high_double(x)));
}

// ---- sqrt(a^2 + b^2): squares of floats do not overflow as doubles
AC_INLINE f32 hypot(f32 a, f32 b) {
    const auto root = [](f64 x, f64 y)
                          AC_INLINE_LAMBDA { return sqrt(fma(x, x, y * y)); };
    const f32 y = narrow(root(low_double(a), low_double(b)),
                         root(high_double(a), high_double(b)));
    const f32 infinity = set1<float>(limits<float>::infinity);
    return select(eq(abs(a), infinity) | eq(abs(b), infinity), infinity, y);
}
AC_INLINE f64 hypot(f64 a, f64 b) {
    const f64 infinity = set1<double>(limits<double>::infinity);
    a = abs(a);
    b = abs(b);
    const f64 big = max(a, b), ratio = min(a, b) / big;
    const f64 y = big * sqrt(fma(ratio, ratio, set1<double>(1)));
    const f64 usual = select(gt(big, zero<double>()), y, a + b);
    return select(eq(a, infinity) | eq(b, infinity), infinity,
                  select(is_nan(a) | is_nan(b), a + b, usual));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
