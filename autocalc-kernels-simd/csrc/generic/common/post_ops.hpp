// SPDX-License-Identifier: MIT
//
// What follows a norm, a product or a convolution on its way to memory, by name: the
// functions are in elementwise/post_ops.hpp.
#pragma once

#include <cstdint>
#include <limits>

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {

// In the order of the kernels' attribute.
enum class PostOp { none, relu, hardtanh, leaky_relu, hardswish, silu };

// The attributes after it: limits, or a slope.
template <class T>
struct PostOpParams {
    T alpha, beta;
};

// c = f(c + other).
template <class T>
struct Epilogue {
    PostOp what = PostOp::none;
    PostOpParams<T> of = {};
    const T* other = nullptr;  // in c's layout, or null
    int64_t other_row = 0;

    [[nodiscard]] AC_INLINE bool any() const {
        return what != PostOp::none || other != nullptr;
    }
    // Whether it is no more than limits, which registers take on their way to memory.
    [[nodiscard]] AC_INLINE bool is_clamp() const {
        return other == nullptr && (what == PostOp::relu || what == PostOp::hardtanh);
    }
    [[nodiscard]] AC_INLINE bool is_pass() const { return any() && !is_clamp(); }
    [[nodiscard]] AC_INLINE T low() const {
        return what == PostOp::relu ? T(0) : of.alpha;
    }
    [[nodiscard]] AC_INLINE T high() const {
        return what == PostOp::relu ? std::numeric_limits<T>::infinity() : of.beta;
    }
};

}  // namespace autocalc::simd::AC_ISA
