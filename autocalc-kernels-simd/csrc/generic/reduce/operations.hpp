// SPDX-License-Identifier: MIT
//
// What a reduction does with two values, and with each value before.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct SumOp {
    template <class T>
    static AC_INLINE T identity() {
        return T(0);
    }
    template <class T>
    static AC_INLINE vec<T> combine(vec<T> a, vec<T> b) {
        return a + b;
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return a + b;
    }
    template <class T>
    static AC_INLINE T across(vec<T> v) {
        return reduce_add(v);
    }
};
struct ProductOp {
    template <class T>
    static AC_INLINE T identity() {
        return T(1);
    }
    template <class T>
    static AC_INLINE vec<T> combine(vec<T> a, vec<T> b) {
        return a * b;
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return a * b;
    }
    template <class T>
    static AC_INLINE T across(vec<T> v) {
        T values[vec<T>::lanes];
        store(values, v);
        for (int n = vec<T>::lanes / 2; n > 0; n /= 2) {
            for (int i = 0; i < n; ++i) values[i] *= values[i + n];
        }
        return values[0];
    }
};
struct MaxOp {
    template <class T>
    static AC_INLINE T identity() {
        return -T(__builtin_inf());
    }
    template <class T>
    static AC_INLINE vec<T> combine(vec<T> a, vec<T> b) {
        return maximum(a, b);
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return __builtin_isnan(a) || a > b ? a : b;
    }
    template <class T>
    static AC_INLINE T across(vec<T> v) {
        return any(is_nan(v)) ? T(__builtin_nan("")) : reduce_max(v);
    }
};
struct MinOp {
    template <class T>
    static AC_INLINE T identity() {
        return T(__builtin_inf());
    }
    template <class T>
    static AC_INLINE vec<T> combine(vec<T> a, vec<T> b) {
        return minimum(a, b);
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return __builtin_isnan(a) || a < b ? a : b;
    }
    template <class T>
    static AC_INLINE T across(vec<T> v) {
        return any(is_nan(v)) ? T(__builtin_nan("")) : reduce_min(v);
    }
};

// What is reduced is map(x, p), with a parameter p for each output.
struct Plain {
    static constexpr bool has_parameter = false;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T>) {
        return x;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
