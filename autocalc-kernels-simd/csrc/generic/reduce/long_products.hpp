// SPDX-License-Identifier: MIT
//
// Products of many floats: in doubles, and of doubles with what each step rounds off.
// The rounding errors of a product add up in any order, so that no tree helps.
#pragma once

#include "reduce/reduce.hpp"
#include "reduce/running.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_INLINE void multiply_into(ProductOfLanes<true>& product, const double* p) {
    product = product.times({load(p), zero<double>()});
}
AC_INLINE void multiply_into(ProductOfLanes<false>& product, const float* p) {
    const f32 factors = load(p);
    product.whole = product.whole * low_double(factors) * high_double(factors);
}

// The product of all elements of a nest.
template <class T>
T product_of(const Nest& nest) {
    constexpr bool exact = sizeof(T) == sizeof(double);
    constexpr int64_t lanes = vec<T>::lanes, block = 256;
    const int inner = nest.dims - 1;
    ProductOfLanes<exact> lane = {set1<double>(1), zero<double>()};
    RunningProduct<double, exact> total = {1, 0};
    T buffer[block];
    Position at;
    start_at(nest, 0, at);
    for (int64_t left = nest.total; left > 0;) {
        const int64_t n = smaller(smaller(block, left), nest.size[inner] - at.column);
        gather(reinterpret_cast<char*>(buffer),
               at.row[0] + at.column * nest.stride[0][inner], sizeof(T),
               nest.stride[0][inner], n);
        int64_t i = 0;
        for (; i + lanes <= n; i += lanes) multiply_into(lane, buffer + i);
        for (; i < n; ++i) total = total.times({double(buffer[i]), 0});
        left -= n;
        at.column += n;
        if (at.column == nest.size[inner] && left > 0) next_row(nest, at);
    }
    for (int i = 0; i < f64::lanes; ++i)
        total = total.times({lane.whole.v[i], lane.lost.v[i]});
    return T(total.value());
}

// values[o]: in row-major order of the outputs.
template <class T>
void long_products(ac_context* context, const ReducePlan& plan, T* values) {
    parallel(context, plan.outputs, true, [&](int64_t begin, int64_t end) {
        Nest nest = plan.reduced;
        for (int64_t o = begin; o < end; ++o) {
            nest.data[0] = plan.reduced.data[0] + kept_offset(plan, o);
            values[o] = product_of<T>(nest);
        }
    });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
