// SPDX-License-Identifier: MIT
//
// Work over the last axis, one row after another: normalisations. A row stays in the L1
// cache between the passes over it.
#pragma once

#include "common/contiguous.hpp"
#include "reduce/reduce.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int max_wides = 4, max_narrows = 2;

// Arrays [..., width], the first `written` of them outputs, those from `read` on inputs
// (an output that is added to is both), and arrays with one element for each row (null
// where absent), with or without a last axis of 1.
struct RowArrays {
    const ac_array* wide[max_wides];
    int wides, written, read;
    const ac_array* narrow[max_narrows];
    int narrows;
};

// Where one row's arrays begin; wide ones are contiguous.
template <class T>
struct Row {
    T* wide[max_wides];
    T* narrow[max_narrows];
};

// A contiguous [width] operand, copied into scratch if it is not, or has 16 bits; null
// if it is absent.
template <class T>
bool contiguous_vector(ac_context* context, int slot, const ac_array* array,
                       const T*& vector) {
    vector = nullptr;
    if (array == nullptr) return true;
    vector = data<T>(array);
    if (is_contiguous(*array) && !is_half(array->dtype)) return true;
    const int64_t n = array->shape[0];
    T* copy = scratch_of<T>(context, slot, 2 * n);
    if (copy == nullptr) return false;
    take_elements(data<char>(array), array->dtype, array->strides[0], n, copy,
                  copy + n);
    vector = copy;
    return true;
}

template <class T>
struct RowWalk {
    using Rows = NestOf<max_wides + max_narrows>;
    Rows nest;  // over the rows: wide arrays without their last axis, then narrow ones
    int64_t width;
    int wides, written, read, narrows;
    int64_t stride[max_wides];  // of the wide arrays' last axis, in bytes
    int dtype[max_wides];
    bool has_narrow[max_narrows];
    bool contiguous;

    explicit RowWalk(const RowArrays& rows)
        : wides(rows.wides),
          written(rows.written),
          read(rows.read),
          narrows(rows.narrows) {
        const ac_array& first = *rows.wide[0];
        const int last = first.ndim - 1;
        width = first.shape[last];
        contiguous = true;
        ac_array heads[max_wides + max_narrows];
        const ac_array* arrays[max_wides + max_narrows];
        for (int k = 0; k < wides; ++k) {
            heads[k] = *rows.wide[k];
            heads[k].ndim = last;
            stride[k] = rows.wide[k]->strides[last];
            dtype[k] = rows.wide[k]->dtype;
            contiguous = contiguous && !is_half(dtype[k]) &&
                         (stride[k] == item_size<T> || width == 1);
        }
        for (int k = 0; k < narrows; ++k) {
            has_narrow[k] = rows.narrow[k] != nullptr;
            heads[wides + k] = has_narrow[k] ? *rows.narrow[k] : first;
            heads[wides + k].ndim = last;
        }
        for (int k = 0; k < wides + narrows; ++k) arrays[k] = &heads[k];
        make_nest(nest, arrays, wides + narrows);
    }

    // f(row) for rows `begin` to `end` of so many arrays. As these are constants, the
    // places of a row stay in registers: layer_norm of rows of 128 takes 27 ns a row,
    // 31 with counts read from memory. Answers false if memory is exhausted.
    template <int wide_count, int narrow_count, class F>
    bool each(ac_context* context, int slot, int64_t begin, int64_t end, F&& f) const {
        constexpr int count = wide_count + narrow_count;
        T* buffer = nullptr;
        if (!contiguous) {
            buffer = scratch_of<T>(context, slot, (wide_count + 1) * width);
            if (buffer == nullptr) return false;
        }
        const int inner = nest.dims - 1;
        PositionOf<max_wides + max_narrows> at;
        start_at(nest, begin, at);
        while (begin < end) {
            char* place[count];
            int64_t step[count];
#pragma GCC unroll 6
            for (int k = 0; k < count; ++k) {
                step[k] = nest.stride[k][inner];
                place[k] = at.row[k] + at.column * step[k];
            }
            const int64_t run = smaller(end - begin, nest.size[inner] - at.column);
            for (int64_t i = 0; i < run; ++i) {
                Row<T> row = {};
#pragma GCC unroll 4
                for (int k = 0; k < wide_count; ++k)
                    row.wide[k] = reinterpret_cast<T*>(place[k]);
                if (!contiguous) take_row(place, buffer, row);
#pragma GCC unroll 2
                for (int k = 0; k < narrow_count; ++k) {
                    if (has_narrow[k])
                        row.narrow[k] = reinterpret_cast<T*>(place[wide_count + k]);
                }
                f(row);
                if (!contiguous) put_row(place, row, buffer + wides * width);
#pragma GCC unroll 6
                for (int k = 0; k < count; ++k) place[k] += step[k];
            }
            begin += run;
            at.column += run;
            if (at.column == nest.size[inner]) next_row(nest, at);
        }
        return true;
    }

  private:
    AC_NOINLINE void take_row(char* const* place, T* buffer, Row<T>& row) const {
        for (int k = 0; k < wides; ++k) {
            row.wide[k] = buffer + k * width;
            if (k < read) continue;
            take_elements(place[k], dtype[k], stride[k], width, row.wide[k],
                          buffer + wides * width);
        }
    }
    AC_NOINLINE void put_row(char* const* place, const Row<T>& row, T* spare) const {
        for (int k = 0; k < written; ++k)
            put_elements(place[k], dtype[k], stride[k], width, row.wide[k], spare);
    }
};

// Whether kernels can take the rows: nothing is a double where anything has 16 bits,
// and statistics, from operand `begin` up to `end`, are floats.
AC_INLINE const char* refusal_of_rows(const ac_call* call, int begin, int end) {
    for (int k = begin; k < end; ++k) {
        const ac_array* array = operand(call, k);
        if (array != nullptr && is_half(array->dtype)) return "statistics of 16 bits";
    }
    return refusal_in_floats(call);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
