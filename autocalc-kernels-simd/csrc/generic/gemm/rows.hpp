// SPDX-License-Identifier: MIT
//
// The leading dims of an array as rows of one matrix, for linear layers.
#pragma once

#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// An array [..., columns] as a matrix; the leading dims are one if they are evenly
// spaced as a whole.
template <class T>
struct Rows {
    T* data;
    int64_t rows, columns;
    int64_t row, column;  // strides
};

template <class T>
bool view_as_rows(const ac_array* array, Rows<T>& view) {
    view = {data_of<T>(array), 1, dim_of(array, -1), 0, stride_of<T>(array, -1)};
    const bool empty = element_count(*array) == 0;  // strides then mean nothing
    for (int d = array->ndim - 2; d >= 0; --d) {
        const int64_t size = array->shape[d];
        const int64_t stride = stride_of<T>(array, d);
        if (size == 1) continue;
        if (view.rows == 1 || empty) {
            view.row = stride;
        } else if (stride != view.row * view.rows) {
            return false;
        }
        view.rows *= size;
    }
    if (view.rows == 1) view.row = view.columns;
    return true;
}

// As above; an input whose leading dims do not merge is copied into scratch, and, of
// those that must be `dense`, one whose columns are not contiguous.
template <class T>
bool rows_of(const ac_array* array, Rows<T>& view, ac_context* context, int slot,
             bool dense = false) {
    const bool merged = view_as_rows(array, view);
    if (merged && (!dense || view.column == 1 || view.columns == 1)) return true;
    const int64_t count = element_count(*array);
    const int64_t columns = dim_of(array, -1);
    T* copy = static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(count) * sizeof(T)));
    if (copy == nullptr) return false;
    for (int64_t i = 0; i < count / columns; ++i) {
        const T* from = data_of<T>(array);
        int64_t left = i;
        for (int d = array->ndim - 2; d >= 0; --d) {
            from += left % array->shape[d] * stride_of<T>(array, d);
            left /= array->shape[d];
        }
        for (int64_t j = 0; j < columns; ++j)
            copy[i * columns + j] = from[j * view.column];
    }
    view = {copy, count / columns, columns, columns, 1};
    return true;
}

template <class T>
Rows<T> transposed(const Rows<T>& a) {
    return {a.data, a.columns, a.rows, a.column, a.row};
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
