// SPDX-License-Identifier: MIT
//
// One block of scratch memory as several arrays.
#pragma once

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// One block of scratch memory as arrays that begin on cache lines. A first pass without
// memory counts the bytes that the second needs.
template <class T>
struct Arena {
    T* memory = nullptr;
    int64_t used = 0;
    AC_INLINE T* take(int64_t count) {
        T* at = memory == nullptr ? nullptr : memory + used;
        used += round_up(count, 64 / item_size<T>);
        return at;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
