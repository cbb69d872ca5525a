// SPDX-License-Identifier: MIT
//
// Operands as contiguous arrays: one that is not goes through scratch. For kernels
// whose operands are contiguous in practice; or `in_place`, where a kernel has found
// that they all are channels-last.
#pragma once

#include "common/halves.hpp"
#include "elementwise/loops.hpp"

namespace autocalc::simd::AC_ISA {

// Copies the elements of `from` to those of `to`, of the same shape and dtype.
void copy_whole(const ac_array& to, const ac_array& from);

// `whole_input` or `whole_output` of an array of 16 bits, and `put_whole` of it.
bool whole_halves(ac_context* context, int slot, const ac_array* array, void** at,
                  bool in_place, bool is_input);
void put_halves(const ac_array* array, void* at);

// `n` elements of any stride as T, those of 16 bits widened; `spare` has room for them.
void take_elements(const char* from, int dtype, int64_t stride, int64_t n, float* to,
                   float* spare);
void take_elements(const char* from, int dtype, int64_t stride, int64_t n, double* to,
                   double* spare);
// And back, rounded where they have 16 bits.
void put_elements(char* to, int dtype, int64_t stride, int64_t n, const float* from,
                  float* spare);
void put_elements(char* to, int dtype, int64_t stride, int64_t n, const double* from,
                  double* spare);

namespace {

// Whether an [N, C, ...] has the memory of a contiguous [N, ..., C].
AC_INLINE bool is_channels_last(const ac_array& a) {
    int64_t expected = size_of(a.dtype);
    bool last = a.ndim > 2;
    const auto follow = [&](int d) {
        last = last && (a.shape[d] == 1 || a.strides[d] == expected);
        expected *= a.shape[d];
    };
    if (last) follow(1);
    for (int d = a.ndim - 1; d > 1; --d) follow(d);
    if (last) follow(0);
    return last;
}
// Whether all arrays that are present are channels-last, and not contiguous as well.
template <int count>
AC_INLINE bool lie_last(const ac_array* const (&arrays)[count]) {
    bool contiguous = true;
    for (const ac_array* array : arrays) {
        if (array == nullptr) continue;
        if (!is_channels_last(*array)) return false;
        contiguous = contiguous && is_contiguous(*array);
    }
    return !contiguous;
}

// `array`'s shape over contiguous `memory`, of items of so many bytes.
AC_INLINE ac_array contiguous_at(const ac_array& array, void* memory, int64_t item) {
    ac_array result = array;
    result.data = memory;
    int64_t stride = item;
    for (int d = array.ndim - 1; d >= 0; --d) {
        result.strides[d] = stride;
        stride *= array.shape[d];
    }
    return result;
}
template <class T>
AC_INLINE ac_array contiguous_like(const ac_array& array, T* memory) {
    return contiguous_at(array, memory, item_size<T>);
}

template <class T>
bool whole_memory(ac_context* context, int slot, const ac_array& array, T*& memory) {
    const auto bytes = static_cast<size_t>(element_count(array) + 1) * sizeof(T);
    memory = static_cast<T*>(context->scratch(context, slot, bytes));
    return memory != nullptr;
}

// An input's elements; null where it is absent. Answers false if memory is exhausted.
template <class T>
bool whole_input(ac_context* context, int slot, const ac_array* array,
                 const T*& elements, bool in_place = false) {
    elements = nullptr;
    if (array == nullptr) return true;
    elements = data<T>(array);
    if (in_place || is_contiguous(*array)) return true;
    T* memory;
    if (!whole_memory(context, slot, *array, memory)) return false;
    copy_whole(contiguous_like(*array, memory), *array);
    elements = memory;
    return true;
}

// Where an output is made, until `put_whole`; null where it is absent.
template <class T>
bool whole_output(ac_context* context, int slot, const ac_array* array, T*& elements,
                  bool in_place = false) {
    elements = nullptr;
    if (array == nullptr) return true;
    elements = data<T>(array);
    return in_place || is_contiguous(*array) ||
           whole_memory(context, slot, *array, elements);
}
template <class T>
void put_whole(const ac_array* array, T* elements) {
    if (array == nullptr || elements == data<T>(array)) return;
    copy_whole(*array, contiguous_like(*array, elements));
}

// `whole_input` and `whole_output` of arrays that may have 16 bits.
template <class T>
AC_INLINE bool whole_images(ac_context* context, int slot, const ac_array* array,
                            const T*& at, bool in_place) {
    if (sizeof(T) == 8 || array == nullptr || !is_half(array->dtype))
        return whole_input(context, slot, array, at, in_place);
    void* halves;
    const bool made = whole_halves(context, slot, array, &halves, in_place, true);
    at = static_cast<const T*>(halves);
    return made;
}
template <class T>
AC_INLINE bool whole_images(ac_context* context, int slot, const ac_array* array,
                            T*& at, bool in_place) {
    if (sizeof(T) == 8 || array == nullptr || !is_half(array->dtype))
        return whole_output(context, slot, array, at, in_place);
    void* halves;
    const bool made = whole_halves(context, slot, array, &halves, in_place, false);
    at = static_cast<T*>(halves);
    return made;
}
template <class T>
AC_INLINE void put_images(const ac_array* array, T* at) {
    if (sizeof(T) == 8 || array == nullptr || !is_half(array->dtype))
        return put_whole(array, at);
    put_halves(array, at);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
