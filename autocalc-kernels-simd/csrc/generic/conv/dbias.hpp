// SPDX-License-Identifier: MIT
//
// The gradient of a convolution's bias: g summed over images and windows.
#pragma once

#include "common/call.hpp"
#include "common/lanes.hpp"
#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Keeps what an addition loses (Knuth: The art of computer programming 2, 4.2.2,
// theorem B), so that lines of any length stay exact.
template <class T>
struct TwoSum {
    vec<T> sum = zero<T>(), lost = zero<T>();
    AC_INLINE void add(vec<T> x) {
        const vec<T> total = sum + x;
        const vec<T> other = total - sum;
        lost = lost + ((sum - (total - other)) + (x - other));
        sum = total;
    }
    // Of each lane, and of all.
    [[nodiscard]] AC_INLINE vec<T> totals() const {
        return select(eq(lost - lost, zero<T>()), sum + lost, sum);
    }
    [[nodiscard]] AC_INLINE T total() const {
        const T whole = reduce_add(sum), rest = reduce_add(lost);
        return rest - rest == 0 ? whole + rest : whole;  // an infinity loses a NaN
    }
};

// The sum of g over images and windows, of channel o.
template <class T>
T sum_of_channel(const Windows& w, const Images<const T>& g, int64_t o) {
    constexpr int lanes = vec<T>::lanes;
    TwoSum<T> sum;
    T ragged[lanes];
    for (int64_t n = 0; n < w.batch; ++n) {
        for (int64_t y = 0; y < w.y.out; ++y) {
            const T* line = g.data + n * g.image + o * g.channel + y * g.row;
            for (int64_t x = 0; x < w.x.out; x += lanes) {
                const int64_t count = smaller<int64_t>(lanes, w.x.out - x);
                if (g.column == 1) {
                    sum.add(load_last(line + x, count));
                    continue;
                }
                for (int64_t i = 0; i < count; ++i)
                    ragged[i] = line[(x + i) * g.column];
                sum.add(load_first(ragged, count));
            }
        }
    }
    return sum.total();
}

// The same of `count` channels side by side in memory, one to each lane.
template <class T>
vec<T> sums_of_channels(const Windows& w, const Images<const T>& g, int64_t o,
                        int64_t count) {
    TwoSum<T> sum;
    for (int64_t n = 0; n < w.batch; ++n) {
        for (int64_t y = 0; y < w.y.out; ++y) {
            const T* line = g.data + n * g.image + o + y * g.row;
            for (int64_t x = 0; x < w.x.out; ++x)
                sum.add(load_last(line + x * g.column, count));
        }
    }
    return sum.totals();
}

template <class T>
AC_INLINE void put_bias(T* to, T total, bool accumulate) {
    *to = accumulate ? *to + total : total;
}

template <class T>
void sum_bias(const Windows& w, const Images<const T>& g, const ac_array* dbias,
              bool accumulate, ac_context* context) {
    const int64_t channels = w.groups * w.outs;
    const int64_t step = stride_of<T>(dbias, 0);
    T* to = data<T>(dbias);
    const bool worthwhile = channels * w.batch * w.y.out * w.x.out > serial_work;
    if (g.channel == 1 && g.column != 1) {
        constexpr int64_t lanes = vec<T>::lanes;
        parallel(context, ceil_div(channels, lanes), worthwhile,
                 [&](int64_t begin, int64_t end) {
                     for (int64_t o = begin * lanes; o < smaller(end * lanes, channels);
                          o += lanes) {
                         const int64_t count = smaller(lanes, channels - o);
                         alignas(64) T totals[lanes];
                         store(totals, sums_of_channels(w, g, o, count));
                         for (int64_t i = 0; i < count; ++i)
                             put_bias(to + (o + i) * step, totals[i], accumulate);
                     }
                 });
        return;
    }
    parallel(context, channels, worthwhile, [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) {
            put_bias(to + o * step, sum_of_channel(w, g, o), accumulate);
        }
    });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
