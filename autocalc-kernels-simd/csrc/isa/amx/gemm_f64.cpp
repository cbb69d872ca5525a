// SPDX-License-Identifier: MIT
//
// There is no product in float64 here: `table.cpp` offers kernels in float32 alone, but
// what they share with others' libraries names both types. To compile AVX-512's product
// in float64 took a twentieth of the package's build.
#include "gemm/gemm.hpp"

namespace autocalc::simd::AC_ISA {

bool multiply(const Gemm<double>&, ac_context*) { __builtin_trap(); }

bool multiply(const Gemm<double>&, const Gemm<double>&, const Aside&, ac_context*) {
    __builtin_trap();
}

void multiply_tile(const Tile<double>&, int64_t, Order, int64_t) { __builtin_trap(); }

}  // namespace autocalc::simd::AC_ISA
