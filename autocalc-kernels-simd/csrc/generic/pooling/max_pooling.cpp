// SPDX-License-Identifier: MIT
//
// max_pool and adaptive_max_pool, and max_pool_backward for both.
//
// A row of results begins with the largest element of each column over the rows that it
// takes, and with its place. Of windows, along that line the largest of a window's
// columns is taken at every position, and every `stride`-th one is a result; of boxes,
// each is searched.
//
// Of channels-last images, lanes hold channels, and a window is its taps one by one.
#include "common/families.hpp"
#include "indexing/indices.hpp"
#include "pooling/max.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_x = 0, slot_out = 1, slot_indices = 2, slot_line = 3, slot_g = 4 };

// A line of elements and their places, with room for whole vectors.
template <class T>
struct Line {
    T* values;
    int_of<T>* places;
};

// ---- max_pool

// The largest of a window's columns, at every position of the line, written over it.
template <class T, bool placed>
AC_INLINE void along_line(const WindowTaps& columns, int64_t outputs, T* values,
                          int_of<T>* places) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t positions = (outputs - 1) * columns.stride + 1;
    for (int64_t i = 0; i < positions; i += lanes) {
        Placed<T> best = {load(values + i), {}};
        if constexpr (placed) best.place = load(places + i);
        for (int64_t tap = 1; tap < columns.kernel; ++tap) {
            const int64_t at = i + tap * columns.dilation;
            if constexpr (placed) {
                take_larger<T, false>(best, {load(values + at), load(places + at)});
            } else {
                best.value = maximum(best.value, load(values + at));
            }
        }
        store(values + i, best.value);
        if constexpr (placed) store(places + i, best.place);
    }
}

// How far windows reach along a padded line.
AC_INLINE int64_t reach_of(const WindowTaps& columns, int64_t outputs) {
    return (outputs - 1) * columns.stride + (columns.kernel - 1) * columns.dilation + 1;
}
// Elements of the line that `row_of_windows` works in.
template <class T>
AC_INLINE int64_t line_of(const WindowTaps& columns, const Maxima<T>& job) {
    return larger(reach_of(columns, job.to.width), columns.padding + job.from.width) +
           2 * vec<T>::lanes;
}

template <class T>
AC_INLINE void fill_outside(const Line<T>& line, int64_t size, int64_t begin,
                            int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        line.values[i] = -T(__builtin_inf());
        line.places[i] = static_cast<int_of<T>>(size);
    }
}

template <class T, bool placed>
AC_INLINE void results_of_row(const Maxima<T>& job, const T* plane, const Taps& rows,
                              const WindowTaps& columns, const Line<T>& line,
                              int64_t to) {
    const int64_t left = columns.padding, size = job.from.size();
    // `along_line` wrote over the padding.
    fill_outside(line, size, 0, left);
    fill_outside(line, size, left + job.from.width, reach_of(columns, job.to.width));
    down_columns<T, placed>(job.from, plane, rows, line.values + left,
                            line.places + left);
    along_line<T, placed>(columns, job.to.width, line.values, line.places);
    for (int64_t c = 0; c < job.to.width; ++c)
        job.out[to + c] = line.values[c * columns.stride];
    if constexpr (placed) {
        for (int64_t c = 0; c < job.to.width; ++c)
            job.indices[to + c] = line.places[c * columns.stride];
    }
}

// ---- adaptive_max_pool

template <class T>
AC_INLINE int64_t line_of(const BoxTaps& columns, const Maxima<T>& /*job*/) {
    return columns.n + 2 * vec<T>::lanes;
}

template <class T, bool placed>
AC_INLINE void results_of_row(const Maxima<T>& job, const T* plane, const Taps& rows,
                              const BoxTaps& columns, const Line<T>& line, int64_t to) {
    down_columns<T, placed>(job.from, plane, rows, line.values, line.places);
    for (int64_t c = 0; c < job.to.width; ++c) {
        const Taps taps = columns(c);
        int64_t best = taps.first;
        for (int64_t i = best + 1; i < taps.first + taps.count; ++i) {
            const T a = line.values[best], b = line.values[i];
            const bool a_nan = a != a, b_nan = b != b;
            bool take = b > a || (b_nan && !a_nan);
            if constexpr (placed) {
                const bool same = b == a || (a_nan && b_nan);
                take = take || (same && line.places[i] < line.places[best]);
            }
            if (take) best = i;
        }
        job.out[to + c] = line.values[best];
        if constexpr (placed) job.indices[to + c] = line.places[best];
    }
}

// ---- both

template <class T, bool placed, class Axis>
void largest_of_plane(const Maxima<T>& job, const Axis& of_row, const Axis& of_column,
                      int64_t p, T* scratch) {
    const T* plane = job.x + p * job.from.size();
    const Line<T> line = {
        scratch, reinterpret_cast<int_of<T>*>(scratch + line_of(of_column, job))};
    for (int64_t r = 0; r < job.to.height; ++r) {
        const int64_t to = (p * job.to.height + r) * job.to.width;
        results_of_row<T, placed>(job, plane, of_row(r), of_column, line, to);
    }
}

template <class T, class Axis>
void pool_floats(const ac_call* call, ac_context* context, ac_status* status,
                 const Axis& of_row, const Axis& of_column) {
    const ac_array *out = operand(call, 0), *indices = operand(call, 1);
    const ac_array* x = operand(call, 2);
    const bool last = lie_last({out, indices, x});
    Maxima<T> job = {nullptr, nullptr, nullptr, PoolPlanes(*x), PoolPlanes(*out)};
    if (!whole_input(context, slot_x, x, job.x, last) ||
        !whole_output(context, slot_out, out, job.out, last) ||
        !whole_output(context, slot_indices, indices, job.indices, last)) {
        return no_memory(status);
    }
    done(status);
    if (job.to.count * job.to.size() == 0) return;
    if (last) return largest_of_images(job, PoolImages(*x), of_row, of_column, context);
    each_plane<T>(context, status, slot_line, job.to.count, job.from.size(),
                  2 * line_of(of_column, job), [&](int64_t p, T* scratch) {
                      if (job.indices != nullptr) {
                          largest_of_plane<T, true>(job, of_row, of_column, p, scratch);
                      } else {
                          largest_of_plane<T, false>(job, of_row, of_column, p,
                                                     scratch);
                      }
                  });
    put_whole(out, job.out);
    put_whole(indices, job.indices);
}

template <class Axis>
void pool(const ac_call* call, ac_context* context, ac_status* status,
          const Axis& of_row, const Axis& of_column) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        pool_floats<float>(call, context, status, of_row, of_column);
    } else {
        pool_floats<double>(call, context, status, of_row, of_column);
    }
}

void max_pool(const ac_call* call, ac_context* context, ac_status* status) {
    const PoolPlanes from(*operand(call, 2));
    const auto axis = [&](int a, int64_t n) {
        return WindowTaps{n, pool_attribute(call, 0, a, 1),
                          pool_attribute(call, 1, a, 1), pool_attribute(call, 2, a, 0),
                          pool_attribute(call, 3, a, 1)};
    };
    pool(call, context, status, axis(0, from.height), axis(1, from.width));
}

void adaptive_max_pool(const ac_call* call, ac_context* context, ac_status* status) {
    const PoolPlanes from(*operand(call, 2)), to(*operand(call, 0));
    pool(call, context, status, BoxTaps{from.height, to.height},
         BoxTaps{from.width, to.width});
}

const char* forward_supports(const ac_call* call) { return pool_supports(call, 2); }

// ---- backward

// Adds g to the places of an image, `count` channels of it.
template <class T>
AC_INLINE void add_to_places(IndexReader indices, const T* g, const int64_t* places,
                             int64_t windows, T* sums, int64_t channels,
                             int64_t count) {
    for (int64_t i = 0; i < windows; ++i, g += channels, places += channels) {
        for (int64_t c = 0; c < count; ++c) {
            int64_t place;
            if (!indices.read(places + c, place)) return;
            sums[place * channels + c] += g[c];
        }
    }
}

template <class T>
struct PlacesJob {
    const T* g;
    const int64_t* places;
    T* sums;
    IndexReader indices;
};

template <class T>
void add_to_images(ac_context* context, const PlacesJob<T>& job,
                   const PoolImages& images, int64_t windows) {
    each_part(context, images, [&](int64_t n, int64_t c, int64_t count) {
        T* image = job.sums + n * images.elements() + c;
        const int64_t first = n * windows * images.channels + c;
        clear_channels(image, images, count);
        add_to_places(job.indices, job.g + first, job.places + first, windows, image,
                      images.channels, count);
    });
}

template <class T>
void add_to_planes(ac_context* context, const PlacesJob<T>& job, const PoolPlanes& to,
                   int64_t windows) {
    parallel(context, to.count, to.count * to.size() >= 16384,
             [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) {
                     T* plane = job.sums + p * to.size();
                     memset(plane, 0, static_cast<size_t>(to.size()) * sizeof(T));
                     const int64_t first = p * windows;
                     add_to_places(job.indices, job.g + first, job.places + first,
                                   windows, plane, 1, 1);
                 }
             });
}

template <class T>
void max_pool_backward_floats(const ac_call* call, ac_context* context,
                              ac_status* status) {
    const ac_array *dx = operand(call, 0), *indices = operand(call, 2);
    const PoolPlanes from(*operand(call, 1)), to(*dx);
    const bool last = lie_last({dx, operand(call, 1), indices});
    PlacesJob<T> job;
    if (!whole_input(context, slot_g, operand(call, 1), job.g, last) ||
        !whole_input(context, slot_indices, indices, job.places, last) ||
        !whole_output(context, slot_out, dx, job.sums, last)) {
        return no_memory(status);
    }
    done(status);
    ac_array read = *indices;
    if (!last) read = contiguous_like(read, const_cast<int64_t*>(job.places));
    CheckedIndices checked(&read, to.size(), 2, status);
    job.indices = checked.reader();
    if (last) {
        add_to_images(context, job, PoolImages(*dx), from.size());
    } else {
        add_to_planes(context, job, to, from.size());
    }
    if (checked.report() && !last) put_whole(dx, job.sums);
}

void max_pool_backward(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        max_pool_backward_floats<float>(call, context, status);
    } else {
        max_pool_backward_floats<double>(call, context, status);
    }
}
const char* backward_supports(const ac_call* call) { return pool_supports(call, 1); }

const ac_kernel_entry entries[] = {
    {"max_pool",
     "out indices? ; x ; kernel:ints stride:ints padding:ints dilation:ints ceil:bool",
     max_pool, forward_supports, nullptr, 0.5, float_dtypes, nullptr},
    {"adaptive_max_pool", "out indices? ; x ; sizes:ints", adaptive_max_pool,
     forward_supports, nullptr, 0.5, float_dtypes, nullptr},
    {"max_pool_backward", "dx ; g indices ; sizes:ints", max_pool_backward,
     backward_supports, nullptr, 0.4, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(max_pooling, entries);
}  // namespace autocalc::simd::AC_ISA
