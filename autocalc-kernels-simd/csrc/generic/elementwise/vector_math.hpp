// SPDX-License-Identifier: MIT
//
// exp, log, tanh, sigmoid and erf of a vector, for float and double;
// elementwise/trigonometry.hpp and elementwise/power.hpp add sin, cos and pow.
//
// Coefficients come from tools/minimax.py: weighted minimax fits whose coefficients are
// rounded one after another. "Error" next to them is the error of the polynomial alone,
// relative to the result. Errors of the functions, measured over all floats and over
// dense samples of doubles, are in tests/simd/test_math_ulp.py.
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
    static constexpr float eps = 1.1920929e-7f;
};
template <>
struct limits<double> {
    static constexpr double infinity = __builtin_inf();
    static constexpr double nan = __builtin_nan("");
    static constexpr double smallest_normal = 2.2250738585072014e-308;
    static constexpr double eps = 2.2204460492503131e-16;
};

// ---- subnormal numbers
//
// A multiplication that gives or takes one lasts 38 ns on Intel's CPUs in place of 0.3
// (Sapphire Rapids). Kernels whose spec flushes write 0 in its place; where they can,
// they do not compute it either.

// 0 of the same sign in place of a subnormal number; NaN stays.
template <class T>
AC_INLINE vec<T> flushed(vec<T> x) {
    if constexpr (has_flush) {
        return flush(x);
    } else {
        const vec<T> size = abs(x);
        const mask<T> small = lt(size, set1<T>(limits<T>::smallest_normal));
        return floats(bits(x) ^ bits(keep(small, size)));
    }
}

// x * factor, 0 in place of a subnormal product, for x >= 0: `least` is
// least_factor_of(factor). Masks of AVX-512 go with the multiplication.
template <class T>
AC_INLINE vec<T> product_from(vec<T> x, vec<T> least, vec<T> factor) {
    const mask<T> large = ~lt(x, least);
    if constexpr (has_flush) return keep(large, x * factor);
    return keep(large, x) * factor;
}

// The least normal x whose product with a factor, or quotient by one over it, is normal
// however these are rounded.
template <class T>
AC_INLINE vec<T> least_factor_of(vec<T> factor) {
    constexpr T least = limits<T>::smallest_normal * (1 + 4 * limits<T>::eps);
    return set1<T>(least) / min(set1<T>(1), abs(factor));
}

// ---- powers of two

// A float is 2^(field - bias) (1 + significand), its field above `digits` bits. Adding
// `rounder`, three halves of 2^digits, leaves an integer in the low bits.
template <class T>
struct layout;
template <>
struct layout<float> {
    static constexpr int digits = 23;
    static constexpr float bias = 127, rounder = 12582912;
};
template <>
struct layout<double> {
    static constexpr int digits = 52;
    static constexpr double bias = 1023, rounder = 6755399441055744;
};

// The nearest integer to x, |x| < 2^22 (double: 2^51).
template <class T>
AC_INLINE vec<T> nearest(vec<T> x) {
    const vec<T> rounder = set1<T>(layout<T>::rounder);
    return (x + rounder) - rounder;
}

// The low bits as an exponent's field; the bits above them are shifted out.
template <class T>
AC_INLINE vec<T> from_field(ints<T> field) {
    return floats(shift_left<layout<T>::digits>(field));
}

// 2^n where it is normal, and zero for the integer below (-127; double: -1023).
template <class T>
AC_INLINE vec<T> power2(vec<T> n) {
    return from_field<T>(bits(n + set1<T>(layout<T>::rounder + layout<T>::bias)));
}

// x * 2^n where both are normal, or 2^n is power2's zero.
template <class T>
AC_INLINE vec<T> scale2_normal(vec<T> x, vec<T> n) {
    if constexpr (has_scale) {
        return scale2(x, n);
    } else {
        return x * power2(n);
    }
}

// x * 2^n of any size, |n| <= 252 (double: 2044). Without an instruction for it in two
// steps, whose factors are normal: of two fields that add up to n and twice the bias.
template <class T>
AC_INLINE vec<T> scale2_any(vec<T> x, vec<T> n) {
    if constexpr (has_scale) {
        return scale2(x, n);
    } else {
        const auto sum = bits(n + set1<T>(layout<T>::rounder + 2 * layout<T>::bias));
        const auto half = shift_right<1>(sum);
        return x * from_field<T>(half) * from_field<T>(sum - half);
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
    static constexpr float ln2_high = 0.693145752f;  // 15 bits
    static constexpr float ln2_low = 1.42860677e-6f;
    static constexpr float lowest = -104.0f;                    // e^-104 rounds to zero
    static constexpr float highest = 89.0f;                     // e^89 overflows
    static constexpr float lowest_normal = -87.33654f;          // e^it is normal
    static constexpr float vanished = has_scale ? -1e4f : -88;  // exp_normal gives 0
    static constexpr float tail[] = {0.5f, 0.166664883f, 0.0416655503f, 0.0083722854f,
                                     0.00140355469f};  // degree 4, error 4.3e-9
};
template <>
struct exp_constants<double> {
    static constexpr double log2e = 1.4426950408889634;
    static constexpr double ln2_high = 0.69314718036912382;  // 33 bits
    static constexpr double ln2_low = 1.9082149292705877e-10;
    static constexpr double lowest = -746.0;
    static constexpr double highest = 710.0;
    static constexpr double lowest_normal = -708.396418532264;
    static constexpr double vanished = has_scale ? -1e5 : -709.1;
    static constexpr double tail[] = {
        0.50000000000000111,    0.16666666666665858,    0.041666666666520455,
        0.0083333333335044862,  0.0013888888948855554,  0.00019841270036844287,
        2.4801485174362879e-05, 2.7556731300529555e-06, 2.7633795773896435e-07,
        2.5367090082861749e-08};  // degree 9, error 1.4e-17
};

template <class T>
AC_INLINE vec<T> exp_exponent(vec<T> x) {
    const vec<T> rounder = set1<T>(layout<T>::rounder);
    return fma(x, set1<T>(exp_constants<T>::log2e), rounder) - rounder;
}
template <class T>
AC_INLINE vec<T> exp_rest(vec<T> x, vec<T> n) {
    using constants = exp_constants<T>;
    return fnma(n, set1<T>(constants::ln2_low),
                fnma(n, set1<T>(constants::ln2_high), x));
}
// e^r - 1
template <class T>
AC_INLINE vec<T> exp_tail(vec<T> r) {
    return fma(r * r, polynomial(r, exp_constants<T>::tail), r);
}

// e^x = (1 + tail) * 2^n, without a check of the range.
template <class T>
AC_INLINE vec<T> exp_tail(vec<T> x, vec<T>& n) {
    n = exp_exponent(x);
    return exp_tail(exp_rest(x, n));
}

// For any x. A scaling instruction turns an infinite n into infinity or zero and keeps
// NaN, so that there only r, which is then anything, has to be kept small: one
// instruction in place of two. Elsewhere x is limited to where the result is zero or
// infinity.
template <class T>
AC_INLINE vec<T> exp(vec<T> x) {
    using constants = exp_constants<T>;
    vec<T> n;
    if constexpr (has_scale) {
        n = exp_exponent(x);
        const vec<T> r = limit(exp_rest(x, n), set1<T>(T(0.5)));
        return scale2(set1<T>(1) + exp_tail(r), n);
    } else {
        x = min(set1<T>(constants::highest), max(set1<T>(constants::lowest), x));
        const vec<T> tail = exp_tail(x, n);
        return scale2_any(set1<T>(1) + tail, n);
    }
}

// exp of an x whose result is a normal number: one multiplication scales.
template <class T>
AC_INLINE vec<T> exp_normal(vec<T> x) {
    vec<T> n;
    const vec<T> tail = exp_tail(x, n);
    return scale2_normal(set1<T>(1) + tail, n);
}

// exp of an x <= 0, as softmax needs it, and 0 below `lowest`, from where on results
// are normal numbers; NaN stays. A scaling instruction waits for an assist as far as
// 2^-400, and of doubles 2^-4000, but not in lanes that its mask leaves out.
template <class T>
AC_INLINE vec<T> exp_negative(vec<T> x, vec<T> lowest) {
    const mask<T> gone = lt(x, lowest);
    if constexpr (has_scale) return keep(~gone, exp_normal(x));
    return exp_normal(select(gone, set1<T>(exp_constants<T>::vanished), x));
}
template <class T>
AC_INLINE vec<T> exp_negative(vec<T> x) {
    return exp_negative(x, set1<T>(exp_constants<T>::lowest_normal));
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
        constexpr int shift = layout<T>::digits;
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

// A logarithm y of positive finite x, completed for the others.
template <class T>
AC_INLINE vec<T> log_ends(vec<T> x, vec<T> y) {
    const vec<T> infinity = set1<T>(limits<T>::infinity);
    const mask<T> usual = gt(x, zero<T>()) & lt(x, infinity);
    if (!all(usual)) {
        const vec<T> at_zero =
            select(eq(x, zero<T>()), -infinity, set1<T>(limits<T>::nan));
        y = select(usual, y, select(eq(x, infinity) | is_nan(x), x, at_zero));
    }
    return y;
}

template <class T>
AC_INLINE vec<T> log(vec<T> x) {
    return log_ends(x, log_positive(x));
}

// From where on exp(x) and exp(x) * factor are normal, but for what these lose.
template <class T>
AC_INLINE vec<T> lowest_for(vec<T> factor) {
    constexpr T lowest = exp_constants<T>::lowest_normal;
    constexpr T room = -lowest * 4 * limits<T>::eps;
    return max(set1<T>(lowest), set1<T>(lowest + room) - log(abs(factor)));
}

// ---- tanh
//
// y = q / (1 + q), 2 q = e^u - 1, u = 2|x|. With e^u - 1 = 2^n tail + (2^n - 1), q has
// one rounding, also where n is 0 and x is small. A single constant for ln 2 will do
// for floats with FMA: what it is off by, n * 1.9e-9, is at most 0.06 ULP. Where q is
// small, what 1 + q and the quotient lose counts q times only in q - q y: 2.5 ULP
// become 1.8 (SSE2: 2.0). Doubles, whose polynomial is longer, would keep 2.2: there
// all that was lost is collected and added, over 1 + q = 1 / (1 - y).
AC_INLINE constexpr float tanh_end(float) { return 20.0f; }  // tanh(u / 2) is 1
AC_INLINE constexpr double tanh_end(double) { return 44.0; }

AC_INLINE f32 tanh_rest(f32 u, f32 n) {
    if constexpr (!has_fma) return exp_rest(u, n);
    return fnma(n, set1<float>(0.693147182f), u);
}
AC_INLINE f64 tanh_rest(f64 u, f64 n) { return exp_rest(u, n); }

template <class T>
AC_INLINE vec<T> tanh(vec<T> x) {
    constexpr bool is_double = sizeof(T) == 8;
    const vec<T> one = set1<T>(1), half = set1<T>(T(0.5));
    const vec<T> u = min(set1<T>(tanh_end(T())), abs(x + x));
    const vec<T> n = exp_exponent(u);
    const vec<T> power = scale2_normal(half, n);
    const vec<T> r = tanh_rest(u, n), past = power - half;
    if constexpr (is_double) {
        const vec<T> curve = r * r * polynomial(r, exp_constants<T>::tail);
        const vec<T> line = fma(power, r, past), q = fma(power, curve, line);
        const vec<T> q_lost = fma(power, curve, line - q) + fma(power, r, past - line);
        const vec<T> d = q + one, d_lost = q_lost + (q - (d - one)), y = q / d;
        const vec<T> rest = fnma(y, d, q) + fnma(y, d_lost, q_lost);
        const mask<T> counts = lt(q, set1<T>(1e6));  // and d_lost is exact
        return copysign(fma(keep(counts, rest), one - y, y), x);
    } else {
        const vec<T> q = fma(exp_tail(r), power, past), y = q / (q + one);
        return copysign(select(lt(q, set1<T>(T(0.35))), fnma(q, y, q), y), x);
    }
}

// ---- sigmoid
//
// With e = e^-|x|: 1 / (1 + e), or e / (1 + e) below zero, so that the tail keeps its
// relative accuracy, down to normal numbers. There, what 1 + tail and 1 + e lose in
// rounding goes back into the numerator; without that the error is 2.4 ULP, with
// it 1.4.
template <class T>
AC_INLINE vec<T> sigmoid(vec<T> x) {
    const vec<T> one = set1<T>(1), size = -abs(x);
    const mask<T> gone = lt(size, set1<T>(exp_constants<T>::lowest_normal));
    vec<T> n;
    const vec<T> vanished = set1<T>(exp_constants<T>::vanished);
    const vec<T> tail = exp_tail(select(gone, vanished, size), n);
    const vec<T> p = one + tail;
    const vec<T> p_lost = tail - (p - one);
    const vec<T> e = scale2_normal(p, n);
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

}  // namespace
}  // namespace autocalc::simd::AC_ISA
