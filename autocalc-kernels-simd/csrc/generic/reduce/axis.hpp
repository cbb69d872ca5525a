// SPDX-License-Identifier: MIT
//
// Work along one axis: softmax and its like.
//
// A line is the elements of one axis. Lines that are adjacent in memory are worked
// on together, one to each lane (a bundle); a single contiguous line fills the lanes
// with its own elements, and what the lanes hold is combined at the end. Both are a
// sequence of vectors, so an algorithm is written once. Lines that are neither are
// gathered.
#pragma once

#include "common/contiguous.hpp"
#include "common/lanes.hpp"
#include "reduce/reduce.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// `count` vectors: of one line with `lanes` elements each and `rest` in the last, or of
// a bundle of `rest` lines whose elements are `step` apart.
template <class T, bool bundle>
struct Line {
    static constexpr int64_t lanes = vec<T>::lanes;
    int64_t n;     // elements of a line
    int64_t step;  // elements between vectors
    int64_t rest;  // lines of a bundle

    // f(offset, whole vector or a count of lanes)
    template <class F>
    AC_INLINE void each(F&& f) const {
        if constexpr (bundle) {
            if (rest == lanes) {
                for (int64_t i = 0; i < n; ++i) f(i * step, AllLanes<T>{});
            } else {
                for (int64_t i = 0; i < n; ++i) f(i * step, FirstLanes<T>{rest});
            }
        } else {
            each_vector<T>(n, f);
        }
    }

    // Brings what the lanes hold together, where they hold one line.
    template <class Op>
    [[nodiscard]] AC_INLINE vec<T> join(vec<T> v) const {
        if constexpr (bundle) return v;
        return set1<T>(Op::across(v));
    }

    // The largest element; what becomes of NaN is left open.
    [[nodiscard]] AC_INLINE vec<T> top(const T* p) const {
        const vec<T> lowest = set1<T>(-T(__builtin_inf()));
        vec<T> result = lowest;
        each([&](int64_t i, auto part) {
            result = max(result, part.only(part.get(p + i), lowest));
        });
        if constexpr (bundle) return result;
        return set1<T>(reduce_max(result));
    }

    // The sum of term(offset, part), added in pairs of eight.
    template <class F>
    [[nodiscard]] AC_INLINE vec<T> sum(F&& term) const {
        Cascade<T, SumOp> sums;
        vec<T> group = zero<T>();
        int64_t in_group = 0;
        each([&](int64_t i, auto part) {
            group = group + part.only(term(i, part), zero<T>());
            if (++in_group == 8) {
                sums.push(group);
                group = zero<T>();
                in_group = 0;
            }
        });
        if (sums.count == 0) return join<SumOp>(group);
        sums.push(group);
        return join<SumOp>(sums.total());
    }
};

// Runs Kernel over all lines along `axis`. Operand 0 is written; the others are read.
//
//     Kernel::run(line, T* out, const T* a, const T* b)
template <class T, class Kernel>
void along_lines(ac_context* context, ac_status* status, const ac_array* const* arrays,
                 int operands, int64_t axis) {
    constexpr int64_t lanes = vec<T>::lanes;
    done(status);
    const bool scalar_line = arrays[0]->ndim == 0;
    const int64_t n = scalar_line ? 1 : arrays[0]->shape[axis];
    if (element_count(*arrays[0]) == 0) return;
    // The same arrays without the axis, and its strides.
    ac_array others[3];
    const ac_array* other[3];
    int64_t stride[3];
    for (int k = 0; k < operands; ++k) {
        others[k] = *arrays[k];
        other[k] = &others[k];
        stride[k] = scalar_line ? size_of(arrays[k]->dtype) : arrays[k]->strides[axis];
        if (scalar_line) continue;
        for (int64_t d = axis + 1; d < others[k].ndim; ++d) {
            others[k].shape[d - 1] = others[k].shape[d];
            others[k].strides[d - 1] = others[k].strides[d];
        }
        --others[k].ndim;
    }
    Nest nest;
    make_nest(nest, other, operands);
    const int inner = nest.dims - 1;
    const int64_t item = nest.item[0];
    const bool narrow = sizeof(T) == 4 && item < item_size<T>;
    bool side_by_side = nest.size[inner] > 1;
    bool contiguous = true, wide = !narrow;
    for (int k = 0; k < operands; ++k) {
        side_by_side = side_by_side && nest.stride[k][inner] == item;
        contiguous = contiguous && (stride[k] == item || n == 1);
        side_by_side = side_by_side && stride[k] % item == 0 && nest.item[k] == item;
        wide = wide && nest.item[k] == item_size<T>;
    }
    bool same_step = true;
    for (int k = 1; k < operands; ++k) same_step = same_step && stride[k] == stride[0];
    // 4 Ki floats in rows of 128: softmax takes 4.8 us on one thread, 3.2 on two.
    const bool worthwhile = nest.total * n >= 4096;
    if (side_by_side && same_step && !contiguous) {
        const int64_t width = nest.size[inner];
        const int64_t bundles = ceil_div(width, lanes);
        const bool finished = try_parallel(
            context, nest.total / width * bundles, worthwhile,
            [&](int64_t begin, int64_t end) {
                T* widened = nullptr;
                if (narrow) {
                    widened = scratch_of<T>(context, 3, 3 * n * lanes);
                    if (widened == nullptr) return false;
                }
                for (int64_t task = begin; task < end; ++task) {
                    const int64_t column = task % bundles * lanes;
                    Position at;
                    start_at(nest, task / bundles * width + column, at);
                    Line<T, true> line = {n, stride[0] / item,
                                          smaller(lanes, width - column)};
                    T* p[3] = {};
                    for (int k = 0; k < operands; ++k) {
                        at.row[k] += column * item;
                        p[k] = reinterpret_cast<T*>(at.row[k]);
                        if (!narrow) continue;
                        p[k] = widened + k * n * lanes;
                        for (int64_t i = 0; k > 0 && i < n; ++i)
                            take_elements(at.row[k] + i * stride[k], arrays[k]->dtype,
                                          item, line.rest, p[k] + i * lanes, nullptr);
                    }
                    if (narrow) line.step = lanes;
                    Kernel::run(line, p[0], p[1], p[2]);
                    for (int64_t i = 0; narrow && i < n; ++i)
                        put_elements(at.row[0] + i * stride[0], arrays[0]->dtype, item,
                                     line.rest, p[0] + i * lanes, nullptr);
                }
                return true;
            });
        if (!finished) no_memory(status);
        return;
    }
    contiguous = contiguous && wide;
    const int64_t lines_of_task = ceil_div(2048, n);
    const bool finished = try_parallel_range(
        context, nest.total, lines_of_task, worthwhile,
        [&](int64_t begin, int64_t end) {
            T* gathered = nullptr;
            if (!contiguous) {
                gathered = scratch_of<T>(context, 3, 4 * n);
                if (gathered == nullptr) return false;
            }
            Position at;
            start_at(nest, begin, at);
            const Line<T, false> line = {n, lanes, lanes};
            for (int64_t i = begin; i < end; ++i) {
                T* p[3] = {};
                char* from[3] = {};
                for (int k = 0; k < operands; ++k) {
                    from[k] = at.row[k] + at.column * nest.stride[k][inner];
                    p[k] = reinterpret_cast<T*>(from[k]);
                    if (contiguous) continue;
                    p[k] = gathered + k * n;
                    if (k > 0) {
                        take_elements(from[k], arrays[k]->dtype, stride[k], n, p[k],
                                      gathered + 3 * n);
                    }
                }
                Kernel::run(line, p[0], p[1], p[2]);
                if (!contiguous) {
                    put_elements(from[0], arrays[0]->dtype, stride[0], n, p[0],
                                 gathered + 3 * n);
                }
                if (++at.column == nest.size[inner]) next_row(nest, at);
            }
            return true;
        });
    if (!finished) no_memory(status);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
