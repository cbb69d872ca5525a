// SPDX-License-Identifier: MIT
//
// One channel that is read for one that is written, where channels are neighbours: a
// register holds channels of a pixel, so no lane is lost whatever the width of images,
// and every window, stride and dilation is the same loop. conv and conv_dx differ in
// which pixels a result reads: a list for each line and each column, found once.
#pragma once

#include "common/lanes.hpp"
#include "common/transpose.hpp"
#include "conv/call.hpp"
#include "conv/strided_dx.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { nhwc_spots = 2, nhwc_taps = 3 };
// Results side by side that share their weights: with their pixels and a weight they
// fill 16 registers. Of AVX-512's 32, where 128 channels of 56 x 56 take 1.12 and 1.14
// times as long with 4, 1.2 times with 8 or 9.
constexpr int64_t spot_columns = tile_vectors == 4 ? 6 : 4;

// What results read along a dimension: result i the elements from[i * most] on,
// count[i] of them, with the taps tap[i * most] on.
struct Spots {
    int64_t most;
    int64_t *count, *from, *tap;
    [[nodiscard]] AC_INLINE static int64_t size(int64_t results, int64_t most) {
        return results * (1 + 2 * most);
    }
    AC_INLINE Spots(int64_t results, int64_t most_, int64_t* memory)
        : most(most_),
          count(memory),
          from(memory + results),
          tap(memory + results * (1 + most_)) {}
    AC_INLINE void add(int64_t result, int64_t element, int64_t tap_) const {
        const int64_t at = result * most + count[result]++;
        from[at] = element;
        tap[at] = tap_;
    }
};

// `turned`: the results are the elements of the axis, and read windows.
AC_INLINE void find_spots(const Axis& axis, bool turned, const Spots& spots) {
    const int64_t results = turned ? axis.in : axis.out;
    for (int64_t i = 0; i < results; ++i) spots.count[i] = 0;
    for (int64_t window = 0; window < axis.out; ++window) {
        for (int64_t tap = 0; tap < axis.kernel; ++tap) {
            const int64_t element =
                window * axis.stride - axis.padding + tap * axis.dilation;
            if (element < 0 || element >= axis.in) continue;
            if (turned) {
                spots.add(element, window, tap);
            } else {
                spots.add(window, element, tap);
            }
        }
    }
}

template <class T>
struct NhwcDepthwise {
    Windows windows;
    Images<const T> from;
    Images<T> to;
    int64_t lines, columns;  // of results
    Spots y, x;
    const T* taps;   // [tap][whole registers]
    const T* start;  // the bias, or zeros
    int64_t wide;
    bool accumulate;
    bool clamped;  // to [low, high]
    T low, high;
};

// What follows a sum of `n` channels that goes to `to`.
template <class T>
AC_INLINE vec<T> finished(const NhwcDepthwise<T>& job, vec<T> sum, const T* to,
                          int64_t n) {
    if (job.accumulate) sum = sum + load_last(to, n);
    if (job.clamped) sum = min(set1<T>(job.high), max(set1<T>(job.low), sum));
    return sum;
}

// `columns` results side by side read the same taps, `step` elements apart, of `n`
// channels from number `c` on.
template <class T, int columns>
AC_INLINE void depthwise_spot(const NhwcDepthwise<T>& job, const T* image, int64_t y,
                              int64_t x, int64_t step, int64_t c, int64_t n, T* to) {
    const int64_t count_y = job.y.count[y], count_x = job.x.count[x];
    const int64_t *from_y = job.y.from + y * job.y.most,
                  *tap_y = job.y.tap + y * job.y.most;
    const int64_t *from_x = job.x.from + x * job.x.most,
                  *tap_x = job.x.tap + x * job.x.most;
    vec<T> sum[columns];
#pragma GCC unroll 8
    for (int i = 0; i < columns; ++i) sum[i] = load(job.start + c);
    for (int64_t j = 0; j < count_y; ++j) {
        const T* line = image + from_y[j] * job.from.row + c;
        const T* taps = job.taps + tap_y[j] * job.windows.x.kernel * job.wide + c;
        for (int64_t k = 0; k < count_x; ++k) {
            const vec<T> weight = load(taps + tap_x[k] * job.wide);
            const T* at = line + from_x[k] * job.from.column;
#pragma GCC unroll 8
            for (int i = 0; i < columns; ++i)
                sum[i] = fma(load_last(at + i * step, n), weight, sum[i]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < columns; ++i) {
        T* place = to + i * job.to.column + c;
        store_last(place, finished(job, sum[i], place, n), n);
    }
}

// One result of `registers` registers of channels from number `c` on: their sums do not
// wait for each other, and the place of a tap is found once for all.
template <class T, int registers>
AC_INLINE void depthwise_wide(const NhwcDepthwise<T>& job, const T* image, int64_t y,
                              int64_t x, int64_t c, T* to) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t count_y = job.y.count[y], count_x = job.x.count[x];
    const int64_t *from_y = job.y.from + y * job.y.most,
                  *tap_y = job.y.tap + y * job.y.most;
    const int64_t *from_x = job.x.from + x * job.x.most,
                  *tap_x = job.x.tap + x * job.x.most;
    vec<T> sum[registers];
#pragma GCC unroll 4
    for (int i = 0; i < registers; ++i) sum[i] = load(job.start + c + i * lanes);
    for (int64_t j = 0; j < count_y; ++j) {
        const T* line = image + from_y[j] * job.from.row + c;
        const T* taps = job.taps + tap_y[j] * job.windows.x.kernel * job.wide + c;
        for (int64_t k = 0; k < count_x; ++k) {
            const T* weights = taps + tap_x[k] * job.wide;
            const T* at = line + from_x[k] * job.from.column;
#pragma GCC unroll 4
            for (int i = 0; i < registers; ++i)
                sum[i] = fma(load(at + i * lanes), load(weights + i * lanes), sum[i]);
        }
    }
    to += c;
#pragma GCC unroll 4
    for (int i = 0; i < registers; ++i) {
        store(to + i * lanes, finished(job, sum[i], to + i * lanes, lanes));
    }
}

// Asks for the pixels two blocks on, as much for each register of channels: registers
// of neighbouring pixels are whole pixels apart, an order that the hardware does not
// foresee. 128 channels of 56 x 56, 3 x 3: 1.2 to 1.5 times as fast.
template <class T>
AC_INLINE void ask_for_blocks(const NhwcDepthwise<T>& job, const T* image, int64_t y,
                              int64_t x, int64_t c, const T* to) {
    const int64_t count_y = job.y.count[y];
    if (count_y == 0) return;
    const int64_t row = job.y.from[y * job.y.most + count_y - 1];
    const int64_t column = job.x.from[x * job.x.most] + 3 * spot_columns;
    const T* from = image + row * job.from.row + column * job.from.column;
    to += 2 * spot_columns * job.to.column;
#pragma GCC unroll 8
    for (int i = 0; i < spot_columns; ++i) {
        __builtin_prefetch(from + c * spot_columns + i * vec<T>::lanes, 0, 2);
        __builtin_prefetch(to + c * spot_columns + i * vec<T>::lanes, 1, 2);
    }
}

// The same where `kernel` taps of each line read pixels side by side, and so do the
// results: a pixel is loaded once for all of them.
template <class T, int kernel>
AC_INLINE void depthwise_block(const NhwcDepthwise<T>& job, const T* image, int64_t y,
                               int64_t x, int64_t c, int64_t n, T* to) {
    const int64_t count_y = job.y.count[y];
    const int64_t* from_y = job.y.from + y * job.y.most;
    const int64_t* tap_y = job.y.tap + y * job.y.most;
    const int64_t* tap_x = job.x.tap + x * job.x.most;
    const int64_t first = tap_x[0] * job.wide, next = (tap_x[1] - tap_x[0]) * job.wide;
    const T* from = image + job.x.from[x * job.x.most] * job.from.column + c;
    vec<T> sum[spot_columns];
#pragma GCC unroll 8
    for (int i = 0; i < spot_columns; ++i) sum[i] = load(job.start + c);
    ask_for_blocks(job, image, y, x, c, to);
    for (int64_t j = 0; j < count_y; ++j) {
        const T* line = from + from_y[j] * job.from.row;
        const T* taps =
            job.taps + tap_y[j] * job.windows.x.kernel * job.wide + first + c;
        vec<T> pixel[spot_columns + kernel - 1];
#pragma GCC unroll 16
        for (int i = 0; i < spot_columns + kernel - 1; ++i)
            pixel[i] = load_last(line + i * job.from.column, n);
#pragma GCC unroll 5
        for (int k = 0; k < kernel; ++k) {
            const vec<T> weight = load(taps + k * next);
#pragma GCC unroll 8
            for (int i = 0; i < spot_columns; ++i)
                sum[i] = fma(pixel[i + k], weight, sum[i]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < spot_columns; ++i) {
        T* place = to + i * job.to.column + c;
        store_last(place, finished(job, sum[i], place, n), n);
    }
}

// `kernel`: so many taps side by side, or 0.
template <class T, int columns, int kernel>
AC_NOINLINE void depthwise_spots(const NhwcDepthwise<T>& job, const T* image, int64_t y,
                                 int64_t x, int64_t step, T* to) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t channels = job.windows.groups;
    const auto run = [&](int64_t c, int64_t n) AC_INLINE_LAMBDA {
        if constexpr (kernel == 0) {
            depthwise_spot<T, columns>(job, image, y, x, step, c, n, to);
        } else {
            depthwise_block<T, kernel>(job, image, y, x, c, n, to);
        }
    };
    int64_t c = 0;
    if constexpr (columns == 1) {
        constexpr int registers = 4;
        for (; c + registers * lanes <= channels; c += registers * lanes)
            depthwise_wide<T, registers>(job, image, y, x, c, to);
    }
    for (; c + lanes <= channels; c += lanes) run(c, lanes);
    if (c < channels) run(c, channels - c);
}

// How far apart the results from `x` on read, if as many as go together read the same
// taps, or -1.
AC_INLINE int64_t spots_apart(const Spots& spots, int64_t x, int64_t results) {
    if (x + spot_columns > results || spots.count[x] == 0) return -1;
    const int64_t* tap = spots.tap + x * spots.most;
    const int64_t* from = spots.from + x * spots.most;
    const int64_t apart = from[spots.most] - from[0];
    for (int64_t i = 1; i < spot_columns; ++i) {
        if (spots.count[x + i] != spots.count[x]) return -1;
        for (int64_t k = 0; k < spots.count[x]; ++k) {
            const int64_t at = i * spots.most + k;
            if (tap[at] != tap[k] || from[at] != from[k] + i * apart) return -1;
        }
    }
    return apart;
}

// Whether a result reads so many pixels side by side, with taps as far from each other
// as the first two.
AC_INLINE bool reads_run(const Spots& spots, int64_t x, int64_t kernel) {
    const int64_t* tap = spots.tap + x * spots.most;
    const int64_t* from = spots.from + x * spots.most;
    if (spots.count[x] != kernel) return false;
    for (int64_t k = 1; k < kernel; ++k) {
        if (from[k] != from[0] + k || tap[k] != tap[0] + k * (tap[1] - tap[0]))
            return false;
    }
    return true;
}

template <class T>
void run_depthwise_line(const NhwcDepthwise<T>& job, const T* image, int64_t y, T* to) {
    for (int64_t x = 0; x < job.columns;) {
        const int64_t apart = spots_apart(job.x, x, job.columns);
        T* place = to + x * job.to.column;
        if (apart < 0) {
            depthwise_spots<T, 1, 0>(job, image, y, x, 0, place);
            ++x;
            continue;
        }
        if (apart == 1 && reads_run(job.x, x, 3)) {
            depthwise_spots<T, spot_columns, 3>(job, image, y, x, 0, place);
        } else if (apart == 1 && reads_run(job.x, x, 5)) {
            depthwise_spots<T, spot_columns, 5>(job, image, y, x, 0, place);
        } else {
            depthwise_spots<T, spot_columns, 0>(job, image, y, x,
                                                apart * job.from.column, place);
        }
        x += spot_columns;
    }
}

template <class T>
AC_INLINE bool is_nhwc_depthwise(const Windows& w, const Images<const T>& from,
                                 const Images<T>& to) {
    return w.ins == 1 && w.outs == 1 && from.channel == 1 && to.channel == 1;
}

// The taps of all channels, [tap][whole registers].
template <class T>
void read_taps(const Windows& w, const Images<const T>& weight, int64_t wide, T* to) {
    const int64_t taps = w.taps();
    const bool in_line = weight.column == 1 && weight.row == w.x.kernel;
    if (in_line) {
        transpose_items(reinterpret_cast<char*>(to), bytes_of<T>(wide),
                        reinterpret_cast<const char*>(weight.data),
                        bytes_of<T>(weight.image), taps, w.groups, item_size<T>);
    }
    for (int64_t k = 0; k < taps; ++k) {
        T* row = to + k * wide;
        const T* tap =
            weight.data + k / w.x.kernel * weight.row + k % w.x.kernel * weight.column;
        for (int64_t c = 0; c < w.groups && !in_line; ++c)
            row[c] = tap[c * weight.image];
        for (int64_t c = w.groups; c < wide; ++c) row[c] = T(0);
    }
}

// False if there is no memory.
template <class T>
bool nhwc_depthwise(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const int64_t wide = round_up(w.groups, vec<T>::lanes);
    const int64_t lines = call.turned ? w.y.in : w.y.out;
    const int64_t columns = call.turned ? w.x.in : w.x.out;
    T* taps = scratch_of<T>(call.context, nhwc_taps, (w.taps() + 1) * wide);
    const int64_t down = Spots::size(lines, w.y.kernel);
    int64_t* spots = scratch_of<int64_t>(call.context, nhwc_spots,
                                         down + Spots::size(columns, w.x.kernel));
    if (taps == nullptr || spots == nullptr) return false;
    read_taps(w, call.weight, wide, taps);
    T* start = taps + w.taps() * wide;
    copy_bias<T>(call.bias, 1, w.groups, wide, start);
    const NhwcDepthwise<T> job = {w,
                                  call.from,
                                  call.to,
                                  lines,
                                  columns,
                                  Spots(lines, w.y.kernel, spots),
                                  Spots(columns, w.x.kernel, spots + down),
                                  taps,
                                  start,
                                  wide,
                                  call.accumulate,
                                  call.finish.is_clamp(),
                                  call.finish.low(),
                                  call.finish.high()};
    find_spots(w.y, call.turned, job.y);
    find_spots(w.x, call.turned, job.x);
    const int64_t work = w.batch * w.y.out * w.x.out * w.groups * w.taps();
    parallel(
        call.context, w.batch * lines, work > serial_work,
        [&](int64_t begin, int64_t end) {
            const Phase phase(call.context, AC_PHASE_COMPUTE);
            for (int64_t t = begin; t < end; ++t) {
                const int64_t image = t / lines, y = t % lines;
                run_depthwise_line(job, job.from.data + image * job.from.image, y,
                                   job.to.data + image * job.to.image + y * job.to.row);
                if (call.finish.is_pass())
                    finish_pixels(call.finish, job.to, image, y, columns, 0, w.groups);
            }
        });
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
