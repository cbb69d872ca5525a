// SPDX-License-Identifier: MIT
//
// The matrices of an array [..., rows, columns].
#pragma once

#include "common/call.hpp"
#include "common/operands.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Matrices {
    const ac_array* array;
    int64_t rows, columns;

    explicit Matrices(const ac_array* a)
        : array(a), rows(dim_of(a, -2)), columns(dim_of(a, -1)) {}

    [[nodiscard]] int64_t count() const {
        int64_t n = 1;
        for (int d = 0; d < array->ndim - 2; ++d) n *= array->shape[d];
        return n;
    }
    [[nodiscard]] char* at(int64_t index) const { return at(index, *array); }
    // The matrix at `index` where all are broadcast to the batch of
    // `whole`.
    [[nodiscard]] AC_NOINLINE char* at(int64_t index, const ac_array& whole) const {
        char* place = data<char>(array);
        const int missing = whole.ndim - array->ndim;
        for (int d = whole.ndim - 3; d >= 0; --d) {
            const int own = d - missing;
            if (own >= 0 && array->shape[own] > 1)
                place += index % whole.shape[d] * array->strides[own];
            index /= whole.shape[d];
        }
        return place;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
