// SPDX-License-Identifier: MIT
//
// Writing at indices along an axis: out[.., index[.., j, ..], ..] takes src[.., j, ..]
// for j in order. Threads share the positions of all other axes, never the axis itself,
// so that sums keep their order and the last one stays where a place is named twice.
#pragma once

#include "elementwise/elementwise.hpp"
#include "indexing/indices.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// `a` over the shape of `like`, standing still along `axis`.
AC_INLINE ac_array without_axis(const ac_array& a, const ac_array& like, int64_t axis) {
    ac_array result = a;
    for (int d = 0; d < like.ndim; ++d) result.shape[d] = like.shape[d];
    result.strides[axis] = 0;
    return result;
}

// A vector of indices over the shape of `like`, moving along `axis` alone.
AC_INLINE ac_array along_axis(const ac_array& index, const ac_array& like,
                              int64_t axis) {
    ac_array result = like;
    result.data = index.data;
    result.dtype = index.dtype;
    for (int d = 0; d < like.ndim; ++d) result.strides[d] = 0;
    result.strides[axis] = index.strides[0];
    return result;
}

// Takes dimension `axis` away and answers its stride.
AC_INLINE int64_t drop_axis(ac_array& a, int64_t axis) {
    const int64_t stride = a.strides[axis];
    for (int64_t d = axis + 1; d < a.ndim; ++d) {
        a.shape[d - 1] = a.shape[d];
        a.strides[d - 1] = a.strides[d];
    }
    --a.ndim;
    return stride;
}

// f(out, a) at each of these places of a nest of two arrays.
template <class F>
AC_INLINE void each_pair(const Nest& nest, int64_t begin, int64_t end, F&& f) {
    const int inner = nest.dims - 1;
    Position at;
    start_at(nest, begin, at);
    for (int64_t i = begin; i < end; ++i) {
        f(at.row[0] + at.column * nest.stride[0][inner],
          at.row[1] + at.column * nest.stride[1][inner]);
        if (++at.column == nest.size[inner]) next_row(nest, at);
    }
}

// How a column is written. Loops keep a copy in registers, since moving bits could
// change anything else.
struct ColumnSteps {
    int64_t count;  // elements of the axis of index and src
    int64_t out, index, src;
    int64_t skipped;  // an index that is left out, or -1
    IndexReader indices;
};

// A column is a position in all other axes; a task is a run of neighbouring ones.
struct ColumnPlan {
    Nest columns;  // out, index, src without the axis
    ColumnSteps along;
};

constexpr int64_t columns_of_task = 128;       // at most
constexpr int64_t least_columns_of_task = 16;  // some lines of the cache

inline void plan_columns(ColumnPlan& plan, ac_array out, ac_array index, ac_array src,
                         int64_t axis, IndexReader indices) {
    if (out.ndim == 0) {  // one element is a line of one
        ac_array* const all[3] = {&out, &index, &src};
        for (ac_array* x : all) {
            x->ndim = 1;
            x->shape[0] = 1;
            x->strides[0] = 0;
        }
    }
    plan.along.count = src.shape[axis];
    plan.along.out = drop_axis(out, axis);
    plan.along.index = drop_axis(index, axis);
    plan.along.src = drop_axis(src, axis);
    plan.along.skipped = -1;
    plan.along.indices = indices;
    const ac_array* arrays[3] = {&out, &index, &src};
    make_nest(plan.columns, arrays, 3);
}

// out = a, both of the same shape and dtype.
inline void copy_all(ac_context* context, const ac_array& out, const ac_array& a) {
    if (out.data == a.data) return;
    const ac_array* arrays[2] = {&out, &a};
    const int64_t item = size_of(out.dtype);
    const RunKernel move = [](void* const* operands, int64_t n, const void* size) {
        memcpy(operands[0], operands[1],
               static_cast<size_t>(n * *static_cast<const int64_t*>(size)));
    };
    elementwise(context, arrays, 2, move, &item, Cost::cheap);
}

// One column: `j` runs along the axis.
template <class Op>
AC_INLINE void write_column(const ColumnSteps along, const char* index, const char* src,
                            char* out) {
    for (int64_t j = 0; j < along.count; ++j) {
        int64_t at;
        if (!along.indices.read(index + j * along.index, at)) return;
        if (at == along.skipped) continue;
        Op::one(out + at * along.out, src + j * along.src);
    }
}

// n columns that have one index: rows of them, where they are adjacent.
template <class Op>
AC_INLINE void write_rows(const ColumnSteps along, const char* index, const char* src,
                          char* out, int64_t n, int64_t out_stride,
                          int64_t src_stride) {
    const bool runs = out_stride == Op::item && src_stride == out_stride;
    for (int64_t j = 0; j < along.count; ++j) {
        int64_t at;
        if (!along.indices.read(index + j * along.index, at)) return;
        if (at == along.skipped) continue;
        char* to = out + at * along.out;
        const char* from = src + j * along.src;
        if (runs) {
            Op::run(to, from, n);
            continue;
        }
        for (int64_t i = 0; i < n; ++i) {
            Op::one(to + i * out_stride, from + i * src_stride);
        }
    }
}

template <class Op>
void write_columns(const ColumnPlan& plan, const char* index, const char* src,
                   char* out, int64_t n) {
    const ColumnSteps along = plan.along;
    const Nest& nest = plan.columns;
    const int inner = nest.dims - 1;
    const int64_t out_stride = nest.stride[0][inner];
    const int64_t index_stride = nest.stride[1][inner];
    const int64_t src_stride = nest.stride[2][inner];
    if (n == 1) return write_column<Op>(along, index, src, out);
    if (index_stride == 0) {
        return write_rows<Op>(along, index, src, out, n, out_stride, src_stride);
    }
    // The inner loop is the one along which indices are adjacent.
    if (along.index < index_stride) {
        for (int64_t i = 0; i < n; ++i) {
            write_column<Op>(along, index + i * index_stride, src + i * src_stride,
                             out + i * out_stride);
        }
        return;
    }
    for (int64_t j = 0; j < along.count; ++j) {
        const char* places = index + j * along.index;
        const char* values = src + j * along.src;
        for (int64_t i = 0; i < n; ++i) {
            int64_t at;
            if (!along.indices.read(places + i * index_stride, at)) return;
            Op::one(out + i * out_stride + at * along.out, values + i * src_stride);
        }
    }
}

// Each thread gets some, where there are few rows of them.
inline int64_t columns_of(const ac_context* context, const Nest& nest) {
    const int64_t row = nest.size[nest.dims - 1];
    const int64_t parts = ceil_div(tasks_for(context, 1, 1), nest.total / row);
    const int64_t share = round_up(ceil_div(row, parts), least_columns_of_task);
    return smaller(columns_of_task, share);
}

// Op has the size `item` of an element, one(out, src) for an element and run(out, src,
// n) for a row. write(index, src, out, n) does n columns of a row.
template <class Op, class Write>
AC_INLINE void write_indexed(ac_context* context, const ColumnPlan& plan,
                             Write&& write) {
    const Nest& nest = plan.columns;
    if (nest.total == 0 || plan.along.count == 0) return;
    const int inner = nest.dims - 1;
    // Rows of one index are runs, of which 98,304 elements take 6 us on one thread; of
    // others 16,384 take 16 us, and 20 on two threads.
    const int64_t least = nest.stride[1][inner] == 0 ? 131072 : 32768;
    const bool worthwhile = nest.total * plan.along.count >= least;
    const int64_t chunk = worthwhile ? columns_of(context, nest) : columns_of_task;
    const int64_t chunks = ceil_div(nest.size[inner], chunk);
    const int64_t tasks = nest.total / nest.size[inner] * chunks;
    parallel(context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
            const int64_t column = task % chunks * chunk;
            const int64_t n = smaller(chunk, nest.size[inner] - column);
            Position at;
            start_at(nest, task / chunks * nest.size[inner], at);
            write(at.row[1] + column * nest.stride[1][inner],
                  at.row[2] + column * nest.stride[2][inner],
                  at.row[0] + column * nest.stride[0][inner], n);
        }
    });
}
template <class Op>
void write_indexed(ac_context* context, const ColumnPlan& plan) {
    write_indexed<Op>(context, plan,
                      [&](const char* index, const char* src, char* out, int64_t n) {
                          write_columns<Op>(plan, index, src, out, n);
                      });
}

// Operands: out; a, index, src. out = a, and then write(plan) for what `index` names,
// which is a line along the axis or has the shape of src.
template <class Write>
AC_INLINE void write_over_copy(const ac_call* call, ac_context* context,
                               ac_status* status, bool line, Write&& write) {
    const ac_array &out = *operand(call, 0), &a = *operand(call, 1);
    const ac_array &index = *operand(call, 2), &src = *operand(call, 3);
    const int64_t axis = int_attribute(call, 0);
    done(status);
    CheckedIndices checked(&index, a.ndim ? a.shape[axis] : 1, 2, status);
    if (!checked.fit()) return;
    copy_all(context, out, a);
    ColumnPlan plan;
    plan_columns(plan, out, line ? along_axis(index, src, axis) : index, src, axis,
                 checked.reader());
    write(plan);
    checked.report();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
