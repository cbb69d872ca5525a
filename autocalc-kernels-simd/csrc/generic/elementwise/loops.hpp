// SPDX-License-Identifier: MIT
//
// Elementwise loops over any strides.
//
// Dimensions are sorted by stride and merged, so that most layouts become one or two
// loops. What is left reaches the innermost loop as contiguous runs: an operand that is
// not contiguous goes through a buffer in L1. A kernel is therefore one function over
// contiguous runs, whatever the layout, and tails are the only special case it has.
//
// Kernels share the compiled loops of loops.cpp. The templates are for chains, which
// have more operands.
#pragma once

#include "common/call.hpp"
#include "common/strided.hpp"

namespace autocalc::simd::AC_ISA {

constexpr int max_operands = 5;
constexpr int64_t buffer_elements = 512;  // 5 operands of 8 bytes: 20 KiB
constexpr int64_t short_row = 48;         // below, rows are collected into the buffer

// A nest of loops over up to `most` operands, outputs first.
template <int most>
struct NestOf {
    int dims;
    int operands;
    int outputs = 1;
    int64_t total;
    int64_t size[AC_MAX_DIMS];  // outermost first
    int64_t stride[most][AC_MAX_DIMS];
    int64_t item[most];
    char* data[most];
    bool dense[most];  // contiguous in the order of the nest
};
using Nest = NestOf<max_operands>;

// A kernel over n contiguous elements; it writes the outputs, which come first.
using RunKernel = void (*)(void* const* operands, int64_t n, const void* parameters);

// All arrays have the shape of the first. An empty or 0-d array becomes one loop.
void make_nest(Nest& nest, const ac_array* const* arrays, int operands,
               int outputs = 1);
// Runs a kernel over the elements from `begin` to `end`.
void run_nest(const Nest& nest, int64_t begin, int64_t end, RunKernel kernel,
              const void* parameters);

namespace {

// A kernel has one output, a chain of kernels may have more.
template <int most>
constexpr int most_outputs = most > max_operands ? 6 : 1;

// Whether dimension a belongs outside dimension b: the first operand with two different
// non-zero strides decides, so the output's order wins.
template <int most>
AC_INLINE bool belongs_outside(const NestOf<most>& nest, int a, int b) {
    for (int k = 0; k < nest.operands; ++k) {
        const int64_t sa = nest.stride[k][a], sb = nest.stride[k][b];
        if (sa != sb && sa != 0 && sb != 0) return sa > sb;
    }
    return a < b;
}

template <int most>
AC_INLINE void swap_dims(NestOf<most>& nest, int a, int b) {
    const int64_t n = nest.size[a];
    nest.size[a] = nest.size[b];
    nest.size[b] = n;
    for (int k = 0; k < nest.operands; ++k) {
        const int64_t s = nest.stride[k][a];
        nest.stride[k][a] = nest.stride[k][b];
        nest.stride[k][b] = s;
    }
}

template <int most>
inline void sort_dims(NestOf<most>& nest) {
    for (int i = 1; i < nest.dims; ++i) {
        for (int j = i; j > 0 && !belongs_outside(nest, j - 1, j); --j) {
            swap_dims(nest, j - 1, j);
        }
    }
}

// Joins a dimension with the next inner one where all operands advance evenly.
template <int most>
inline void merge_dims(NestOf<most>& nest) {
    int last = 0;
    for (int i = 1; i < nest.dims; ++i) {
        bool even = true;
        for (int k = 0; k < nest.operands; ++k) {
            even = even && nest.stride[k][last] == nest.stride[k][i] * nest.size[i];
        }
        if (even) {
            nest.size[last] *= nest.size[i];
        } else {
            nest.size[++last] = nest.size[i];
        }
        for (int k = 0; k < nest.operands; ++k)
            nest.stride[k][last] = nest.stride[k][i];
    }
    nest.dims = last + 1;
}

template <int most>
inline void find_dense(NestOf<most>& nest) {
    for (int k = 0; k < nest.operands; ++k) {
        int64_t expected = nest.item[k];
        bool dense = true;
        for (int i = nest.dims - 1; i >= 0; --i) {
            dense = dense && nest.stride[k][i] == expected;
            expected *= nest.size[i];
        }
        nest.dense[k] = dense;
    }
}

template <int most>
inline void make_nest(NestOf<most>& nest, const ac_array* const* arrays, int operands,
                      int outputs = 1) {
    nest.operands = operands;
    nest.outputs = outputs;
    nest.dims = 0;
    nest.total = 1;
    for (int k = 0; k < operands; ++k) {
        nest.item[k] = size_of(arrays[k]->dtype);
        nest.data[k] = static_cast<char*>(arrays[k]->data);
    }
    bool contiguous = true;
    for (int k = 0; k < operands; ++k)
        contiguous = contiguous && is_contiguous(*arrays[k]);
    if (contiguous) {
        nest.dims = 1;
        nest.total = nest.size[0] = element_count(*arrays[0]);
        for (int k = 0; k < operands; ++k) {
            nest.stride[k][0] = nest.item[k];
            nest.dense[k] = true;
        }
        return;
    }
    for (int i = 0; i < arrays[0]->ndim; ++i) {
        const int64_t n = arrays[0]->shape[i];
        nest.total *= n;
        if (n == 1) continue;
        nest.size[nest.dims] = n;
        for (int k = 0; k < operands; ++k) {
            nest.stride[k][nest.dims] = arrays[k]->strides[i];
        }
        ++nest.dims;
    }
    sort_dims(nest);
    merge_dims(nest);
    find_dense(nest);
}

// The position of a loop over a nest; `column` counts in the innermost loop.
template <int most>
struct PositionOf {
    int64_t index[AC_MAX_DIMS];
    int64_t column;
    char* row[most];  // first element of the row
};
using Position = PositionOf<max_operands>;

template <int most>
inline void start_at(const NestOf<most>& nest, int64_t element, PositionOf<most>& at) {
    const int inner = nest.dims - 1;
    at.column = element % nest.size[inner];
    int64_t rest = element / nest.size[inner];
    for (int k = 0; k < nest.operands; ++k) at.row[k] = nest.data[k];
    for (int i = inner - 1; i >= 0; --i) {
        at.index[i] = rest % nest.size[i];
        rest /= nest.size[i];
        for (int k = 0; k < nest.operands; ++k) {
            at.row[k] += at.index[i] * nest.stride[k][i];
        }
    }
}

template <int most>
AC_INLINE void next_row(const NestOf<most>& nest, PositionOf<most>& at) {
    at.column = 0;
    for (int i = nest.dims - 2; i >= 0; --i) {
        if (++at.index[i] < nest.size[i]) {
            for (int k = 0; k < nest.operands; ++k) at.row[k] += nest.stride[k][i];
            return;
        }
        at.index[i] = 0;
        for (int k = 0; k < nest.operands; ++k) {
            at.row[k] -= (nest.size[i] - 1) * nest.stride[k][i];
        }
    }
}

template <int most>
struct BuffersOf {
    alignas(64) char bytes[most][buffer_elements * 8];
};
using Buffers = BuffersOf<max_operands>;

// Long rows: contiguous operands are used in place; a repeated element fills its buffer
// once a row.
template <int most>
inline void run_rows(const NestOf<most>& nest, int64_t begin, int64_t end,
                     RunKernel kernel, const void* parameters,
                     BuffersOf<most>& buffers) {
    const int inner = nest.dims - 1;
    bool in_place = true;
    int64_t item = 1;
    for (int k = 0; k < nest.operands; ++k) {
        in_place = in_place && nest.stride[k][inner] == nest.item[k];
        item = larger(item, nest.item[k]);
    }
    const int64_t room = buffer_elements * 8 / item;
    PositionOf<most> at;
    start_at(nest, begin, at);
    for (int64_t left = end - begin; left > 0;) {
        const int64_t row = smaller(left, nest.size[inner] - at.column);
        const int64_t step = in_place ? row : smaller(row, room);
        for (int k = nest.outputs; k < nest.operands; ++k) {
            if (nest.stride[k][inner] == 0) {
                gather(buffers.bytes[k], at.row[k], nest.item[k], 0, step);
            }
        }
        for (int64_t i = 0; i < row; i += step) {
            const int64_t n = smaller(step, row - i);
            void* run[most];
            for (int k = 0; k < nest.operands; ++k) {
                const int64_t stride = nest.stride[k][inner];
                char* from = at.row[k] + (at.column + i) * stride;
                run[k] = stride == nest.item[k] ? from : buffers.bytes[k];
                if (k >= nest.outputs && stride != 0 && stride != nest.item[k]) {
                    gather(buffers.bytes[k], from, nest.item[k], stride, n);
                }
            }
            kernel(run, n, parameters);
            for (int k = 0; k < nest.outputs; ++k) {
                const int64_t stride = nest.stride[k][inner];
                if (stride == nest.item[k]) continue;
                scatter(at.row[k] + (at.column + i) * stride, buffers.bytes[k],
                        nest.item[k], stride, n);
            }
        }
        left -= row;
        if (left > 0) next_row(nest, at);
    }
}

// Gives the next n elements of output k what is in `from`.
template <int most>
inline void scatter_rows(const NestOf<most>& nest, int k, PositionOf<most> to,
                         int64_t n, const char* from) {
    const int inner = nest.dims - 1;
    const int64_t stride = nest.stride[k][inner], item = nest.item[k];
    for (int64_t i = 0; i < n;) {
        const int64_t row = smaller(n - i, nest.size[inner] - to.column);
        scatter(to.row[k] + to.column * stride, from + i * item, item, stride, row);
        i += row;
        to.column += row;
        if (to.column == nest.size[inner]) next_row(nest, to);
    }
}

// Short rows: every operand that is not dense is collected over several rows.
template <int most>
inline void run_collected(const NestOf<most>& nest, int64_t begin, int64_t end,
                          RunKernel kernel, const void* parameters,
                          BuffersOf<most>& buffers) {
    const int inner = nest.dims - 1;
    PositionOf<most> at;
    start_at(nest, begin, at);
    for (int64_t first = begin; first < end; first += buffer_elements) {
        const int64_t n = smaller(buffer_elements, end - first);
        const PositionOf<most> start = at;
        for (int64_t i = 0; i < n;) {
            const int64_t row = smaller(n - i, nest.size[inner] - at.column);
            for (int k = nest.outputs; k < nest.operands; ++k) {
                if (nest.dense[k]) continue;
                const int64_t stride = nest.stride[k][inner];
                gather(buffers.bytes[k] + i * nest.item[k],
                       at.row[k] + at.column * stride, nest.item[k], stride, row);
            }
            i += row;
            at.column += row;
            if (at.column == nest.size[inner]) next_row(nest, at);
        }
        void* run[most];
        for (int k = 0; k < nest.operands; ++k) {
            run[k] =
                nest.dense[k] ? nest.data[k] + first * nest.item[k] : buffers.bytes[k];
        }
        kernel(run, n, parameters);
        for (int k = 0; k < nest.outputs; ++k) {
            if (!nest.dense[k]) scatter_rows(nest, k, start, n, buffers.bytes[k]);
        }
    }
}

template <int most>
inline void run_nest(const NestOf<most>& nest, int64_t begin, int64_t end,
                     RunKernel kernel, const void* parameters) {
    if (nest.dims == 1 && nest.stride[0][0] == nest.item[0]) {
        bool in_place = true;
        void* run[most];
        for (int k = 0; k < nest.operands; ++k) {
            in_place = in_place && nest.dense[k];
            run[k] = nest.data[k] + begin * nest.item[k];
        }
        if (in_place) return kernel(run, end - begin, parameters);
    }
    BuffersOf<most> buffers;
    if (nest.dims > 1 && nest.size[nest.dims - 1] < short_row) {
        run_collected(nest, begin, end, kernel, parameters, buffers);
    } else {
        run_rows(nest, begin, end, kernel, parameters, buffers);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
