// SPDX-License-Identifier: MIT
//
// Arrays as matrices: sizes and strides of their dimensions, in elements.
#pragma once

#include "common/call.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Dimension `d` of an array; negative counts from the last.
AC_INLINE int64_t dim_of(const ac_array* array, int d) {
    return array->shape[d < 0 ? array->ndim + d : d];
}

template <class T>
AC_INLINE int64_t stride_of(const ac_array* array, int d) {
    // Arrays have dim `d`. NOLINTNEXTLINE(clang-analyzer-security.ArrayBound)
    return array->strides[d < 0 ? array->ndim + d : d] /
           static_cast<int64_t>(sizeof(T));
}

// The memory of an operand, null if it is absent.
template <class T>
AC_INLINE T* data_of(const ac_array* array) {
    return array == nullptr ? nullptr : data<T>(array);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
