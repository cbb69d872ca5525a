// SPDX-License-Identifier: MIT
//
// conv and conv_dx: which of several algorithms a call takes.
#include "common/families.hpp"
#include "conv/algorithms.hpp"
#include "conv/nhwc_depthwise.hpp"
#include "conv/nhwc_passes.hpp"
#include "conv/nhwc_patches.hpp"
#include "conv/patches.hpp"
#include "conv/pixel_columns.hpp"
#include "conv/pixel_rows.hpp"
#include "conv/planes.hpp"
#include "conv/pointwise.hpp"
#include "conv/strided.hpp"
#include "conv/strided_dx.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- the algorithms

// Whether a product for each image does it.
template <class T>
bool by_product(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    return is_pointwise(w) && call.to.column == 1 &&
           (call.bias == nullptr || !call.accumulate) &&
           pixels_in_line(call.from, w.y, w.x.in) &&
           pixels_in_line(call.to, w.y, w.x.in);
}

template <class T>
bool cheaper_by_patches(const ConvCall<T>& call, bool nhwc, double other) {
    return usable_patches_cost<T>(call.windows, call.weight, nhwc,
                                  call.turned ? patch_dx : patch_forward) < other;
}

template <class T>
Algorithm choose_algorithm(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    if (is_nhwc_depthwise(w, call.from, call.to)) return Algorithm::nhwc_depthwise;
    if (are_last(call)) {
        Gemm<T> p;
        if (pixel_product(call, p)) return Algorithm::pointwise;
        if (by_pixel_rows(call)) return Algorithm::pixel_rows;
        return call.from.channel == 1 && cheaper_by_patches(call, true, nhwc_cost<T>(w))
                   ? Algorithm::nhwc_patches
                   : Algorithm::nhwc;
    }
    const bool many_pixels = w.y.in * w.x.in >= columns_pixels;
    if (by_product(call) && many_pixels) return Algorithm::image_by_image;
    if (fits_columns(call)) return Algorithm::pixel_columns;
    if (by_product(call)) return Algorithm::image_by_image;
    const bool strided = call.turned ? is_strided_dx(w) : is_strided<T>(w);
    const double cost = strided ? strided_cost<T>(w, call.turned) : planes_cost<T>(w);
    if (cheaper_by_patches(call, false, cost)) return Algorithm::patches;
    return strided ? Algorithm::strided : Algorithm::planes;
}

template <class T>
bool multiply_images(const ConvCall<T>& call) {
    Gemm<T> p =
        image_product(call.windows, call.outs(), call.ins(), call.from, call.to);
    p.a = call.weight.data;
    p.a_row = call.out_step();
    p.a_col = call.in_step();
    p.beta = call.accumulate ? T(1) : T(0);
    return call.bias == nullptr ? multiply(p, call.context)
                                : multiply_onto_bias(p, call.bias, call.context);
}

template <class Job, class T>
Job strided_job(const ConvCall<T>& call) {
    Job job = {};
    job.windows = call.windows;
    job.from = call.from;
    job.weight = call.weight;
    job.to = call.to;
    job.context = call.context;
    return job;
}
template <class T>
bool step_windows(const ConvCall<T>& call) {
    if (!call.turned) {
        auto job = strided_job<StridedJob<T>>(call);
        return run_strided(job, call.bias);
    }
    auto job = strided_job<StridedDxJob<T>>(call);
    job.accumulate = call.accumulate;
    return run_strided_dx(job, call.bias);
}

// Whether pieces of a result are finished while they are in a cache.
AC_INLINE bool finishes(Algorithm algorithm) {
    return algorithm == Algorithm::nhwc_depthwise ||
           algorithm == Algorithm::pointwise || algorithm == Algorithm::pixel_rows ||
           algorithm == Algorithm::nhwc;
}

// False if there is no memory.
template <class T>
bool convolve(const ConvCall<T>& c, Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::nhwc_depthwise:
            return nhwc_depthwise(c);
        case Algorithm::pointwise:
            return multiply_pixels(c);
        case Algorithm::pixel_rows:
            return c.turned ? dx_by_pixel_rows(c) : conv_by_pixel_rows(c);
        case Algorithm::pixel_columns:
            return conv_by_columns(c);
        case Algorithm::nhwc_patches:
            return conv_by_nhwc_patches(c);
        case Algorithm::nhwc:
            return c.turned ? nhwc_conv_dx(c) : nhwc_conv(c);
        case Algorithm::image_by_image:
            return multiply_images(c);
        case Algorithm::patches:
            return c.turned ? dx_by_patches(c) : conv_by_patches(c);
        case Algorithm::strided:
            return step_windows(c);
        default:  // Algorithm::planes
            break;
    }
    return c.turned ? dx_in_planes(c) : conv_in_planes(c);
}

template <class T>
bool convolve(const ConvCall<T>& c) {
    return convolve(c, choose_algorithm(c));
}

// ---- the kernels

enum { conv_out, conv_x, conv_weight, conv_bias };
enum { other_slot = 7 };  // products have the first two, algorithms the others

template <class T>
ConvCall<T> conv_call(const ac_call* call, const ac_array* out, ac_context* context) {
    const ac_array *x = operand(call, conv_x), *weight = operand(call, conv_weight);
    return {windows_of(call, 0, x, out, weight->shape + 2, weight->shape[1]),
            false,
            false,
            images_of<const T>(x),
            images_of<const T>(weight),
            images_of<T>(out),
            operand(call, conv_bias),
            context};
}

enum { activated_other = conv_bias + 1, activated_what = 4 };

// The first element of what the convolution adds to its result, brought into the
// result's order if it has another. Null if there is no memory.
template <class T>
const T* other_like(const ac_array* other, const Images<T>& to, const Windows& w,
                    ac_context* context) {
    const Images<const T> from = images_of<const T>(other);
    const int64_t sizes[] = {w.batch, w.groups * w.outs, w.y.out, w.x.out};
    const int64_t steps[] = {from.image, from.channel, from.row, from.column};
    const int64_t wanted[] = {to.image, to.channel, to.row, to.column};
    int64_t all = 1;
    bool alike = true;
    for (int d = 0; d < 4; ++d) {
        all *= sizes[d];
        alike &= sizes[d] == 1 || steps[d] == wanted[d];
    }
    if (alike) return from.data;
    T* copy = scratch_of<T>(context, other_slot, all);
    for (int64_t i = 0; copy != nullptr && i < all; ++i) {
        const int64_t x = i % sizes[3], y = i / sizes[3] % sizes[2];
        const int64_t c = i / sizes[3] / sizes[2] % sizes[1];
        const int64_t n = i / sizes[3] / sizes[2] / sizes[1];
        copy[n * to.image + c * to.channel + y * to.row + x * to.column] =
            from.data[n * from.image + c * from.channel + y * from.row +
                      x * from.column];
    }
    return copy;
}

// False if there is no memory.
template <class T>
bool convolve_and_finish(const ac_call* call, const ac_array* out,
                         ac_context* context) {
    ConvCall<T> c = conv_call<T>(call, out, context);
    const Windows& w = c.windows;
    c.finish.what = static_cast<PostOp>(int_attribute(call, activated_what));
    c.finish.of = {T(float_attribute(call, activated_what + 1)),
                   T(float_attribute(call, activated_what + 2))};
    const ac_array* other = operand(call, activated_other);
    if (other != nullptr) {
        c.finish.other = other_like(other, c.to, w, context);
        if (c.finish.other == nullptr) return false;
        c.finish.other_row = even_step(c.to, w.batch, w.y.out, w.x.out, c.outs());
    }
    const Algorithm algorithm = choose_algorithm(c);
    if (!convolve(c, algorithm)) return false;
    if (!finishes(algorithm)) finish_images(c.finish, w, c.to, context);
    return true;
}

enum { dx_out, dx_g, dx_weight, dx_bias };
enum { dx_sizes, dx_stride, dx_padding, dx_dilation, dx_groups, dx_accumulate };

template <class T>
ConvCall<T> dx_call(const ac_call* call, const ac_array* out, ac_context* context) {
    const ac_array *g = operand(call, dx_g), *weight = operand(call, dx_weight);
    return {windows_of(call, dx_stride, out, g, weight->shape + 2, weight->shape[1]),
            true,
            (int_attribute(call, dx_accumulate) & 1) != 0,
            images_of<const T>(g),
            images_of<const T>(weight),
            images_of<T>(out),
            operand(call, dx_bias),
            context};
}

const char* conv_supports(const ac_call* call) { return dims_supported(call, conv_x); }
const char* dx_supports(const ac_call* call) { return dims_supported(call, dx_g); }

void conv(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, conv_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32
                        ? convolve(conv_call<float>(call, out, context))
                        : convolve(conv_call<double>(call, out, context));
    if (!ok) no_memory(status);
}

void conv_activation(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, conv_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32
                        ? convolve_and_finish<float>(call, out, context)
                        : convolve_and_finish<double>(call, out, context);
    if (!ok) no_memory(status);
}

void conv_dx(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, dx_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32
                        ? convolve(dx_call<float>(call, out, context))
                        : convolve(dx_call<double>(call, out, context));
    if (!ok) no_memory(status);
}

const char* conv_describe(const ac_call* call) {
    const ac_array out = laid_out(operand(call, conv_out));
    return describe(out.dtype == AC_FLOAT32
                        ? choose_algorithm(conv_call<float>(call, &out, nullptr))
                        : choose_algorithm(conv_call<double>(call, &out, nullptr)));
}

const char* dx_describe(const ac_call* call) {
    const ac_array out = laid_out(operand(call, dx_out));
    return describe(out.dtype == AC_FLOAT32
                        ? choose_algorithm(dx_call<float>(call, &out, nullptr))
                        : choose_algorithm(dx_call<double>(call, &out, nullptr)));
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
     conv, conv_supports, conv_work, 0, float_dtypes, conv_describe},
    {"conv_activation",
     "out ; x weight bias? other? ; stride:ints padding:ints dilation:ints groups:int "
     "activation:none,relu,hardtanh,leaky_relu,hardswish,silu alpha:float beta:float",
     conv_activation, conv_supports, conv_work, 0, float_dtypes, conv_describe},
    {"conv_dx",
     "dx ; g weight bias? ; sizes:ints stride:ints padding:ints dilation:ints "
     "groups:int accumulate:int",
     conv_dx, dx_supports, dx_work, 0, float_dtypes, dx_describe},
};

}  // namespace

AC_DEFINE_FAMILY(conv, entries);

}  // namespace autocalc::simd::AC_ISA
