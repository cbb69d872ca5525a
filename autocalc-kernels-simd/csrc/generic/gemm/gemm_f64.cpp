// SPDX-License-Identifier: MIT
#include "gemm/long_sums.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Gemm<double>& product, ac_context* context) {
    const int64_t most = terms_at_once(product);
    if (product.k <= most) return multiply_typed(product, context);
    return multiply_long<double>(product, most, multiply_typed, context);
}

bool multiply(const Gemm<double>& first, const Gemm<double>& second, const Aside& aside,
              ac_context* context) {
    if (first.k <= terms_at_once(first) && second.k <= terms_at_once(second))
        return multiply_typed(first, second, aside, context);
    if (!multiply(first, context) || !multiply(second, context)) return false;
    run_apart(aside, context);
    return true;
}

void multiply_tile(const Tile<double>& tile, int64_t vectors, Order a_order,
                   int64_t rows) {
    tile_function<double>(vectors, a_order, rows)(tile);
}

}  // namespace autocalc::simd::AC_ISA
