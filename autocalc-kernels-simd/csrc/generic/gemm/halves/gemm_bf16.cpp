// SPDX-License-Identifier: MIT
#include "gemm/halves/run.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const HalfGemm<BFloat16>& product, ac_context* context) {
    return multiply_halves(product, context);
}

}  // namespace autocalc::simd::AC_ISA
