// SPDX-License-Identifier: MIT
//
// conv and conv_dx. The input gradient is a convolution too: of g with the weights
// transposed. For a stride of s its elements fall into s * s classes by their place
// (y + padding) % s, (x + padding) % s; each class sees its own taps, at stride 1. So
// both are passes of one loop, conv a single one.
#include "conv_last_depthwise.hpp"
#include "conv_last_passes.hpp"
#include "conv_passes.hpp"
#include "conv_pointwise.hpp"
#include "conv_strided.hpp"
#include "conv_strided_dx.hpp"
#include "families.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- weights

// Where w[output channel][input channel][row][column] lies.
template <class T>
struct Filters {
    const T* data;
    int64_t out, in, row, column;
};

template <class T>
Filters<T> filters_of(const ac_array* array) {
    const Images<const T> images = images_of<const T>(array);
    return {images.data, images.image, images.channel, images.row, images.column};
}

// Packs a group's weights for tiles of rows, [tile][tap][row of the tile]; `row` is the
// step from one row's weight to the next one's.
template <class T>
AC_INLINE void pack_tap(const ConvJob<T>& job, int64_t taps, int64_t tap, const T* w,
                        int64_t row, T* out) {
    const int64_t tiles = ceil_div(job.outs, job.height);
    const Cuts cuts(job.outs, tiles);
    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t begin = cuts.at(t), height = cuts.size(t);
        T* to = out + begin * taps + tap * height;
        for (int64_t r = 0; r < height; ++r) to[r] = w[(begin + r) * row];
    }
}

// The bias of every channel, or zeros, one behind the other.
template <class T>
void copy_start(const ac_array* bias, int64_t count, T* out) {
    const int64_t step = bias == nullptr ? 0 : stride_of<T>(bias, 0);
    for (int64_t i = 0; i < count; ++i)
        out[i] = bias == nullptr ? T(0) : data<T>(bias)[i * step];
}

// Whether a product for each image does it. Its bias would be one for each row, which
// products do not have.
template <class T>
bool by_product(const Windows& w, const Images<const T>& from, const Images<T>& to,
                const ac_array* bias) {
    return is_pointwise(w) && bias == nullptr && to.column == 1 &&
           pixels_in_line(from, w.y, w.x.in) && pixels_in_line(to, w.y, w.x.in);
}

// ---- conv

enum { conv_out, conv_x, conv_weight, conv_bias };

template <class T>
bool conv_typed(const ac_call* call, ac_context* context) {
    const ac_array* x = operand(call, conv_x);
    const ac_array* weight = operand(call, conv_weight);
    const ac_array* out = operand(call, conv_out);
    ConvJob<T> job;
    job.windows = windows_of(call, 0, x, out, weight->shape + 2, weight->shape[1]);
    const Windows& w = job.windows;
    job.from_y = w.y;
    job.from_x = w.x;
    job.from = images_of<const T>(x);
    job.to = images_of<T>(out);
    if (is_last_depthwise(w, job.from, job.to)) {
        return depthwise_last(w, false, job.from, images_of<const T>(weight), job.to,
                              operand(call, conv_bias), false, context);
    }
    if (are_last(w, job.from, w.ins, job.to, w.outs)) {
        const Images<const T> b = images_of<const T>(weight);
        Product<T> p;
        if (!pixel_product(w, job.from, w.ins, job.to, w.outs, p))
            return conv_last(w, job.from, b, job.to, operand(call, conv_bias), context);
        p.b = b.data;
        p.b_row = b.channel;
        p.b_col = b.image;
        return run_pixel_product(p, operand(call, conv_bias), context);
    }
    if (by_product(w, job.from, job.to, operand(call, conv_bias))) {
        const Images<const T> a = images_of<const T>(weight);
        Product<T> p = image_product(w, w.outs, w.ins, job.from, job.to);
        p.a = a.data;
        p.a_row = a.image;
        p.a_col = a.channel;
        return multiply(p, context);
    }
    if (is_strided<T>(w)) {
        StridedJob<T> strided = {};
        strided.windows = w;
        strided.from = job.from;
        strided.weight = images_of<const T>(weight);
        strided.to = job.to;
        strided.context = context;
        return run_strided(strided, operand(call, conv_bias));
    }
    job.ins = w.ins;
    job.outs = w.outs;
    job.rows = w.y.out;
    job.planes = planes_of(w);
    job.accumulate = false;
    job.context = context;
    job.failed = 0;
    job.square = square_of(job);
    job.turned = false;
    const int64_t taps = w.ins * w.taps();
    choose_tasks(job, w.y.last_shift(), taps, w.x.out, 1);

    job.group_weights = w.outs * taps;
    T* packed =
        scratch_for<T>(context, slot_weights, w.groups * (job.group_weights + w.outs));
    int64_t* distances = scratch_for<int64_t>(context, slot_distances, taps);
    if (packed == nullptr || distances == nullptr) return false;
    T* start = packed + w.groups * job.group_weights;
    copy_start<T>(operand(call, conv_bias), w.groups * w.outs, start);
    job.start = start;
    const Filters<T> filters = filters_of<T>(weight);
    find_distances(w, job.planes, w.ins, distances);
    int64_t tap = 0;
    for (int64_t c = 0; c < w.ins; ++c) {
        for (int64_t i = 0; i < w.y.kernel; ++i) {
            for (int64_t j = 0; j < w.x.kernel; ++j, ++tap) {
                const T* from = filters.data + c * filters.in + i * filters.row +
                                j * filters.column;
                for (int64_t g = 0; g < w.groups; ++g) {
                    pack_tap(job, taps, tap, from + g * w.outs * filters.out,
                             filters.out, packed + g * job.group_weights);
                }
            }
        }
    }
    const Pass<T> pass = {taps, distances, packed, 0, w.y.out, 0, w.x.out, 0, 1, 0, 1};
    job.passes = &pass;
    job.pass_count = 1;
    return run_conv(job, taps);
}

// ---- conv_dx

enum { dx_out, dx_g, dx_weight, dx_bias };
enum { dx_sizes, dx_stride, dx_padding, dx_dilation, dx_groups, dx_accumulate };

// Packs the taps of a class; answers their count.
template <class T>
int64_t pack_class(const ConvJob<T>& job, const Filters<T>& filters, int64_t ry,
                   int64_t rx, int64_t taps, int64_t* distances, T* packed) {
    const Windows& w = job.windows;
    int64_t tap = 0;
    for (int64_t o = 0; o < w.outs; ++o) {
        for (int64_t i = 0; i < w.y.kernel; ++i) {
            if (w.y.phase(i) != ry) continue;
            for (int64_t j = 0; j < w.x.kernel; ++j) {
                if (w.x.phase(j) != rx) continue;
                if (packed != nullptr) {
                    distances[tap] =
                        o * job.planes.channel() +
                        (w.y.last_shift() - w.y.shift(i)) * job.planes.width +
                        w.x.last_shift() - w.x.shift(j);
                    for (int64_t g = 0; g < w.groups; ++g) {
                        const T* from = filters.data + (g * w.outs + o) * filters.out +
                                        i * filters.row + j * filters.column;
                        pack_tap(job, taps, tap, from, filters.in,
                                 packed + g * job.group_weights);
                    }
                }
                ++tap;
            }
        }
    }
    return tap;
}

template <class T>
bool dx_typed(const ac_call* call, ac_context* context) {
    const ac_array* g = operand(call, dx_g);
    const ac_array* weight = operand(call, dx_weight);
    const ac_array* out = operand(call, dx_out);
    ConvJob<T> job;
    job.windows =
        windows_of(call, dx_stride, out, g, weight->shape + 2, weight->shape[1]);
    const Windows& w = job.windows;
    const Axis plain_y = {w.y.out, 0, 1, 1, 0, 1};
    const Axis plain_x = {w.x.out, 0, 1, 1, 0, 1};
    job.from_y = plain_y;
    job.from_x = plain_x;
    job.from = images_of<const T>(g);
    job.to = images_of<T>(out);
    job.accumulate = (int_attribute(call, dx_accumulate) & 1) != 0;
    if (is_last_depthwise(w, job.from, job.to)) {
        return depthwise_last(w, true, job.from, images_of<const T>(weight), job.to,
                              operand(call, dx_bias), job.accumulate, context);
    }
    if (are_last(w, job.from, w.outs, job.to, w.ins)) {
        const Images<const T> b = images_of<const T>(weight);
        Product<T> p;
        if (!pixel_product(w, job.from, w.outs, job.to, w.ins, p)) {
            return conv_dx_last(w, job.from, b, job.to, operand(call, dx_bias),
                                job.accumulate, context);
        }
        p.b = b.data;
        p.b_row = b.image;
        p.b_col = b.channel;
        p.beta = job.accumulate ? T(1) : T(0);
        return run_pixel_product(p, operand(call, dx_bias), context);
    }
    if (by_product(w, job.from, job.to, operand(call, dx_bias))) {
        const Images<const T> a = images_of<const T>(weight);
        Product<T> p = image_product(w, w.ins, w.outs, job.from, job.to);
        p.a = a.data;
        p.a_row = a.channel;
        p.a_col = a.image;
        p.beta = job.accumulate ? T(1) : T(0);
        return multiply(p, context);
    }
    if (is_strided_dx(w)) {
        StridedDxJob<T> strided = {};
        strided.windows = w;
        strided.from = job.from;
        strided.weight = images_of<const T>(weight);
        strided.to = job.to;
        strided.accumulate = job.accumulate;
        strided.context = context;
        return run_strided_dx(strided, operand(call, dx_bias));
    }
    job.ins = w.outs;
    job.outs = w.ins;
    const int64_t first_y = first_of(w.y), first_x = first_of(w.x);
    const int64_t columns = end_of(w.x) - first_x;
    job.rows = end_of(w.y) - first_y;
    job.planes = {0,
                  columns + w.x.last_shift(),
                  first_y - w.y.last_shift(),
                  first_x - w.x.last_shift(),
                  1,
                  1,
                  1,
                  1};
    job.context = context;
    job.failed = 0;
    job.square = square_of(job);
    job.turned = true;
    const int64_t taps = w.outs * w.taps();
    choose_tasks(job, w.y.last_shift(), taps, w.x.in, w.x.stride);

    job.group_weights = w.ins * taps;
    T* packed =
        scratch_for<T>(context, slot_weights, w.groups * (job.group_weights + w.ins));
    int64_t* distances = scratch_for<int64_t>(context, slot_distances, taps);
    Pass<T>* passes = static_cast<Pass<T>*>(context->scratch(
        context, slot_passes,
        static_cast<size_t>(w.y.stride * w.x.stride) * sizeof(Pass<T>)));
    if (packed == nullptr || distances == nullptr || passes == nullptr) return false;
    T* start = packed + w.groups * job.group_weights;
    copy_start<T>(operand(call, dx_bias), w.groups * w.ins, start);
    job.start = start;
    const Filters<T> filters = filters_of<T>(weight);
    int64_t done = 0;
    job.pass_count = 0;
    for (int64_t ry = 0; ry < w.y.stride; ++ry) {
        for (int64_t rx = 0; rx < w.x.stride; ++rx) {
            const Lattice y = lattice(w.y, ry), x = lattice(w.x, rx);
            const int64_t count =
                pack_class<T>(job, filters, ry, rx, 0, nullptr, nullptr);
            T* weights = packed + w.ins * done;
            pack_class(job, filters, ry, rx, count, distances + done, weights);
            passes[job.pass_count++] = {count,           distances + done,
                                        weights,         y.begin - first_y,
                                        y.end - first_y, x.begin - first_x,
                                        x.end - first_x, y.from + w.y.stride * first_y,
                                        w.y.stride,      x.from + w.x.stride * first_x,
                                        w.x.stride};
            done += count;
        }
    }
    job.passes = passes;
    return run_conv(job, taps);
}

// ---- the kernels

const char* conv_supports(const ac_call* call) { return dims_supported(call, conv_x); }
const char* dx_supports(const ac_call* call) { return dims_supported(call, dx_g); }

void conv(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, conv_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32 ? conv_typed<float>(call, context)
                                             : conv_typed<double>(call, context);
    if (!ok) no_memory(status);
}

void conv_dx(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, dx_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32 ? dx_typed<float>(call, context)
                                             : dx_typed<double>(call, context);
    if (!ok) no_memory(status);
}

double work_of(const ac_array* results, const ac_array* weight) {
    double taps = 1;
    for (int d = 1; d < weight->ndim; ++d)
        taps *= static_cast<double>(weight->shape[d]);
    return 2.0 * static_cast<double>(element_count(*results)) * taps * ns_per_flop;
}
double conv_work(const ac_call* call) {
    return work_of(operand(call, conv_out), operand(call, conv_weight));
}
double dx_work(const ac_call* call) {
    return work_of(operand(call, dx_g), operand(call, dx_weight));
}

const ac_kernel_entry entries[] = {
    {"conv", "out ; x weight bias? ; stride:ints padding:ints dilation:ints groups:int",
     conv, conv_supports, conv_work, 0, float_dtypes, 0},
    {"conv_dx",
     "dx ; g weight bias? ; sizes:ints stride:ints padding:ints dilation:ints "
     "groups:int accumulate:int",
     conv_dx, dx_supports, dx_work, 0, float_dtypes, 0},
};

}  // namespace

AC_DEFINE_FAMILY(conv, entries);

}  // namespace autocalc::simd::AC_ISA
