// SPDX-License-Identifier: MIT
//
// max_pool, and max_pool_backward for it and for adaptive_max_pool.
//
// A row of results begins with the largest element of each column over the window's
// rows, and with its place; along that line the largest of the window's columns is
// taken at every position, and every `stride`-th one is a result. Of equals the first
// counts, by its place in the plane; NaN is larger than anything and equal to NaN. What
// lies outside is -infinity at the place behind the last, so it loses against any
// other.
#include "families.hpp"
#include "indices.hpp"
#include "pools.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_x = 0, slot_out = 1, slot_indices = 2, slot_line = 3, slot_g = 4 };

// One dimension of the windows.
struct PoolAxis {
    int64_t kernel, stride, padding, dilation;

    // Taps of output `i` that lie within `n` elements: from `begin` up to `end`.
    AC_INLINE void taps(int64_t i, int64_t n, int64_t& begin, int64_t& end) const {
        const int64_t first = i * stride - padding;
        begin = first < 0 ? ceil_div(-first, dilation) : 0;
        end = smaller(kernel, first < n ? (n - 1 - first) / dilation + 1 : 0);
    }
};

template <class T>
struct MaxPool {
    const T* x;
    T* out;
    int64_t* indices;  // or null
    PoolPlanes from, to;
    PoolAxis rows, columns;
    int64_t reach;  // of the windows, along a padded line
    int64_t line;   // room for it, with whole vectors

    explicit MaxPool(const ac_call* call)
        : from(*operand(call, 2)), to(*operand(call, 0)) {
        const auto axis = [&](int a) {
            return PoolAxis{
                pool_attribute(call, 0, a, 1), pool_attribute(call, 1, a, 1),
                pool_attribute(call, 2, a, 0), pool_attribute(call, 3, a, 1)};
        };
        rows = axis(0);
        columns = axis(1);
        reach = (to.width - 1) * columns.stride +
                (columns.kernel - 1) * columns.dilation + 1;
        line = larger(reach, columns.padding + from.width) + 2 * vec<T>::lanes;
    }
};

// Elements, and where they lie in their plane.
template <class T>
struct Placed {
    vec<T> value;
    ints<T> place;
};

// Whether `b` is the larger one; `later` says that it lies behind `a` in its plane.
template <class T, bool later>
AC_INLINE mask<T> exceeds(const Placed<T>& a, const Placed<T>& b) {
    const mask<T> a_nan = is_nan(a.value), b_nan = is_nan(b.value);
    const mask<T> above = gt(b.value, a.value) | (b_nan & ~a_nan);
    if constexpr (later) return above;
    const mask<T> same = eq(b.value, a.value) | (a_nan & b_nan);
    return above | (same & gt(a.place, b.place));
}
template <class T, bool later>
AC_INLINE void take_larger(Placed<T>& a, const Placed<T>& b) {
    const mask<T> take = exceeds<T, later>(a, b);
    a.value = select(take, b.value, a.value);
    a.place = select(take, b.place, a.place);
}

// The largest element of each column over the rows of output row `r`.
template <class T, bool placed>
AC_INLINE void down_columns(const MaxPool<T>& job, const T* plane, int64_t r, T* values,
                            int_of<T>* places) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t width = job.from.width;
    int64_t begin, end;
    job.rows.taps(r, job.from.height, begin, end);
    const int64_t top = r * job.rows.stride - job.rows.padding;
    for (int64_t i = 0; i < width; i += lanes) {
        const int64_t n = smaller(lanes, width - i);
        const auto at = [&](int64_t tap) {
            const int64_t element = (top + tap * job.rows.dilation) * width + i;
            const ints<T> place =
                lane_index<T>() + set1<int_of<T>>(static_cast<int_of<T>>(element));
            return Placed<T>{load_last(plane + element, n), place};
        };
        Placed<T> best = {set1<T>(-T(__builtin_inf())),
                          set1<int_of<T>>(static_cast<int_of<T>>(job.from.size()))};
        if (begin < end) best = at(begin);
        for (int64_t tap = begin + 1; tap < end; ++tap) {
            if constexpr (placed) {
                take_larger<T, true>(best, at(tap));
            } else {
                best.value = maximum(best.value, at(tap).value);
            }
        }
        store_last(values + i, best.value, n);
        if constexpr (placed) store_last(places + i, best.place, n);
    }
}

// The largest of a window's columns, at every position of the line, written over it.
template <class T, bool placed>
AC_INLINE void along_line(const MaxPool<T>& job, T* values, int_of<T>* places) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t positions = (job.to.width - 1) * job.columns.stride + 1;
    for (int64_t i = 0; i < positions; i += lanes) {
        Placed<T> best = {load(values + i), {}};
        if constexpr (placed) best.place = load(places + i);
        for (int64_t tap = 1; tap < job.columns.kernel; ++tap) {
            const int64_t at = i + tap * job.columns.dilation;
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

template <class T>
AC_INLINE void fill_outside(const MaxPool<T>& job, T* values, int_of<T>* places,
                            int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        values[i] = -T(__builtin_inf());
        places[i] = static_cast<int_of<T>>(job.from.size());
    }
}

template <class T, bool placed>
void largest_of_plane(const MaxPool<T>& job, int64_t p, T* scratch) {
    const T* plane = job.x + p * job.from.size();
    T* values = scratch;
    auto* places = reinterpret_cast<int_of<T>*>(scratch + job.line);
    const int64_t left = job.columns.padding, stride = job.columns.stride;
    for (int64_t r = 0; r < job.to.height; ++r) {
        // `along_line` wrote over the padding.
        fill_outside(job, values, places, 0, left);
        fill_outside(job, values, places, left + job.from.width, job.reach);
        down_columns<T, placed>(job, plane, r, values + left, places + left);
        along_line<T, placed>(job, values, places);
        const int64_t to = (p * job.to.height + r) * job.to.width;
        for (int64_t c = 0; c < job.to.width; ++c) job.out[to + c] = values[c * stride];
        if constexpr (placed) {
            for (int64_t c = 0; c < job.to.width; ++c)
                job.indices[to + c] = places[c * stride];
        }
    }
}

template <class T>
void max_pool_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = operand(call, 0), *indices = operand(call, 1);
    MaxPool<T> job(call);
    if (!whole_input(context, slot_x, operand(call, 2), job.x) ||
        !whole_output(context, slot_out, out, job.out) ||
        !whole_output(context, slot_indices, indices, job.indices)) {
        return no_memory(status);
    }
    done(status);
    if (job.to.count * job.to.size() == 0) return;
    each_plane<T>(context, status, slot_line, job.to.count, job.from.size(),
                  2 * job.line, [&](int64_t p, T* scratch) {
                      if (job.indices != nullptr) {
                          largest_of_plane<T, true>(job, p, scratch);
                      } else {
                          largest_of_plane<T, false>(job, p, scratch);
                      }
                  });
    put_whole(out, job.out);
    put_whole(indices, job.indices);
}

void max_pool(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        max_pool_floats<float>(call, context, status);
    } else {
        max_pool_floats<double>(call, context, status);
    }
}
const char* max_pool_supports(const ac_call* call) { return pool_supports(call, 2); }

// ---- backward
template <class T>
void max_pool_backward_floats(const ac_call* call, ac_context* context,
                              ac_status* status) {
    const ac_array *dx = operand(call, 0), *indices = operand(call, 2);
    const PoolPlanes from(*operand(call, 1)), to(*dx);
    const T* g;
    const int64_t* places;
    T* sums;
    if (!whole_input(context, slot_g, operand(call, 1), g) ||
        !whole_input(context, slot_indices, indices, places) ||
        !whole_output(context, slot_out, dx, sums)) {
        return no_memory(status);
    }
    done(status);
    bool wrong = false;
    const auto size = static_cast<uint64_t>(to.size());
    parallel(context, to.count, to.count * to.size() >= 16384,
             [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) {
                     T* plane = sums + p * to.size();
                     memset(plane, 0, size * sizeof(T));
                     const int64_t first = p * from.size();
                     for (int64_t i = first; i < first + from.size(); ++i) {
                         if (static_cast<uint64_t>(places[i]) < size) {
                             plane[places[i]] += g[i];
                         } else {
                             __atomic_store_n(&wrong, true, __ATOMIC_RELAXED);
                         }
                     }
                 }
             });
    if (wrong && !indices_fit(indices, to.size(), 2, status)) return;
    put_whole(dx, sums);
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
     max_pool, max_pool_supports, nullptr, 0.5, float_dtypes, 0},
    {"max_pool_backward", "dx ; g indices ; sizes:ints", max_pool_backward,
     backward_supports, nullptr, 0.4, float_dtypes, 0},
};

}  // namespace
AC_DEFINE_FAMILY(max_pooling, entries);
}  // namespace autocalc::simd::AC_ISA
