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

// How a loop over vectors reads, writes and chooses: all lanes of a register ...
template <class T>
struct AllLanes {
    [[nodiscard]] AC_INLINE vec<T> get(const T* p) const { return load(p); }
    AC_INLINE void put(T* p, vec<T> v) const { store(p, v); }
    [[nodiscard]] AC_INLINE vec<T> only(vec<T> v) const { return v; }
    [[nodiscard]] AC_INLINE vec<T> only(vec<T> v, vec<T>) const { return v; }
};
// ... or, in the last one, the first `n`: others read 0, or `other`, and are not
// written.
template <class T>
struct FirstLanes {
    int64_t n;
    [[nodiscard]] AC_INLINE vec<T> get(const T* p) const { return load_first(p, n); }
    AC_INLINE void put(T* p, vec<T> v) const { store_first(p, v, n); }
    [[nodiscard]] AC_INLINE vec<T> only(vec<T> v) const { return keep(first<T>(n), v); }
    [[nodiscard]] AC_INLINE vec<T> only(vec<T> v, vec<T> other) const {
        return select(first<T>(n), v, other);
    }
};

// Applies step(i, lanes) to n elements, whole vectors first.
template <class T, class F>
AC_INLINE void each_vector(int64_t n, F&& step) {
    constexpr int64_t lanes = vec<T>::lanes;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) step(i, AllLanes<T>{});
    if (i < n) step(i, FirstLanes<T>{n - i});
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
