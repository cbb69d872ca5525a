// SPDX-License-Identifier: MIT
//
// Elementwise kernels of bfloat16 and float16: the loop of float32's kernel, in one
// pass over memory.
//
// The kernel is asked for the loop that it would run on floats (`capture`). Over runs
// that fit into L1 the operands of 16 bits are widened, the loop runs, and its result
// is rounded: an element goes through the same instructions as a float.
#pragma once

#include "common/halves.hpp"
#include "elementwise/elementwise.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A loop on floats; of each of its operands the dtype in memory.
struct LoopInFloats {
    Captured loop;
    int dtype[max_operands];
    int64_t item[max_operands];
};

inline void run_in_floats(void* const* operands, int64_t n, const void* parameters) {
    const LoopInFloats& all = *static_cast<const LoopInFloats*>(parameters);
    alignas(64) float room[max_operands][buffer_elements];
    for (int64_t begin = 0; begin < n; begin += buffer_elements) {
        const int64_t some = smaller(buffer_elements, n - begin);
        void* run[max_operands];
        for (int k = 0; k < all.loop.operands; ++k) {
            run[k] = static_cast<char*>(operands[k]) + begin * all.item[k];
            if (!is_half(all.dtype[k])) continue;
            if (k > 0) widen_any(all.dtype[k], run[k], some, room[k]);
            run[k] = room[k];
        }
        all.loop.kernel(run, some, all.loop.parameters);
        void* out = static_cast<char*>(operands[0]) + begin * all.item[0];
        if (is_half(all.dtype[0])) narrow_any(all.dtype[0], room[0], some, out);
    }
}

// Runs an elementwise kernel with one output.
inline void call_in_floats(const ac_kernel_entry& entry, const ac_call* call,
                           ac_context* context, ac_status* status) {
    const int count = call->n_outputs + call->n_inputs;
    ac_array floats[max_operands];
    ac_operand operands[max_operands];
    alignas(8) char nothing[8] = {};  // for a kernel that looks at an operand
    if (count > max_operands || is_asked(context)) return unsupported(status);
    for (int k = 0; k < count; ++k) {
        floats[k] = *call->operands[k].arrays;
        if (is_half(floats[k].dtype)) {
            floats[k].dtype = AC_FLOAT32;
            floats[k].data = nothing;
            for (int d = 0; d < floats[k].ndim; ++d) floats[k].strides[d] *= 2;
        }
        operands[k] = {&floats[k], 1};
    }
    ac_call asked = *call;
    asked.operands = operands;
    LoopInFloats all;
    ac_context listener = {sizeof(ac_context),
                           AC_KERNEL_API_VERSION,
                           1,
                           0,
                           nullptr,
                           nullptr,
                           &all.loop,
                           nullptr};
    all.loop.kernel = nullptr;
    entry.function(&asked, &listener, status);
    if (status->code != AC_DONE) return;
    if (all.loop.kernel == nullptr) return unsupported(status);
    const ac_array* arrays[max_operands];
    for (int k = 0; k < all.loop.operands; ++k) {
        arrays[k] = call->operands[all.loop.arrays[k] - floats].arrays;
        all.dtype[k] = arrays[k]->dtype;
        all.item[k] = size_of(all.dtype[k]);
    }
    Nest nest;
    make_nest(nest, arrays, all.loop.operands);
    run_whole(context, nest, threads_from(all.loop.cost), run_in_floats, &all);
    done(status);
}

AC_INLINE bool holds_halves(const ac_call* call) {
    int dtypes = 0;
    for (int k = 0; k < call->n_outputs + call->n_inputs; ++k)
        dtypes |= call->operands[k].arrays->dtype;
    return (dtypes & AC_BFLOAT16) != 0;  // float16 is the only larger number
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
