// SPDX-License-Identifier: MIT
//
// Registers of which the last may be partly used.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
AC_INLINE vec<T> load_last(const T* p, int64_t n) {
    return n == vec<T>::lanes ? load(p) : load_first(p, n);
}
template <class T>
AC_INLINE void store_last(T* p, vec<T> x, int64_t n) {
    if (n == vec<T>::lanes) {
        store(p, x);
    } else {
        store_first(p, x, n);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
