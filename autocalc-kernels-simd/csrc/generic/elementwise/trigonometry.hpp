// SPDX-License-Identifier: MIT
//
// sin and cos of a vector.
//
// x = n pi/2 + r, |r| <= pi/4, with pi/2 in parts of 33 bits, so that n times a part is
// exact for |n| < 2^20. Floats up to 65,536 take three parts of 24 bits where there is
// FMA, which subtracts a product with one rounding: 100,000 in 35 us instead of 60.
// Others are computed in double precision, where two parts do. Beyond 10^6 the lanes
// concerned go through the C library.
#pragma once

#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr double half_pi_1 = 1.5707963267341256;  // 33 bits
constexpr double half_pi_1_rest = 6.0771005065061922e-11;
constexpr double half_pi_2 = 6.0771005063039660e-11;  // the next 33 bits
constexpr double half_pi_2_rest = 2.0222662487959506e-21;
constexpr double trig_limit = 1e6;
constexpr float half_pi_f32[] = {1.57079637f, -4.37113883e-08f, -1.71512451e-15f};
constexpr float float_limit = 65536;

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

// sine and cosine of r; n comes back.
template <bool for_float>
AC_INLINE f64 trig_parts(f64 x, f64& sine, f64& cosine) {
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
    if constexpr (for_float) {
        sine = fma(r * z, polynomial(z, sin_tail_f32), r);
        cosine = fma(z * z, polynomial(z, cos_tail_f32), one - half);
    } else {
        sine = fma(r * z, polynomial(z, sin_tail_f64), r);
        const f64 w = one - half;  // what 1 - half loses is added again
        cosine = w + fma(z * z, polynomial(z, cos_tail_f64), (one - w) - half);
    }
    return n;
}

// sin(x) if shift is 0, cos(x) if it is 1.
template <bool for_float>
AC_INLINE f64 trig_reduced(f64 x, int64_t shift) {
    f64 sine, cosine;
    const f64 n = trig_parts<for_float>(x, sine, cosine);
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
AC_INLINE vec<T> trig_any(vec<T> x, bool cosine) {
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
// ---- floats in their own precision, |x| <= float_limit
AC_INLINE f32 float_parts(f32 x, f32& sine, f32& cosine) {
    const f32 n = nearest(x * set1<float>(0.636619747f)), one = set1<float>(1);
    f32 r = x;
#pragma GCC unroll 3
    for (const float part : half_pi_f32) r = fnma(n, set1<float>(part), r);
    const f32 z = r * r;
    f32 s = set1<float>(static_cast<float>(sin_tail_f32[3]));
    f32 c = set1<float>(static_cast<float>(cos_tail_f32[2]));
#pragma GCC unroll 3
    for (int i = 2; i >= 0; --i)
        s = fma(s, z, set1<float>(static_cast<float>(sin_tail_f32[i])));
#pragma GCC unroll 2
    for (int i = 1; i >= 0; --i)
        c = fma(c, z, set1<float>(static_cast<float>(cos_tail_f32[i])));
    sine = fma(r * z, s, r);
    cosine = fma(z * z, c, fnma(set1<float>(0.5f), z, one));
    return n;
}

AC_INLINE f32 trig_float(f32 x, int32_t shift) {
    f32 sine, cosine;
    const i32 quadrant = to_int(float_parts(x, sine, cosine)) + set1<int32_t>(shift);
    const i32 bit = set1<int32_t>(1);
    const f32 y = select(eq(quadrant & bit, bit), cosine, sine);
    return floats(bits(y) ^ shift_left<31>(shift_right<1>(quadrant)));
}

// Lanes beyond float_limit.
AC_NOINLINE void trig_wide(const float* x, float* y, bool cosine) {
    const f32 at = load(x), wide = trig_any(at, cosine);
    store(y, select(le(abs(at), set1<float>(float_limit)), load(y), wide));
}

AC_INLINE f64 trig(f64 x, bool cosine) { return trig_any(x, cosine); }
AC_INLINE f32 trig(f32 x, bool cosine) {
    if constexpr (!has_fma) return trig_any(x, cosine);
    f32 y = trig_float(x, cosine ? 1 : 0);
    if (!all(le(abs(x), set1<float>(float_limit)))) {
        float wide_x[f32::lanes], wide_y[f32::lanes];
        store(wide_x, x);
        store(wide_y, y);
        trig_wide(wide_x, wide_y, cosine);
        y = load(wide_y);
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

}  // namespace
}  // namespace autocalc::simd::AC_ISA
