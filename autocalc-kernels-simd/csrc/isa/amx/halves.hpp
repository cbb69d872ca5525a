// SPDX-License-Identifier: MIT
#pragma once

#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {

// The kernels of bfloat16, in bfloat16_table.cpp.
const ac_kernel_table* half_table();

namespace {

// Leading dims are rows.
AC_INLINE int64_t rows_of(const ac_array* array) {
    const int64_t columns = dim_of(array, -1);
    return columns == 0 ? 0 : element_count(*array) / columns;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
