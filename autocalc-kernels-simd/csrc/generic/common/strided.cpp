// SPDX-License-Identifier: MIT
#include "common/strided.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class Bits>
AC_INLINE void gather_run(char* AC_RESTRICT to, const char* AC_RESTRICT from,
                          int64_t stride, int64_t n) {
    constexpr int64_t item = item_size<Bits>;
    if (stride == 0) {
        const Bits value = load_bits<Bits>(from);
        for (int64_t i = 0; i < n; ++i) store_bits(to + i * item, value);
        return;
    }
    if (stride == item) {
        for (int64_t i = 0; i < n; ++i)
            store_bits(to + i * item, load_bits<Bits>(from + i * item));
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        store_bits(to + i * item, load_bits<Bits>(from + i * stride));
}
template <class Bits>
AC_INLINE void scatter_run(char* AC_RESTRICT to, const char* AC_RESTRICT from,
                           int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        store_bits(to + i * stride, load_bits<Bits>(from + i * item_size<Bits>));
}
}  // namespace

void gather(char* to, const char* from, int64_t item, int64_t stride, int64_t n) {
    switch (item) {
        case 1:
            return gather_run<uint8_t>(to, from, stride, n);
        case 2:
            return gather_run<uint16_t>(to, from, stride, n);
        case 4:
            return gather_run<uint32_t>(to, from, stride, n);
        default:
            return gather_run<uint64_t>(to, from, stride, n);
    }
}

void scatter(char* to, const char* from, int64_t item, int64_t stride, int64_t n) {
    switch (item) {
        case 1:
            return scatter_run<uint8_t>(to, from, stride, n);
        case 2:
            return scatter_run<uint16_t>(to, from, stride, n);
        case 4:
            return scatter_run<uint32_t>(to, from, stride, n);
        default:
            return scatter_run<uint64_t>(to, from, stride, n);
    }
}

}  // namespace autocalc::simd::AC_ISA
