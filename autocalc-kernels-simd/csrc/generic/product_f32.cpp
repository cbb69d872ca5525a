// SPDX-License-Identifier: MIT
#include "product_run.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Product<float>& product, ac_context* context) {
    return multiply_typed(product, context);
}

void multiply_tile(const Tile<float>& tile, int64_t vectors, Runs runs, int64_t rows) {
    tile_function<float>(vectors, runs, rows)(tile);
}

}  // namespace autocalc::simd::AC_ISA
