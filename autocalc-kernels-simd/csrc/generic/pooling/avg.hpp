// SPDX-License-Identifier: MIT
//
// What each result of an average pool takes, and a call of one.
#pragma once

#include "pooling/pooling.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_from = 0, slot_to = 1, slot_line = 2, slot_spans = 3 };

// What output `i` of one dimension takes: elements `begin` up to `end`.
struct Span {
    int64_t begin, end, count;
};

// Windows of avg_pool over `n` elements; `divisor` counts where it is not 0.
struct Windowed {
    int64_t n, kernel, stride, padding;
    bool include_padding;

    AC_INLINE Span operator()(int64_t i) const {
        const int64_t first = i * stride - padding;
        const int64_t begin = larger<int64_t>(first, 0);
        const int64_t end = smaller(first + kernel, n);
        const int64_t last = smaller(first + kernel, n + padding);
        const int64_t counted = include_padding ? last - first : end - begin;
        return {begin, larger(begin, end), larger<int64_t>(counted, 1)};
    }
};
// Boxes of adaptive_avg_pool.
struct Boxed {
    int64_t n, outputs;

    AC_INLINE Span operator()(int64_t i) const {
        const int64_t begin = i * n / outputs, end = ceil_div((i + 1) * n, outputs);
        return {begin, end, end - begin};
    }
};

// Evenly spaced windows of columns, in a line with zeros around it.
struct Even {
    int64_t kernel, stride, padding;  // kernel 0: they do not

    [[nodiscard]] AC_INLINE int64_t reach(int64_t outputs) const {
        return (outputs - 1) * stride + kernel;
    }
};
AC_INLINE Even even_of(const Windowed& w) { return {w.kernel, w.stride, w.padding}; }
AC_INLINE Even even_of(const Boxed& w) {
    const int64_t size = w.outputs == 0 ? 0 : w.n / w.outputs;
    if (size * w.outputs != w.n) return {0, 0, 0};
    return {size, size, 0};
}

template <class T>
struct AvgPool {
    const T* from;
    T* to;
    PoolPlanes large, small;  // what is averaged, and the averages
    Span *rows, *columns;     // of `small`
    int64_t divisor;          // or 0
    int dtype;                // of memory
    Even even;

    [[nodiscard]] AC_INLINE int64_t line() const {
        return larger(even.reach(small.width), even.padding + large.width) +
               vec<T>::lanes;
    }

    template <class Spans>
    AC_INLINE bool make_spans(ac_context* context, const Spans& of_row,
                              const Spans& of_column) {
        const auto count = static_cast<size_t>(small.height + small.width + 1);
        rows = static_cast<Span*>(
            context->scratch(context, slot_spans, count * sizeof(Span)));
        if (rows == nullptr) return false;
        columns = rows + small.height;
        even = even_of(of_column);
        for (int64_t i = 0; i < small.height; ++i) rows[i] = of_row(i);
        for (int64_t i = 0; i < small.width; ++i) columns[i] = of_column(i);
        return true;
    }
    [[nodiscard]] AC_INLINE T area(int64_t row, int64_t column) const {
        const int64_t all = rows[row].count * columns[column].count;
        return static_cast<T>(divisor != 0 ? divisor : all);
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
