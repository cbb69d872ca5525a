// SPDX-License-Identifier: MIT
//
// The loops of all kernels of up to `max_operands` operands, compiled once.
#include "elementwise/loops.hpp"

namespace autocalc::simd::AC_ISA {

void make_nest(Nest& nest, const ac_array* const* arrays, int operands, int outputs) {
    make_nest<max_operands>(nest, arrays, operands, outputs);
}

void run_nest(const Nest& nest, int64_t begin, int64_t end, RunKernel kernel,
              const void* parameters) {
    run_nest<max_operands>(nest, begin, end, kernel, parameters);
}

}  // namespace autocalc::simd::AC_ISA
