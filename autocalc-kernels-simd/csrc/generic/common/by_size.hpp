// SPDX-License-Identifier: MIT
//
// Functions that are compiled for each size of a tile, found by the size at run time.
#pragma once

#include <utility>

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Of::at<1>, Of::at<2> ... as an array.
template <class Of, class Sizes>
struct FunctionList;
template <class Of, int... i>
struct FunctionList<Of, std::integer_sequence<int, i...>> {
    static constexpr typename Of::Function functions[] = {Of::template at<i + 1>...};
};

// Of::at<size>, for a size from 1 to `most`.
template <class Of, int most>
AC_INLINE typename Of::Function function_of(int64_t size) {
    return FunctionList<Of, std::make_integer_sequence<int, most>>::functions[size - 1];
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
