// SPDX-License-Identifier: MIT
//
// Checks of index operands: values are read in row-major order before anything else, so
// that the first wrong one is named whatever the number of threads.
#pragma once

#include "common/call.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The int64 elements of an array in row-major order.
struct IndexWalk {
    const ac_array* array;
    int64_t at[AC_MAX_DIMS] = {};
    const char* here;

    explicit AC_INLINE IndexWalk(const ac_array* a) : array(a), here(data<char>(a)) {}
    [[nodiscard]] AC_INLINE int64_t value() const {
        return *reinterpret_cast<const int64_t*>(here);
    }
    AC_INLINE void next() {
        for (int d = array->ndim - 1; d >= 0; --d) {
            here += array->strides[d];
            if (++at[d] < array->shape[d]) return;
            here -= array->shape[d] * array->strides[d];
            at[d] = 0;
        }
    }
};

// Answers false, with the status set, if a value is not in 0 .. size - 1.
inline bool indices_fit(const ac_array* index, int64_t size, int which,
                        ac_status* status) {
    const int64_t count = element_count(*index);
    if (is_contiguous(*index)) {
        const int64_t* values = data<const int64_t>(index);
        uint64_t wrong = 0;
        for (int64_t i = 0; i < count; ++i) {
            wrong |= static_cast<uint64_t>(static_cast<uint64_t>(values[i]) >=
                                           static_cast<uint64_t>(size));
        }
        if (wrong == 0) return true;
    }
    IndexWalk walk(index);
    for (int64_t i = 0; i < count; ++i, walk.next()) {
        const int64_t value = walk.value();
        if (value < 0 || value >= size) {
            bad_value(status, which, i, value);
            return false;
        }
    }
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
