// SPDX-License-Identifier: MIT
//
// avg_pool and adaptive_avg_pool, forward and backward. Either way each output takes
// the rows of one span and the columns of another, and divides by the product of two
// counts: sums of rows make a line, of which each span is summed, and back in the other
// order.
#include "families.hpp"
#include "pools.hpp"
#include "reduce.hpp"

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

// Windows of columns that lie evenly, in a line with zeros around it.
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

// The sum of `n` neighbours: eight at a time for the error, as other sums are.
template <class T>
AC_INLINE T sum_of_run(const T* p, int64_t n) {
    constexpr int64_t lanes = vec<T>::lanes;
    Cascade<T, SumOp> sums;
    vec<T> group = zero<T>();
    int64_t in_group = 0;
    for (int64_t i = 0; i < n; i += lanes) {
        group = group + load_last(p + i, smaller(lanes, n - i));
        if (++in_group == 8) {
            sums.push(group);
            group = zero<T>();
            in_group = 0;
        }
    }
    sums.push(group);
    return reduce_add(sums.total());
}

// line = or += `count` rows of `width` elements.
template <class T>
AC_INLINE void add_rows(T* line, const T* row, int64_t width, int64_t count,
                        bool more) {
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t i = 0; i < width; i += lanes) {
        const int64_t n = smaller(lanes, width - i);
        vec<T> sum = more ? load_last(line + i, n) : zero<T>();
        for (int64_t r = 0; r < count; ++r)
            sum = sum + load_last(row + r * width + i, n);
        store_last(line + i, sum, n);
    }
}

// to = the sums of the spans of columns of a line.
template <class T>
AC_INLINE void sum_columns(const AvgPool<T>& job, T* line, T* to) {
    const int64_t outputs = job.small.width;
    if (job.even.kernel == 0) {
        for (int64_t c = 0; c < outputs; ++c) {
            T sum = 0;
            for (int64_t i = job.columns[c].begin; i < job.columns[c].end; ++i)
                sum += line[i];
            to[c] = sum;
        }
        return;
    }
    const int64_t reach = job.even.reach(outputs), stride = job.even.stride;
    for (int64_t i = 0; i <= reach - job.even.kernel; i += vec<T>::lanes) {
        vec<T> sum = load(line + i);
        for (int64_t tap = 1; tap < job.even.kernel; ++tap)
            sum = sum + load(line + i + tap);
        store(line + i, sum);
    }
    for (int64_t c = 0; c < outputs; ++c) to[c] = line[c * stride];
}

template <class T>
void average_plane(const AvgPool<T>& job, int64_t p, T* line) {
    const int64_t width = job.large.width, left = job.even.padding;
    const T* plane = job.from + p * job.large.size();
    T* to = job.to + p * job.small.size();
    for (int64_t r = 0; r < job.small.height; ++r, to += job.small.width) {
        const Span rows = job.rows[r];
        const T* first = plane + rows.begin * width;
        if (job.small.width == 1 &&
            job.columns[0].end - job.columns[0].begin == width) {
            to[0] = sum_of_run(first, (rows.end - rows.begin) * width) / job.area(r, 0);
            continue;
        }
        for (int64_t i = 0; i < left; ++i) line[i] = 0;
        for (int64_t i = left + width; i < job.even.reach(job.small.width); ++i)
            line[i] = 0;
        add_rows(line + left, first, width, rows.end - rows.begin, false);
        sum_columns(job, line, to);
        for (int64_t c = 0; c < job.small.width; ++c) to[c] /= job.area(r, c);
    }
}

template <class T>
void spread_plane(const AvgPool<T>& job, int64_t p, T* line) {
    const int64_t width = job.large.width;
    const auto bytes = [&](int64_t rows) {
        return static_cast<size_t>(rows * width) * sizeof(T);
    };
    T* plane = job.to + p * job.large.size();
    const T* from = job.from + p * job.small.size();
    int64_t written = 0;  // rows
    for (int64_t r = 0; r < job.small.height; ++r, from += job.small.width) {
        memset(line, 0, bytes(1));
        for (int64_t c = 0; c < job.small.width; ++c) {
            const T share = from[c] / job.area(r, c);
            for (int64_t i = job.columns[c].begin; i < job.columns[c].end; ++i)
                line[i] += share;
        }
        const Span rows = job.rows[r];
        if (rows.begin > written) {
            memset(plane + written * width, 0, bytes(rows.begin - written));
            written = rows.begin;
        }
        for (int64_t y = rows.begin; y < rows.end; ++y)
            add_rows(plane + y * width, line, width, 1, y < written);
        written = larger(written, rows.end);
    }
    memset(plane + written * width, 0, bytes(job.large.height - written));
}

// One call: `spans(rows, columns)` of an axis 0 or 1 with so many elements and outputs.
template <class T, bool backward, class Spans>
void pool_floats(const ac_call* call, ac_context* context, ac_status* status,
                 int64_t divisor, Spans&& spans) {
    const ac_array *to = operand(call, 0), *from = operand(call, 1);
    const PoolPlanes of_to(*to), of_from(*from);
    AvgPool<T> job = {nullptr,
                      nullptr,
                      backward ? of_to : of_from,
                      backward ? of_from : of_to,
                      nullptr,
                      nullptr,
                      divisor,
                      {0, 0, 0}};
    if (!whole_input(context, slot_from, from, job.from) ||
        !whole_output(context, slot_to, to, job.to) ||
        !job.make_spans(context, spans(0, job.large.height, job.small.height),
                        spans(1, job.large.width, job.small.width))) {
        return no_memory(status);
    }
    done(status);
    each_plane<T>(context, status, slot_line, of_to.count, job.large.size(), job.line(),
                  [&](int64_t p, T* line) {
                      if constexpr (backward) {
                          spread_plane(job, p, line);
                      } else {
                          average_plane(job, p, line);
                      }
                  });
    put_whole(to, job.to);
}
template <bool backward, class Spans>
void pool(const ac_call* call, ac_context* context, ac_status* status, int64_t divisor,
          const Spans& spans) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        pool_floats<float, backward>(call, context, status, divisor, spans);
    } else {
        pool_floats<double, backward>(call, context, status, divisor, spans);
    }
}

// avg_pool_backward has `sizes` before the attributes of avg_pool.
template <bool backward>
void avg_pool(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr int at = backward ? 1 : 0;
    const bool include_padding = int_attribute(call, at + 4) != 0;
    const auto windows = [=](int axis, int64_t n, int64_t) {
        return Windowed{n, pool_attribute(call, at, axis, 1),
                        pool_attribute(call, at + 1, axis, 1),
                        pool_attribute(call, at + 2, axis, 0), include_padding};
    };
    pool<backward>(call, context, status, int_attribute(call, at + 5), windows);
}
template <bool backward>
void adaptive_avg_pool(const ac_call* call, ac_context* context, ac_status* status) {
    const auto boxes = [](int, int64_t n, int64_t outputs) {
        return Boxed{n, outputs};
    };
    pool<backward>(call, context, status, 0, boxes);
}

const char* supports(const ac_call* call) { return pool_supports(call, 1); }

const ac_kernel_entry entries[] = {
    {"avg_pool",
     "out ; x ; kernel:ints stride:ints padding:ints ceil:bool count_include_pad:bool "
     "divisor:int",
     avg_pool<false>, supports, nullptr, 0.4, float_dtypes, 0},
    {"avg_pool_backward",
     "dx ; g ; sizes:ints kernel:ints stride:ints padding:ints ceil:bool "
     "count_include_pad:bool divisor:int",
     avg_pool<true>, supports, nullptr, 0.5, float_dtypes, 0},
    {"adaptive_avg_pool", "out ; x ; sizes:ints", adaptive_avg_pool<false>, supports,
     nullptr, 0.3, float_dtypes, 0},
    {"adaptive_avg_pool_backward", "dx ; g ; sizes:ints", adaptive_avg_pool<true>,
     supports, nullptr, 0.4, float_dtypes, 0},
};

}  // namespace
AC_DEFINE_FAMILY(avg_pooling, entries);
}  // namespace autocalc::simd::AC_ISA
