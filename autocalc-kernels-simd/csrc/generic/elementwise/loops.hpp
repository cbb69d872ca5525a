// SPDX-License-Identifier: MIT
//
// Elementwise loops over any strides.
//
// Dimensions are sorted by stride and merged, so that most layouts become one or two
// loops. What is left reaches the innermost loop as contiguous runs: an operand that is
// not contiguous goes through a buffer in L1. A kernel is therefore one function over
// contiguous runs, whatever the layout, and tails are the only special case it has.
#pragma once

#include "common/call.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int max_operands = 5;
constexpr int64_t buffer_elements = 512;  // 5 operands of 8 bytes: 20 KiB
constexpr int64_t short_row = 48;         // below, rows are collected into the buffer

// A nest of loops over up to five operands; operand 0 is the output.
struct Nest {
    int dims;
    int operands;
    int64_t total;
    int64_t size[AC_MAX_DIMS];  // outermost first
    int64_t stride[max_operands][AC_MAX_DIMS];
    int64_t item[max_operands];
    char* data[max_operands];
    bool dense[max_operands];  // contiguous in the order of the nest
};

// Whether dimension a belongs outside dimension b: the first operand with two different
// non-zero strides decides, so the output's order wins.
AC_INLINE bool belongs_outside(const Nest& nest, int a, int b) {
    for (int k = 0; k < nest.operands; ++k) {
        const int64_t sa = nest.stride[k][a], sb = nest.stride[k][b];
        if (sa != sb && sa != 0 && sb != 0) return sa > sb;
    }
    return a < b;
}

AC_INLINE void swap_dims(Nest& nest, int a, int b) {
    const int64_t n = nest.size[a];
    nest.size[a] = nest.size[b];
    nest.size[b] = n;
    for (int k = 0; k < nest.operands; ++k) {
        const int64_t s = nest.stride[k][a];
        nest.stride[k][a] = nest.stride[k][b];
        nest.stride[k][b] = s;
    }
}

inline void sort_dims(Nest& nest) {
    for (int i = 1; i < nest.dims; ++i) {
        for (int j = i; j > 0 && !belongs_outside(nest, j - 1, j); --j) {
            swap_dims(nest, j - 1, j);
        }
    }
}

// Joins a dimension with the next inner one where all operands walk on evenly.
inline void merge_dims(Nest& nest) {
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

inline void find_dense(Nest& nest) {
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

// All arrays have the shape of the first. An empty or 0-d array becomes one loop.
inline void make_nest(Nest& nest, const ac_array* const* arrays, int operands) {
    nest.operands = operands;
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

// Where a walk over a nest stands; `column` counts in the innermost loop.
struct Position {
    int64_t index[AC_MAX_DIMS];
    int64_t column;
    char* row[max_operands];  // first element of the row
};

inline void start_at(const Nest& nest, int64_t element, Position& at) {
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

AC_INLINE void next_row(const Nest& nest, Position& at) {
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

// ---- strided runs
template <class Bits>
AC_INLINE void gather_run(char* AC_RESTRICT to, const char* AC_RESTRICT from,
                          int64_t stride, int64_t n) {
    constexpr int64_t item = item_size<Bits>;
    if (stride == 0) {
        const Bits value = load_bits<Bits>(from);
        for (int64_t i = 0; i < n; ++i) store_bits(to + i * item, value);
        return;
    }
    if (stride == item) {
        for (int64_t i = 0; i < n; ++i)
            store_bits(to + i * item, load_bits<Bits>(from + i * item));
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        store_bits(to + i * item, load_bits<Bits>(from + i * stride));
}
template <class Bits>
AC_INLINE void scatter_run(char* AC_RESTRICT to, const char* AC_RESTRICT from,
                           int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
        store_bits(to + i * stride, load_bits<Bits>(from + i * item_size<Bits>));
}
inline void gather(char* to, const char* from, int64_t item, int64_t stride,
                   int64_t n) {
    switch (item) {
        case 1:
            return gather_run<uint8_t>(to, from, stride, n);
        case 2:
            return gather_run<uint16_t>(to, from, stride, n);
        case 4:
            return gather_run<uint32_t>(to, from, stride, n);
        default:
            return gather_run<uint64_t>(to, from, stride, n);
    }
}
inline void scatter(char* to, const char* from, int64_t item, int64_t stride,
                    int64_t n) {
    switch (item) {
        case 1:
            return scatter_run<uint8_t>(to, from, stride, n);
        case 2:
            return scatter_run<uint16_t>(to, from, stride, n);
        case 4:
            return scatter_run<uint32_t>(to, from, stride, n);
        default:
            return scatter_run<uint64_t>(to, from, stride, n);
    }
}

// A kernel over n contiguous elements; operand 0 is written.
using RunKernel = void (*)(void* const* operands, int64_t n, const void* parameters);

struct Buffers {
    alignas(64) char bytes[max_operands][buffer_elements * 8];
};

// Long rows: contiguous operands are used in place; a repeated element fills its buffer
// once a row.
inline void run_rows(const Nest& nest, int64_t begin, int64_t end, RunKernel kernel,
                     const void* parameters, Buffers& buffers) {
    const int inner = nest.dims - 1;
    bool in_place = true;
    for (int k = 0; k < nest.operands; ++k) {
        in_place = in_place && nest.stride[k][inner] == nest.item[k];
    }
    Position at;
    start_at(nest, begin, at);
    for (int64_t left = end - begin; left > 0;) {
        const int64_t row = smaller(left, nest.size[inner] - at.column);
        const int64_t step = in_place ? row : smaller(row, buffer_elements);
        for (int k = 1; k < nest.operands; ++k) {
            if (nest.stride[k][inner] == 0) {
                gather(buffers.bytes[k], at.row[k], nest.item[k], 0, step);
            }
        }
        for (int64_t i = 0; i < row; i += step) {
            const int64_t n = smaller(step, row - i);
            void* run[max_operands];
            for (int k = 0; k < nest.operands; ++k) {
                const int64_t stride = nest.stride[k][inner];
                char* from = at.row[k] + (at.column + i) * stride;
                run[k] = stride == nest.item[k] ? from : buffers.bytes[k];
                if (k > 0 && stride != 0 && stride != nest.item[k]) {
                    gather(buffers.bytes[k], from, nest.item[k], stride, n);
                }
            }
            kernel(run, n, parameters);
            if (nest.stride[0][inner] != nest.item[0]) {
                scatter(at.row[0] + (at.column + i) * nest.stride[0][inner],
                        buffers.bytes[0], nest.item[0], nest.stride[0][inner], n);
            }
        }
        left -= row;
        if (left > 0) next_row(nest, at);
    }
}

// Short rows: every operand that is not dense is collected over several rows.
inline void run_collected(const Nest& nest, int64_t begin, int64_t end,
                          RunKernel kernel, const void* parameters, Buffers& buffers) {
    const int inner = nest.dims - 1;
    Position at;
    start_at(nest, begin, at);
    for (int64_t first = begin; first < end; first += buffer_elements) {
        const int64_t n = smaller(buffer_elements, end - first);
        const Position start = at;
        for (int64_t i = 0; i < n;) {
            const int64_t row = smaller(n - i, nest.size[inner] - at.column);
            for (int k = 1; k < nest.operands; ++k) {
                if (nest.dense[k]) continue;
                const int64_t stride = nest.stride[k][inner];
                gather(buffers.bytes[k] + i * nest.item[k],
                       at.row[k] + at.column * stride, nest.item[k], stride, row);
            }
            i += row;
            at.column += row;
            if (at.column == nest.size[inner]) next_row(nest, at);
        }
        void* run[max_operands];
        for (int k = 0; k < nest.operands; ++k) {
            run[k] =
                nest.dense[k] ? nest.data[k] + first * nest.item[k] : buffers.bytes[k];
        }
        kernel(run, n, parameters);
        if (nest.dense[0]) continue;
        Position to = start;
        for (int64_t i = 0; i < n;) {
            const int64_t row = smaller(n - i, nest.size[inner] - to.column);
            const int64_t stride = nest.stride[0][inner];
            scatter(to.row[0] + to.column * stride, buffers.bytes[0] + i * nest.item[0],
                    nest.item[0], stride, row);
            i += row;
            to.column += row;
            if (to.column == nest.size[inner]) next_row(nest, to);
        }
    }
}

inline void run_nest(const Nest& nest, int64_t begin, int64_t end, RunKernel kernel,
                     const void* parameters) {
    if (nest.dims == 1 && nest.stride[0][0] == nest.item[0]) {
        bool in_place = true;
        void* run[max_operands];
        for (int k = 0; k < nest.operands; ++k) {
            in_place = in_place && nest.dense[k];
            run[k] = nest.data[k] + begin * nest.item[k];
        }
        if (in_place) return kernel(run, end - begin, parameters);
    }
    Buffers buffers;
    if (nest.dims > 1 && nest.size[nest.dims - 1] < short_row) {
        run_collected(nest, begin, end, kernel, parameters, buffers);
    } else {
        run_rows(nest, begin, end, kernel, parameters, buffers);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
