// SPDX-License-Identifier: MIT
//
// How the windows of a convolution lie, and the planes that its kernels read.
//
// No matrix of patches is ever written. A task copies its part of the input once, with
// zeros around it and, for a stride of s, into s * s planes: plane (fy, fx) has the
// elements at rows s * i + fy and columns s * j + fx. Then every tap of every window
// reads one plane at a fixed distance from the window's place in the output, along rows
// that are all `width` long: neighbouring windows are neighbours in memory, whatever
// the stride.
#pragma once

#include "operands.hpp"
#include "product_plan.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The windows along one dimension.
struct Axis {
    int64_t in, out;  // elements of the input, windows
    int64_t kernel, stride, padding, dilation;

    [[nodiscard]] AC_INLINE int64_t phase(int64_t tap) const {
        return tap * dilation % stride;
    }
    [[nodiscard]] AC_INLINE int64_t shift(int64_t tap) const {
        return tap * dilation / stride;
    }
    [[nodiscard]] AC_INLINE int64_t last_shift() const { return shift(kernel - 1); }
    // The place among the phases that taps have, or -1: kernels smaller than the stride
    // leave some out.
    [[nodiscard]] AC_INLINE int64_t slot(int64_t wanted) const {
        int64_t count = 0;
        for (int64_t f = 0; f <= wanted; ++f) {
            bool used = false;
            for (int64_t tap = 0; tap < kernel; ++tap) used |= phase(tap) == f;
            if (f == wanted) return used ? count : -1;
            count += used ? 1 : 0;
        }
        return -1;
    }
    [[nodiscard]] AC_INLINE int64_t phases() const {
        int64_t count = 0;
        for (int64_t f = 0; f < stride; ++f) count += slot(f) >= 0 ? 1 : 0;
        return count;
    }
};

// A convolution of images; of sequences, y has one element.
struct Windows {
    Axis y, x;
    int64_t batch, groups;
    int64_t ins, outs;  // channels of a group, before and after
    [[nodiscard]] AC_INLINE int64_t taps() const { return y.kernel * x.kernel; }
};

// An array [N, C, H, W] or [N, C, W].
template <class T>
struct Images {
    T* data;
    int64_t image, channel, row, column;  // strides
};

template <class T>
AC_INLINE Images<T> images_of(const ac_array* array) {
    const int64_t row = array->ndim == 4 ? stride_of<T>(array, 2) : 0;
    return {data<T>(array), stride_of<T>(array, 0), stride_of<T>(array, 1), row,
            stride_of<T>(array, -1)};
}

AC_INLINE int64_t entry(const ac_call* call, int attribute, int d) {
    return call->attributes[attribute].v.list.values[d];
}

// Reads the geometry. `first` is the attribute `stride`; padding, dilation and groups
// follow. `in` lies on the side of x, `out` on that of the windows; `ins` counts the
// channels of x in a group.
AC_INLINE Windows windows_of(const ac_call* call, int first, const ac_array* in,
                             const ac_array* out, const int64_t* kernel, int64_t ins) {
    const int dims = in->ndim - 2;
    const Axis one = {1, 1, 1, 1, 0, 1};
    Axis axes[2] = {one, one};
    for (int d = 0; d < dims; ++d) {
        axes[2 - dims + d] = {in->shape[2 + d],
                              out->shape[2 + d],
                              kernel[d],
                              entry(call, first, d),
                              entry(call, first + 1, d),
                              entry(call, first + 2, d)};
    }
    const int64_t groups = int_attribute(call, first + 3);
    return {axes[0], axes[1], in->shape[0], groups, ins, out->shape[1] / groups};
}

template <class T>
T* scratch_for(ac_context* context, int slot, int64_t count) {
    return static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(bytes_of<T>(count))));
}

constexpr double ns_per_flop = 0.02;

// Why `input` cannot be convolved here, or null.
AC_INLINE const char* dims_supported(const ac_call* call, int input) {
    const ac_array* array = operand(call, input);
    return array->ndim > 4 ? "convolutions of one and of two dimensions only" : nullptr;
}

// ---- planes

// A part of an image, copied: `slots` planes for each channel. Row i, column j of plane
// (fy, fx) is the image's element (top + step_y * i + fy, left + step_x * j + fx).
struct Planes {
    int64_t height, width;
    int64_t top, left;
    int64_t step_y, step_x;
    int64_t slots_y, slots_x;
    [[nodiscard]] AC_INLINE int64_t plane() const { return height * width; }
    [[nodiscard]] AC_INLINE int64_t channel() const {
        return slots_y * slots_x * plane();
    }
};

// `count` elements from column `first` on, `step` apart in the image; zeros outside.
template <class T>
AC_INLINE void copy_line(const T* from, int64_t stride, int64_t size, int64_t first,
                         int64_t step, int64_t count, T* to) {
    const int64_t begin = first < 0 ? smaller(count, ceil_div(-first, step)) : 0;
    const int64_t fitting = first < size ? ceil_div(size - first, step) : 0;
    const int64_t end = larger(begin, smaller(count, fitting));
    for (int64_t j = 0; j < begin; ++j) to[j] = 0;
    const int64_t jump = step * stride;
    const T* at = from + (first + begin * step) * stride;
    if (jump == 1) {
        constexpr int lanes = vec<T>::lanes;
        int64_t j = begin;
        for (; j + lanes <= end; j += lanes) store(to + j, load(at + j - begin));
        if (j < end) store_first(to + j, load_first(at + j - begin, end - j), end - j);
    } else {
        for (int64_t j = begin; j < end; ++j) to[j] = at[(j - begin) * jump];
    }
    for (int64_t j = end; j < count; ++j) to[j] = 0;
}

// Fills plane (fy, fx) of a channel.
template <class T>
void copy_plane(const Planes& p, const Axis& y, const Axis& x, int64_t fy, int64_t fx,
                const Images<const T>& from, int64_t channel, T* to) {
    for (int64_t i = 0; i < p.height; ++i, to += p.width) {
        const int64_t at = p.top + p.step_y * i + fy;
        if (at < 0 || at >= y.in) {
            memset(to, 0, static_cast<size_t>(bytes_of<T>(p.width)));
        } else {
            copy_line(from.data + channel * from.channel + at * from.row, from.column,
                      x.in, p.left + fx, p.step_x, p.width, to);
        }
    }
}

// Fills the planes of `channels` channels.
template <class T>
void copy_planes(const Planes& p, const Axis& y, const Axis& x, int64_t channels,
                 const Images<const T>& from, T* to) {
    for (int64_t fy = 0; fy < p.step_y; ++fy) {
        const int64_t slot_y = p.step_y == 1 ? 0 : y.slot(fy);
        if (slot_y < 0) continue;
        for (int64_t fx = 0; fx < p.step_x; ++fx) {
            const int64_t slot_x = p.step_x == 1 ? 0 : x.slot(fx);
            if (slot_x < 0) continue;
            T* plane = to + (slot_y * p.slots_x + slot_x) * p.plane();
            for (int64_t c = 0; c < channels; ++c)
                copy_plane(p, y, x, fy, fx, from, c, plane + c * p.channel());
        }
    }
}

// The planes of x; their height is chosen later.
AC_INLINE Planes planes_of(const Windows& w) {
    return {0,
            w.x.out + w.x.last_shift(),
            -w.y.padding,
            -w.x.padding,
            w.y.stride,
            w.x.stride,
            w.y.phases(),
            w.x.phases()};
}

// Where the taps of `channels` channels of x read, from the place of the window.
AC_INLINE void find_distances(const Windows& w, const Planes& planes, int64_t channels,
                              int64_t* distances) {
    if (channels == 0) return;
    for (int64_t tap = 0; tap < w.taps(); ++tap) {
        const int64_t i = tap / w.x.kernel, j = tap % w.x.kernel;
        const int64_t slot =
            w.y.slot(w.y.phase(i)) * planes.slots_x + w.x.slot(w.x.phase(j));
        distances[tap] =
            slot * planes.plane() + w.y.shift(i) * planes.width + w.x.shift(j);
    }
    for (int64_t tap = w.taps(); tap < channels * w.taps(); ++tap)
        distances[tap] = distances[tap - w.taps()] + planes.channel();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
