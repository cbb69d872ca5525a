// SPDX-License-Identifier: MIT
//
// The way from a call to the loops, compiled once for all elementwise kernels.
#include "elementwise/elementwise.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

void capture(const ac_context* context, const ac_array* const* arrays, int operands,
             RunKernel kernel, const void* parameters, int64_t bytes, Cost cost) {
    auto& answer = *static_cast<Captured*>(context->state);
    if (parameters == nullptr)
        bytes = 0;
    else if (bytes == 0 || bytes > captured_bytes)
        return;
    answer.kernel = kernel;
    answer.operands = operands;
    answer.cost = cost;
    for (int k = 0; k < operands; ++k) answer.arrays[k] = arrays[k];
    if (bytes > 0) memcpy(answer.parameters, parameters, static_cast<size_t>(bytes));
}

}  // namespace

void run_whole(ac_context* context, const Nest& nest, int64_t threads_from,
               RunKernel kernel, const void* parameters) {
    run_whole<max_operands>(context, nest, threads_from, kernel, parameters);
}

void elementwise(ac_context* context, const ac_array* const* arrays, int operands,
                 RunKernel kernel, const void* parameters, Cost cost, int64_t bytes) {
    if (is_asked(context)) {
        capture(context, arrays, operands, kernel, parameters, bytes, cost);
        return;
    }
    Nest nest;
    make_nest(nest, arrays, operands);
    run_whole(context, nest, threads_from(cost), kernel, parameters);
}

}  // namespace autocalc::simd::AC_ISA
