// SPDX-License-Identifier: MIT
//
// Piecewise linear activations of a vector (hardtanh, leaky ReLU, hardswish) and their
// gradients. NaN stays, and lets the gradient of hardtanh pass.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
AC_INLINE vec<T> hardtanh(vec<T> x, vec<T> low, vec<T> high) {
    return min(high, max(low, x));  // of NaN the second operand
}
// Of hardtanh's result y.
template <class T>
AC_INLINE vec<T> hardtanh_gradient(vec<T> g, vec<T> y, vec<T> low, vec<T> high) {
    return keep(~(le(y, low) | le(high, y)), g);
}

// slope g where x <= 0; of x itself, leaky ReLU.
template <class T>
AC_INLINE vec<T> leaky(vec<T> g, vec<T> x, vec<T> slope) {
    return select(gt(x, zero<T>()), g, g * slope);
}

template <class T>
AC_INLINE vec<T> hardswish(vec<T> x) {
    const vec<T> raised = max(zero<T>(), x + set1<T>(3));
    return x * (min(set1<T>(6), raised) * set1<T>(T(1) / T(6)));
}
template <class T>
AC_INLINE vec<T> hardswish_gradient(vec<T> g, vec<T> x) {
    const vec<T> slope = (x + set1<T>(T(1.5))) * set1<T>(T(1) / T(3));
    const vec<T> passed = select(le(set1<T>(3), x), g, g * slope);
    return keep(~le(x, set1<T>(-3)), passed);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
