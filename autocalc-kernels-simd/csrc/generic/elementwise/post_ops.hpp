// SPDX-License-Identifier: MIT
//
// What follows a norm, a product or a convolution in the same pass: an activation, and
// its gradient.
#pragma once

#include "common/lanes.hpp"
#include "common/post_ops.hpp"
#include "elementwise/activation_math.hpp"
#include "elementwise/piecewise.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Whether the gradient follows from the result y, or from the input.
constexpr bool needs_output(PostOp what) {
    return what != PostOp::hardswish && what != PostOp::silu;
}

template <PostOp what, class T>
AC_INLINE vec<T> activated(vec<T> z, const PostOpParams<T>& of) {
    if constexpr (what == PostOp::relu) {
        return max(zero<T>(), z);  // NaN stays
    } else if constexpr (what == PostOp::hardtanh) {
        return hardtanh<T>(z, set1(of.alpha), set1(of.beta));
    } else if constexpr (what == PostOp::leaky_relu) {
        return leaky<T>(z, z, set1(of.alpha));
    } else if constexpr (what == PostOp::hardswish) {
        return hardswish<T>(z);
    } else if constexpr (what == PostOp::silu) {
        return silu<T>(z);
    } else {
        return z;
    }
}

// From the result y, or in its place from the input.
template <PostOp what, class T>
AC_INLINE vec<T> gradient_of(vec<T> g, vec<T> y, const PostOpParams<T>& of) {
    if constexpr (what == PostOp::relu) {
        return keep(~le(y, zero<T>()), g);
    } else if constexpr (what == PostOp::hardtanh) {
        return hardtanh_gradient<T>(g, y, set1(of.alpha), set1(of.beta));
    } else if constexpr (what == PostOp::leaky_relu) {
        return leaky<T>(g, y, set1(of.alpha));
    } else if constexpr (what == PostOp::hardswish) {
        return hardswish_gradient<T>(g, y);
    } else if constexpr (what == PostOp::silu) {
        return g * silu_slope<T>(y);
    } else {
        return g;
    }
}

template <PostOp what>
struct As {
    static constexpr PostOp value = what;
};

// f(As<what>) of an activation that is known at run time.
template <class F>
AC_INLINE void with_post_op(PostOp what, F&& f) {
    switch (what) {
        case PostOp::none:
            return f(As<PostOp::none>{});
        case PostOp::relu:
            return f(As<PostOp::relu>{});
        case PostOp::hardtanh:
            return f(As<PostOp::hardtanh>{});
        case PostOp::leaky_relu:
            return f(As<PostOp::leaky_relu>{});
        case PostOp::hardswish:
            return f(As<PostOp::hardswish>{});
        case PostOp::silu:
            return f(As<PostOp::silu>{});
    }
}

// c = f(c + other) of rows that have just been written.
template <class T>
AC_NOINLINE void finish_rows(const Epilogue<T>& e, int64_t rows, int64_t columns, T* c,
                             int64_t c_row, const T* other, int64_t other_row) {
    constexpr int64_t lanes = vec<T>::lanes;
    with_post_op(e.what, [&](auto what) {
        for (int64_t i = 0; i < rows; ++i, c += c_row) {
            for (int64_t j = 0; j < columns; j += lanes) {
                const int64_t n = smaller(lanes, columns - j);
                vec<T> x = load_last(c + j, n);
                if (other != nullptr) x = x + load_last(other + j, n);
                store_last(c + j, activated<what.value>(x, e.of), n);
            }
            if (other != nullptr) other += other_row;
        }
    });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
