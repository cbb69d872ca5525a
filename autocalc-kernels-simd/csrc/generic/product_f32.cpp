// SPDX-License-Identifier: MIT
#include "product_run.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Product<float>& product, ac_context* context) {
    return multiply_typed(product, context);
}

}  // namespace autocalc::simd::AC_ISA
