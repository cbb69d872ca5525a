// SPDX-License-Identifier: MIT
//
// Products of 16-bit operands for each index of a batch.
#pragma once

#include "gemm/halves/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The operands of one index of the batch.
template <class E>
struct HalfMatrices {
    const E *a, *b;
    Mixed<E> c, pre;
};

template <class E>
HalfMatrices<E> half_matrices_at(const HalfGemm<E>& p, int64_t index) {
    HalfMatrices<E> at = {p.a, p.b, p.c, p.pre};
    for (int d = p.batch_dims - 1; d >= 0; --d) {
        // No call has more dims. NOLINTNEXTLINE(clang-analyzer-security.ArrayBound)
        const int64_t i = index % p.batch[d];
        index /= p.batch[d];
        at.a += i * p.a_step[d];
        at.b += i * p.b_step[d];
        at.c = at.c.at(0, i * p.c_step[d]);
        at.pre = at.pre.at(0, i * p.pre_step[d]);
    }
    return at;
}

// Rows of the batch that are evenly spaced become rows of one product.
template <class E>
void fold_batch(HalfGemm<E>& p) {
    for (; p.batch_dims > 0; --p.batch_dims) {
        const int d = p.batch_dims - 1;
        if (p.batch[d] == 1) continue;
        if (p.m == 1) {
            p.a_row = p.a_step[d];
            p.c.row = p.c_step[d];
            p.pre.row = p.pre_step[d];
        }
        if (p.b_step[d] != 0 || p.a_step[d] != p.m * p.a_row ||
            p.c_step[d] != p.m * p.c.row ||
            (p.pre.any() && p.pre_step[d] != p.m * p.pre.row))
            return;
        p.m *= p.batch[d];
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
