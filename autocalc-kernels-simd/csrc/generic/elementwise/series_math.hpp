// SPDX-License-Identifier: MIT
//
// Functions that are sums of many terms: the modified Bessel function I, Hurwitz's zeta
// function and the incomplete Gamma functions, in doubles. The formulas are the
// reference's; sums end where their terms no longer count.
#pragma once

#include "elementwise/exponential_math.hpp"
#include "elementwise/power.hpp"
#include "elementwise/special_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr double two_pi = 6.283185307179586;

AC_INLINE double largest_lane(f64 x) {
    double lanes[f64::lanes], most = lanes[0] = 0;
    store(lanes, x);
    for (const double lane : lanes) most = lane > most ? lane : most;
    return most;
}

AC_INLINE double first_lane(f64 x) {
    double lanes[f64::lanes];
    store(lanes, x);
    return lanes[0];
}

// ---- I of an order >= 0

struct Bessel {
    int64_t order;
    bool scaled;  // times exp(-|x|)
};
constexpr double bessel_far = 40;  // from here on the asymptotic series is exact

// (x / 2)^(2 k + order) / (k! (k + order)!), from the last term that counts.
AC_INLINE f64 bessel_near(f64 x, const Bessel& of) {
    const f64 half = x * number(0.5), square = half * half, one = number(1);
    f64 total = one;
    // At 0, 5, 10, 20 and 40 the terms left out are below 1e-19 of the sum.
    for (auto k = static_cast<int64_t>(14 + 1.15 * largest_lane(x)); k > 0; --k) {
        const auto factors = static_cast<double>(k * (k + of.order));
        total = fma(total * square, number(1 / factors), one);
    }
    for (int64_t k = 1; k <= of.order; ++k)
        total = total * (half / number(static_cast<double>(k)));
    return of.scaled ? total * exp(-x) : total;
}

// exp(x) / sqrt(2 pi x) times a series in 1 / (8 x).
AC_INLINE f64 bessel_of_large(f64 x, const Bessel& of) {
    const auto order = static_cast<double>(of.order);
    const f64 z = number(1) / (number(8) * x), one = number(1);
    f64 total = one;
    for (int k = 25; k > 0; --k) {
        const double odd = 2 * k - 1;
        total = fma(total * z, number((odd * odd - 4 * order * order) / k), one);
    }
    total = total / sqrt(number(two_pi) * x);
    if (of.scaled) return total;
    const f64 half = exp(x * number(0.5));  // exp(x) alone would overflow too early
    return select(eq(x, number(infinite)), x, total * half * half);
}

AC_INLINE f64 bessel(f64 x, const Bessel& of) {
    const f64 size = abs(x), far = number(bessel_far);
    f64 y = bessel_near(min(size, far), of);
    const mask<double> large = ge(size, far);
    if (any(large)) y = select(large, bessel_of_large(max(size, far), of), y);
    if (of.order % 2 != 0) y = select(lt(x, zero<double>()), -y, y);
    return select(is_nan(x), x, y);
}

// ---- zeta(s, q), the sum of (q + k)^-s

// B_2j / (2j)!.
constexpr double zeta_rest[] = {
    0.08333333333333333,    -0.001388888888888889,   3.306878306878307e-05,
    -8.267195767195768e-07, 2.08767569878681e-08,    -5.284190138687493e-10,
    1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
    -2.174868698558062e-16, 5.50900282836023e-18,    -1.3954464685812522e-19};
constexpr int zeta_terms = 10;

// base^-s and base^(1 - s) for one whole s, by squaring: as good as the C library's pow
// for a few factors.
struct WholePower {
    int64_t s;
    AC_INLINE f64 operator()(f64 base, f64) const { return inverse(base, s); }
    AC_INLINE f64 before(f64 base, f64) const { return inverse(base, s - 1); }
    static AC_INLINE f64 inverse(f64 base, int64_t n) {
        f64 product = number(1), square = base;
        for (; n > 0; n >>= 1) {
            if ((n & 1) != 0) product = product * square;
            square = square * square;
        }
        return number(1) / product;
    }
};
struct AnyPower {
    AC_INLINE f64 operator()(f64 base, f64 s) const { return pow(base, -s); }
    static AC_INLINE f64 before(f64 base, f64 s) { return pow(base, number(1) - s); }
};

template <class Power>
AC_INLINE f64 zeta_of_positive(f64 s, f64 q, const Power& power) {
    const f64 w = q + number(zeta_terms), over_w = number(1) / w, one = number(1);
    f64 rest = one / (s - one) + number(0.5) * over_w, factor = s * over_w * over_w;
    for (int j = 0; j < 12; ++j) {
        rest = fma(factor, number(zeta_rest[j]), rest);
        factor = factor * ((s + number(2 * j + 1)) * over_w) *
                 ((s + number(2 * j + 2)) * over_w);
    }
    const f64 last = power.before(w, s);
    f64 total = select(gt(last, zero<double>()), last * rest, zero<double>());
    for (int k = zeta_terms - 1; k >= 0; --k) total = total + power(q + number(k), s);
    return total;
}

// The sum over all integers k, which has the period 1 in q, less that over k < 0.
template <class Power>
AC_NOINLINE f64 zeta_of_negative(f64 s, f64 q, const Power& power) {
    const f64 one = number(1), two = number(2), none = zero<double>();
    const f64 f = fraction_of(q), half = s * number(0.5);
    const f64 sign = select(ne(floor(half), half), -one, one);
    const f64 size = power(abs(f), s), middle = select(lt(f, none), sign * size, size);
    const f64 above = power(one + f, s), below = sign * power(one - f, s);
    // Halfway between two integers the two next to it cancel exactly.
    const mask<double> left = lt(f, none);
    const f64 near = middle + select(left, above, below) + select(left, below, above);
    const f64 rest = zeta_of_positive(s, two + f, power) +
                     sign * zeta_of_positive(s, two - f, power);
    return near + rest - sign * zeta_of_positive(s, one - q, power);
}

// Infinite at s = 1 and at q = 0, -1, ...; NaN for s < 1, and for other q < 0 unless s
// is whole.
template <class Power>
AC_INLINE f64 zeta(f64 s, f64 q, const Power& power) {
    const f64 none = zero<double>(), one = number(1), nan = number(limits<double>::nan);
    const f64 above = number(infinite);
    const f64 known = select(gt(s, one), s, number(2));
    const mask<double> negative = lt(q, none), whole = eq(s, floor(s));
    f64 y = zeta_of_positive(known, select(gt(q, none), q, one), power);
    if (any(negative)) {
        const f64 there = select(negative, q, number(-0.5));
        const f64 reflected = zeta_of_negative(known, there, power);
        y = select(negative, select(whole, reflected, nan), y);
    }
    y = select(le(q, none) & eq(q, floor(q)), above, y);
    y = select(gt(s, one), y, select(eq(s, one), above, nan));
    return select(is_nan(s) | is_nan(q), nan, y);
}

// ---- the regularised incomplete Gamma functions P(a, x) and Q = 1 - P
//
// Near x = a for large a the uniform expansion of N. M. Temme (SIAM J. Math. Anal. 10,
// 1979), below it the series of P, above it the continued fraction of Q, and for small
// a and x a series of Q.
enum class Share { below, above };  // P, Q

// The one that is wanted, of the one that is known.
template <Share wanted>
double share_of(Share known, double value) {
    return wanted == known ? value : 1 - value;
}

constexpr double uniform_from = 30, uniform_width = 0.35, eps = 0x1p-53;
constexpr int most_terms = 400, uniform_terms = 26;
// Taylor coefficients of eta / m in eta, for eta^2 / 2 = m - log(1 + m).
constexpr double uniform_slopes[] = {1.0,
                                     -0.3333333333333333,
                                     0.08333333333333333,
                                     -0.014814814814814815,
                                     0.0011574074074074073,
                                     0.0003527336860670194,
                                     -0.0001787551440329218,
                                     3.919263178522438e-05,
                                     -2.185448510679992e-06,
                                     -1.85406221071516e-06,
                                     8.296711340953087e-07,
                                     -1.7665952736826078e-07,
                                     6.707853543401498e-09,
                                     1.0261809784240309e-08,
                                     -4.382036018453353e-09,
                                     9.14769958223679e-10,
                                     -2.5514193994946248e-11,
                                     -5.830772132550426e-11,
                                     2.4361948020667415e-11,
                                     -5.0276692801141755e-12,
                                     1.1004392031956135e-13,
                                     3.371763262400985e-13,
                                     -1.392388722418162e-13,
                                     2.8534893807047445e-14,
                                     -5.139111834242572e-16,
                                     -1.9752288294349442e-15,
                                     8.099521156704561e-16};

inline double stirling(double x) { return series(stirling_tail, 9, 1 / (x * x)) / x; }

// log Gamma(1 + a) for a > 0.
AC_NOINLINE inline f64 lgamma_of_next(f64 a) {
    const f64 none = zero<double>(), half = number(0.5);
    const f64 small = select(lt(a, half), a, none);
    const f64 near = small * polynomial(small, lgamma_slopes) - log1p(small);
    const mask<double> far = ge(a, half);
    return any(far) ? select(far, lgamma(a + number(1)), near) : near;
}

// m - log(1 + m) for m = x / a - 1, by a series near 0. Times a it is an exponent,
// where the rounding of m counts a m^2 / (1 + m) times.
inline double distance(double x, double a) {
    const double difference = x - a, back = difference - x, m = difference / a;
    const double lost = (x - (difference - back)) - (a + back), product = m * a;
    const double rounding =
        first_lane(lost_of_product(number(m), number(a), number(product)));
    const double base = 1 + m > eps ? 1 + m : eps;
    double low = ((difference - product) - rounding + lost) / a * m / base;
    if (!(__builtin_fabs(low) < infinite)) low = 0;  // x is huge
    // So far away the difference loses two bits at most.
    if (__builtin_fabs(m) >= 0.5) return m - __builtin_log1p(m < -1 ? -1 : m) + low;
    // log((1 + r) / (1 - r)) = 2 (r + r^3 / 3 + ...), with r = m / (2 + m)
    const double r = m / (2 + m), square = r * r;
    double odd = 0;
    for (int k = 19; k >= 0; --k) odd = odd * square + 2.0 / (2 * k + 3);
    return r * (m - square * odd) + low;
}

// x^a e^-x / Gamma(a + 1). `logarithm`: of that Gamma.
inline double gamma_front(double a, double x, double logarithm) {
    if (a < 10) return __builtin_exp(a * __builtin_log(x) - x - logarithm);
    return __builtin_exp(-a * distance(x, a) - stirling(a)) /
           __builtin_sqrt(two_pi * a);
}

// 1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ...
inline double gamma_series(double a, double x) {
    double total = 1, term = 1;
    for (int n = 1; n < most_terms && term > eps * total; ++n) {
        term *= x / (a + n);
        total += term;
    }
    return total;
}

// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), by Lentz's algorithm.
inline double gamma_fraction(double a, double x) {
    double b = x + 1 - a, c = b + 1e300, d = 1 / b, result = d;
    for (int n = 1; n < most_terms; ++n) {
        const double factor = n * (a - n);
        b += 2;
        d = 1 / (factor * d + b);
        c = b + factor / c;
        result *= c * d;
        if (!(__builtin_fabs(c * d - 1) > 2 * eps)) break;
    }
    return result;
}

// Q for a < 1 and x <= 1.1, where 1 - P has no digits left.
inline double above_of_small(double a, double x, double logarithm) {
    double term = 1, total = 0;
    for (int k = 1; k < 25; ++k) {
        term *= -x / k;
        total += term / (a + k);
    }
    const double exponent = a * __builtin_log(x) - logarithm;
    return -__builtin_expm1(exponent) - __builtin_exp(exponent) * a * total;
}

// erfc(+-eta sqrt(a / 2)) / 2 and a sum over powers of eta, whose coefficients follow
// from the last one down.
template <Share wanted>
double uniform_share(double a, double x) {
    const double half_square = distance(x, a);
    const double eta = __builtin_copysign(__builtin_sqrt(2 * half_square), x - a);
    const double scale = __builtin_exp(-stirling(a));
    double after = 0, current = 0, total = 0;
    for (int k = uniform_terms; k > 0; --k) {
        const double before = uniform_slopes[k] * scale + (k + 1) * after / a;
        total = total * eta + before;
        after = current;
        current = before;
    }
    const double rest =
        __builtin_exp(-a * half_square) * total / __builtin_sqrt(two_pi * a);
    const double root = eta * __builtin_sqrt(a / 2);
    return wanted == Share::below ? __builtin_erfc(-root) / 2 - rest
                                  : __builtin_erfc(root) / 2 + rest;
}

template <Share wanted>
double gamma_share(double a, double x, double logarithm) {
    const bool wrong = !(a >= 0) || !(x >= 0) || (a == 0 && x == 0);
    if (wrong || (a == infinite && x == infinite)) return limits<double>::nan;
    if (a == 0 || x == infinite) return share_of<wanted>(Share::below, 1);
    if (x == 0 || a == infinite) return share_of<wanted>(Share::above, 1);
    if (a > uniform_from && __builtin_fabs(x - a) < uniform_width * a) {
        return uniform_share<wanted>(a, x);
    }
    const bool small = x <= 1.1 && a < 1;
    if (small && wanted == Share::above) return above_of_small(a, x, logarithm);
    const double front = gamma_front(a, x, logarithm);
    if (small || x <= a) {
        return share_of<wanted>(Share::below, front * gamma_series(a, x));
    }
    return share_of<wanted>(Share::above, front * a * gamma_fraction(a, x));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
