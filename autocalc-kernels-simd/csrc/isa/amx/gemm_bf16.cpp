// SPDX-License-Identifier: MIT
//
// Products of bfloat16 matrices.
#include "gemm/halves/batch.hpp"
#include "half_finish.hpp"
#include "half_pack.hpp"
#include "strips.hpp"

namespace autocalc::simd::AC_ISA {

namespace {

bool multiply_one(const HalfGemm<BFloat16>& p, ac_context* context) {
    if (p.m == 0 || p.n == 0) return true;
    const HalfOperand a = {p.a, p.m, p.k, p.a_row, p.a_col, true};
    const HalfOperand b = {p.b, p.n, p.k, p.b_col, p.b_row, false};
    return multiply_strips(p, a, b, context);
}

}  // namespace

bool multiply(const HalfGemm<BFloat16>& product, ac_context* context) {
    HalfGemm<BFloat16> p = product;
    fold_batch(p);
    int64_t batch = 1;
    for (int d = 0; d < p.batch_dims; ++d) batch *= p.batch[d];
    for (int64_t i = 0; i < batch; ++i) {
        const HalfMatrices<BFloat16> at = half_matrices_at(p, i);
        HalfGemm<BFloat16> one = p;
        one.a = at.a;
        one.b = at.b;
        one.c = at.c;
        one.pre = at.pre;
        if (!multiply_one(one, context)) return false;
    }
    return true;
}

}  // namespace autocalc::simd::AC_ISA
