// SPDX-License-Identifier: MIT
//
// conv, conv_activation and conv_dx of bfloat16.
#include "half_conv/images.hpp"
#include "half_conv/kernels.hpp"
#include "half_conv/pass.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_images = 6, slot_bias = 7 };
enum { conv_out, conv_x, conv_weight, conv_bias, conv_other };
enum { conv_stride = 0, conv_what = 4, conv_alpha = 5, conv_beta = 6 };
enum { dx_out, dx_g, dx_weight, dx_bias };
enum { dx_stride = 1, dx_accumulate = 5 };

// A bias as floats, zeros after it, in whole strips. Null if there is no memory.
const float* bias_of(const ac_array* bias, ac_context* context) {
    const int64_t count = bias->shape[0], step = stride_of<BFloat16>(bias, 0);
    const int64_t wide = round_up(count, strip_width);
    float* to = scratch_of<float>(context, slot_bias, wide + 1);
    for (int64_t i = 0; to != nullptr && i < wide; ++i)
        to[i] = i < count ? wide_of(data<BFloat16>(bias)[i * step]) : 0.0f;
    return to;
}

// A pass with all that does not depend on where its results are. `images` is what is
// read; false if there is no memory.
bool begin_pass(ConvPass& pass, const ac_array* images, const ac_array* bias,
                const ac_array* out, ac_context* context) {
    const HalfImages from = channels_last(images, slot_images, context);
    if (from.data == nullptr && element_count(*images) > 0) return false;
    pass.lines.data = from.data;
    pass.lines.image = from.image;
    pass.lines.row = from.row;
    pass.lines.column = from.column;
    pass.lines.batch = images->shape[0];
    pass.lines.channels = images->shape[1];
    pass.finish.to = mixed_images(out);
    pass.finish.results = out->shape[1];
    pass.context = context;
    if (bias == nullptr) return true;
    pass.finish.bias = bias_of(bias, context);
    return pass.finish.bias != nullptr;
}

bool run_steps(ConvPass& pass, const Steps& y, const Steps& x) {
    LineSource& lines = pass.lines;
    lines.y = y;
    lines.x = x;
    lines.rows = plan_rows(y);
    lines.runs = runs_of(x, lines.channels, lines.column, line_elements);
    return run_pass(pass);
}

// ---- conv

bool convolve(const ac_call* call, ac_context* context, ConvPass& pass) {
    const ac_array *out = operand(call, conv_out), *x = operand(call, conv_x);
    const ac_array* weight = operand(call, conv_weight);
    if (!begin_pass(pass, x, operand(call, conv_bias), out, context)) return false;
    const HalfImages w = images_of<const BFloat16>(weight);
    pass.filters = {w.data,   w.image,       w.channel,  w.row,
                    w.column, out->shape[1], x->shape[1]};
    const Windows windows =
        windows_of(call, conv_stride, x, out, weight->shape + 2, weight->shape[1]);
    return run_steps(pass, conv_steps(windows.y), conv_steps(windows.x));
}

bool convolve_and_finish(const ac_call* call, ac_context* context) {
    ConvPass pass = {};
    pass.finish.what = static_cast<PostOp>(int_attribute(call, conv_what));
    pass.finish.of = {static_cast<float>(float_attribute(call, conv_alpha)),
                      static_cast<float>(float_attribute(call, conv_beta))};
    pass.finish.other = mixed_images(operand(call, conv_other));
    return convolve(call, context, pass);
}

// ---- conv_dx

bool convolve_back(const ac_call* call, ac_context* context) {
    const ac_array *out = operand(call, dx_out), *g = operand(call, dx_g);
    const ac_array* weight = operand(call, dx_weight);
    ConvPass pass = {};
    if (!begin_pass(pass, g, operand(call, dx_bias), out, context)) return false;
    const HalfImages w = images_of<const BFloat16>(weight);
    pass.filters = {w.data,   w.channel,     w.image,    w.row,
                    w.column, out->shape[1], g->shape[1]};
    pass.finish.accumulate = (int_attribute(call, dx_accumulate) & 1) != 0;
    const Windows windows =
        windows_of(call, dx_stride, out, g, weight->shape + 2, weight->shape[1]);
    for (int64_t y = 0; y < windows.y.stride; ++y) {
        for (int64_t x = 0; x < windows.x.stride; ++x) {
            if (!run_steps(pass, dx_steps(windows.y, y), dx_steps(windows.x, x)))
                return false;
        }
    }
    return true;
}

}  // namespace

void half_conv(const ac_call* call, ac_context* context, ac_status* status) {
    if (element_count(*operand(call, conv_out)) == 0) return;
    ConvPass pass = {};
    if (!convolve(call, context, pass)) no_memory(status);
}

void half_conv_activation(const ac_call* call, ac_context* context, ac_status* status) {
    if (element_count(*operand(call, conv_out)) == 0) return;
    if (!convolve_and_finish(call, context)) no_memory(status);
}

void half_conv_dx(const ac_call* call, ac_context* context, ac_status* status) {
    if (element_count(*operand(call, dx_out)) == 0) return;
    if (!convolve_back(call, context)) no_memory(status);
}

}  // namespace autocalc::simd::AC_ISA
