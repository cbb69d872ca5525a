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
//
// Of channels-last images, lanes hold channels, and a window is its taps one by one.
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
        begin = 0;
        end = kernel;
        // Most windows: the divisions below take longer than some taps.
        if (first >= 0 && first + (kernel - 1) * dilation < n) return;
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

// The results of a row of pixels, counted through the images.
template <class T, bool placed>
void largest_of_row(const MaxPool<T>& job, const PoolImages& images, int64_t row) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t channels = images.channels, r = row % job.to.height;
    const T* image = job.x + row / job.to.height * images.elements();
    int64_t top, bottom, left, right;
    job.rows.taps(r, images.height, top, bottom);
    const int64_t y = r * job.rows.stride - job.rows.padding;
    for (int64_t column = 0; column < job.to.width; ++column) {
        job.columns.taps(column, images.width, left, right);
        const int64_t first =
            y * images.width + column * job.columns.stride - job.columns.padding;
        const int64_t to = (row * job.to.width + column) * channels;
        for (int64_t c = 0; c < channels; c += lanes) {
            const int64_t n = smaller(lanes, channels - c);
            const auto at = [&](int64_t tap_y, int64_t tap_x) {
                const int64_t place = first + tap_y * job.rows.dilation * images.width +
                                      tap_x * job.columns.dilation;
                return Placed<T>{load_last(image + place * channels + c, n),
                                 set1<int_of<T>>(static_cast<int_of<T>>(place))};
            };
            Placed<T> best = {set1<T>(-T(__builtin_inf())),
                              set1<int_of<T>>(static_cast<int_of<T>>(images.size()))};
            if (top < bottom && left < right) best = at(top, left);
            for (int64_t tap_y = top; tap_y < bottom; ++tap_y) {
                for (int64_t tap_x = left; tap_x < right; ++tap_x) {
                    if constexpr (placed) {
                        take_larger<T, true>(best, at(tap_y, tap_x));
                    } else {
                        best.value = maximum(best.value, at(tap_y, tap_x).value);
                    }
                }
            }
            store_last(job.out + to + c, best.value, n);
            if constexpr (placed) {
                alignas(64) int_of<T> places[lanes];
                store(places, best.place);
                int64_t* indices = job.indices + to + c;
                if (n == lanes) {
                    for (int64_t i = 0; i < lanes; ++i) indices[i] = places[i];
                } else {
                    for (int64_t i = 0; i < n; ++i) indices[i] = places[i];
                }
            }
        }
    }
}

template <class T>
void largest_of_images(const MaxPool<T>& job, const PoolImages& images,
                       ac_context* context) {
    parallel(context, images.count * job.to.height,
             images.count * images.elements() >= 16384,
             [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                     if (job.indices != nullptr) {
                         largest_of_row<T, true>(job, images, row);
                     } else {
                         largest_of_row<T, false>(job, images, row);
                     }
                 }
             });
}

template <class T>
void max_pool_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = operand(call, 0), *indices = operand(call, 1);
    const ac_array* x = operand(call, 2);
    const bool last = lie_last({out, indices, x});
    MaxPool<T> job(call);
    if (!whole_input(context, slot_x, x, job.x, last) ||
        !whole_output(context, slot_out, out, job.out, last) ||
        !whole_output(context, slot_indices, indices, job.indices, last)) {
        return no_memory(status);
    }
    done(status);
    if (job.to.count * job.to.size() == 0) return;
    if (last) return largest_of_images(job, PoolImages(*x), context);
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

// Adds g to the places of an image, `count` channels of it; answers false if one lies
// outside.
template <class T>
bool add_to_places(const T* g, const int64_t* places, int64_t windows, T* sums,
                   const PoolImages& of, int64_t count) {
    const auto size = static_cast<uint64_t>(of.size());
    const int64_t step = of.channels;
    bool fit = true;
    for (int64_t i = 0; i < windows; ++i, g += step, places += step) {
        for (int64_t c = 0; c < count; ++c) {
            if (static_cast<uint64_t>(places[c]) < size) {
                sums[places[c] * step + c] += g[c];
            } else {
                fit = false;
            }
        }
    }
    return fit;
}

template <class T>
void max_pool_backward_floats(const ac_call* call, ac_context* context,
                              ac_status* status) {
    const ac_array *dx = operand(call, 0), *indices = operand(call, 2);
    const PoolPlanes from(*operand(call, 1)), to(*dx);
    const bool last = lie_last({dx, operand(call, 1), indices});
    const T* g;
    const int64_t* places;
    T* sums;
    if (!whole_input(context, slot_g, operand(call, 1), g, last) ||
        !whole_input(context, slot_indices, indices, places, last) ||
        !whole_output(context, slot_out, dx, sums, last)) {
        return no_memory(status);
    }
    done(status);
    bool wrong = false;
    if (last) {
        const PoolImages images(*dx);
        each_part(context, images, [&](int64_t n, int64_t c, int64_t count) {
            T* image = sums + n * images.elements() + c;
            const int64_t first = n * from.size() * images.channels + c;
            clear_channels(image, images, count);
            if (!add_to_places(g + first, places + first, from.size(), image, images,
                               count)) {
                __atomic_store_n(&wrong, true, __ATOMIC_RELAXED);
            }
        });
        if (wrong) indices_fit(indices, to.size(), 2, status);
        return;
    }
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
