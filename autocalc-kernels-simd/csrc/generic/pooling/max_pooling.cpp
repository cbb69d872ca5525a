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
                              const WindowTaps& columns, const Line<T>& line, T* out,
                              int64_t* indices) {
    const int64_t left = columns.padding, size = job.from.size();
    // `along_line` wrote over the padding.
    fill_outside(line, size, 0, left);
    fill_outside(line, size, left + job.from.width, reach_of(columns, job.to.width));
    down_columns<T, placed>(job.from, plane, rows, line.values + left,
                            line.places + left);
    along_line<T, placed>(columns, job.to.width, line.values, line.places);
    for (int64_t c = 0; c < job.to.width; ++c) out[c] = line.values[c * columns.stride];
    if constexpr (placed) {
        for (int64_t c = 0; c < job.to.width; ++c)
            indices[c] = line.places[c * columns.stride];
    }
}

// ---- adaptive_max_pool

template <class T>
AC_INLINE int64_t line_of(const BoxTaps& columns, const Maxima<T>& /*job*/) {
    return columns.n + 2 * vec<T>::lanes;
}

template <class T, bool placed>
AC_INLINE void results_of_row(const Maxima<T>& job, const T* plane, const Taps& rows,
                              const BoxTaps& columns, const Line<T>& line, T* out,
                              int64_t* indices) {
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
        out[c] = line.values[best];
        if constexpr (placed) indices[c] = line.places[best];
    }
}

// ---- both

template <class T, bool placed, class Axis>
void largest_of_plane(const Maxima<T>& job, const Axis& of_row, const Axis& of_column,
                      const T* plane, T* out, int64_t* indices, T* scratch) {
    const Line<T> line = {
        scratch, reinterpret_cast<int_of<T>*>(scratch + line_of(of_column, job))};
    for (int64_t r = 0; r < job.to.height; ++r) {
        const int64_t to = r * job.to.width;
        results_of_row<T, placed>(job, plane, of_row(r), of_column, line, out + to,
                                  placed ? indices + to : nullptr);
    }
}

template <class T, class Axis>
void pool_floats(const ac_call* call, ac_context* context, ac_status* status,
                 const Axis& of_row, const Axis& of_column) {
    const ac_array *out = operand(call, 0), *indices = operand(call, 1);
    const ac_array* x = operand(call, 2);
    const bool last = lie_last({out, indices, x});
    Maxima<T> job = {nullptr,        nullptr,          nullptr,
                     PoolPlanes(*x), PoolPlanes(*out), x->dtype};
    if (!whole_images(context, slot_x, x, job.x, last) ||
        !whole_images(context, slot_out, out, job.out, last) ||
        !whole_output(context, slot_indices, indices, job.indices, last)) {
        return no_memory(status);
    }
    done(status);
    if (job.to.count * job.to.size() == 0) return;
    if (last)
        return largest_of_images(job, PoolImages(*x), slot_line, of_row, of_column,
                                 context, status);
    const int64_t taken = job.from.size(), made = job.to.size();
    const int64_t line = 2 * line_of(of_column, job);
    each_plane<T>(
        context, status, slot_line, job.to.count, taken,
        line + (is_half(job.dtype) ? taken + made : 0), [&](int64_t p, T* scratch) {
            as_floats(job.dtype, job.x, {p * taken, 1, taken, taken}, job.out,
                      {p * made, 1, made, made}, scratch + line,
                      [&](const T* plane, T* to, bool) {
                          if (job.indices != nullptr) {
                              largest_of_plane<T, true>(job, of_row, of_column, plane,
                                                        to, job.indices + p * made,
                                                        scratch);
                          } else {
                              largest_of_plane<T, false>(job, of_row, of_column, plane,
                                                         to, nullptr, scratch);
                          }
                      });
        });
    put_images(out, job.out);
    put_whole(indices, job.indices);
}

template <class Axis>
void pool(const ac_call* call, ac_context* context, ac_status* status,
          const Axis& of_row, const Axis& of_column) {
    if (operand(call, 0)->dtype == AC_FLOAT64) {
        pool_floats<double>(call, context, status, of_row, of_column);
    } else {
        pool_floats<float>(call, context, status, of_row, of_column);
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

// Adds g to the places of `count` channels of an image, or of a plane. Neighbours of a
// channel are `step` apart, their places `apart`.
template <class T>
AC_INLINE void add_to_places(IndexReader indices, const T* g, const int64_t* places,
                             int64_t windows, T* sums, int64_t step, int64_t apart,
                             int64_t count) {
    for (int64_t i = 0; i < windows; ++i, g += step, places += apart) {
        for (int64_t c = 0; c < count; ++c) {
            int64_t place;
            if (!indices.read(places + c, place)) return;
            sums[place * step + c] += g[c];
        }
    }
}

template <class T>
struct PlacesJob {
    const T* g;
    const int64_t* places;
    T* sums;
    IndexReader indices;
    int dtype;  // of memory
};

template <class T>
void add_to_images(ac_context* context, ac_status* status, const PlacesJob<T>& job,
                   const PoolImages& images, int64_t windows) {
    each_part(
        context, status, slot_line, job.dtype, job.g, windows, job.sums, images,
        [&](const T* g, T* sums, const PoolImages& part, int64_t first, int64_t count) {
            clear_channels(sums, part, count);
            add_to_places(job.indices, g, job.places + first, windows, sums,
                          part.channels, images.channels, count);
        });
}

template <class T>
void add_to_planes(ac_context* context, ac_status* status, const PlacesJob<T>& job,
                   const PoolPlanes& to, int64_t windows) {
    const int64_t made = to.size();
    each_plane<T>(
        context, status, slot_line, to.count, made,
        is_half(job.dtype) ? windows + made : 0, [&](int64_t p, T* room) {
            as_floats(job.dtype, job.g, {p * windows, 1, windows, windows}, job.sums,
                      {p * made, 1, made, made}, room, [&](const T* g, T* plane, bool) {
                          memset(plane, 0, static_cast<size_t>(made) * sizeof(T));
                          add_to_places(job.indices, g, job.places + p * windows,
                                        windows, plane, 1, 1, 1);
                      });
        });
}

template <class T>
void max_pool_backward_floats(const ac_call* call, ac_context* context,
                              ac_status* status) {
    const ac_array *dx = operand(call, 0), *indices = operand(call, 2);
    const PoolPlanes from(*operand(call, 1)), to(*dx);
    const bool last = lie_last({dx, operand(call, 1), indices});
    PlacesJob<T> job;
    job.dtype = dx->dtype;
    if (!whole_images(context, slot_g, operand(call, 1), job.g, last) ||
        !whole_input(context, slot_indices, indices, job.places, last) ||
        !whole_images(context, slot_out, dx, job.sums, last)) {
        return no_memory(status);
    }
    done(status);
    ac_array read = *indices;
    if (!last) read = contiguous_like(read, const_cast<int64_t*>(job.places));
    CheckedIndices checked(&read, to.size(), 2, status);
    job.indices = checked.reader();
    if (last) {
        add_to_images(context, status, job, PoolImages(*dx), from.size());
    } else {
        add_to_planes(context, status, job, to, from.size());
    }
    if (checked.report() && !last) put_images(dx, job.sums);
}

void max_pool_backward(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT64) {
        max_pool_backward_floats<double>(call, context, status);
    } else {
        max_pool_backward_floats<float>(call, context, status);
    }
}
const char* backward_supports(const ac_call* call) { return pool_supports(call, 1); }

const ac_kernel_entry entries[] = {
    {"max_pool",
     "out indices? ; x ; kernel:ints stride:ints padding:ints dilation:ints ceil:bool",
     max_pool, forward_supports, nullptr, 0.5, floating_dtypes, nullptr},
    {"adaptive_max_pool", "out indices? ; x ; sizes:ints", adaptive_max_pool,
     forward_supports, nullptr, 0.5, floating_dtypes, nullptr},
    {"max_pool_backward", "dx ; g indices ; sizes:ints", max_pool_backward,
     backward_supports, nullptr, 0.4, floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(max_pooling, entries);
}  // namespace autocalc::simd::AC_ISA
