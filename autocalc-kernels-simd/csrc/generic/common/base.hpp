// SPDX-License-Identifier: MIT
//
// What every translation unit of an instruction set starts from. Nothing here may come
// out as a weak symbol: inline functions are always inlined and live in an unnamed
// namespace, and std:: is not used.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AC_INLINE inline __attribute__((always_inline))
#define AC_INLINE_LAMBDA __attribute__((always_inline))
#define AC_NOINLINE __attribute__((noinline))
#define AC_RESTRICT __restrict__

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct vec;

// A lane predicate; float and int32_t share one type, double and int64_t the other.
template <int LaneBytes>
struct lane_mask;

template <class T>
using mask = lane_mask<static_cast<int>(sizeof(T))>;

template <class T>
struct companion;
template <>
struct companion<float> {
    using type = int32_t;
};
template <>
struct companion<double> {
    using type = int64_t;
};
template <>
struct companion<int32_t> {
    using type = float;
};
template <>
struct companion<int64_t> {
    using type = double;
};
template <class T>
using int_of = typename companion<T>::type;
template <class T>
using ints = vec<int_of<T>>;

template <class T>
constexpr int64_t item_size = static_cast<int64_t>(sizeof(T));

template <class T>
AC_INLINE T smaller(T a, T b) {
    return b < a ? b : a;
}
template <class T>
AC_INLINE T larger(T a, T b) {
    return a < b ? b : a;
}
AC_INLINE int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// `total` things in `parts` parts that differ by at most one, the larger ones first.
// One division (some 40 cycles before Ice Lake) for all parts.
struct Cuts {
    int64_t base, extra;
    AC_INLINE Cuts(int64_t total, int64_t parts)
        : base(parts == 1 ? total : total / parts), extra(total - base * parts) {}
    [[nodiscard]] AC_INLINE int64_t at(int64_t i) const {
        return i * base + smaller(i, extra);
    }
    [[nodiscard]] AC_INLINE int64_t size(int64_t i) const {
        return base + (i < extra ? 1 : 0);
    }
};
// The same, the larger ones spread evenly: any run of parts is as long as its share.
struct Shares {
    int64_t total, parts;
    AC_INLINE Shares(int64_t total_, int64_t parts_) : total(total_), parts(parts_) {}
    [[nodiscard]] AC_INLINE int64_t at(int64_t i) const { return total * i / parts; }
};
AC_INLINE int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// Moves an element as bits, whatever type it has: through a plain uint32_t* the
// compiler could move a load ahead of the store of a float in the same place.
template <class Bits>
AC_INLINE Bits load_bits(const void* from) {
    using Any [[gnu::may_alias]] = Bits;
    return *static_cast<const Any*>(from);
}
template <class Bits>
AC_INLINE void store_bits(void* to, Bits bits) {
    using Any [[gnu::may_alias]] = Bits;
    *static_cast<Any*>(to) = bits;
}

template <class T>
AC_INLINE constexpr int64_t bytes_of(int64_t count) {
    return count * static_cast<int64_t>(sizeof(T));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
