// SPDX-License-Identifier: MIT
//
// Windows of one element whose channels are neighbours: the pixels that they read are
// the rows of a matrix [windows, channels], which one product multiplies. Pixels that a
// stride leaves out are not brought along; a pixel's channels are one run of memory.
//
// The algorithms of conv/nhwc.hpp bring the filters into an order of their own first
// and keep up to 8 weight gradients: for 1024 to 2048 channels by steps of 2 the three
// passes took 1.4 to 3.6 times as long (8 images of 14 x 14, one thread of a Zen 3).
#pragma once

#include "conv/call.hpp"
#include "conv/pointwise.hpp"
#include "conv/windows.hpp"
#include "gemm/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A slot that products leave free, and elements of the rows that go together.
enum { pixel_rows_slot = 2, pixel_bias_slot = 5 };
constexpr int64_t pixel_rows_size = int64_t{1} << 20;

// One element, without zeros around the image.
AC_INLINE bool is_one_element(const Windows& w) {
    const auto plain = [](const Axis& axis) {
        return axis.kernel == 1 && axis.padding == 0;
    };
    return plain(w.y) && plain(w.x) && w.groups == 1;
}

// Images whose rows go together.
AC_INLINE int64_t pixel_rows_images(const Windows& w) {
    const int64_t image = larger<int64_t>(1, w.y.out * w.x.out * w.ins);
    return smaller(w.batch, larger<int64_t>(1, pixel_rows_size / image));
}

// The pixels that the windows of the images n0 to n1 read.
template <class T>
void gather_pixels(const Windows& w, const Images<const T>& from, int64_t n0,
                   int64_t n1, T* rows, ac_context* context) {
    const int64_t line = w.x.out * w.ins, lines = (n1 - n0) * w.y.out;
    parallel(context, lines, lines * line > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 for (int64_t t = begin; t < end; ++t) {
                     const T* at = from.data + (n0 + t / w.y.out) * from.image +
                                   t % w.y.out * w.y.stride * from.row;
                     for (int64_t x = 0; x < w.x.out; ++x)
                         copy_run(at + x * w.x.stride * from.column, 1, w.ins,
                                  rows + t * line + x * w.ins);
                 }
             });
}

// ---- forward

template <class T>
bool conv_by_pixel_rows(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const int64_t together = pixel_rows_images(w), windows = w.y.out * w.x.out;
    const int64_t wide = round_up(w.outs, vec<T>::lanes);
    T* rows = scratch_of<T>(call.context, pixel_rows_slot, together * windows * w.ins);
    T* bias = scratch_of<T>(call.context, pixel_bias_slot, wide);
    if (rows == nullptr || bias == nullptr) return false;
    copy_bias<T>(call.bias, 1, w.outs, wide, bias);
    Gemm<T> p = {};
    p.n = w.outs;
    p.k = w.ins;
    p.a = rows;
    p.a_row = w.ins;
    p.a_col = 1;
    p.b = call.weight.data;
    p.b_row = call.weight.channel;
    p.b_col = call.weight.image;
    p.c_row = even_step(call.to, w.batch, w.y.out, w.x.out, w.outs);
    p.alpha = 1;
    p.beta = call.accumulate ? T(1) : T(0);
    p.bias = call.bias == nullptr ? nullptr : bias;
    p.activation = Activation::none;
    p.epilogue = call.finish;
    for (int64_t n = 0; n < w.batch; n += together) {
        const int64_t end = smaller(n + together, w.batch);
        if (p.epilogue.other != nullptr)
            p.epilogue.other = call.finish.other + n * call.to.image;
        gather_pixels(w, call.from, n, end, rows, call.context);
        p.m = (end - n) * windows;
        p.c = call.to.data + n * call.to.image;
        if (!multiply(p, call.context)) return false;
    }
    return true;
}

// ---- the input gradient

// A pixel's gradient: what its window has, if there is one, and the bias.
template <class T>
AC_INLINE void put_pixel(const T* from, const T* bias, int64_t count, T* to, bool add) {
    if (bias == nullptr && !add) {
        if (from == nullptr) return clear_run(to, count);
        return copy_run(from, 1, count, to);
    }
    for (int64_t c = 0; c < count; ++c) {
        const T value =
            (from == nullptr ? T(0) : from[c]) + (bias == nullptr ? T(0) : bias[c]);
        to[c] = add ? to[c] + value : value;
    }
}

// The images n0 to n1, from the rows of their windows.
template <class T>
void scatter_pixels(const ConvCall<T>& call, int64_t n0, int64_t n1, const T* rows,
                    const T* bias) {
    const Windows& w = call.windows;
    const int64_t lines = (n1 - n0) * w.y.in, line = w.x.in * w.ins;
    const auto window = [](const Axis& axis, int64_t at) {
        return at % axis.stride == 0 && at / axis.stride < axis.out ? at / axis.stride
                                                                    : -1;
    };
    parallel(call.context, lines, lines * line > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(call.context, AC_PHASE_EPILOGUE);
                 for (int64_t t = begin; t < end; ++t) {
                     const int64_t n = t / w.y.in, y = window(w.y, t % w.y.in);
                     T* to = call.to.data + (n0 + n) * call.to.image +
                             t % w.y.in * call.to.row;
                     for (int64_t i = 0; i < w.x.in; ++i, to += call.to.column) {
                         const int64_t x = window(w.x, i);
                         const T* from =
                             y < 0 || x < 0
                                 ? nullptr
                                 : rows + ((n * w.y.out + y) * w.x.out + x) * w.ins;
                         put_pixel(from, bias, w.ins, to, call.accumulate);
                     }
                 }
             });
}

template <class T>
bool dx_by_pixel_rows(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const int64_t together = pixel_rows_images(w), windows = w.y.out * w.x.out;
    T* rows = scratch_of<T>(call.context, pixel_rows_slot, together * windows * w.ins);
    T* bias = scratch_of<T>(call.context, pixel_bias_slot, w.ins);
    if (rows == nullptr || bias == nullptr) return false;
    copy_bias<T>(call.bias, 1, w.ins, w.ins, bias);
    Gemm<T> p = {};
    p.n = w.ins;
    p.k = w.outs;
    p.a_row = even_step(call.from, w.batch, w.y.out, w.x.out, w.outs);
    p.a_col = 1;
    p.b = call.weight.data;
    p.b_row = call.weight.image;
    p.b_col = call.weight.channel;
    p.c = rows;
    p.c_row = w.ins;
    p.alpha = 1;
    p.activation = Activation::none;
    for (int64_t n = 0; n < w.batch; n += together) {
        const int64_t end = smaller(n + together, w.batch);
        p.m = (end - n) * windows;
        p.a = call.from.data + n * call.from.image;
        if (!multiply(p, call.context)) return false;
        scatter_pixels(call, n, end, rows, call.bias == nullptr ? nullptr : bias);
    }
    return true;
}

// Where lines of windows fill tiles by themselves, and filters are few enough to bring
// into an order of their own, windows are better read in place.
constexpr int64_t lines_of_tiles = 28, few_filters = int64_t{1} << 17;
AC_INLINE bool lines_fill_tiles(const Windows& w) {
    return w.x.out >= lines_of_tiles && w.ins * w.outs <= few_filters;
}

// Whether rows of pixels do it: the images that the windows make, or whose gradient
// they take, must be a matrix already.
template <class T>
AC_INLINE bool by_pixel_rows(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const Images<const T> results = call.turned ? call.from : read_only(call.to);
    return is_one_element(w) && (call.turned || !lines_fill_tiles(w)) &&
           call.from.channel == 1 && call.to.channel == 1 &&
           even_step(results, w.batch, w.y.out, w.x.out, w.outs) > 0;
}

// ---- the weight gradient

// The distance of the pixels that windows read, if all are read and evenly spaced, or
// 0; the same of the windows' gradients.
template <class T>
AC_INLINE int64_t x_step(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    return is_pointwise(w) ? even_step(call.x, w.batch, w.y.in, w.x.in, w.ins) : 0;
}
template <class T>
AC_INLINE int64_t g_step(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    return even_step(call.g, w.batch, w.y.out, w.x.out, w.outs);
}

template <class T>
bool dweight_by_pixel_rows(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const bool in_place = x_step(call) > 0;
    const int64_t together = in_place ? w.batch : pixel_rows_images(w);
    const int64_t windows = w.y.out * w.x.out;
    T* rows = in_place ? nullptr
                       : scratch_of<T>(call.context, pixel_rows_slot,
                                       together * windows * w.ins);
    if (rows == nullptr && !in_place) return false;
    Gemm<T> p = {};
    p.m = w.outs;
    p.n = w.ins;
    p.a_row = 1;
    p.a_col = g_step(call);
    p.b = in_place ? call.x.data : rows;
    p.b_row = in_place ? x_step(call) : w.ins;
    p.b_col = 1;
    p.c = call.to.data;
    p.c_row = call.to.image;
    p.alpha = 1;
    p.activation = Activation::none;
    for (int64_t n = 0; n < w.batch; n += together) {
        const int64_t end = smaller(n + together, w.batch);
        if (!in_place) gather_pixels(w, call.x, n, end, rows, call.context);
        p.k = (end - n) * windows;
        p.a = call.g.data + n * call.g.image;
        p.beta = n > 0 || call.accumulate ? T(1) : T(0);
        if (!multiply(p, call.context)) return false;
    }
    return true;
}

// Whether one product does it, whose filters are many enough to be its size.
constexpr int64_t pixel_rows_filters = int64_t{1} << 16;
template <class T>
AC_INLINE bool fits_pixel_rows(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    return is_one_element(w) && w.batch > 0 && call.x.channel == 1 &&
           call.g.channel == 1 && w.ins * w.outs >= pixel_rows_filters &&
           g_step(call) > 0;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
