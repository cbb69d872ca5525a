// SPDX-License-Identifier: MIT
//
// Convolutions whose images are copied into planes with zeros around them, where every
// tap is at one distance from its window. The input gradient is a convolution too: of g
// with the weights transposed. For a stride of s its elements fall into s * s classes
// by their place (y + padding) % s, (x + padding) % s; each class sees its own taps, at
// stride 1. So both are passes of one loop, conv a single one.
#pragma once

#include "conv/call.hpp"
#include "conv/passes.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- weights

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

template <class T>
ConvJob<T> job_in_planes(const ConvCall<T>& call) {
    ConvJob<T> job = {};
    job.windows = call.windows;
    job.from = call.from;
    job.to = call.to;
    job.ins = call.ins();
    job.outs = call.outs();
    job.turned = call.turned;
    job.accumulate = call.accumulate;
    job.context = call.context;
    return job;
}

// ---- conv

template <class T>
bool conv_in_planes(const ConvCall<T>& call) {
    ConvJob<T> job = job_in_planes(call);
    const Windows& w = job.windows;
    const Images<const T>& weight = call.weight;
    job.from_y = w.y;
    job.from_x = w.x;
    job.rows = w.y.out;
    job.planes = planes_of(w);
    job.square = square_of(job);
    const int64_t taps = w.ins * w.taps();
    choose_tasks(job, w.y.last_shift(), taps, w.x.out, 1);

    job.group_weights = w.outs * taps;
    T* packed = scratch_of<T>(job.context, slot_weights,
                              w.groups * (job.group_weights + w.outs));
    int64_t* distances = scratch_of<int64_t>(job.context, slot_distances, taps);
    if (packed == nullptr || distances == nullptr) return false;
    T* start = packed + w.groups * job.group_weights;
    copy_bias<T>(call.bias, w.groups, w.outs, w.outs, start);
    job.start = start;
    find_distances(w, job.planes, w.ins, distances);
    int64_t tap = 0;
    for (int64_t c = 0; c < w.ins; ++c) {
        for (int64_t i = 0; i < w.y.kernel; ++i) {
            for (int64_t j = 0; j < w.x.kernel; ++j, ++tap) {
                const T* from = weight.data + c * weight.channel + i * weight.row +
                                j * weight.column;
                for (int64_t g = 0; g < w.groups; ++g) {
                    pack_tap(job, taps, tap, from + g * w.outs * weight.image,
                             weight.image, packed + g * job.group_weights);
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

// Packs the taps of a class; answers their count. 3 x 3 windows by 2 have four classes,
// of 2 x 2, 2 x 1, 1 x 2 and 1 taps: an element of dx in an even row and column
// (without padding) is read by rows 0 and 2 of the taps, and by columns 0 and 2.
template <class T>
int64_t pack_class(const ConvJob<T>& job, const Images<const T>& weight, int64_t ry,
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
                        const T* from = weight.data + (g * w.outs + o) * weight.image +
                                        i * weight.row + j * weight.column;
                        pack_tap(job, taps, tap, from, weight.channel,
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
bool dx_in_planes(const ConvCall<T>& call) {
    ConvJob<T> job = job_in_planes(call);
    const Windows& w = job.windows;
    job.from_y = {w.y.out, 0, 1, 1, 0, 1};
    job.from_x = {w.x.out, 0, 1, 1, 0, 1};
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
    job.square = square_of(job);
    const int64_t taps = w.outs * w.taps();
    choose_tasks(job, w.y.last_shift(), taps, w.x.in, w.x.stride);

    job.group_weights = w.ins * taps;
    T* packed = scratch_of<T>(job.context, slot_weights,
                              w.groups * (job.group_weights + w.ins));
    int64_t* distances = scratch_of<int64_t>(job.context, slot_distances, taps);
    Pass<T>* passes = static_cast<Pass<T>*>(job.context->scratch(
        job.context, slot_passes,
        static_cast<size_t>(w.y.stride * w.x.stride) * sizeof(Pass<T>)));
    if (packed == nullptr || distances == nullptr || passes == nullptr) return false;
    T* start = packed + w.groups * job.group_weights;
    copy_bias<T>(call.bias, w.groups, w.ins, w.ins, start);
    job.start = start;
    int64_t done = 0;
    for (int64_t ry = 0; ry < w.y.stride; ++ry) {
        for (int64_t rx = 0; rx < w.x.stride; ++rx) {
            const Lattice y = lattice(w.y, ry), x = lattice(w.x, rx);
            const int64_t count =
                pack_class<T>(job, call.weight, ry, rx, 0, nullptr, nullptr);
            T* weights = packed + w.ins * done;
            pack_class(job, call.weight, ry, rx, count, distances + done, weights);
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

}  // namespace
}  // namespace autocalc::simd::AC_ISA
