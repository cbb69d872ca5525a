// SPDX-License-Identifier: MIT
//
// Products that are worth it are split for AMX's tiles, others run on AVX-512.
#include "gemm/long_sums.hpp"
#include "split_gemm.hpp"

namespace autocalc::simd::AC_ISA {

namespace {

thread_local int levels_of_call = all_levels;

// The product as the paths take it.
Gemm<float> tidied(Gemm<float> p) {
    fold_batch(p);
    tidy_strides(p);
    return p;
}

bool is_split(const Gemm<float>& p) {
    return can_split(p) && worth_splitting(p.m, p.n, p.k, levels_of_call);
}

int64_t most_terms(const Gemm<float>& p) {
    return is_split(p) ? most_blocks * k_block_limit : terms_at_once(p);
}

bool multiply_once(const Gemm<float>& product, ac_context* context) {
    const Gemm<float> p = tidied(product);
    if (!is_split(p)) return multiply_typed(product, context);
    if (!multiply_split(p, levels_of_call, context)) return false;
    finish_product(p, p.m, p.n, context);
    return true;
}

}  // namespace

void set_levels(int levels) { levels_of_call = levels; }

bool multiply(const Gemm<float>& product, ac_context* context) {
    const int64_t most = most_terms(tidied(product));
    if (product.k <= most) return multiply_once(product, context);
    return multiply_long<float>(product, most, multiply_once, context);
}

bool multiply(const Gemm<float>& first, const Gemm<float>& second, const Aside& aside,
              ac_context* context) {
    const Gemm<float> a = tidied(first), b = tidied(second);
    const bool usual = !is_split(a) && !is_split(b);
    if (usual && a.k <= terms_at_once(a) && b.k <= terms_at_once(b))
        return multiply_typed(first, second, aside, context);
    if (!multiply(first, context) || !multiply(second, context)) return false;
    run_apart(aside, context);
    return true;
}

void multiply_tile(const Tile<float>& tile, int64_t vectors, Order a_order,
                   int64_t rows) {
    tile_function<float>(vectors, a_order, rows)(tile);
}

}  // namespace autocalc::simd::AC_ISA
