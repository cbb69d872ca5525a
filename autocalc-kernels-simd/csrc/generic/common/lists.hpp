// SPDX-License-Identifier: MIT
//
// Work over lists of arrays in one call: tasks are tiles, counted across the list, so
// that many small arrays cost no more than a large one.
#pragma once

#include "common/halves.hpp"
#include "common/lanes.hpp"
#include "elementwise/loops.hpp"
#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {

// Lists whose i-th arrays belong together; the first `written` of them are updated.
struct Group {
    const ac_operand* lists[max_operands];
    int operands;
    int written;
};

// Runs a kernel over all elements of a group, with threads.
void update(ac_context* context, const Group& group, RunKernel kernel,
            const void* parameters);

namespace {

// Elements of a task; two of them are worth a second thread. 16 Ki floats take on one
// thread and on two: sgd 4.0 and 3.3 us, adamw 10.4 and 7.0, rmsprop 9.4 and 6.0.
constexpr int64_t tile = 8192;

// visit(i, t, first, last) for tiles `begin` to `end` of a list: tile t, counted across
// the list, is elements first to last of array i.
template <class F>
AC_INLINE void each_tile(const ac_operand& arrays, int64_t begin, int64_t end,
                         F&& visit) {
    int64_t passed = 0;  // tiles of earlier arrays
    for (int64_t i = 0; i < arrays.count && passed < end; ++i) {
        const int64_t count = element_count(arrays.arrays[i]);
        const int64_t tiles = ceil_div(count, tile);
        const int64_t to = smaller(end - passed, tiles);
        for (int64_t t = larger<int64_t>(begin - passed, 0); t < to; ++t) {
            visit(i, passed + t, t * tile, smaller((t + 1) * tile, count));
        }
        passed += tiles;
    }
}

struct GroupSize {
    int64_t tiles = 0, elements = 0;
};
AC_INLINE GroupSize size_of_group(const ac_operand& arrays) {
    GroupSize size;
    for (int64_t i = 0; i < arrays.count; ++i) {
        const int64_t count = element_count(arrays.arrays[i]);
        size.tiles += ceil_div(count, tile);
        size.elements += count;
    }
    return size;
}

// Whether floats can stand for what is of 16 bits: no operand is a double.
inline const char* group_refusal(const ac_call* call) {
    bool halves = false, doubles = false;
    for (int k = 0; k < call->n_outputs + call->n_inputs; ++k) {
        const ac_operand& list = call->operands[k];
        if (list.count == 0 || !list.arrays->present) continue;
        halves = halves || is_half(list.arrays->dtype);
        doubles = doubles || list.arrays->dtype == AC_FLOAT64;
    }
    return halves && doubles ? "float64 with 16 bits" : nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
