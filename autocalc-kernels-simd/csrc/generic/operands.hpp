// SPDX-License-Identifier: MIT
//
// Short ways to read an ac_call.
#pragma once

#include "autocalc_kernel.h"
#include "base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr uint32_t floats_only = 1u << AC_FLOAT32 | 1u << AC_FLOAT64;

// The operand, or null if it is absent.
AC_INLINE const ac_array* operand(const ac_call* call, int i) {
    const ac_array* array = call->operands[i].arrays;
    return call->operands[i].count > 0 && array->present ? array : nullptr;
}

template <class T>
AC_INLINE T* data_of(const ac_array* array) {
    return array == nullptr ? nullptr : static_cast<T*>(array->data);
}

// Stride of a dimension in elements; negative counts from the last.
template <class T>
AC_INLINE int64_t stride_of(const ac_array* array, int d) {
    const int at = d < 0 ? array->ndim + d : d;
    return array->strides[at] / static_cast<int64_t>(sizeof(T));
}

AC_INLINE int64_t size_of(const ac_array* array, int d) {
    return array->shape[d < 0 ? array->ndim + d : d];
}

AC_INLINE int64_t count_of(const ac_array* array) {
    int64_t count = 1;
    for (int d = 0; d < array->ndim; ++d) count *= array->shape[d];
    return count;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
