// SPDX-License-Identifier: MIT
//
// The largest element of boxes of planes or images, and its place in its plane: what
// max_pool and adaptive_max_pool share. Of equals the first counts, by its place; NaN
// is larger than anything and equal to NaN. A box of nothing has -infinity at the place
// after the last, which loses against any other.
#pragma once

#include "indexing/indices.hpp"
#include "pooling/pooling.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// What output `i` of one dimension takes: `count` elements, `step` apart.
struct Taps {
    int64_t first, step, count;
};

// Windows of max_pool over `n` elements: those that are within.
struct WindowTaps {
    int64_t n, kernel, stride, padding, dilation;

    AC_INLINE Taps operator()(int64_t i) const {
        const int64_t first = i * stride - padding;
        // Most windows: the divisions below take longer than some taps.
        if (first >= 0 && first + (kernel - 1) * dilation < n)
            return {first, dilation, kernel};
        const int64_t begin = first < 0 ? ceil_div(-first, dilation) : 0;
        const int64_t end =
            smaller(kernel, first < n ? (n - 1 - first) / dilation + 1 : 0);
        return {first + begin * dilation, dilation, larger<int64_t>(end - begin, 0)};
    }
};
// Boxes of adaptive_max_pool.
struct BoxTaps {
    int64_t n, outputs;

    AC_INLINE Taps operator()(int64_t i) const {
        const int64_t begin = i * n / outputs;
        return {begin, 1, ceil_div((i + 1) * n, outputs) - begin};
    }
};

template <class T>
struct Maxima {
    const T* x;
    T* out;
    int64_t* indices;  // or null
    PoolPlanes from, to;
    int dtype;  // of memory
};

// Elements, and their places in their plane.
template <class T>
struct Placed {
    vec<T> value;
    ints<T> place;
};

// Whether `b` is the larger one; `later` says that it is after `a` in its plane.
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

// That of nothing, in a plane of `size` elements.
template <class T>
AC_INLINE Placed<T> none_of(int64_t size) {
    return {set1<T>(-T(__builtin_inf())),
            set1<int_of<T>>(static_cast<int_of<T>>(size))};
}

// The largest element of each column over the rows that an output takes.
template <class T, bool placed>
AC_INLINE void down_columns(const PoolPlanes& of, const T* plane, const Taps& rows,
                            T* values, int_of<T>* places) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t width = of.width;
    for (int64_t i = 0; i < width; i += lanes) {
        const int64_t n = smaller(lanes, width - i);
        const auto at = [&](int64_t tap) {
            const int64_t element = (rows.first + tap * rows.step) * width + i;
            const ints<T> place =
                lane_index<T>() + set1<int_of<T>>(static_cast<int_of<T>>(element));
            return Placed<T>{load_last(plane + element, n), place};
        };
        Placed<T> best = rows.count > 0 ? at(0) : none_of<T>(of.size());
        for (int64_t tap = 1; tap < rows.count; ++tap) {
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

// One pixel's results from channels-last images: of the channels that a register has
// room for, from `c` on; `image` begins with the first row of `rows`.
template <class T, bool placed>
AC_INLINE void largest_of_pixels(const PoolImages& images, const T* image,
                                 const Taps& rows, const Taps& columns, T* out,
                                 int64_t* indices, int64_t c) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t channels = images.channels, n = smaller(lanes, channels - c);
    const auto at = [&](int64_t y, int64_t x) {
        const int64_t at =
            y * rows.step * images.width + columns.first + x * columns.step;
        const int64_t place = rows.first * images.width + at;
        return Placed<T>{load_last(image + at * channels + c, n),
                         set1<int_of<T>>(static_cast<int_of<T>>(place))};
    };
    Placed<T> best = none_of<T>(images.size());
    if (rows.count > 0 && columns.count > 0) best = at(0, 0);
    for (int64_t y = 0; y < rows.count; ++y) {
        for (int64_t x = 0; x < columns.count; ++x) {
            if constexpr (placed) {
                take_larger<T, true>(best, at(y, x));
            } else {
                best.value = maximum(best.value, at(y, x).value);
            }
        }
    }
    store_last(out + c, best.value, n);
    if constexpr (placed) {
        alignas(64) int_of<T> places[lanes];
        store(places, best.place);
        if (n == lanes) {
            for (int64_t i = 0; i < lanes; ++i) indices[c + i] = places[i];
        } else {
            for (int64_t i = 0; i < n; ++i) indices[c + i] = places[i];
        }
    }
}

template <class T, bool placed, class Axis>
void largest_of_row(const Maxima<T>& job, const PoolImages& images, const Taps& rows,
                    const Axis& of_column, const T* image, T* out, int64_t* indices) {
    const int64_t channels = images.channels;
    for (int64_t column = 0; column < job.to.width; ++column) {
        const Taps columns = of_column(column);
        for (int64_t c = 0; c < channels; c += vec<T>::lanes)
            largest_of_pixels<T, placed>(
                images, image, rows, columns, out + column * channels,
                placed ? indices + column * channels : nullptr, c);
    }
}

template <class T, class Axis>
void largest_of_images(const Maxima<T>& job, const PoolImages& images, int slot,
                       const Axis& of_row, const Axis& of_column, ac_context* context,
                       ac_status* status) {
    const int64_t height = job.to.height, line = images.width * images.channels;
    const int64_t made = job.to.width * images.channels;
    const auto rows_of = [](const Taps& rows) {
        return rows.count > 0 ? (rows.count - 1) * rows.step + 1 : 0;
    };
    int64_t most = 0;
    for (int64_t r = 0; r < height; ++r) most = larger(most, rows_of(of_row(r)));
    each_plane<T>(
        context, status, slot, images.count * height,
        ceil_div(images.elements(), height),
        is_half(job.dtype) ? most * line + made : 0, [&](int64_t i, T* room) {
            const Taps rows = of_row(i % height);
            const int64_t n = rows_of(rows) * line;
            const int64_t first =
                i / height * images.elements() + (n > 0 ? rows.first * line : 0);
            as_floats(
                job.dtype, job.x, {first, 1, n, n}, job.out, {i * made, 1, made, made},
                room, [&](const T* image, T* out, bool) {
                    if (job.indices != nullptr) {
                        largest_of_row<T, true>(job, images, rows, of_column, image,
                                                out, job.indices + i * made);
                    } else {
                        largest_of_row<T, false>(job, images, rows, of_column, image,
                                                 out, nullptr);
                    }
                });
        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
