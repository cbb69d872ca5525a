// SPDX-License-Identifier: MIT
//
// What follows a batch norm in the same pass: an activation, and what of a gradient
// passes it.
#pragma once

#include "elementwise/activation_math.hpp"
#include "elementwise/pieces.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// In the order of the kernels' attribute.
enum class Activation { none, relu, hardtanh, leaky_relu, hardswish, silu };

// The attributes behind it: limits, or a slope.
template <class T>
struct Lines {
    T alpha, beta;
};

// Whether the gradient is told by the result y, or by what came before it.
constexpr bool by_result(Activation what) {
    return what != Activation::hardswish && what != Activation::silu;
}

template <Activation what, class T>
AC_INLINE vec<T> activated(vec<T> z, const Lines<T>& of) {
    if constexpr (what == Activation::relu) {
        return max(zero<T>(), z);  // NaN stays
    } else if constexpr (what == Activation::hardtanh) {
        return hardtanh<T>(z, set1(of.alpha), set1(of.beta));
    } else if constexpr (what == Activation::leaky_relu) {
        return leaky<T>(z, z, set1(of.alpha));
    } else if constexpr (what == Activation::hardswish) {
        return hardswish<T>(z);
    } else if constexpr (what == Activation::silu) {
        return silu<T>(z);
    } else {
        return z;
    }
}

// Of the result, or of what came before it.
template <Activation what, class T>
AC_INLINE vec<T> passed(vec<T> g, vec<T> y, const Lines<T>& of) {
    if constexpr (what == Activation::relu) {
        return keep(~le(y, zero<T>()), g);
    } else if constexpr (what == Activation::hardtanh) {
        return hardtanh_passed<T>(g, y, set1(of.alpha), set1(of.beta));
    } else if constexpr (what == Activation::leaky_relu) {
        return leaky<T>(g, y, set1(of.alpha));
    } else if constexpr (what == Activation::hardswish) {
        return hardswish_passed<T>(g, y);
    } else if constexpr (what == Activation::silu) {
        return g * silu_slope<T>(y);
    } else {
        return g;
    }
}

template <Activation what>
struct As {
    static constexpr Activation value = what;
};

// f(As<what>) of an activation that is known at run time.
template <class F>
AC_INLINE void with_activation(Activation what, F&& f) {
    switch (what) {
        case Activation::none:
            return f(As<Activation::none>{});
        case Activation::relu:
            return f(As<Activation::relu>{});
        case Activation::hardtanh:
            return f(As<Activation::hardtanh>{});
        case Activation::leaky_relu:
            return f(As<Activation::leaky_relu>{});
        case Activation::hardswish:
            return f(As<Activation::hardswish>{});
        case Activation::silu:
            return f(As<Activation::silu>{});
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
