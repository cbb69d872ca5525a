// SPDX-License-Identifier: MIT
//
// What conv and conv_dx do with images whose channels are neighbours: one product where
// windows are single elements, or the classes of conv/nhwc.hpp.
#pragma once

#include "conv/call.hpp"
#include "conv/nhwc.hpp"
#include "conv/pointwise.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- taps of a class along a dimension

struct AxisTaps {
    const Axis& axis;
    bool turned;  // the last tap reads the first element
    int64_t rest;
    [[nodiscard]] AC_INLINE int64_t count() const {
        return turned ? taps_of_class(axis, rest) : axis.kernel;
    }
    [[nodiscard]] AC_INLINE int64_t tap(int64_t index) const {
        return turned ? tap_of_class(axis, rest, index) : index;
    }
    // Which element of the band a tap reads, from the first one on.
    [[nodiscard]] AC_INLINE int64_t element(int64_t index) const {
        return turned ? axis.last_shift() - axis.shift(tap(index))
                      : index * axis.dilation;
    }
};

// Numbers the taps of a class, and finds its runs: at most one for each tap.
template <class T>
void lay_out_class(NhwcJob<T>& job, NhwcClass<T>& part, const AxisTaps& y,
                   const AxisTaps& x, int64_t* offsets, int64_t* gaps) {
    const Band<T>& band = job.band;
    const int64_t down = y.count(), across = x.count();
    const int64_t bytes = bytes_of<T>(across * job.ins * vec<T>::lanes * job.panel);
    bool merged = band.pitch == job.ins && bytes <= nhwc_weight_bytes<T>();
    for (int64_t j = 1; j < across; ++j) merged &= x.element(j) == x.element(j - 1) + 1;
    const int64_t together = merged && across > 0 ? across : 1;
    part.k = down * across == 0 ? 0 : together * job.ins;
    part.runs = 0;
    part.offsets = offsets;
    part.gaps = gaps;
    for (int64_t i = 0, tap = part.first_tap; i < down; ++i) {
        for (int64_t j = 0; j < across; ++j, ++tap) {
            job.order[y.tap(i) * job.windows.x.kernel + x.tap(j)] = tap;
            if (j % together != 0) continue;
            const int64_t offset = y.element(i) * band.line + x.element(j) * band.pitch;
            if (part.runs > 0)
                gaps[part.runs - 1] = offset - offsets[part.runs - 1] - part.k;
            offsets[part.runs++] = offset;
        }
    }
}

template <class T>
bool open_last(NhwcJob<T>& job, int64_t classes) {
    const int64_t taps = job.windows.taps();
    job.order = scratch_of<int64_t>(job.context, nhwc_offsets, 3 * taps);
    job.classes = static_cast<NhwcClass<T>*>(
        job.context->scratch(job.context, nhwc_classes,
                             static_cast<size_t>(classes) * sizeof(NhwcClass<T>)));
    job.class_count = 0;
    return job.order != nullptr && job.classes != nullptr;
}

template <class T>
NhwcJob<T> nhwc_job(const ConvCall<T>& call) {
    NhwcJob<T> job = {};
    job.windows = call.windows;
    job.weight = call.weight;
    job.to = call.to;
    job.ins = call.ins();
    job.outs = call.outs();
    job.read_step = call.in_step();
    job.written_step = call.out_step();
    job.group_step = call.windows.outs * call.weight.image;
    job.accumulate = call.accumulate;
    job.context = call.context;
    job.finish = call.finish;
    return job;
}

template <class T>
bool nhwc_conv(const ConvCall<T>& call) {
    NhwcJob<T> job = nhwc_job(call);
    const Windows& w = job.windows;
    job.band = band_of_windows(w, call.from);
    job.to_step_y = job.to_step_x = 1;
    job.end_y = w.y.out;
    job.panel = choose_last_panel<T>(job.outs, w.x.out);
    if (!open_last(job, 1)) return false;
    NhwcClass<T>& part = job.classes[job.class_count++];
    part = {};
    part.y1 = w.y.out;
    part.x1 = w.x.out;
    lay_out_class(job, part, {w.y, false, 0}, {w.x, false, 0}, job.order + w.taps(),
                  job.order + 2 * w.taps());
    return run_nhwc(job, call.bias);
}

template <class T>
bool nhwc_conv_dx(const ConvCall<T>& call) {
    NhwcJob<T> job = nhwc_job(call);
    const Windows& w = job.windows;
    job.first_y = first_of(w.y);
    job.end_y = end_of(w.y);
    job.first_x = first_of(w.x);
    job.band = {call.from,
                w.y.out,
                w.x.out,
                w.outs,
                -w.y.last_shift(),
                job.first_x - w.x.last_shift(),
                end_of(w.x) - job.first_x + w.x.last_shift(),
                1,
                1,
                w.y.last_shift() + 1,
                false,
                0,
                0};
    job.to_step_y = w.y.stride;
    job.to_step_x = w.x.stride;
    place_band(job.band, job.first_y, job.end_y);
    job.panel = choose_last_panel<T>(job.outs, ceil_div(w.x.in, w.x.stride));
    if (!open_last(job, w.y.stride * w.x.stride)) return false;
    int64_t next = 0;
    for (int64_t ry = 0; ry < w.y.stride; ++ry) {
        for (int64_t rx = 0; rx < w.x.stride; ++rx) {
            const Lattice y = lattice(w.y, ry), x = lattice(w.x, rx);
            NhwcClass<T>& part = job.classes[job.class_count++];
            part = {y.begin, y.end, x.begin, x.end,   y.from, x.from,
                    next,    0,     0,       nullptr, nullptr};
            lay_out_class(job, part, {w.y, true, ry}, {w.x, true, rx},
                          job.order + w.taps() + next, job.order + 2 * w.taps() + next);
            next += taps_of_class(w.y, ry) * taps_of_class(w.x, rx);
        }
    }
    return run_nhwc(job, call.bias);
}

// ---- windows of one element: the pixels of all images are the rows of one product

// Whether one product does it; then fills it in.
template <class T>
AC_INLINE bool pixel_product(const ConvCall<T>& call, Gemm<T>& p) {
    const Windows& w = call.windows;
    if (!is_pointwise(w)) return false;
    p = {};
    p.a_row = even_step(call.from, w.batch, w.y.in, w.x.in, call.ins());
    p.c_row = even_step(call.to, w.batch, w.y.in, w.x.in, call.outs());
    if (p.a_row <= 0 || p.c_row <= 0 || !is_nhwc(call.from, call.ins())) return false;
    p.m = w.batch * w.y.in * w.x.in;
    p.n = call.outs();
    p.k = call.ins();
    p.a = call.from.data;
    p.a_col = 1;
    p.b = call.weight.data;
    p.b_row = call.in_step();
    p.b_col = call.out_step();
    p.c = call.to.data;
    p.alpha = 1;
    p.beta = call.accumulate ? T(1) : T(0);
    p.activation = Activation::none;
    p.epilogue = call.finish;
    return true;
}

template <class T>
bool multiply_pixels(const ConvCall<T>& call) {
    Gemm<T> p;
    pixel_product(call, p);
    if (call.bias != nullptr) {
        const int64_t wide = round_up(p.n, vec<T>::lanes);
        T* start = scratch_of<T>(call.context, nhwc_weights, wide);
        if (start == nullptr) return false;
        copy_bias<T>(call.bias, 1, p.n, wide, start);
        p.bias = start;
    }
    return multiply(p, call.context);
}

// Whether channels are neighbours on both sides, or few enough to be brought together.
// Results of few channels would leave most of a register unused, and groups of few
// would do so time and again: 32 groups of 4 channels run 1.3 to 2.6 times as
// fast through planes.
template <class T>
AC_INLINE bool are_last(const ConvCall<T>& call) {
    const int64_t fewest = call.windows.groups == 1 ? vec<T>::lanes / 4 : vec<T>::lanes;
    return call.to.channel == 1 && call.outs() >= fewest &&
           (is_nhwc(call.from, call.ins()) || call.ins() <= nhwc_few);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
