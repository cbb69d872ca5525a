// SPDX-License-Identifier: MIT
//
// What pooling kernels share: contiguous planes of one or two dimensions, one task
// each; or channels-last images, whose lanes hold channels of one pixel.
#pragma once

#include "common/contiguous.hpp"
#include "common/lanes.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// [N, C, ...] as planes of rows and columns; of one dimension, a plane is one row.
struct PoolPlanes {
    int64_t count, height, width;

    explicit PoolPlanes(const ac_array& a)
        : count(a.shape[0] * a.shape[1]),
          height(a.ndim == 4 ? a.shape[2] : 1),
          width(a.shape[a.ndim - 1]) {}
    [[nodiscard]] AC_INLINE int64_t size() const { return height * width; }
};

// A channels-last [N, C, ...] as images of rows of pixels.
struct PoolImages {
    int64_t count, channels, height, width;

    explicit PoolImages(const ac_array& a)
        : count(a.shape[0]),
          channels(a.shape[1]),
          height(a.ndim == 4 ? a.shape[2] : 1),
          width(a.shape[a.ndim - 1]) {}
    [[nodiscard]] AC_INLINE int64_t size() const { return height * width; }
    [[nodiscard]] AC_INLINE int64_t elements() const { return size() * channels; }
};

// Channels of a task that writes what it reads all over an image.
constexpr int64_t pool_channels = 64;

// f(image, first channel, channels) for parts of the channels of each image.
template <class F>
void each_part(ac_context* context, const PoolImages& images, F&& f) {
    const int64_t parts = ceil_div(images.channels, pool_channels);
    parallel(context, images.count * parts, images.count * images.elements() >= 16384,
             [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                     const int64_t c = i % parts * pool_channels;
                     f(i / parts, c, smaller(pool_channels, images.channels - c));
                 }
             });
}

// Zeros in `count` channels of an image.
template <class T>
AC_INLINE void clear_channels(T* image, const PoolImages& of, int64_t count) {
    const bool all = count == of.channels;
    const int64_t runs = all ? 1 : of.size(), length = all ? of.elements() : count;
    for (int64_t i = 0; i < runs; ++i)
        memset(image + i * of.channels, 0, static_cast<size_t>(length) * sizeof(T));
}

// Entry of a list attribute for the rows (axis 0) or columns (axis 1) of a plane.
AC_INLINE int64_t pool_attribute(const ac_call* call, int attribute, int axis,
                                 int64_t otherwise) {
    const auto& list = call->attributes[attribute].v.list;
    if (list.count == 2) return list.values[axis];
    return axis == 1 ? list.values[0] : otherwise;
}

AC_INLINE const char* pool_supports(const ac_call* call, int input) {
    const ac_array* array = operand(call, input);
    if (array->ndim > 4) return "pooling of one and of two dimensions only";
    int64_t size = 1;
    for (int d = 2; d < array->ndim; ++d) size *= array->shape[d];
    return size > INT32_MAX / 2 ? "planes of less than 2^30 elements only" : nullptr;
}

// f(plane, scratch) for each plane, `elements` of scratch to each thread.
template <class T, class F>
void each_plane(ac_context* context, ac_status* status, int slot, int64_t planes,
                int64_t plane_size, int64_t elements, F&& f) {
    const bool finished = try_parallel(
        context, planes, planes * plane_size >= 16384, [&](int64_t begin, int64_t end) {
            const auto bytes = static_cast<size_t>(elements + 1) * sizeof(T);
            T* scratch = static_cast<T*>(context->scratch(context, slot, bytes));
            if (scratch == nullptr) return false;
            for (int64_t p = begin; p < end; ++p) f(p, scratch);
            return true;
        });
    if (!finished) no_memory(status);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
