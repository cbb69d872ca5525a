// SPDX-License-Identifier: MIT
//
// Functions that are compiled for each size of a tile, found by the size at run time.
#pragma once

#include <utility>

#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Of::at<1>, Of::at<2> ... as an array.
template <class Of, class Sizes>
struct FunctionList;
template <class Of, int... i>
struct FunctionList<Of, std::integer_sequence<int, i...>> {
    static constexpr typename Of::Function functions[] = {Of::template at<i + 1>...};
};

// Of::at<size>, for a size from 1 to Of::most.
template <class Of>
AC_INLINE typename Of::Function function_of(int64_t size) {
    using Sizes = std::make_integer_sequence<int, Of::most>;
    return FunctionList<Of, Sizes>::functions[size - 1];
}

// Runs a tile of `vectors` registers across and `rows` rows: Of<T, vectors>::at<rows>.
template <template <class, int> class Of, class T, class Tile>
AC_INLINE void run_tile_of(int64_t vectors, int64_t rows, const Tile& tile) {
    if (vectors == 1) return function_of<Of<T, 1>>(rows)(tile);
    if (vectors == 2) return function_of<Of<T, 2>>(rows)(tile);
    if constexpr (tile_vectors == 4) {
        if (vectors == 3) return function_of<Of<T, 3>>(rows)(tile);
        function_of<Of<T, 4>>(rows)(tile);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
