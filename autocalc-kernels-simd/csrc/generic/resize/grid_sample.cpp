// SPDX-License-Identifier: MIT
//
// grid_sample and grid_sample_backward. A task finds what the places of a block read,
// once for all channels, and sums pixels channel by channel.
#include "common/contiguous.hpp"
#include "common/families.hpp"
#include "resize/places.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int slot_x = 0, slot_grid = 1, slot_g = 2, slot_out = 3, slot_dgrid = 4;

// Sizes of a call.
struct Sampling {
    int64_t batch, channels, image = 1, points = 1;
    Edges edges;

    Sampling(const ac_call* call, const ac_array& x, const ac_array& grid)
        : batch(x.shape[0]), channels(x.shape[1]) {
        edges.padding = static_cast<Padding>(int_attribute(call, 1));
        edges.align_corners = int_attribute(call, 2) != 0;
        for (int d = 2; d < x.ndim; ++d) {
            edges.size[d - 2] = x.shape[d];
            image *= x.shape[d];
            points *= grid.shape[d - 1];
        }
    }
    [[nodiscard]] int64_t blocks() const { return ceil_div(points, block_places); }
    [[nodiscard]] bool worthwhile() const { return batch * channels * points >= 4096; }
};

// ---- forward

template <class T, bool outside>
AC_INLINE T read_pixel(const T* plane, int32_t pixel) {
    if constexpr (!outside) return plane[pixel];
    const T read = plane[pixel < 0 ? 0 : pixel];
    return pixel < 0 ? T(0) : read;
}

// Sums of the pixels of one channel; all places of a block, of which some are unused.
template <bool outside, class T, Mode mode, int axes>
AC_INLINE void sum_pixels(const Taps<T, mode, axes>& taps, const T* plane, T* sum) {
    constexpr int all = Taps<T, mode, axes>::taps, together = all < 4 ? all : 4;
    for (int tap = 0; tap < all; tap += together) {
#pragma GCC ivdep
        for (int p = 0; p < block_places; ++p) {
            T total = tap == 0 ? T(0) : sum[p];
#pragma GCC unroll 4
            for (int i = 0; i < together; ++i) {
                total += read_pixel<T, outside>(plane, taps.pixel[tap + i][p]) *
                         taps.weight[tap + i][p];
            }
            sum[p] = total;
        }
    }
}

template <class T, Mode mode, int axes>
void sample_block(const Sampling& job, const T* x, const T* grid, T* out,
                  int64_t count) {
    Taps<T, mode, axes> taps;
    taps.find(grid, count, job.edges);
    T sum[block_places];
    for (int64_t c = 0; c < job.channels; ++c, x += job.image, out += job.points) {
        if (taps.outside) {
            sum_pixels<true>(taps, x, sum);
        } else {
            sum_pixels<false>(taps, x, sum);
        }
        memcpy(out, sum, static_cast<size_t>(bytes_of<T>(count)));
    }
}

template <class T, Mode mode, int axes>
void sample(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *to = operand(call, 0), *from = operand(call, 1);
    const ac_array* places = operand(call, 2);
    const Sampling job(call, *from, *places);
    const T *x, *grid;
    T* out;
    if (!whole_input(context, slot_x, from, x) ||
        !whole_input(context, slot_grid, places, grid) ||
        !whole_output(context, slot_out, to, out)) {
        return no_memory(status);
    }
    done(status);
    const int64_t blocks = job.blocks();
    parallel(
        context, job.batch * blocks, job.worthwhile(), [&](int64_t begin, int64_t end) {
            for (int64_t task = begin; task < end; ++task) {
                const int64_t n = task / blocks, first = task % blocks * block_places;
                sample_block<T, mode, axes>(job, x + n * job.channels * job.image,
                                            grid + (n * job.points + first) * axes,
                                            out + n * job.channels * job.points + first,
                                            smaller(block_places, job.points - first));
            }
        });
    put_whole(to, out);
}

// ---- backward

// What the taps of a block read, times the gradients of one channel, added up.
template <bool outside, class T, Mode mode, int axes>
AC_INLINE void add_pixels(const Taps<T, mode, axes>& taps, const T* plane, const T* g,
                          int64_t count, T (*along)[block_places]) {
    for (int tap = 0; tap < Taps<T, mode, axes>::taps; ++tap) {
#pragma GCC ivdep
        for (int64_t p = 0; p < count; ++p)
            along[tap][p] += read_pixel<T, outside>(plane, taps.pixel[tap][p]) * g[p];
    }
}

// The gradients of the places of a block.
template <class T, Mode mode, int axes>
void slopes_of_block(const Sampling& job, const T* g, const T* x, const T* grid,
                     T* dgrid, int64_t count) {
    Taps<T, mode, axes> taps;
    taps.find(grid, count, job.edges);
    T along[Taps<T, mode, axes>::taps][block_places] = {};
    for (int64_t c = 0; c < job.channels; ++c, x += job.image, g += job.points) {
        if (taps.outside) {
            add_pixels<true>(taps, x, g, count, along);
        } else {
            add_pixels<false>(taps, x, g, count, along);
        }
    }
    for (int a = 0; a < axes; ++a) {
        T sum[block_places] = {};
        for (int tap = 0; tap < Taps<T, mode, axes>::taps; ++tap)
            taps.add_slopes(tap, a, along[tap], sum);
        for (int64_t p = 0; p < count; ++p) dgrid[p * axes + axes - 1 - a] = sum[p];
    }
}

// The gradients of some channels of an image.
template <class T, Mode mode, int axes>
void spread_image(const Sampling& job, const T* g, const T* grid, T* dx,
                  int64_t channels) {
    memset(dx, 0, static_cast<size_t>(bytes_of<T>(channels * job.image)));
    Taps<T, mode, axes> taps;
    for (int64_t first = 0; first < job.points; first += block_places) {
        const int64_t count = smaller(block_places, job.points - first);
        taps.find(grid + first * axes, count, job.edges);
        for (int64_t c = 0; c < channels; ++c) {
            const T* from = g + c * job.points + first;
            T* plane = dx + c * job.image;
            for (int tap = 0; tap < Taps<T, mode, axes>::taps; ++tap) {
                for (int64_t p = 0; p < count; ++p) {
                    const int32_t at = taps.pixel[tap][p];
                    if (at >= 0) plane[at] += from[p] * taps.weight[tap][p];
                }
            }
        }
    }
}

constexpr int64_t spread_channels = 8;  // of a task

template <class T, Mode mode, int axes>
void sample_back(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *dx = operand(call, 0), *dgrid = operand(call, 1);
    const ac_array *from = operand(call, 3), *places = operand(call, 4);
    const Sampling job(call, *from, *places);
    const T *g, *x, *grid;
    T *images, *slopes;
    if (!whole_input(context, slot_g, operand(call, 2), g) ||
        !whole_input(context, slot_x, from, x) ||
        !whole_input(context, slot_grid, places, grid) ||
        !whole_output(context, slot_out, dx, images) ||
        !whole_output(context, slot_dgrid, dgrid, slopes)) {
        return no_memory(status);
    }
    done(status);
    const int64_t blocks = job.blocks(),
                  parts = ceil_div(job.channels, spread_channels);
    auto spread = [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
            const int64_t n = task / parts, c = task % parts * spread_channels;
            const int64_t plane = n * job.channels + c;
            spread_image<T, mode, axes>(
                job, g + plane * job.points, grid + n * job.points * axes,
                images + plane * job.image, smaller(spread_channels, job.channels - c));
        }
    };
    if (dx != nullptr) parallel(context, job.batch * parts, job.worthwhile(), spread);
    auto slope = [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
            const int64_t n = task / blocks, first = task % blocks * block_places;
            const int64_t image = n * job.channels, place = n * job.points + first;
            slopes_of_block<T, mode, axes>(job, g + image * job.points + first,
                                           x + image * job.image, grid + place * axes,
                                           slopes + place * axes,
                                           smaller(block_places, job.points - first));
        }
    };
    if (dgrid != nullptr)
        parallel(context, job.batch * blocks, job.worthwhile(), slope);
    put_whole(dx, images);
    put_whole(dgrid, slopes);
}

// ---- which of them

template <class T, Mode mode, bool backward>
void by_axes(const ac_call* call, ac_context* context, ac_status* status) {
    const bool volumes = operand(call, backward ? 3 : 1)->ndim == 5;
    if constexpr (mode != Mode::bicubic) {
        if (volumes) {
            return backward ? sample_back<T, mode, 3>(call, context, status)
                            : sample<T, mode, 3>(call, context, status);
        }
    }
    if (volumes) return unsupported(status);
    return backward ? sample_back<T, mode, 2>(call, context, status)
                    : sample<T, mode, 2>(call, context, status);
}
template <class T, bool backward>
void by_mode(const ac_call* call, ac_context* context, ac_status* status) {
    switch (static_cast<Mode>(int_attribute(call, 0))) {
        case Mode::bilinear:
            return by_axes<T, Mode::bilinear, backward>(call, context, status);
        case Mode::nearest:
            return by_axes<T, Mode::nearest, backward>(call, context, status);
        default:
            return by_axes<T, Mode::bicubic, backward>(call, context, status);
    }
}
template <bool backward>
void sampling(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, backward ? 3 : 1)->dtype == AC_FLOAT32)
        return by_mode<float, backward>(call, context, status);
    return by_mode<double, backward>(call, context, status);
}

template <int input>
const char* supports(const ac_call* call) {
    const ac_array* x = operand(call, input);
    int64_t size = 1;
    for (int d = 2; d < x->ndim; ++d) size *= x->shape[d];
    return size > INT32_MAX / 2 ? "images of less than 2^30 pixels only" : nullptr;
}

const ac_kernel_entry entries[] = {
    {"grid_sample",
     "out ; x grid ; mode:bilinear,nearest,bicubic padding:zeros,border,reflection "
     "align_corners:bool",
     sampling<false>, supports<1>, nullptr, 2.0, float_dtypes, nullptr},
    {"grid_sample_backward",
     "dx? dgrid? ; g x grid ; mode:bilinear,nearest,bicubic "
     "padding:zeros,border,reflection align_corners:bool",
     sampling<true>, supports<3>, nullptr, 4.0, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(grid_sample, entries);
}  // namespace autocalc::simd::AC_ISA
