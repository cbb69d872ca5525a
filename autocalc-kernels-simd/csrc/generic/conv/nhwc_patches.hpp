// SPDX-License-Identifier: MIT
//
// Few windows and many filters where channels are neighbours: the images are brought
// into planes, convolved by patches (conv/patches.hpp), and the results brought back.
// Images are small compared with such filters: 512 channels of 4 x 4 took 6 ms with the
// filters in an order of their own, 2 in planes (3 x 3 windows, one thread of a Zen 3).
#pragma once

#include "common/transpose.hpp"
#include "conv/patches.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Slots that patches leave free.
enum { planar_from_slot = 4, planar_to_slot = 5 };

struct ImageSizes {
    int64_t batch, channels, rows, columns;
    [[nodiscard]] AC_INLINE int64_t pixels() const { return rows * columns; }
    [[nodiscard]] AC_INLINE int64_t elements() const {
        return batch * channels * pixels();
    }
};
AC_INLINE ImageSizes read_sizes(const Windows& w) {
    return {w.batch, w.ins, w.y.in, w.x.in};
}
AC_INLINE ImageSizes window_sizes(const Windows& w) {
    return {w.batch, w.outs, w.y.out, w.x.out};
}

template <class T>
AC_INLINE Images<T> planar(T* data, const ImageSizes& s) {
    return {data, s.channels * s.pixels(), s.pixels(), s.columns, 1};
}

// Calls run(nhwc, plane, pixels) with the place of each line of pixels, or of each
// image whose lines are contiguous.
template <class T, class Run>
void for_lines(const ImageSizes& s, const Images<T>& nhwc, ac_context* context,
               const Run& run) {
    const bool whole = s.rows == 1 || nhwc.row == s.columns * nhwc.column;
    const int64_t lines = whole ? 1 : s.rows, pixels = s.pixels() / lines;
    parallel(context, s.batch * lines, s.elements() > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 for (int64_t t = begin; t < end; ++t) {
                     const int64_t n = t / lines, y = t % lines;
                     run(nhwc.data + n * nhwc.image + y * nhwc.row,
                         n * s.channels * s.pixels() + y * pixels, pixels);
                 }
             });
}

template <class T>
void to_planes(const ImageSizes& s, const Images<const T>& from, T* to,
               ac_context* context) {
    for_lines(s, from, context, [&](const T* line, int64_t at, int64_t pixels) {
        transpose_items(reinterpret_cast<char*>(to + at), bytes_of<T>(s.pixels()),
                        reinterpret_cast<const char*>(line), bytes_of<T>(from.column),
                        s.channels, pixels, item_size<T>);
    });
}
template <class T>
void from_planes(const ImageSizes& s, const T* from, const Images<T>& to,
                 ac_context* context) {
    for_lines(s, to, context, [&](T* line, int64_t at, int64_t pixels) {
        transpose_items(reinterpret_cast<char*>(line), bytes_of<T>(to.column),
                        reinterpret_cast<const char*>(from + at),
                        bytes_of<T>(s.pixels()), pixels, s.channels, item_size<T>);
    });
}

// conv and conv_dx.
template <class T>
bool conv_by_nhwc_patches(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const ImageSizes from = call.turned ? window_sizes(w) : read_sizes(w);
    const ImageSizes to = call.turned ? read_sizes(w) : window_sizes(w);
    T* images = scratch_of<T>(call.context, planar_from_slot, from.elements());
    T* results = scratch_of<T>(call.context, planar_to_slot, to.elements());
    if (images == nullptr || results == nullptr) return false;
    to_planes(from, call.from, images, call.context);
    if (call.accumulate) to_planes(to, read_only(call.to), results, call.context);
    ConvCall<T> planes = call;
    planes.from = read_only(planar(images, from));
    planes.to = planar(results, to);
    if (!(call.turned ? dx_by_patches(planes) : conv_by_patches(planes))) return false;
    from_planes(to, results, call.to, call.context);
    return true;
}

template <class T>
bool dweight_by_nhwc_patches(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const ImageSizes x = read_sizes(w), g = window_sizes(w);
    T* images = scratch_of<T>(call.context, planar_from_slot, x.elements());
    T* gradients = scratch_of<T>(call.context, planar_to_slot, g.elements());
    if (images == nullptr || gradients == nullptr) return false;
    to_planes(x, call.x, images, call.context);
    to_planes(g, call.g, gradients, call.context);
    DweightCall<T> planes = call;
    planes.x = read_only(planar(images, x));
    planes.g = read_only(planar(gradients, g));
    return dweight_by_patches(planes);
}

// Cycles, with the images' way into planes and back.
template <class T>
double nhwc_patches_cost(const Windows& w, double passes) {
    const auto moved =
        static_cast<double>(read_sizes(w).elements() + window_sizes(w).elements());
    return patches_cost<T>(w, passes) + Costs::nhwc_move * moved;
}

// The same of images in planes or of neighbouring channels; infinite where patches
// cannot be used.
template <class T, class W>
double usable_patches_cost(const Windows& w, const Images<W>& weight, bool nhwc,
                           double passes) {
    if (!fits_patches(w, weight)) return __builtin_inf();
    return nhwc ? nhwc_patches_cost<T>(w, passes) : patches_cost<T>(w, passes);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
