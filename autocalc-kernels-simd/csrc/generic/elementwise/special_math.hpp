// SPDX-License-Identifier: MIT
//
// Relatives of the error function and of the Gamma function, of a vector of doubles;
// floats are computed as doubles and rounded once. The formulas are the reference's.
#pragma once

#include "elementwise/angle_math.hpp"
#include "elementwise/exponential_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr double root_two = 1.4142135623730951, root_pi = 1.7724538509055161;
constexpr double erf_slope = 1.1283791670955126;  // 2 / sqrt(pi)
constexpr double infinite = __builtin_inf();

AC_INLINE f64 number(double x) { return set1<double>(x); }

// ---- erfc and erfcx = exp(x^2) erfc(x)
//
// (1 + 2 a) erfcx(a) in q = (a - 4) / (a + 4), a from 4/9 to 28: error 5e-17.
constexpr double erfcx_first = 1.2329951186255526;
constexpr double erfcx_scaled[] = {
    -0.13962111684056147,    0.015379652102608499,    0.068097054254564998,
    -0.1010390660356197,     0.093732835002962603,    -0.066330365828329407,
    0.037167515460563641,    -0.016197733865533828,   0.0050319706877480254,
    -0.00075777460796144715, -0.00019926066002480848, 0.00015062721585265185,
    -2.438521055060784e-05,  -1.123659688757422e-05,  5.6781561343821309e-06,
    3.1753680028478487e-07,  -7.8101309221480604e-07, 5.1969661662566829e-08,
    7.3868748855954451e-08,  -6.874648283427567e-09};
// Of erfcx(x) x sqrt(pi) in 1 / x^2; exact from 10 on.
constexpr double erfcx_tail[] = {1.0,
                                 -0.5,
                                 0.75,
                                 -1.875,
                                 6.5625,
                                 -29.53125,
                                 162.421875,
                                 -1055.7421875,
                                 7918.06640625,
                                 -67303.564453125,
                                 639383.8623046875,
                                 -6713530.554199219,
                                 77205601.37329102,
                                 -965070017.1661377};

// The quotient and what it, its sums and its product lack.
AC_INLINE f64 erfcx_parts(f64 a, f64& low) {
    const f64 one = number(1), four = number(4), q = (a - four) / (a + four);
    const f64 first = number(erfcx_first), rest = q * polynomial(q, erfcx_scaled);
    const f64 p = first + rest, p_lost = (first - p) + rest;
    const f64 twice = a + a, d = one + twice, back = d - twice;
    const f64 d_lost = (one - back) + (twice - (d - back));
    const f64 inverse = one / d, y = p * inverse;
    low = ((fnma(y, d, p) + p_lost) - y * d_lost) * inverse;
    return y;
}
AC_INLINE f64 erfcx_near(f64 a) {
    f64 low;
    const f64 y = erfcx_parts(a, low);
    return y + low;
}

// What the rounded product of a and b lacks.
AC_INLINE f64 lost_of_product(f64 a, f64 b, f64 product) {
    if constexpr (has_fma) return fma(a, b, -product);
    const f64 a_high = clear_low(a), a_low = a - a_high;
    const f64 b_high = clear_low(b), b_low = b - b_high;
    const f64 sum = (a_high * b_high - product) + a_high * b_low;
    return (sum + a_low * b_high) + a_low * b_low;
}

// exp(-a^2) = (p + low) 2^n
AC_INLINE f64 exp_of_minus_square(f64 a, f64& low, f64& n) {
    const f64 one = number(1), square = a * a;
    const f64 tail = exp_tail(-square, n), p = one + tail;
    low = (tail - (p - one)) - lost_of_product(a, a, square) * p;
    return p;
}

// erfc(a) = (high + low) 2^n, a from 4/9 to 28; all that is lost is added.
AC_INLINE f64 erfc_parts(f64 a, f64& low, f64& n) {
    f64 scaled_low, p_low;
    const f64 p = exp_of_minus_square(a, p_low, n);
    const f64 scaled = erfcx_parts(a, scaled_low), high = scaled * p;
    low = fma(scaled, p_low, lost_of_product(scaled, p, high)) + scaled_low * p;
    return high;
}

AC_INLINE f64 erfc(f64 x) {
    const f64 a = min(number(28), abs(x)), one = number(1);
    f64 low, n;
    const f64 high = erfc_parts(max(number(0.5), a), low, n);
    const f64 far = scale2_any(high + low, n);
    const f64 y = select(lt(x, zero<double>()), number(2) - far, far);
    return select(lt(a, number(0.5)), one - erf(x), y);
}

// Of floats in their own precision, where there is FMA: exp(-a^2) / (1 + 2 a) times a
// polynomial in q = (a - 2) / (a + 2), a from 0.46 to 10.1, error 1.9e-8.
constexpr float erfc_f32[] = {1.27697837f,    -0.0927635729f,  -0.166030467f,
                              0.164041564f,   -0.0542152189f,  -0.00794059876f,
                              0.00867571495f, 0.000935084128f, -0.00128771667f};
AC_INLINE f32 erfc(f32 x) {
    if constexpr (!has_fma) return narrow(erfc(low_double(x)), erfc(high_double(x)));
    const f32 one = set1<float>(1), two = set1<float>(2), square = x * x;
    const f32 a = min(set1<float>(10.06f), abs(x));
    const f32 line = fma(a, two, one), sum = a + two, inverse = one / (line * sum);
    const f32 p = polynomial((a - two) * line * inverse, erfc_f32);
    const f32 over = sum * inverse, first = p * over;
    const f32 scaled = fma(fnma(first, line, p), over, first);
    const f32 power = a * a, lost = fma(a, a, -power);
    f32 n;
    const f32 tail = exp_tail(-power, n), rest = fnma(lost, tail, tail - lost);
    const f32 far = scale2_any(fma(scaled, rest, scaled), n);
    const f32 y = select(lt(x, zero<float>()), two - far, far);
    const f32 near = one - fma(x, erf_small(square), x);
    return select(lt(a, set1<float>(0.5f)), near, y);
}

AC_INLINE f64 erfcx(f64 x) {
    const f64 a = min(number(28), abs(x)), one = number(1), ten = number(10);
    const f64 square = a * a, lost = lost_of_product(a, a, square), e = exp(square);
    const f64 power = e + keep(lt(e, number(infinite)), e * lost);
    const f64 near = erfcx_near(max(number(0.5), a));
    const f64 z = one / (x * x);
    const f64 far = polynomial(z, erfcx_tail) / (x * number(root_pi));
    const f64 above = select(lt(x, ten), near, far);
    const f64 y = select(lt(x, zero<double>()), (power + power) - near, above);
    const f64 small = power * (one - erf(x));
    return select(is_nan(x), x, select(lt(a, number(0.5)), small, y));
}

// Below -1 by erfcx, which does not vanish where erfc does.
AC_INLINE f64 log_ndtr(f64 x) {
    const f64 half = number(0.5), end = number(-1);
    const f64 low = min(end, x), high = max(end, x), root = number(0.7071067811865476);
    const f64 scaled = erfcx(-root * low) * half;
    const f64 below = log(scaled) - low * low * half;
    const f64 above = log1p(-(erfc(high * root) * half));
    return select(is_nan(x), x, select(lt(x, end), below, above));
}

// ---- inverses: a first approximation (M. Giles, GPU Computing Gems 2, 2011, of seven
// digits), and one of Halley's steps, which cube the error
constexpr double giles_near[] = {1.50140941,     0.246640727,    -0.00417768164,
                                 -0.00125372503, 0.00021858087,  -4.39150654e-06,
                                 -3.5233877e-06, 3.43273939e-07, 2.81022636e-08};
constexpr double giles_far[] = {2.83297682,    1.00167406,     0.00943887047,
                                -0.0076224613, 0.00573950773,  -0.00367342844,
                                0.00134934322, 0.000100950558, -0.000200214257};
constexpr double giles_most = 16;  // of -log(1 - x^2)

AC_INLINE f64 giles(f64 x, f64 w) {
    const f64 near = polynomial(w - number(2.5), giles_near);
    const f64 far = polynomial(sqrt(w) - number(3), giles_far);
    return select(lt(w, number(5)), near, far) * x;
}

AC_INLINE double series(const double* c, int n, double x) {
    double p = c[n - 1];
    for (int i = n - 2; i >= 0; --i) p = p * x + c[i];
    return p;
}
// exp(x^2) without the rounding of the square, which grows with it: exp(high^2), times
// 1 + the rest; halved, so that it does not overflow before the result does.
AC_INLINE double erfcx_of(double x) {
    if (x >= 10) return series(erfcx_tail, 14, 1 / (x * x)) / (x * root_pi);
    if (x < -26.64) return infinite;
    const double high = __builtin_rint(x * 1024) / 1024, low = x - high;
    const double near = __builtin_exp(high * high) * (0.5 * __builtin_erfc(x));
    return 2 * (near + near * __builtin_expm1(low * (x + high)));
}

// The number whose erfc is q, from 0 (excluded) to 1/2, where Giles has no digits:
// Halley's steps for log erfc(y) = log erfcx(y) - y^2, which does not underflow.
inline double erfcinv_scalar(double q) {
    const double goal = __builtin_log(q);
    double y = __builtin_sqrt(-goal);
    for (int i = 0; i < 2; ++i) {  // erfc(y) = exp(-y^2) / (sqrt(pi) y) roughly
        y = __builtin_sqrt(larger(-goal - __builtin_log(root_pi * (y + 0.35)), 0.2));
    }
    for (int i = 0; i < 4; ++i) {
        const double scaled = erfcx_of(y), slope = -erf_slope / scaled;
        const double error = __builtin_log(scaled) - y * y - goal;
        const double curvature = slope * (-2 * y - slope);
        y -= 2 * error * slope / (2 * slope * slope - error * curvature);
    }
    return y;
}

AC_NOINLINE void erfcinv_far(const double* q, double* y, uint32_t near) {
    for (int i = 0; i < f64::lanes; ++i) {
        if ((near >> i & 1) == 0) y[i] = erfcinv_scalar(q[i]);
    }
}

// The number whose erfc is q, from 0 (excluded) to 1/2.
AC_INLINE f64 erfcinv(f64 q) {
    const f64 one = number(1), w = -log(q * (number(2) - q));
    f64 y = giles(one - q, min(number(giles_most), w));
    f64 low, n;
    const f64 high = erfc_parts(y, low, n), scale = power2(n);
    const f64 error = (high * scale - q) + low * scale;
    const f64 step = error * exp(y * y) * number(-1 / erf_slope);
    y = y - step / fma(y, step, one);
    const mask<double> near = lt(w, number(giles_most));
    if (!all(near)) {
        double qs[f64::lanes], ys[f64::lanes];
        store(qs, q);
        store(ys, y);
        erfcinv_far(qs, ys, lane_bits(near));
        y = load(ys);
    }
    return y;
}

// The number whose erf is x, |x| <= 1/2.
AC_INLINE f64 erfinv_near(f64 x) {
    const f64 one = number(1), w = -log(fnma(x, x, one));
    const f64 y = giles(x, w);
    const f64 step = (erf(y) - x) * exp(y * y) * number(1 / erf_slope);
    return y - step / fma(y, step, one);
}

AC_INLINE f64 erfinv(f64 x) {
    const f64 a = abs(x), one = number(1), half = number(0.5);
    f64 y = erfinv_near(min(half, a));
    const mask<double> far = gt(a, half) & lt(a, one);
    if (any(far)) y = select(far, erfcinv(select(far, one - a, half)), y);
    y = select(eq(a, one), number(infinite), y);
    y = select(gt(a, one) | is_nan(x), number(limits<double>::nan), y);
    return copysign(y, x);
}

AC_INLINE f64 ndtri(f64 p) {
    const f64 one = number(1), half = number(0.5), none = zero<double>();
    const f64 tail = min(p, one - p), quarter = number(0.25);
    f64 y = erfinv_near(max(-half, min(half, p + p - one)));
    const mask<double> far = gt(tail, none) & lt(tail, quarter);
    if (any(far)) {
        const f64 size = erfcinv(select(far, tail + tail, half));
        y = select(far, copysign(size, p - half), y);
    }
    const f64 infinity = number(infinite);
    const f64 ends = select(eq(p, none), -infinity, infinity);
    y = select(eq(p, none) | eq(p, one), ends, y * number(root_two));
    return select(lt(p, none) | gt(p, one) | is_nan(p), number(limits<double>::nan), y);
}

// ---- inverses of floats in their own precision, where there is FMA
//
// erfinv(x) / x in w = -log(1 - x^2) up to 5, in sqrt(w) up to 16, and up to the
// smallest numbers, of which ndtri makes 104. Errors 4.0e-8, 9.2e-9 and 4.6e-8.
constexpr float inverse_near[] = {1.50140941f,      0.246640295f,    -0.00417766767f,
                                  -0.00125278381f,  0.000218575573f, -4.92934942e-06f,
                                  -3.52291454e-06f, 4.57350495e-07f, 2.8103436e-08f,
                                  -8.07909117e-09f};
constexpr float inverse_far[] = {2.83297682f,     1.00167525f,      0.00944533106f,
                                 -0.00764090382f, 0.00568501977f,   -0.00358327152f,
                                 0.00149168237f,  -7.89298647e-05f, -0.000315366662f,
                                 0.00012815668f};
constexpr float inverse_farther[] = {
    5.85991287f,     1.00960505f,      -0.000471616659f, -4.28693056e-05f,
    2.06962231e-05f, -5.24797952e-06f, 1.30379499e-06f,  -2.64740947e-07f,
    2.99591996e-08f, -1.24139676e-09f};
AC_INLINE f32 inverse_of(f32 x, f32 w) {
    f32 y = polynomial(w - set1<float>(2.5f), inverse_near);
    const mask<float> far = ge(w, set1<float>(5));
    if (any(far)) {
        const f32 root = sqrt(w);
        y = select(far, polynomial(root - set1<float>(3), inverse_far), y);
        y = select(ge(w, set1<float>(16)),
                   polynomial(root - set1<float>(6), inverse_farther), y);
    }
    return y * x;
}

AC_INLINE f32 erfinv(f32 x) {
    if constexpr (!has_fma)
        return narrow(erfinv(low_double(x)), erfinv(high_double(x)));
    const f32 a = abs(x), one = set1<float>(1);
    const f32 y = inverse_of(x, -log_positive(fnma(x, x, one)));
    const f32 ends = select(eq(a, one), set1<float>(limits<float>::infinity),
                            set1<float>(limits<float>::nan));
    return select(lt(a, one), y, copysign(ends, x));
}

AC_INLINE f32 ndtri(f32 p) {
    if constexpr (!has_fma) return narrow(ndtri(low_double(p)), ndtri(high_double(p)));
    const f32 one = set1<float>(1), none = zero<float>(), four = set1<float>(4);
    const f32 x = p - set1<float>(0.5f), w = -log_positive(four * p * (one - p));
    const f32 y = inverse_of(x, w) * set1<float>(2.82842712f);
    const f32 infinity = set1<float>(limits<float>::infinity);
    const f32 ends =
        select(eq(p, none), -infinity,
               select(eq(p, one), infinity, set1<float>(limits<float>::nan)));
    return select(gt(p, none) & lt(p, one), y, ends);
}

// ---- lgamma
//
// log Gamma(2 + e), |e| <= 1/2, over e: a Taylor series. What Stirling's formula lacks,
// times x, in 1 / x^2; exact from 10 on.
constexpr double lgamma_slopes[] = {
    0.42278433509846713,     0.3224670334241132,     -0.0673523010531981,
    0.020580808427784546,    -0.007385551028673986,  0.0028905103307415234,
    -0.001192753911703261,   0.0005096695247430425,  -0.00022315475845357939,
    9.945751278180853e-05,   -4.492623673813314e-05, 2.050721277567069e-05,
    -9.439488275268397e-06,  4.374866789907488e-06,  -2.039215753801366e-06,
    9.55141213040742e-07,    -4.492469198764566e-07, 2.1207184805554665e-07,
    -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08,
    1.0838659214896955e-08,  -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10,  -2.7595228851242334e-10,
    1.330476437424449e-10,   -6.4229645638381e-11};
constexpr double stirling_tail[] = {
    0.08333333333333333,    -0.002777777777777778, 0.0007936507936507937,
    -0.0005952380952380952, 0.0008417508417508418, -0.0019175269175269174,
    0.006410256410256411,   -0.02955065359477124,  0.17964437236883057};

AC_INLINE f64 fraction_of(f64 x) { return x - round_even(x); }

// With x = e + 2 + steps, Gamma(x) is Gamma(2 + e) times a product of `steps` factors,
// which for 1/2 <= x < 3/2 is 1 / x, and for |x| < 1/2 is 1 / (x (1 + x)), e = x.
AC_INLINE f64 lgamma_of_positive(f64 x, f64 size) {
    const f64 one = number(1), ten = number(10), half = number(0.5);
    const f64 y = min(ten, size), steps = floor(y - number(1.5));
    const mask<double> small = lt(size, half), large = ge(size, ten);
    f64 product = select(lt(steps, zero<double>()), y, one);
    for (int i = 1; i < 9; ++i) {
        const f64 step = number(i);
        if (!any(ge(steps, step))) break;
        product = product * select(ge(steps, step), y - step, one);
    }
    product = select(small, size * (one + x), product);
    const f64 e = select(small, x, y - (steps + number(2)));
    const f64 logarithm = log(select(large, size, product));
    const mask<double> divides = small | lt(steps, zero<double>());
    const f64 near =
        e * polynomial(e, lgamma_slopes) + select(divides, -logarithm, logarithm);
    const f64 far = max(ten, size), z = one / (far * far);
    const f64 start = fma(far - half, logarithm - one, number(0.41893853320467274));
    return select(large, start + polynomial(z, stirling_tail) / far, near);
}

AC_INLINE f64 lgamma(f64 x) {
    const f64 a = abs(x), infinity = number(infinite);
    const mask<double> reflected = le(x, number(-0.5));
    f64 y = lgamma_of_positive(x, select(reflected, number(1) - x, a));
    if (any(reflected)) {
        const f64 sine = abs(sin(fraction_of(x) * number(pi)));
        const f64 rest = number(1.1447298858494002) - log(sine);  // log(pi)
        y = select(reflected, rest - y, y);
    }
    const mask<double> pole = le(x, zero<double>()) & eq(x, floor(x));
    return select(is_nan(x), x, select(pole | eq(a, infinity), infinity, y));
}

// ---- digamma: up to 10 by its recurrence, then an asymptotic series
constexpr double digamma_tail[] = {
    0.08333333333333333,   -0.008333333333333333, 0.003968253968253968,
    -0.004166666666666667, 0.007575757575757576,  -0.02109279609279609,
    0.08333333333333334,   -0.4432598039215686,   3.0539543302701198};
// Where it is 0: the nearest double, and what that lacks; its Taylor series there.
constexpr double digamma_root = 1.4616321449683622, root_rest = 9.549995429965697e-17;
constexpr double root_slopes[] = {
    0.9676722454476212,      -0.4427631689835921,    0.258499760955651,
    -0.16394270544240652,    0.10782405069126237,    -0.07219956125645471,
    0.04880428816414311,     -0.03316112647484736,   0.022597648232218104,
    -0.01542476590494896,    0.010538791616612175,   -0.007204534386356869,
    0.004926781395729853,    -0.003369801655439328,  0.002305126326734928,
    -0.0015769367714301972,  0.0010788252019162967,  -0.0007380709389960052,
    0.000504953265834602,    -0.0003454680251063077, 0.00023635601564027053,
    -0.00016170622091974803, 0.0001106337276874741,  -7.569179582195066e-05};

AC_INLINE f64 digamma_of_positive(f64 x) {
    const f64 one = number(1), ten = number(10);
    f64 y = x, steps = zero<double>();
    for (int i = 0; i < 10; ++i) {
        const mask<double> below = lt(y, ten);
        if (!any(below)) break;
        steps = steps + keep(below, one / y);
        y = y + keep(below, one);
    }
    const f64 z = one / (y * y);
    const f64 rest = fma(polynomial(z, digamma_tail), z, number(0.5) / y);
    f64 result = log(y) - rest - steps;
    const f64 distance = (x - number(digamma_root)) - number(root_rest);
    const mask<double> near = lt(abs(distance), number(0.25));
    if (any(near)) {
        result = select(near, distance * polynomial(distance, root_slopes), result);
    }
    return select(eq(x, number(infinite)), x, result);
}

AC_INLINE f64 digamma(f64 x) {
    const f64 none = zero<double>(), nan = number(limits<double>::nan);
    const mask<double> negative = lt(x, none);
    f64 y = digamma_of_positive(select(le(x, none), number(1) - x, x));
    if (any(negative)) {
        const f64 f = fraction_of(x);
        const f64 reflected = y - number(pi) / tan(f * number(pi));
        // NaN at -1, -2, ..., and at minus infinity.
        y = select(negative, select(eq(f, none) | is_nan(f), nan, reflected), y);
    }
    return select(eq(x, none), copysign(number(infinite), -x), y);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
