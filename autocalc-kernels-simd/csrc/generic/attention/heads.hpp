// SPDX-License-Identifier: MIT
//
// Operands [B, S, H, D]: batch, position, head, features.
#pragma once

#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// An operand [B, S, H, D]; strides count elements.
template <class T>
struct Heads {
    T* data;
    int64_t batch = 0, row = 0, head = 0, column = 1;
    AC_INLINE explicit Heads(const ac_array* array) : data(data_of<T>(array)) {
        if (array == nullptr) return;
        batch = stride_of<T>(array, 0);
        row = stride_of<T>(array, 1);
        head = stride_of<T>(array, 2);
        if (array->shape[3] > 1) column = stride_of<T>(array, 3);
    }
    [[nodiscard]] AC_INLINE T* at(int64_t b, int64_t s, int64_t h) const {
        return data + b * batch + s * row + h * head;
    }
};

// Zeros in an output of four dimensions with neighbouring last elements.
template <class T>
void clear_heads(const ac_array* array) {
    if (array == nullptr || element_count(*array) == 0) return;
    const Heads<T> x(array);
    for (int64_t b = 0; b < array->shape[0]; ++b) {
        for (int64_t s = 0; s < array->shape[1]; ++s) {
            for (int64_t h = 0; h < array->shape[2]; ++h) {
                memset(x.at(b, s, h), 0,
                       static_cast<size_t>(array->shape[3]) * sizeof(T));
            }
        }
    }
}

// Whether the last elements are neighbours, as in all results of the engine.
AC_INLINE bool rows_written_whole(const ac_array* array) {
    return array == nullptr || element_count(*array) == 0 || dim_of(array, -1) == 1 ||
           array->strides[array->ndim - 1] == size_of(array->dtype);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
