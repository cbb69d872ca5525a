// SPDX-License-Identifier: MIT
//
// avg_pool and adaptive_avg_pool, forward and backward. Either way each output takes
// the rows of one span and the columns of another, and divides by the product of two
// counts: sums of rows make a line, of which each span is summed, and back in the other
// order. Of channels-last images, lanes hold channels, and a window is its pixels one
// by one.
#include "common/families.hpp"
#include "pooling/avg.hpp"
#include "reduce/reduce.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

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
void average_plane(const AvgPool<T>& job, const T* plane, T* to, T* line) {
    const int64_t width = job.large.width, left = job.even.padding;
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
void spread_plane(const AvgPool<T>& job, const T* from, T* plane, T* line) {
    const int64_t width = job.large.width;
    const auto bytes = [&](int64_t rows) {
        return static_cast<size_t>(rows * width) * sizeof(T);
    };
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

// ---- channels-last

// The averages of `vectors` registers of channels of a window; the last one has `n`.
template <class T, int vectors>
void average_pixel(const T* image, int64_t row, int64_t column, const Span& rows,
                   const Span& columns, int64_t n, T area, T* to) {
    constexpr int64_t lanes = vec<T>::lanes;
    // Eight at a time for the error, as other sums are.
    Cascade<T, SumOp> sums[vectors];
    vec<T> group[vectors];
    for (int v = 0; v < vectors; ++v) group[v] = zero<T>();
    int64_t in_group = 0;
    for (int64_t y = rows.begin; y < rows.end; ++y) {
        const T* pixel = image + y * row + columns.begin * column;
        for (int64_t x = columns.begin; x < columns.end; ++x, pixel += column) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; ++v) {
                group[v] = group[v] +
                           load_last(pixel + v * lanes, v + 1 < vectors ? lanes : n);
            }
            if (++in_group < 8) continue;
            in_group = 0;
            for (int v = 0; v < vectors; ++v) {
                sums[v].push(group[v]);
                group[v] = zero<T>();
            }
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        if (sums[v].count > 0) {
            sums[v].push(group[v]);
            group[v] = sums[v].total();
        }
        store_last(to + v * lanes, group[v] / set1<T>(area),
                   v + 1 < vectors ? lanes : n);
    }
}

// The averages of a row of pixels; `image` begins with the first row that it takes.
template <class T>
void average_row(const AvgPool<T>& job, const PoolImages& large, int64_t r,
                 const T* image, T* to) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t channels = large.channels, line = large.width * channels;
    const Span rows = {0, job.rows[r].end - job.rows[r].begin, 0};
    for (int64_t c = 0; c < job.small.width; ++c, to += channels) {
        const Span& columns = job.columns[c];
        const T area = job.area(r, c);
        int64_t k = 0;
        const auto run = [&](auto average, int64_t n) {
            average(image + k, line, channels, rows, columns, n, area, to + k);
        };
        for (; k + 4 * lanes <= channels; k += 4 * lanes)
            run(average_pixel<T, 4>, lanes);
        for (; k + lanes < channels; k += 2 * lanes)
            run(average_pixel<T, 2>, smaller(lanes, channels - k - lanes));
        if (k < channels) run(average_pixel<T, 1>, smaller(lanes, channels - k));
    }
}

// Whether spans fill all `n` elements, each once.
AC_INLINE bool tile_all(const Span* spans, int64_t count, int64_t n) {
    int64_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (spans[i].begin != at) return false;
        at = spans[i].end;
    }
    return at == n;
}

// The gradients of `count` channels of an image: each is written once if windows `tile`
// it, else added up from zeros.
template <class T>
void spread_part(const AvgPool<T>& job, const PoolImages& large, bool tile,
                 const T* from, T* image, int64_t count) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t channels = large.channels;
    if (!tile) clear_channels(image, large, count);
    for (int64_t r = 0; r < job.small.height; ++r) {
        const Span& rows = job.rows[r];
        for (int64_t c = 0; c < job.small.width; ++c, from += channels) {
            const Span& columns = job.columns[c];
            const vec<T> area = set1<T>(job.area(r, c));
            for (int64_t k = 0; k < count; k += lanes) {
                const int64_t n = smaller(lanes, count - k);
                const vec<T> share = load_last(from + k, n) / area;
                for (int64_t y = rows.begin; y < rows.end; ++y) {
                    T* pixel = image + (y * large.width + columns.begin) * channels + k;
                    for (int64_t x = columns.begin; x < columns.end; ++x) {
                        store_last(pixel, tile ? share : load_last(pixel, n) + share,
                                   n);
                        pixel += channels;
                    }
                }
            }
        }
    }
}

template <class T, bool backward>
void pool_images(const AvgPool<T>& job, const PoolImages& large, ac_context* context,
                 ac_status* status) {
    if constexpr (!backward) {
        const int64_t height = job.small.height, line = large.width * large.channels;
        const int64_t made = job.small.width * large.channels;
        int64_t most = 0;
        for (int64_t r = 0; r < height; ++r)
            most = larger(most, job.rows[r].end - job.rows[r].begin);
        each_plane<T>(
            context, status, slot_line, large.count * height,
            ceil_div(large.elements(), larger<int64_t>(height, 1)),
            is_half(job.dtype) ? most * line + made : 0, [&](int64_t i, T* room) {
                const int64_t r = i % height;
                const Span& rows = job.rows[r];
                const int64_t n = (rows.end - rows.begin) * line;
                const int64_t from = i / height * large.elements() + rows.begin * line;
                as_floats(job.dtype, job.from, {from, 1, n, n}, job.to,
                          {i * made, 1, made, made}, room,
                          [&](const T* image, T* to, bool) {
                              average_row(job, large, r, image, to);
                          });
            });
    } else {
        const bool tile = tile_all(job.rows, job.small.height, large.height) &&
                          tile_all(job.columns, job.small.width, large.width);
        each_part(
            context, status, slot_line, job.dtype, job.from, job.small.size(), job.to,
            large,
            [&](const T* from, T* to, const PoolImages& part, int64_t, int64_t count) {
                spread_part(job, part, tile, from, to, count);
            });
    }
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
                      to->dtype,
                      {0, 0, 0}};
    const bool last = lie_last({to, from});
    if (!whole_images(context, slot_from, from, job.from, last) ||
        !whole_images(context, slot_to, to, job.to, last) ||
        !job.make_spans(context, spans(0, job.large.height, job.small.height),
                        spans(1, job.large.width, job.small.width))) {
        return no_memory(status);
    }
    done(status);
    if (last) {
        const PoolImages large(*(backward ? to : from));
        return pool_images<T, backward>(job, large, context, status);
    }
    const int64_t taken = of_from.size(), made = of_to.size();
    each_plane<T>(context, status, slot_line, of_to.count, job.large.size(),
                  job.line() + (is_half(job.dtype) ? taken + made : 0),
                  [&](int64_t p, T* line) {
                      as_floats(job.dtype, job.from, {p * taken, 1, taken, taken},
                                job.to, {p * made, 1, made, made}, line + job.line(),
                                [&](const T* in, T* out, bool) {
                                    if constexpr (backward) {
                                        spread_plane(job, in, out, line);
                                    } else {
                                        average_plane(job, in, out, line);
                                    }
                                });
                  });
    put_images(to, job.to);
}
template <bool backward, class Spans>
void pool(const ac_call* call, ac_context* context, ac_status* status, int64_t divisor,
          const Spans& spans) {
    if (operand(call, 0)->dtype == AC_FLOAT64) {
        pool_floats<double, backward>(call, context, status, divisor, spans);
    } else {
        pool_floats<float, backward>(call, context, status, divisor, spans);
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
     avg_pool<false>, supports, nullptr, 0.4, floating_dtypes, nullptr},
    {"avg_pool_backward",
     "dx ; g ; sizes:ints kernel:ints stride:ints padding:ints ceil:bool "
     "count_include_pad:bool divisor:int",
     avg_pool<true>, supports, nullptr, 0.5, floating_dtypes, nullptr},
    {"adaptive_avg_pool", "out ; x ; sizes:ints", adaptive_avg_pool<false>, supports,
     nullptr, 0.3, floating_dtypes, nullptr},
    {"adaptive_avg_pool_backward", "dx ; g ; sizes:ints", adaptive_avg_pool<true>,
     supports, nullptr, 0.4, floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(avg_pooling, entries);
}  // namespace autocalc::simd::AC_ISA
