// SPDX-License-Identifier: MIT
//
// The weight gradient of one channel that is read for one that is written, where
// channels are neighbours: lanes are channels. Pixels pass in the order of memory,
// which the hardware foresees, and the sums of all taps stay in L1: with sums in
// registers, and the pixels of a line once for each register of channels, 128 channels
// of 56 x 56 took twice the time. Parts of the lines, cut by the shape alone, are
// summed on their own and added in their order.
#pragma once

#include "common/call.hpp"
#include "conv/call.hpp"
#include "norm/channels.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { nhwc_tap_sums = 0 };
constexpr int64_t tap_parts = 8;      // of the lines
constexpr int64_t tap_registers = 4;  // of channels in a task, where threads are many
constexpr int64_t tap_block = 4;      // windows that are added together
constexpr int64_t tap_kernel = 3;     // and how many taps across there is code for

template <class T>
struct NhwcTapSums {
    Windows windows;
    Images<const T> x, g;
    int64_t wide;
};

// A line of windows.
template <class T>
struct TapLine {
    const T *x, *g;  // the image, the line
    int64_t y;
    T* sums;             // [tap][wide]
    int64_t first, end;  // channels
};

// Window `p`, `some` channels from number `c` on.
template <class T, class Lanes>
AC_INLINE void add_window(const NhwcTapSums<T>& job, const TapLine<T>& line, int64_t p,
                          int64_t c, const Lanes& some) {
    const Axis &down = job.windows.y, &across = job.windows.x;
    const vec<T> g = some.get(line.g + p * job.g.column + c);
    for (int64_t i = 0; i < down.kernel; ++i) {
        const int64_t row = line.y * down.stride - down.padding + i * down.dilation;
        if (row < 0 || row >= down.in) continue;
        const T* x = line.x + row * job.x.row + c;
        T* sums = line.sums + i * across.kernel * job.wide + c;
        int64_t column = p * across.stride - across.padding;
        for (int64_t j = 0; j < across.kernel; ++j, column += across.dilation) {
            if (column < 0 || column >= across.in) continue;
            T* sum = sums + j * job.wide;
            store(sum, fma(g, some.get(x + column * job.x.column), load(sum)));
        }
    }
}

// Asks for the windows two blocks on, as much for each register of channels: the
// hardware does not foresee registers of neighbouring pixels, whole pixels apart.
template <class T>
AC_INLINE void ask_for_windows(const NhwcTapSums<T>& job, const TapLine<T>& line,
                               int64_t p, int64_t c) {
    const Axis& down = job.windows.y;
    const int64_t last =
        line.y * down.stride - down.padding + (down.kernel - 1) * down.dilation;
    const int64_t row = larger<int64_t>(0, smaller(down.in - 1, last));
    const int64_t column = p - job.windows.x.padding + 3 * tap_block;
    const T* x = line.x + row * job.x.row + column * job.x.column + c * tap_block;
    const T* g = line.g + (p + 2 * tap_block) * job.g.column + c * tap_block;
#pragma GCC unroll 4
    for (int i = 0; i < tap_block; ++i) {
        __builtin_prefetch(x + i * vec<T>::lanes, 0, 2);
        __builtin_prefetch(g + i * vec<T>::lanes, 0, 2);
    }
}

// Some neighbouring windows whose taps are all inside the lines of x.
template <class T, class Lanes>
AC_INLINE void add_block(const NhwcTapSums<T>& job, const TapLine<T>& line, int64_t p,
                         int64_t c, const Lanes& some) {
    const Axis& down = job.windows.y;
    const T* from = line.x + (p - job.windows.x.padding) * job.x.column + c;
    vec<T> g[tap_block];
#pragma GCC unroll 4
    for (int q = 0; q < tap_block; ++q)
        g[q] = some.get(line.g + (p + q) * job.g.column + c);
    ask_for_windows(job, line, p, c);
    for (int64_t i = 0; i < down.kernel; ++i) {
        const int64_t row = line.y * down.stride - down.padding + i * down.dilation;
        if (row < 0 || row >= down.in) continue;
        vec<T> x[tap_block + tap_kernel - 1];
#pragma GCC unroll 6
        for (int q = 0; q < tap_block + tap_kernel - 1; ++q)
            x[q] = some.get(from + row * job.x.row + q * job.x.column);
        T* sums = line.sums + i * tap_kernel * job.wide + c;
#pragma GCC unroll 3
        for (int j = 0; j < tap_kernel; ++j) {
            vec<T> sum = load(sums + j * job.wide);
#pragma GCC unroll 4
            for (int q = 0; q < tap_block; ++q) sum = fma(g[q], x[q + j], sum);
            store(sums + j * job.wide, sum);
        }
    }
}

template <class T, bool block>
AC_NOINLINE void add_channels(const NhwcTapSums<T>& job, const TapLine<T>& line,
                              int64_t p) {
    constexpr int64_t lanes = vec<T>::lanes;
    const auto add = [&](int64_t c, const auto& some) AC_INLINE_LAMBDA {
        if constexpr (block) {
            add_block(job, line, p, c, some);
        } else {
            add_window(job, line, p, c, some);
        }
    };
    int64_t c = line.first;
    for (; c + lanes <= line.end; c += lanes) add(c, AllLanes<T>{});
    if (c < line.end) add(c, FirstLanes<T>{line.end - c});
}

// Lines `begin` to `end`, counted through the images, into sums[tap][wide], of channels
// `first` to `last`.
template <class T>
void add_tap_lines(const NhwcTapSums<T>& job, int64_t begin, int64_t end, int64_t first,
                   int64_t last, T* sums) {
    const Windows& w = job.windows;
    const Axis& across = w.x;
    const bool known =
        across.kernel == tap_kernel && across.stride == 1 && across.dilation == 1;
    const int64_t inside =
        known ? smaller(across.out, across.in + across.padding - tap_kernel + 1) : 0;
    const int64_t width = round_up(last - first, vec<T>::lanes);
    for (int64_t k = 0; k < w.taps(); ++k)
        clear_run(sums + k * job.wide + first, width);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t image = t / w.y.out, y = t % w.y.out;
        const TapLine<T> line = {job.x.data + image * job.x.image,
                                 job.g.data + image * job.g.image + y * job.g.row,
                                 y,
                                 sums,
                                 first,
                                 last};
        for (int64_t p = 0; p < across.out;) {
            if (p >= across.padding && p + tap_block <= inside) {
                add_channels<T, true>(job, line, p);
                p += tap_block;
            } else {
                add_channels<T, false>(job, line, p);
                ++p;
            }
        }
    }
}

// Of channel `c`, from sums[part][tap][wide].
template <class T>
void write_tap_sums(const DweightCall<T>& call, const T* sums, int64_t wide,
                    int64_t c) {
    const Windows& w = call.windows;
    const Images<T>& to = call.to;
    for (int64_t k = 0; k < w.taps(); ++k) {
        T total = 0;
        for (int64_t p = 0; p < tap_parts; ++p)
            total += sums[(p * w.taps() + k) * wide];
        T* place = to.data + c * to.image + k / w.x.kernel * to.row +
                   k % w.x.kernel * to.column;
        *place = call.accumulate ? *place + total : total;
    }
}

template <class T>
AC_INLINE bool is_nhwc_depthwise_dweight(const DweightCall<T>& call) {
    return call.windows.ins == 1 && call.windows.outs == 1 && call.x.channel == 1 &&
           call.g.channel == 1;
}

// False if there is no memory.
template <class T>
bool sum_nhwc_depthwise_dweight(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const int64_t wide = round_up(w.groups, vec<T>::lanes);
    const int64_t size = w.taps() * wide;
    T* sums = scratch_of<T>(call.context, nhwc_tap_sums, tap_parts * size);
    if (sums == nullptr) return false;
    const NhwcTapSums<T> job = {w, call.x, call.g, wide};
    const Shares parts(w.batch * w.y.out, tap_parts);
    const int64_t work = w.batch * w.y.out * w.x.out * w.groups * w.taps();
    const int64_t registers = wide / vec<T>::lanes;
    const int64_t blocks =
        smaller(ceil_div(tasks_for(call.context, tap_parts, 1), tap_parts),
                ceil_div(registers, tap_registers));
    const Shares channels(registers, blocks);
    const auto channel = [&](int64_t block) {
        return smaller(w.groups, channels.at(block) * vec<T>::lanes);
    };
    parallel(call.context, tap_parts * blocks, work > serial_work,
             [&](int64_t begin, int64_t end) {
                 for (int64_t t = begin; t < end; ++t) {
                     const int64_t p = t / blocks, block = t % blocks;
                     add_tap_lines(job, parts.at(p), parts.at(p + 1), channel(block),
                                   channel(block + 1), sums + p * size);
                 }
             });
    parallel(call.context, w.groups, tap_parts * size > serial_work,
             [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c)
                     write_tap_sums(call, sums + c, wide, c);
             });
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
