// SPDX-License-Identifier: MIT
//
// Products that are worth it are split for AMX's tiles, others run on AVX-512.
#include "split_product.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Product<float>& product, ac_context* context) {
    Product<float> p = product;
    fold_batch(p);
    tidy_strides(p);
    if (can_split(p) && worth_splitting(p.m, p.n, p.k))
        return multiply_split(p, context);
    return multiply_typed(product, context);
}

void multiply_tile(const Tile<float>& tile, int64_t vectors, Runs runs, int64_t rows) {
    tile_function<float>(vectors, runs, rows)(tile);
}

}  // namespace autocalc::simd::AC_ISA
