// SPDX-License-Identifier: MIT
//
// Operands as contiguous arrays: one that is not goes through scratch. For kernels
// whose operands are contiguous in practice; or `in_place`, where a kernel has found
// that they all are channels-last.
#pragma once

#include "common/halves.hpp"
#include "elementwise/loops.hpp"

namespace autocalc::simd::AC_ISA {
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

// The elements of `from` to those of `to`, of the same shape.
template <class T>
void copy_whole(const ac_array& to, const ac_array& from) {
    const ac_array* arrays[] = {&to, &from};
    Nest nest;
    make_nest(nest, arrays, 2);
    if (nest.total == 0) return;
    const RunKernel copy = [](void* const* run, int64_t n, const void*) {
        memcpy(run[0], run[1], static_cast<size_t>(n) * sizeof(T));
    };
    run_nest(nest, 0, nest.total, copy, nullptr);
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
    copy_whole<T>(contiguous_like(*array, memory), *array);
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
    copy_whole<T>(*array, contiguous_like(*array, elements));
}

// Those of arrays of 16 bits, out of line.
AC_NOINLINE inline bool whole_halves(ac_context* context, int slot,
                                     const ac_array* array, void** at, bool in_place,
                                     bool is_input) {
    uint16_t* halves;
    bool made = whole_output(context, slot, array, halves, in_place);
    if (is_input) {
        const uint16_t* read;
        made = whole_input(context, slot, array, read, in_place);
        halves = const_cast<uint16_t*>(read);
    }
    *at = halves;
    return made;
}
AC_NOINLINE inline void put_halves(const ac_array* array, void* at) {
    put_whole(array, static_cast<uint16_t*>(at));
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

// `n` elements of any stride as T, those of 16 bits widened; `spare` has room for them.
template <class T>
AC_NOINLINE void take_elements(const char* from, int dtype, int64_t stride, int64_t n,
                               T* to, T* spare) {
    char* gathered = reinterpret_cast<char*>(is_half(dtype) ? spare : to);
    const int64_t item = size_of(dtype);
    if (!is_half(dtype) || (stride != item && n > 1)) {
        gather(gathered, from, item, stride, n);
        from = gathered;
    }
    if constexpr (sizeof(T) == 4)
        if (is_half(dtype)) widen_any(dtype, from, n, to);
}
// And back, rounded where they have 16 bits.
template <class T>
AC_NOINLINE void put_elements(char* to, int dtype, int64_t stride, int64_t n,
                              const T* from, T* spare) {
    const char* elements = reinterpret_cast<const char*>(from);
    if constexpr (sizeof(T) == 4) {
        if (is_half(dtype)) {
            const bool direct = stride == 2 || n <= 1;
            narrow_any(dtype, from, n, direct ? static_cast<void*>(to) : spare);
            if (direct) return;
            elements = reinterpret_cast<const char*>(spare);
        }
    }
    scatter(to, elements, size_of(dtype), stride, n);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
