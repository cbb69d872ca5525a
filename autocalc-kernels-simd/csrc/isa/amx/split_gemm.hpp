// SPDX-License-Identifier: MIT
//
// A product of float32 in bfloat16 parts.
#pragma once

#include "split_finish.hpp"
#include "split_pack.hpp"
#include "strips.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Every operand runs along one of its dims.
inline bool can_split(const Gemm<float>& p) {
    return p.batch_dims == 0 && (p.a_row == 1 || p.a_col == 1) &&
           (p.b_row == 1 || p.b_col == 1);
}

bool multiply_split(const Gemm<float>& p, int levels, ac_context* context) {
    const SplitOperand a = {p.a, p.m, p.k, p.a_row, p.a_col, true, levels};
    const SplitOperand b = {p.b, p.n, p.k, p.b_col, p.b_row, false, levels};
    return multiply_strips(p, a, b, context);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
