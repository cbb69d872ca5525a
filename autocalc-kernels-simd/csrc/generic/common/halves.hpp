// SPDX-License-Identifier: MIT
//
// bfloat16 and float16 as elements: read as floats, computed with as floats, rounded
// once to the nearest, ties to even.
#pragma once

#include "autocalc_kernel.h"
#include "common/call.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {

struct BFloat16 {
    uint16_t bits;
};
struct Float16 {
    uint16_t bits;
};

namespace {

constexpr uint32_t bfloat16_dtype = 1u << AC_BFLOAT16;
constexpr uint32_t half_dtypes = bfloat16_dtype | 1u << AC_FLOAT16;
constexpr uint32_t floating_dtypes = float_dtypes | half_dtypes;
AC_INLINE bool is_half(int dtype) {
    return dtype == AC_BFLOAT16 || dtype == AC_FLOAT16;
}

template <class E>
constexpr int dtype_of_half = AC_BFLOAT16;
template <>
constexpr int dtype_of_half<Float16> = AC_FLOAT16;

// Lanes of 16 bits as floats. A bfloat16 is the upper half of a float.
template <class E>
AC_INLINE f32 widen(i32 halves) {
    if constexpr (dtype_of_half<E> == AC_FLOAT16) {
        return from_float16(halves);
    } else {
        return floats(shift_left<16>(halves));
    }
}

// Floats as lanes of 16 bits. For a bfloat16 half of its unit is added, less one bit
// where its last bit is 0, and the lower half is cut off: a tie rounds to even, the
// largest numbers round to infinity. A NaN stays one, as the quiet bit is set.
template <class E>
AC_INLINE i32 narrow_to(f32 x) {
    if constexpr (dtype_of_half<E> == AC_FLOAT16) {
        return to_float16(x);
    } else {
        const i32 b = bits(x), last = shift_right<16>(b) & set1<int32_t>(1);
        const i32 rounded = shift_right<16>(b + set1<int32_t>(0x7fff) + last);
        const i32 nan = shift_right<16>(b) | set1<int32_t>(0x40);
        return select(is_nan(x), nan, rounded);
    }
}

template <class E>
AC_INLINE f32 load_wide(const E* p) {
    return widen<E>(load_halves(&p->bits));
}
AC_INLINE f32 load_wide(const float* p) { return load(p); }
AC_INLINE f64 load_wide(const double* p) { return load(p); }
template <class E>
AC_INLINE f32 load_wide_first(const E* p, int64_t n) {
    return widen<E>(load_halves_first(&p->bits, n));
}
AC_INLINE f32 load_wide_first(const float* p, int64_t n) { return load_first(p, n); }
AC_INLINE f64 load_wide_first(const double* p, int64_t n) { return load_first(p, n); }
template <class E>
AC_INLINE void store_narrow(E* p, f32 x) {
    store_halves(&p->bits, narrow_to<E>(x));
}
#ifdef AC_ROUNDS_TO_BFLOAT16
AC_INLINE void store_narrow(BFloat16* p, f32 x) { store_bfloat16(&p->bits, x); }
AC_INLINE void store_narrow_first(BFloat16* p, f32 x, int64_t n) {
    store_bfloat16_first(&p->bits, x, n);
}
#endif
AC_INLINE void store_narrow(float* p, f32 x) { store(p, x); }
template <class E>
AC_INLINE void store_narrow_first(E* p, f32 x, int64_t n) {
    store_halves_first(&p->bits, narrow_to<E>(x), n);
}
AC_INLINE void store_narrow_first(float* p, f32 x, int64_t n) { store_first(p, x, n); }

// One element.
template <class T>
AC_INLINE T wide_of(T x) {
    return x;
}
AC_INLINE float wide_of(BFloat16 x) {
    const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
    return load_bits<float>(&bits);
}
AC_INLINE float wide_of(Float16 x) {
    float all[f32::lanes];
    store(all, load_wide_first(&x, 1));
    return all[0];
}
template <class E>
AC_INLINE void set_narrow(E* p, float x) {
    store_narrow_first(p, set1<float>(x), 1);
}
AC_INLINE void set_narrow(float* p, float x) { *p = x; }
AC_INLINE void set_narrow(double* p, double x) { *p = x; }

// What sums of an element are computed in.
template <class E>
struct WideType {
    using type = E;
};
template <>
struct WideType<BFloat16> {
    using type = float;
};
template <>
struct WideType<Float16> {
    using type = float;
};
template <class E>
using wide = typename WideType<E>::type;

// ---- runs of elements
template <class E>
void widen_run(const void* from, int64_t n, float* to) {
    constexpr int64_t lanes = f32::lanes;
    const E* p = static_cast<const E*>(from);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(to + i, load_wide(p + i));
    if (i < n) store_first(to + i, load_wide_first(p + i, n - i), n - i);
}

template <class E>
void narrow_run(const float* from, int64_t n, void* to) {
    constexpr int64_t lanes = f32::lanes;
    E* p = static_cast<E*>(to);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store_narrow(p + i, load(from + i));
    if (i < n) store_narrow_first(p + i, load(from + i), n - i);
}

inline void widen_any(int dtype, const void* from, int64_t n, float* to) {
    if (dtype == AC_BFLOAT16) return widen_run<BFloat16>(from, n, to);
    widen_run<Float16>(from, n, to);
}

inline void narrow_any(int dtype, const float* from, int64_t n, void* to) {
    if (dtype == AC_BFLOAT16) return narrow_run<BFloat16>(from, n, to);
    narrow_run<Float16>(from, n, to);
}

// One element of 16 bits, out of line: few numbers are read one by one.
AC_NOINLINE inline float half_element(const void* p, int dtype) {
    if (dtype == AC_BFLOAT16) return wide_of(*static_cast<const BFloat16*>(p));
    return wide_of(*static_cast<const Float16*>(p));
}
AC_NOINLINE inline void set_half_element(void* p, int dtype, float x) {
    if (dtype == AC_BFLOAT16) return set_narrow(static_cast<BFloat16*>(p), x);
    set_narrow(static_cast<Float16*>(p), x);
}
// One element of an array of T, or of 16 bits where T is float.
template <class T>
AC_INLINE T element_of(const void* p, int dtype) {
    if (sizeof(T) == 4 && is_half(dtype)) return T(half_element(p, dtype));
    return *static_cast<const T*>(p);
}
template <class T>
AC_INLINE void set_element(void* p, int dtype, T x) {
    if (sizeof(T) == 4 && is_half(dtype)) return set_half_element(p, dtype, float(x));
    *static_cast<T*>(p) = x;
}

// Whether floats can stand for the operands: those of 16 bits are of one type, and none
// is a double.
inline const char* refusal_in_floats(const ac_call* call) {
    int half = -1;
    for (int k = 0; k < call->n_outputs + call->n_inputs; ++k) {
        const ac_array* array = call->operands[k].arrays;
        if (array->present && is_half(array->dtype)) {
            if (half >= 0 && half != array->dtype) return "bfloat16 with float16";
            half = array->dtype;
        }
    }
    for (int k = 0; half >= 0 && k < call->n_outputs + call->n_inputs; ++k) {
        const ac_array* array = call->operands[k].arrays;
        if (array->present && array->dtype == AC_FLOAT64) return "float64 with 16 bits";
    }
    return nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
