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
    const ac_array *array = operand(call, input), *result = operand(call, 0);
    const bool half = is_half(array->dtype) || is_half(result->dtype);
    if (half && result->dtype >= 0 && result->dtype != array->dtype)
        return "images of several dtypes";
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

// Runs of elements, `step` apart.
struct PoolRuns {
    int64_t begin, runs, count, step;
    [[nodiscard]] AC_INLINE int64_t total() const { return runs * count; }
};

// Widens runs of an array of 16 bits to floats, or rounds floats to them.
template <bool widens, class T>
AC_NOINLINE void move_runs(int dtype, const T* array, const PoolRuns& of, T* floats) {
    const bool one = of.step == of.count;
    const int64_t runs = one ? 1 : of.runs, n = one ? of.total() : of.count;
    char* first = reinterpret_cast<char*>(const_cast<T*>(array));
    for (int64_t r = 0; r < runs; ++r) {
        char* at = first + 2 * (of.begin + r * of.step);
        if (widens) {
            take_elements(at, dtype, 2, n, floats + r * n, nullptr);
        } else {
            put_elements(at, dtype, 2, n, floats + r * n, nullptr);
        }
    }
}

// f(from, to, adjacent) on elements as T: those of 16 bits are widened before and
// rounded after it, in `room` for both; then runs are `adjacent`.
template <class T, class F>
AC_INLINE void as_floats(int dtype, const T* from, const PoolRuns& taken, T* to,
                         const PoolRuns& made, T* room, F&& f) {
    const bool wide = sizeof(T) == 4 && is_half(dtype);
    T* result = room + taken.total();
    if (wide) move_runs<true>(dtype, from, taken, room);
    f(wide ? room : from + taken.begin, wide ? result : to + made.begin, wide);
    if (wide) move_runs<false>(dtype, to, made, result);
}

// Channels of a task that writes what it reads all over an image; of 16 bits, whose
// floats are to stay in the L2 cache, fewer where images are large.
constexpr int64_t pool_channels = 64, few_pool_channels = 16, large_pool_image = 4096;

// f(from, to, part, first channel) for parts of the channels of each image, `part`
// being what `to` is then; `taken` elements make each channel of an image.
template <class T, class F>
void each_part(ac_context* context, ac_status* status, int slot, int dtype,
               const T* from, int64_t taken, T* to, const PoolImages& images, F&& f) {
    const bool wide = is_half(dtype);
    const bool large = wide && images.size() > large_pool_image;
    const int64_t most = large ? few_pool_channels : pool_channels;
    const int64_t channels = images.channels, parts = ceil_div(channels, most);
    each_plane<T>(context, status, slot, images.count * parts,
                  ceil_div(images.elements(), larger<int64_t>(parts, 1)),
                  wide ? (taken + images.size()) * most : 0, [&](int64_t i, T* room) {
                      const int64_t image = i / parts, c = i % parts * most;
                      const int64_t count = smaller(most, channels - c);
                      const PoolRuns in = {image * taken * channels + c, taken, count,
                                           channels};
                      const PoolRuns out = {image * images.elements() + c,
                                            images.size(), count, channels};
                      as_floats(dtype, from, in, to, out, room,
                                [&](const T* g, T* sums, bool adjacent) {
                                    PoolImages part = images;
                                    if (adjacent) part.channels = count;
                                    f(g, sums, part, in.begin, count);
                                });
                  });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
