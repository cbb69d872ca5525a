// SPDX-License-Identifier: MIT
//
// Relatives of the error and the Gamma function, one element after another in double
// precision; the formulas are those of the reference, with the C library's erf, erfc
// and lgamma.
#include "common/families.hpp"
#include "elementwise/vector_loops.hpp"

// Without the sign that lgamma leaves in a variable of all threads.
extern "C" double lgamma_r(double x, int* sign);

namespace autocalc::simd::AC_ISA {
namespace {

constexpr double infinite = __builtin_inf(), not_a_number = __builtin_nan("");
constexpr double pi = 3.1415926535897932, root_two = 1.4142135623730951;
constexpr double root_pi = 1.7724538509055161;
constexpr double erf_slope = 1.1283791670955126;  // 2 / sqrt(pi)

template <int n>
AC_INLINE double series(const double (&c)[n], double x) {
    double p = c[n - 1];
    for (int i = n - 2; i >= 0; --i) p = p * x + c[i];
    return p;
}

// ---- erfcx = exp(x^2) erfc(x)
//
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

// exp(x^2) without the rounding of the square, which grows with it: exp(high^2), times
// 1 + the rest; halved, so that it does not overflow before the result does.
AC_INLINE double erfcx_of(double x) {
    if (x >= 10) return series(erfcx_tail, 1 / (x * x)) / (x * root_pi);
    if (x < -26.64) return infinite;
    const double high = __builtin_rint(x * 1024) / 1024, low = x - high;
    const double near = __builtin_exp(high * high) * (0.5 * __builtin_erfc(x));
    return 2 * (near + near * __builtin_expm1(low * (x + high)));
}

// ---- inverses, by Halley's steps
//
// Of log erfc(y) = log erfcx(y) - y^2, which does not underflow; 0 < q <= 1/2.
inline double erfcinv_of(double q) {
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
inline double erfinv_of(double x) {
    const double size = __builtin_fabs(x);
    if (!(size < 1)) return size == 1 ? x * infinite : not_a_number;
    if (size >= 0.5) return __builtin_copysign(erfcinv_of(1 - size), x);
    double y = size * (1 + pi / 12 * size * size) / erf_slope;
    for (int i = 0; i < 3; ++i) {
        const double step =
            (__builtin_erf(y) - size) * __builtin_exp(y * y) / erf_slope;
        y -= step / (1 + y * step);
    }
    return __builtin_copysign(y, x);
}
inline double ndtri_of(double p) {
    if (!(p > 0 && p < 1)) return p == 0 ? -infinite : p == 1 ? infinite : not_a_number;
    const double tail = smaller(p, 1 - p);
    if (tail >= 0.25) return root_two * erfinv_of(2 * p - 1);
    const double far = root_two * erfcinv_of(2 * tail);
    return p < 0.5 ? -far : far;
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

inline double digamma_of_positive(double x) {
    const double distance = (x - digamma_root) - root_rest;
    if (__builtin_fabs(distance) < 0.25) {
        return distance * series(root_slopes, distance);
    }
    if (!(x < infinite)) return x;
    double y = x, steps = 0;
    for (; y < 10; y += 1) steps += 1 / y;
    const double square = 1 / (y * y);
    return __builtin_log(y) - (0.5 / y + series(digamma_tail, square) * square) - steps;
}
inline double digamma_of(double x) {
    if (x == 0) return __builtin_copysign(infinite, -x);
    if (!(x < 0)) return digamma_of_positive(x);
    const double rest = x - __builtin_rint(x);
    if (!(rest != 0)) return not_a_number;  // at -1, -2, ..., and at minus infinity
    return digamma_of_positive(1 - x) - pi / __builtin_tan(pi * rest);
}

#define AC_SPECIAL(Name, expression)                                \
    struct Name {                                                   \
        static AC_INLINE double of(double x) { return expression; } \
    };
AC_SPECIAL(Erfc, __builtin_erfc(x))
AC_SPECIAL(Erfcx, erfcx_of(x))
AC_SPECIAL(Erfinv, erfinv_of(x))
AC_SPECIAL(Ndtri, ndtri_of(x))
AC_SPECIAL(Digamma, digamma_of(x))
#undef AC_SPECIAL
struct Lgamma {
    static AC_INLINE double of(double x) {
        int sign;
        return lgamma_r(x, &sign);
    }
};

template <class T, class Op>
void special_run(void* const* operands, int64_t n, const void*) {
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    for (int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<T>(Op::of(static_cast<double>(a[i])));
    }
}
template <class Op>
void special_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    RunKernel kernel = nullptr;
    const int dtype = operand(call, 0)->dtype;
    if (dtype == AC_FLOAT32) kernel = special_run<float, Op>;
    if (dtype == AC_FLOAT64) kernel = special_run<double, Op>;
    call_elementwise(call, context, status, 2, kernel, Cost::costly);
}

#define AC_ENTRY(name, Op, ns) \
    {name, "~ out ; a", special_kernel<Op>, nullptr, nullptr, ns, float_dtypes, nullptr}
const ac_kernel_entry entries[] = {
    AC_ENTRY("erfc", Erfc, 15.0),       AC_ENTRY("erfcx", Erfcx, 30.0),
    AC_ENTRY("erfinv", Erfinv, 150.0),  AC_ENTRY("ndtri", Ndtri, 150.0),
    AC_ENTRY("digamma", Digamma, 30.0), AC_ENTRY("lgamma", Lgamma, 20.0),
};
#undef AC_ENTRY

}  // namespace
AC_DEFINE_FAMILY(special, entries);
}  // namespace autocalc::simd::AC_ISA
