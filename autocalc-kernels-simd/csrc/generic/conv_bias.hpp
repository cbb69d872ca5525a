// SPDX-License-Identifier: MIT
//
// The gradient of a convolution's bias: g summed over images and windows.
#pragma once

#include "call.hpp"
#include "conv_windows.hpp"
#include "lanes.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Keeps what an addition loses (Knuth: The art of computer programming 2, 4.2.2,
// theorem B), so that lines of any length stay exact.
template <class T>
struct Careful {
    vec<T> sum = zero<T>(), lost = zero<T>();
    AC_INLINE void add(vec<T> x) {
        const vec<T> total = sum + x;
        const vec<T> other = total - sum;
        lost = lost + ((sum - (total - other)) + (x - other));
        sum = total;
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
    Careful<T> sum;
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

template <class T>
void sum_bias(const Windows& w, const Images<const T>& g, const ac_array* dbias,
              bool accumulate, ac_context* context) {
    const int64_t channels = w.groups * w.outs;
    const int64_t step = stride_of<T>(dbias, 0);
    T* to = data<T>(dbias);
    const int64_t each = w.batch * w.y.out * w.x.out;
    parallel(context, channels, channels * each > serial_work,
             [&](int64_t begin, int64_t end) {
                 for (int64_t o = begin; o < end; ++o) {
                     const T total = sum_of_channel(w, g, o);
                     to[o * step] = accumulate ? to[o * step] + total : total;
                 }
             });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
