// SPDX-License-Identifier: MIT
//
// The weight gradient of one channel that is read for one that is written, for 3 x 3
// windows at stride 1: a dot product of lines for every tap, read in place. A
// tap's line begins and ends where both the line of g and that of x do, so that nothing
// is copied for the sake of the zeros around x.
#pragma once

#include "common/call.hpp"
#include "conv/call.hpp"
#include "conv/depthwise.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int depthwise_kernel = 3;        // 5 x 5 gains nothing
constexpr int64_t depthwise_channels = 8;  // of a task: neighbours in memory
constexpr int64_t depthwise_fewest = 16;   // channels that make enough tasks

template <class T>
AC_INLINE bool is_depthwise_weights(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const bool plain = w.y.stride * w.y.dilation * w.x.stride * w.x.dilation == 1;
    const bool known = w.y.kernel == depthwise_kernel && w.x.kernel == depthwise_kernel;
    return plain && known && w.ins == 1 && w.outs == 1 &&
           w.groups >= depthwise_fewest && call.x.column == 1 && call.g.column == 1;
}

// Adds up the lines of one channel of one image: sums[taps][lanes].
template <class T>
AC_NOINLINE void add_depthwise(const DweightCall<T>& job, const T* x, const T* g,
                               T* sums) {
    constexpr int lanes = vec<T>::lanes;
    constexpr int kernel = depthwise_kernel;
    const Axis &down = job.windows.y, &across = job.windows.x;
    vec<T> sum[kernel][kernel];
#pragma GCC unroll 3
    for (int i = 0; i < kernel; ++i) {
#pragma GCC unroll 3
        for (int j = 0; j < kernel; ++j)
            sum[i][j] = load(sums + (i * kernel + j) * lanes);
    }
    for (int64_t y = 0; y < down.out; ++y) {
        const T* line = g + y * job.g.row;
        const int64_t top = y - down.padding;  // the line of x for the first tap
        const int64_t i0 = larger<int64_t>(0, -top);
        const int64_t i1 = smaller<int64_t>(kernel, down.in - top);
#pragma GCC unroll 3
        for (int j = 0; j < kernel; ++j) {
            const int64_t left = j - across.padding;
            const int64_t begin = larger<int64_t>(0, -left);
            const int64_t end = smaller(across.out, across.in - left);
            const T* from = x + top * job.x.row + left;
            const auto step = [&](int64_t at, auto read) AC_INLINE_LAMBDA {
                const vec<T> gv = read(line + at);
#pragma GCC unroll 3
                for (int i = 0; i < kernel; ++i) {
                    if (i < i0 || i >= i1) continue;
                    sum[i][j] = fma(gv, read(from + i * job.x.row + at), sum[i][j]);
                }
            };
            int64_t at = begin;
            for (; at + lanes <= end; at += lanes)
                step(at, [](const T* p) AC_INLINE_LAMBDA { return load(p); });
            const int64_t rest = end - at;
            if (rest > 0)
                step(at, [rest](const T* p)
                             AC_INLINE_LAMBDA { return load_first(p, rest); });
        }
    }
#pragma GCC unroll 3
    for (int i = 0; i < kernel; ++i) {
#pragma GCC unroll 3
        for (int j = 0; j < kernel; ++j)
            store(sums + (i * kernel + j) * lanes, sum[i][j]);
    }
}

template <class T>
void run_depthwise_weights(const DweightCall<T>& job, int64_t first, int64_t last) {
    constexpr int lanes = vec<T>::lanes;
    constexpr int kernel = depthwise_kernel, taps = kernel * kernel;
    alignas(64) T sums[depthwise_channels * taps * lanes];
    memset(sums, 0, sizeof(sums));
    for (int64_t n = 0; n < job.windows.batch; ++n) {
        for (int64_t c = first; c < last; ++c) {
            add_depthwise(job, job.x.data + n * job.x.image + c * job.x.channel,
                          job.g.data + n * job.g.image + c * job.g.channel,
                          sums + (c - first) * taps * lanes);
        }
    }
    for (int64_t c = first; c < last; ++c) {
        for (int64_t k = 0; k < taps; ++k) {
            T* place = job.to.data + c * job.to.image + k / kernel * job.to.row +
                       k % kernel * job.to.column;
            const T total = reduce_add(load(sums + ((c - first) * taps + k) * lanes));
            *place = job.accumulate ? *place + total : total;
        }
    }
}

template <class T>
void sum_depthwise(const DweightCall<T>& job) {
    const Windows& w = job.windows;
    const int64_t work = w.batch * w.groups * w.y.out * w.x.out * w.taps();
    parallel_range(job.context, w.groups, depthwise_channels, work > serial_work,
                   [&](int64_t first, int64_t last) {
                       for (; first < last; first += depthwise_channels) {
                           const int64_t end =
                               smaller(last, first + depthwise_channels);
                           run_depthwise_weights(job, first, end);
                       }
                   });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
