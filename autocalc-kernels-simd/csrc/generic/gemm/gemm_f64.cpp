// SPDX-License-Identifier: MIT
#include "gemm/run.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Gemm<double>& product, ac_context* context) {
    return multiply_typed(product, context);
}

bool multiply(const Gemm<double>& first, const Gemm<double>& second, const Aside& aside,
              ac_context* context) {
    return multiply_typed(first, second, aside, context);
}

void multiply_tile(const Tile<double>& tile, int64_t vectors, Order a_order,
                   int64_t rows) {
    tile_function<double>(vectors, a_order, rows)(tile);
}

}  // namespace autocalc::simd::AC_ISA
