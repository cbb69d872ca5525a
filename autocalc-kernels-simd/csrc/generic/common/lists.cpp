// SPDX-License-Identifier: MIT
#include "common/lists.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Elements begin to end of arrays with any strides: collected, updated, put back.
void run_in_place(const Nest& nest, int64_t begin, int64_t end, int written,
                  RunKernel kernel, const void* parameters) {
    Buffers buffers;
    const int inner = nest.dims - 1;
    for (int64_t first = begin; first < end; first += buffer_elements) {
        const int64_t n = smaller(buffer_elements, end - first);
        void* run[max_operands];
        for (int k = 0; k < nest.operands; ++k) run[k] = buffers.bytes[k];
        for (int pass = 0; pass < 2; ++pass) {
            const bool back = pass == 1;
            Position at;
            start_at(nest, first, at);
            for (int64_t i = 0; i < n;) {
                const int64_t row = smaller(n - i, nest.size[inner] - at.column);
                for (int k = 0; k < (back ? written : nest.operands); ++k) {
                    char* buffer = buffers.bytes[k] + i * nest.item[k];
                    const int64_t stride = nest.stride[k][inner];
                    char* here = at.row[k] + at.column * stride;
                    if (back) {
                        scatter(here, buffer, nest.item[k], stride, row);
                    } else {
                        gather(buffer, here, nest.item[k], stride, row);
                    }
                }
                i += row;
                next_row(nest, at);
            }
            if (!back) kernel(run, n, parameters);
        }
    }
}

// A kernel of floats over arrays of which some are of 16 bits: they are widened in L1,
// and those that are written are rounded.
struct GroupInFloats {
    RunKernel kernel;
    const void* parameters;
    int operands, written;
    int dtype[max_operands];
};

void run_group_in_floats(void* const* operands, int64_t n, const void* parameters) {
    const GroupInFloats& all = *static_cast<const GroupInFloats*>(parameters);
    alignas(64) float room[max_operands][buffer_elements];
    for (int64_t begin = 0; begin < n; begin += buffer_elements) {
        const int64_t some = smaller(buffer_elements, n - begin);
        void *here[max_operands], *run[max_operands];
        for (int k = 0; k < all.operands; ++k) {
            here[k] = static_cast<char*>(operands[k]) + begin * size_of(all.dtype[k]);
            run[k] = here[k];
            if (!is_half(all.dtype[k])) continue;
            widen_any(all.dtype[k], here[k], some, room[k]);
            run[k] = room[k];
        }
        all.kernel(run, some, all.parameters);
        for (int k = 0; k < all.written; ++k)
            if (is_half(all.dtype[k])) narrow_any(all.dtype[k], room[k], some, here[k]);
    }
}

void run_tile(const Group& group, int64_t i, int64_t first, int64_t last,
              RunKernel kernel, const void* parameters) {
    const ac_array* arrays[max_operands];
    for (int k = 0; k < group.operands; ++k) arrays[k] = &group.lists[k]->arrays[i];
    Nest nest;
    make_nest(nest, arrays, group.operands);
    GroupInFloats floats = {kernel, parameters, group.operands, group.written, {}};
    bool dense = true, halves = false;
    void* run[max_operands];
    for (int k = 0; k < group.operands; ++k) {
        dense = dense && nest.dense[k];
        run[k] = nest.data[k] + first * nest.item[k];
        floats.dtype[k] = arrays[k]->dtype;
        halves = halves || is_half(arrays[k]->dtype);
    }
    if (halves) {
        kernel = run_group_in_floats;
        parameters = &floats;
    }
    if (dense) {
        kernel(run, last - first, parameters);
    } else {
        run_in_place(nest, first, last, group.written, kernel, parameters);
    }
}

}  // namespace

void update(ac_context* context, const Group& group, RunKernel kernel,
            const void* parameters) {
    const ac_operand& written = *group.lists[0];
    const GroupSize size = size_of_group(written);
    parallel(context, size.tiles, size.elements >= 2 * tile,
             [&](int64_t begin, int64_t end) {
                 each_tile(written, begin, end,
                           [&](int64_t i, int64_t, int64_t first, int64_t last) {
                               run_tile(group, i, first, last, kernel, parameters);
                           });
             });
}

}  // namespace autocalc::simd::AC_ISA
