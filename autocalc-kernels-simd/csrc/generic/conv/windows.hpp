// SPDX-License-Identifier: MIT
//
// The geometry of a convolution's windows, and the planes that its kernels read.
//
// A task copies its part of the input once, with zeros around it and, for a stride of
// s, into s * s planes: plane (fy, fx) has the
// elements at rows s * i + fy and columns s * j + fx. Then every tap of every window
// reads one plane at a fixed distance from the window's place in the output, along rows
// that are all `width` long: neighbouring windows are neighbours in memory, whatever
// the stride.
#pragma once

#include "common/operands.hpp"
#include "common/phase.hpp"
#include "gemm/plan.hpp"

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

template <class T>
AC_INLINE Images<const T> read_only(const Images<T>& images) {
    return {images.data, images.image, images.channel, images.row, images.column};
}

AC_INLINE int64_t entry(const ac_call* call, int attribute, int d) {
    return call->attributes[attribute].v.list.values[d];
}

// Reads the geometry. `first` is the attribute `stride`; padding, dilation and groups
// follow. `in` is on the side of x, `out` on that of the windows; `ins` counts the
// channels of x in a group.
AC_INLINE Windows windows_of(const ac_call* call, int first, const ac_array* in,
                             const ac_array* out, const int64_t* kernel, int64_t ins) {
    const int dims = in->ndim - 2;
    const Axis one = {1, 1, 1, 1, 0, 1};
    Axis axes[2] = {one, one};
    for (int d = 0; d < dims; ++d) {
        // One or two. NOLINTNEXTLINE(clang-analyzer-security.ArrayBound)
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

// Why `input` cannot be convolved here, or null.
AC_INLINE const char* dims_supported(const ac_call* call, int input) {
    const ac_array* array = operand(call, input);
    return array->ndim > 4 ? "convolutions of one and of two dimensions only" : nullptr;
}

// A result in a description, which does not know its layout: in row-major order.
AC_INLINE ac_array laid_out(const ac_array* out) {
    ac_array array = *out;
    int64_t step = array.dtype == AC_FLOAT32 ? 4 : 8;
    for (int d = 0; d < array.ndim; ++d)
        if (array.strides[d] != 0) return array;
    for (int d = array.ndim - 1; d >= 0; --d) {
        array.strides[d] = step;
        step *= array.shape[d];
    }
    return array;
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

// A line of `count` elements from column `first` on, `step` apart in the image: those
// from `begin` to `end` are inside. Found once for all lines of a plane: it takes two
// divisions, which is more than a short line takes to be copied.
struct LineCut {
    int64_t first, begin, end, count, step;
    LineCut(int64_t size, int64_t first_, int64_t step_, int64_t count_)
        : first(first_),
          begin(first < 0 ? smaller(count_, ceil_div(-first, step_)) : 0),
          end(larger(begin, smaller(count_,
                                    first < size ? ceil_div(size - first, step_) : 0))),
          count(count_),
          step(step_) {}
};

template <class T>
AC_INLINE void fill_run(T* to, int64_t count, T value) {
    constexpr int lanes = vec<T>::lanes;
    for (; count >= lanes; count -= lanes, to += lanes) store(to, set1<T>(value));
    if (count > 0) store_first(to, set1<T>(value), count);
}
template <class T>
AC_INLINE void clear_run(T* to, int64_t count) {
    fill_run(to, count, T(0));
}

// `count` elements that are 1, 2 or more apart.
template <class T>
AC_INLINE void copy_run(const T* at, int64_t jump, int64_t count, T* to) {
    constexpr int lanes = vec<T>::lanes;
    int64_t j = 0;
    if (jump == 1) {
        for (; j + lanes <= count; j += lanes) store(to + j, load(at + j));
        if (j < count) store_first(to + j, load_first(at + j, count - j), count - j);
    } else if (jump == 2) {
        // What is read ends with the last element that is wanted.
        for (; j + lanes < count; j += lanes, at += 2 * lanes)
            store(to + j, even(load(at), load(at + lanes)));
        if (j == count) return;
        const int64_t left = 2 * (count - j) - 1;
        const vec<T> low = load_first(at, smaller<int64_t>(lanes, left));
        const vec<T> high =
            left > lanes ? load_first(at + lanes, left - lanes) : zero<T>();
        store_first(to + j, even(low, high), count - j);
    } else {
        for (; j < count; ++j, at += jump) to[j] = *at;
    }
}

// A line of the image whose elements are `stride` apart; zeros outside.
template <class T>
AC_INLINE void copy_line(const T* line, int64_t stride, const LineCut& cut, T* to) {
    clear_run(to, cut.begin);
    copy_run(line + (cut.first + cut.begin * cut.step) * stride, cut.step * stride,
             cut.end - cut.begin, to + cut.begin);
    clear_run(to + cut.end, cut.count - cut.end);
}

// Fills plane (fy, fx) of a channel.
template <class T>
AC_INLINE void copy_plane(const Planes& p, const Axis& y, const LineCut& cut,
                          int64_t fy, const T* from, int64_t row, int64_t column,
                          T* to) {
    for (int64_t i = 0; i < p.height; ++i, to += p.width) {
        const int64_t at = p.top + p.step_y * i + fy;
        if (at < 0 || at >= y.in) {
            clear_run(to, p.width);
        } else {
            copy_line(from + at * row, column, cut, to);
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
            const LineCut cut(x.in, p.left + fx, p.step_x, p.width);
            T* plane = to + (slot_y * p.slots_x + slot_x) * p.plane();
            for (int64_t c = 0; c < channels; ++c) {
                copy_plane(p, y, cut, fy, from.data + c * from.channel, from.row,
                           from.column, plane + c * p.channel());
            }
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

// The bias of every group in `wide` elements, those after it zeros, as all are without
// one.
template <class T>
void copy_bias(const ac_array* bias, int64_t groups, int64_t outs, int64_t wide,
               T* to) {
    const int64_t step = bias == nullptr ? 0 : stride_of<T>(bias, 0);
    for (int64_t t = 0; t < groups * wide; ++t) {
        const int64_t o = t % wide;
        to[t] = bias == nullptr || o >= outs
                    ? T(0)
                    : data<T>(bias)[(t / wide * outs + o) * step];
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
