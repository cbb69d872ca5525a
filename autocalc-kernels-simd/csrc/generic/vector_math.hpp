// SPDX-License-Identifier: MIT
//
// exp, log, tanh, sigmoid, erf, sin, cos and pow of a vector, for float and double.
//
// Coefficients come from tools/minimax.py: weighted minimax fits whose coefficients are
// rounded one after another. "Error" beside them is the error of the polynomial alone,
// relative to the result. Errors of the functions, measured over all floats and over
// dense samples of doubles, stand in tests/simd/test_math_ulp.py.
//
// min(limit, x) and max(limit, x) keep a NaN, since the second operand wins.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// c[0] + c[1] x + ...
template <class T, int n>
AC_INLINE vec<T> polynomial(vec<T> x, const T (&c)[n]) {
    vec<T> p = set1<T>(c[n - 1]);
#pragma GCC unroll 32
    for (int i = n - 2; i >= 0; --i) p = fma(p, x, set1<T>(c[i]));
    return p;
}

template <class T>
struct limits;
template <>
struct limits<float> {
    static constexpr float infinity = __builtin_inff();
    static constexpr float nan = __builtin_nanf("");
    static constexpr float smallest_normal = 1.17549435e-38f;
};
template <>
struct limits<double> {
    static constexpr double infinity = __builtin_inf();
    static constexpr double nan = __builtin_nan("");
    static constexpr double smallest_normal = 2.2250738585072014e-308;
};

// x * 2^n where both 2^n and the result are normal.
template <class T>
AC_INLINE vec<T> scale2_normal(vec<T> x, vec<T> n) {
    if constexpr (has_scale) {
        return scale2(x, n);
    } else {
        return x * power2(n);
    }
}

// ---- exp
//
// x = n ln 2 + r, |r| <= ln 2 / 2; e^r = 1 + r + r^2 P(r). The high part of ln 2 has so
// few bits that n times it is exact, also without FMA.
template <class T>
struct exp_constants;
template <>
struct exp_constants<float> {
    static constexpr float log2e = 1.44269504f;
    static constexpr float rounder =
        12582912.0f;  // 1.5 * 2^23: x + it - it is integral
    static constexpr float ln2_high = 0.693145752f;  // 15 bits
    static constexpr float ln2_low = 1.42860677e-6f;
    static constexpr float lowest = -104.0f;  // e^-104 rounds to zero
    static constexpr float highest = 89.0f;   // e^89 overflows
    static constexpr float lowest_exponent = -125.0f;
    static constexpr float tail[] = {0.5f, 0.166664883f, 0.0416655503f, 0.0083722854f,
                                     0.00140355469f};  // degree 4, error 4.3e-9
};
template <>
struct exp_constants<double> {
    static constexpr double log2e = 1.4426950408889634;
    static constexpr double rounder = 6755399441055744.0;    // 1.5 * 2^52
    static constexpr double ln2_high = 0.69314718036912382;  // 33 bits
    static constexpr double ln2_low = 1.9082149292705877e-10;
    static constexpr double lowest = -746.0;
    static constexpr double highest = 710.0;
    static constexpr double lowest_exponent = -1021.0;
    static constexpr double tail[] = {
        0.50000000000000111,    0.16666666666665858,    0.041666666666520455,
        0.0083333333335044862,  0.0013888888948855554,  0.00019841270036844287,
        2.4801485174362879e-05, 2.7556731300529555e-06, 2.7633795773896435e-07,
        2.5367090082861749e-08};  // degree 9, error 1.4e-17
};

// e^x = (1 + tail) * 2^n, without a check of the range.
template <class T>
AC_INLINE vec<T> exp_tail(vec<T> x, vec<T>& n) {
    using constants = exp_constants<T>;
    n = fma(x, set1<T>(constants::log2e), set1<T>(constants::rounder)) -
        set1<T>(constants::rounder);
    vec<T> r = fnma(n, set1<T>(constants::ln2_high), x);
    r = fnma(n, set1<T>(constants::ln2_low), r);
    return fma(r * r, polynomial(r, constants::tail), r);
}

// exp takes any x; beyond these limits the result is zero or infinity.
template <class T>
AC_INLINE vec<T> exp_clamp(vec<T> x) {
    using constants = exp_constants<T>;
    return min(set1<T>(constants::highest), max(set1<T>(constants::lowest), x));
}

template <class T>
AC_INLINE vec<T> exp(vec<T> x) {
    vec<T> n;
    const vec<T> tail = exp_tail(exp_clamp(x), n);
    return scale2(set1<T>(1) + tail, n);
}

// exp of an x whose result is a normal number: one multiplication scales.
template <class T>
AC_INLINE vec<T> exp_normal(vec<T> x) {
    vec<T> n;
    const vec<T> tail = exp_tail(x, n);
    return scale2_normal(set1<T>(1) + tail, n);
}

// exp of an x <= 0, as softmax needs it; NaN stays. Without a scaling instruction the
// second factor takes what the first, a normal number, leaves.
template <class T>
AC_INLINE vec<T> exp_negative(vec<T> x) {
    using constants = exp_constants<T>;
    vec<T> n;
    const vec<T> tail = exp_tail(max(set1<T>(constants::lowest), x), n);
    const vec<T> p = set1<T>(1) + tail;
    if constexpr (has_scale) {
        return scale2(p, n);
    } else {
        const vec<T> front = max(set1<T>(constants::lowest_exponent), n);
        return p * power2(front) * power2(n - front);
    }
}

// ---- log
//
// x = 2^e m, m in [sqrt(1/2), sqrt(2)), f = m - 1.
template <class T>
struct log_constants;
template <>
struct log_constants<float> {
    static constexpr float root_half = 0.707106769f;
    static constexpr float root_two = 1.41421354f;
    static constexpr float rescale = 16777216.0f;  // 2^24
    static constexpr float rescale_log2 = 24;
    static constexpr int significand_bits = 23;
    // log(1 + f) = f - f^2 / 2 + f^3 P(f): degree 9, error 8.2e-9
    static constexpr float tail[] = {
        0.333333313f,  -0.249999642f, 0.200002104f,  -0.166696236f, 0.142810449f,
        -0.124170214f, 0.110915504f,  -0.109624103f, 0.103935935f,  -0.052673392f};
};
template <>
struct log_constants<double> {
    static constexpr double root_half = 0.70710678118654757;
    static constexpr double root_two = 1.4142135623730951;
    static constexpr double rescale = 18014398509481984.0;  // 2^54
    static constexpr double rescale_log2 = 54;
    static constexpr int significand_bits = 52;
    // log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2: degree 6, error 1.3e-18
    static constexpr double tail[] = {0.6666666666666734,  0.39999999999416408,
                                      0.2857142874211811,  0.2222219859268669,
                                      0.18183563632532873, 0.15314061703787935,
                                      0.14795893895871745};
};

// For positive finite x, subnormals included.
template <class T>
AC_INLINE void split_exponent(vec<T> x, vec<T>& m, vec<T>& e) {
    using constants = log_constants<T>;
    if constexpr (has_exponent) {
        m = significand(x);
        e = exponent(x);
        const mask<T> high = ge(m, set1<T>(constants::root_two));
        m = select(high, m * set1<T>(T(0.5)), m);
        e = select(high, e + set1<T>(1), e);
    } else {
        using I = int_of<T>;
        constexpr int shift = constants::significand_bits;
        const mask<T> tiny = lt(x, set1<T>(limits<T>::smallest_normal));
        x = select(tiny, x * set1<T>(constants::rescale), x);
        // With the bits of sqrt(1/2) taken off, the exponent field changes at sqrt(2).
        // Adding 2^k to it keeps it positive, so that a logical shift will do.
        constexpr I lift = I(sizeof(T) == 4 ? 128 : 1024);
        const ints<T> root = bits(set1<T>(constants::root_half));
        const ints<T> i = bits(x) - root;
        const ints<T> field = shift_right<shift>(i + set1<I>(lift << shift));
        e = to_float(field) - set1<T>(T(lift));
        e = select(tiny, e - set1<T>(constants::rescale_log2), e);
        m = floats((i & set1<I>((I(1) << shift) - 1)) + root);
    }
}

AC_INLINE f32 log_positive(f32 x) {
    using constants = log_constants<float>;
    f32 m, e;
    split_exponent(x, m, e);
    const f32 f = m - set1<float>(1);
    const f32 square = f * f;
    f32 y = square * f * polynomial(f, constants::tail);
    y = fma(e, set1<float>(exp_constants<float>::ln2_low), y);
    y = fnma(set1<float>(0.5f), square, y) + f;
    return fma(e, set1<float>(exp_constants<float>::ln2_high), y);
}

AC_INLINE f64 log_positive(f64 x) {
    using constants = log_constants<double>;
    f64 m, e;
    split_exponent(x, m, e);
    const f64 f = m - set1<double>(1);
    const f64 s = f / (set1<double>(2) + f);
    const f64 z = s * s;
    const f64 tail = z * polynomial(z, constants::tail);
    const f64 half_square = set1<double>(0.5) * f * f;
    f64 y =
        fma(s, half_square + tail, e * set1<double>(exp_constants<double>::ln2_low));
    y = (half_square - y) - f;
    return fma(e, set1<double>(exp_constants<double>::ln2_high), -y);
}

template <class T>
AC_INLINE vec<T> log(vec<T> x) {
    const vec<T> infinity = set1<T>(limits<T>::infinity);
    const mask<T> usual = gt(x, zero<T>()) & lt(x, infinity);
    vec<T> y = log_positive(x);
    if (!all(usual)) {
        const vec<T> at_zero =
            select(eq(x, zero<T>()), -infinity, set1<T>(limits<T>::nan));
        y = select(usual, y, select(eq(x, infinity) | is_nan(x), x, at_zero));
    }
    return y;
}

// ---- tanh
//
// Below 0.625 x + x z P(z), z = x^2; above 1 - 2 / (e^(2x) + 1), where what the
// quotient loses counts less than half.
AC_INLINE constexpr float tanh_one(float) { return 10.0f; }  // tanh is 1 from here on
AC_INLINE constexpr double tanh_one(double) { return 20.0; }
constexpr float tanh_tail_f32[] = {-0.333332837f, 0.133314788f, -0.0537421666f,
                                   0.0206455272f, -0.0057107443f};  // error 4.3e-9
constexpr double tanh_tail_f64[] = {
    -0.33333333333333331,   0.13333333333332978,     -0.053968253968015287,
    0.021869488528078615,   -0.0088632353685253167,  0.0035921259609706878,
    -0.0014558163048328141, 0.00058991752803616039,  -0.00023865612846237899,
    9.5471895713990671e-05, -3.6188428209541081e-05, 1.1397044854652298e-05,
    -2.1121524993883617e-06};  // error 3.1e-20
AC_INLINE f32 tanh_tail(f32 z) { return polynomial(z, tanh_tail_f32); }
AC_INLINE f64 tanh_tail(f64 z) { return polynomial(z, tanh_tail_f64); }

template <class T>
AC_INLINE vec<T> tanh(vec<T> x) {
    const vec<T> a = min(set1<T>(tanh_one(T())), abs(x));
    const vec<T> z = a * a;
    const vec<T> small = fma(a * z, tanh_tail(z), a);
    const vec<T> e = exp_normal(a + a);
    const vec<T> large = set1<T>(1) - set1<T>(2) / (e + set1<T>(1));
    return copysign(select(lt(a, set1<T>(T(0.625))), small, large), x);
}

// ---- sigmoid
//
// With e = e^-|x|: 1 / (1 + e), or e / (1 + e) below zero, so that the tail keeps its
// relative accuracy. There, what 1 + tail and 1 + e lose in rounding goes back into the
// numerator; without that the error is 2.4 ULP, with it 1.4.
template <class T>
AC_INLINE vec<T> sigmoid(vec<T> x) {
    const vec<T> one = set1<T>(1);
    vec<T> n;
    const vec<T> tail = exp_tail(exp_clamp(-abs(x)), n);
    const vec<T> p = one + tail;
    const vec<T> p_lost = tail - (p - one);
    const vec<T> e = scale2(p, n);
    const vec<T> d = one + e;
    const vec<T> d_lost = e - (d - one);
    const vec<T> correction = p_lost * (one - tail) - d_lost;
    return select(lt(x, zero<T>()), fma(e, correction, e), one) / d;
}

// ---- erf
//
// x + x P(x^2) near zero; then 1 - e^Q(x).
constexpr float erf_small_f32[] = {0.128379151f,   -0.376125008f,  0.112818688f,
                                   -0.0267679561f, 0.00499449391f, -0.000599485531f};
// On [0, 0.926], degree 5, error 1.7e-8; and on [0.92, 4], degree 6, error 1.7e-9:
constexpr float erf_large_f32[] = {-0.000195674453f, -1.12767565f,  -0.637182176f,
                                   -0.103931665f,    0.0222269446f, -0.00304321782f,
                                   0.000195936329f};
constexpr double erf_small_f64[] = {
    0.12837916709551259,     -0.37612638903184109,   0.11283791670972039,
    -0.026866170648267153,   0.0052239776553976731,  -0.00085483287073991889,
    0.00012055392838130668,  -1.492704675064202e-05, 1.6483755653513827e-06,
    -1.6585836684709225e-07, 1.6205219318341877e-08, -1.7196970496067865e-09,
    1.5558093400121888e-10};
// On [0, 1.001], degree 12, error 1.4e-17; and on [0.999, 6], degree 18, error 3.8e-18:
constexpr double erf_large_f64[] = {
    -2.2120208697231989e-07, -1.1283769087230622,     -0.63663047227106107,
    -0.10274145765141478,    0.019066405710293534,    0.00029804464974586483,
    -0.0017890283222835933,  0.00065900616940459209,  -5.73859419034687e-05,
    -6.3312627295602743e-05, 4.1873634155339261e-05,  -1.5383255726902455e-05,
    4.0074485427201178e-06,  -7.8009910740408966e-07, 1.1384711068635985e-07,
    -1.2157699819170019e-08, 8.9950917358008448e-10,  -4.1251859648008051e-11,
    8.8349460448784815e-13};
AC_INLINE f32 erf_small(f32 z) { return polynomial(z, erf_small_f32); }
AC_INLINE f64 erf_small(f64 z) { return polynomial(z, erf_small_f64); }
AC_INLINE f32 erf_large(f32 a) { return polynomial(a, erf_large_f32); }
AC_INLINE f64 erf_large(f64 a) { return polynomial(a, erf_large_f64); }

template <class T>
AC_INLINE vec<T> erf(vec<T> x) {
    constexpr T split = sizeof(T) == 4 ? T(0.92) : T(1);
    const vec<T> a =
        min(set1<T>(sizeof(T) == 4 ? T(4) : T(6)), abs(x));  // erf is 1 there
    const vec<T> small = fma(a, erf_small(a * a), a);
    const vec<T> large = set1<T>(1) - exp_normal(erf_large(a));
    return copysign(select(lt(a, set1<T>(split)), small, large), x);
}

// ---- sin, cos
//
// x = n pi/2 + r, |r| <= pi/4, with pi/2 in parts of 33 bits, so that n times a part is
// exact for |n| < 2^20. Floats are computed in double precision, where two parts do.
// Beyond 10^6 the lanes concerned go through the C library.
constexpr double half_pi_1 = 1.5707963267341256;  // 33 bits
constexpr double half_pi_1_rest = 6.0771005065061922e-11;
constexpr double half_pi_2 = 6.0771005063039660e-11;  // the next 33 bits
constexpr double half_pi_2_rest = 2.0222662487959506e-21;
constexpr double trig_limit = 1e6;

// On [-pi/4, pi/4], z = r^2: sin = r + r z P(z), cos = 1 - z/2 + z^2 Q(z).
constexpr double sin_tail_f32[] = {-0.16666666641607206, 0.0083333293836139796,
                                   -0.00019839334119813403, 2.7183048430218579e-06};
constexpr double cos_tail_f32[] = {0.04166666440857348, -0.0013888084988002095,
                                   2.4509509433915891e-05};
constexpr double sin_tail_f64[] = {-0.16666666666666666,    0.0083333333333330383,
                                   -0.00019841269840955883, 2.7557319069628504e-06,
                                   -2.5052069617413354e-08, 1.6054129665984988e-10,
                                   -7.3798860287404284e-13};
constexpr double cos_tail_f64[] = {0.041666666666666595,   -0.0013888888888746393,
                                   2.4801587162671984e-05, -2.7557269293836199e-07,
                                   2.0868871797513155e-09, -1.0980870519102688e-11};
// Errors 5.0e-12, 3.2e-10, 9.2e-20 and 6.5e-18.

// sin(x) if shift is 0, cos(x) if it is 1.
template <bool for_float>
AC_INLINE f64 trig_reduced(f64 x, int64_t shift) {
    const f64 n = round_even(x * set1<double>(0.63661977236758138));
    f64 r = fnma(n, set1<double>(half_pi_1), x);
    if constexpr (for_float) {
        r = fnma(n, set1<double>(half_pi_1_rest), r);
    } else {
        r = fnma(n, set1<double>(half_pi_2), r);
        r = fnma(n, set1<double>(half_pi_2_rest), r);
    }
    const f64 z = r * r;
    const f64 one = set1<double>(1);
    const f64 half = set1<double>(0.5) * z;
    f64 sine, cosine;
    if constexpr (for_float) {
        sine = fma(r * z, polynomial(z, sin_tail_f32), r);
        cosine = fma(z * z, polynomial(z, cos_tail_f32), one - half);
    } else {
        sine = fma(r * z, polynomial(z, sin_tail_f64), r);
        const f64 w = one - half;  // what 1 - half loses is added again
        cosine = w + fma(z * z, polynomial(z, cos_tail_f64), (one - w) - half);
    }
    const i64 quadrant = to_int(n) + set1<int64_t>(shift);
    const i64 bit = set1<int64_t>(1);
    const f64 y = select(eq(quadrant & bit, bit), cosine, sine);
    return floats(bits(y) ^ shift_left<63>(shift_right<1>(quadrant)));
}

AC_INLINE f64 trig_near(f64 x, int64_t shift) { return trig_reduced<false>(x, shift); }
AC_INLINE f32 trig_near(f32 x, int64_t shift) {
    return narrow(trig_reduced<true>(low_double(x), shift),
                  trig_reduced<true>(high_double(x), shift));
}

AC_INLINE float trig_scalar(float x, bool cosine) {
    return cosine ? __builtin_cosf(x) : __builtin_sinf(x);
}
AC_INLINE double trig_scalar(double x, bool cosine) {
    return cosine ? __builtin_cos(x) : __builtin_sin(x);
}
template <class T>
AC_NOINLINE void trig_far(const T* x, T* y, bool cosine) {
    for (int i = 0; i < vec<T>::lanes; ++i) {
        if (!(x[i] <= T(trig_limit) && x[i] >= T(-trig_limit))) {
            y[i] = trig_scalar(x[i], cosine);
        }
    }
}

template <class T>
AC_INLINE vec<T> trig(vec<T> x, bool cosine) {
    vec<T> y = trig_near(x, cosine ? 1 : 0);
    if (!all(le(abs(x), set1<T>(T(trig_limit))))) {
        T far_x[vec<T>::lanes], far_y[vec<T>::lanes];
        store(far_x, x);
        store(far_y, y);
        trig_far(far_x, far_y, cosine);
        y = load(far_y);
    }
    return y;
}
template <class T>
AC_INLINE vec<T> sin(vec<T> x) {
    return select(eq(x, zero<T>()), x, trig(x, false));  // keeps the sign of a zero
}
template <class T>
AC_INLINE vec<T> cos(vec<T> x) {
    return trig(x, true);
}

// ---- pow
//
// Floats: 2^(y log2 x) in double precision. log2 is good to 3e-14 relative, so the
// exponent, below 150, to 5e-12.
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
