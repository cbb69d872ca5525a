// SPDX-License-Identifier: MIT
//
// How the kernels of matrix products read their operands, whatever the elements are.
#pragma once

#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int scratch_bias = 2;

// The stride of batch dim `d` (of `dims`), 0 where the operand lacks it or repeats
// along it.
template <class T>
int64_t batch_step(const ac_array* array, int d, int dims) {
    const int at = d - (dims - (array->ndim - 2));
    return at < 0 || array->shape[at] == 1 ? 0 : stride_of<T>(array, at);
}

// Elements without gaps between them; a bias with gaps, which is rare, is copied. Null
// if there is no memory.
template <class T>
const T* dense_bias(const ac_array* bias, ac_context* context) {
    const T* from = data_of<T>(bias);
    const int64_t n = dim_of(bias, 0), step = stride_of<T>(bias, 0);
    if (step == 1 || n <= 1) return from;
    T* copy = scratch_of<T>(context, scratch_bias, n);
    if (copy == nullptr) return nullptr;
    for (int64_t j = 0; j < n; ++j) copy[j] = from[j * step];
    return copy;
}

// True if the last dimension is contiguous, which results of the engine always are.
AC_INLINE bool rows_contiguous(const ac_array* array) {
    return element_count(*array) == 0 || dim_of(array, -1) == 1 ||
           array->strides[array->ndim - 1] == size_of(array->dtype);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
