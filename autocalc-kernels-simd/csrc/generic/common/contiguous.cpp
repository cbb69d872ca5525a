// SPDX-License-Identifier: MIT
#include "common/contiguous.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
void copy_items(void* const* run, int64_t n, const void*) {
    memcpy(run[0], run[1], static_cast<size_t>(n) * sizeof(T));
}

template <class T>
void take(const char* from, int dtype, int64_t stride, int64_t n, T* to, T* spare) {
    char* gathered = reinterpret_cast<char*>(is_half(dtype) ? spare : to);
    const int64_t item = size_of(dtype);
    if (!is_half(dtype) || (stride != item && n > 1)) {
        gather(gathered, from, item, stride, n);
        from = gathered;
    }
    if constexpr (sizeof(T) == 4)
        if (is_half(dtype)) widen_any(dtype, from, n, to);
}

template <class T>
void put(char* to, int dtype, int64_t stride, int64_t n, const T* from, T* spare) {
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

void copy_whole(const ac_array& to, const ac_array& from) {
    const ac_array* arrays[] = {&to, &from};
    Nest nest;
    make_nest(nest, arrays, 2);
    if (nest.total == 0) return;
    constexpr RunKernel copies[] = {copy_items<uint8_t>, copy_items<uint16_t>,
                                    copy_items<uint32_t>, copy_items<uint64_t>};
    run_nest(nest, 0, nest.total, copies[__builtin_ctzll(size_of(to.dtype))], nullptr);
}

bool whole_halves(ac_context* context, int slot, const ac_array* array, void** at,
                  bool in_place, bool is_input) {
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

void put_halves(const ac_array* array, void* at) {
    put_whole(array, static_cast<uint16_t*>(at));
}

void take_elements(const char* from, int dtype, int64_t stride, int64_t n, float* to,
                   float* spare) {
    take(from, dtype, stride, n, to, spare);
}
void take_elements(const char* from, int dtype, int64_t stride, int64_t n, double* to,
                   double* spare) {
    take(from, dtype, stride, n, to, spare);
}
void put_elements(char* to, int dtype, int64_t stride, int64_t n, const float* from,
                  float* spare) {
    put(to, dtype, stride, n, from, spare);
}
void put_elements(char* to, int dtype, int64_t stride, int64_t n, const double* from,
                  double* spare) {
    put(to, dtype, stride, n, from, spare);
}

}  // namespace autocalc::simd::AC_ISA
