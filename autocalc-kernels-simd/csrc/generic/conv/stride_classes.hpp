// SPDX-License-Identifier: MIT
//
// The elements of an input fall into classes by their place relative to the stride.
#pragma once

#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The elements of one class of a dimension: place = stride * q + from, q from begin to
// end.
struct Lattice {
    int64_t begin, end, from;
};
AC_INLINE Lattice lattice(const Axis& axis, int64_t rest) {
    const int64_t low = axis.padding - rest;  // above -stride
    const int64_t begin = low > 0 ? ceil_div(low, axis.stride) : 0;
    const int64_t last = axis.in - 1 + low;
    return {begin, last < 0 ? 0 : last / axis.stride + 1, -low};
}
AC_INLINE int64_t first_of(const Axis& axis) {
    int64_t begin = lattice(axis, 0).begin;
    for (int64_t r = 1; r < axis.stride; ++r)
        begin = smaller(begin, lattice(axis, r).begin);
    return begin;
}
AC_INLINE int64_t end_of(const Axis& axis) {
    int64_t end = 0;
    for (int64_t r = 0; r < axis.stride; ++r) end = larger(end, lattice(axis, r).end);
    return end;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
