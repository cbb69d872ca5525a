// SPDX-License-Identifier: MIT
//
// Products that are worth it are split for AMX's tiles, others run on AVX-512.
#include "split_gemm.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Gemm<float>& product, ac_context* context) {
    Gemm<float> p = product;
    fold_batch(p);
    tidy_strides(p);
    if (can_split(p) && worth_splitting(p.m, p.n, p.k))
        return multiply_split(p, context);
    return multiply_typed(product, context);
}

void multiply_tile(const Tile<float>& tile, int64_t vectors, Order a_order,
                   int64_t rows) {
    tile_function<float>(vectors, a_order, rows)(tile);
}

}  // namespace autocalc::simd::AC_ISA
