// SPDX-License-Identifier: MIT
//
// What a convolution and its gradients cost by the algorithms that read planes or
// patches, so that a call takes the cheaper one. Cycles of one thread, in each of which
// it makes `lanes` * 2 multiply-adds.
#pragma once

#include "conv/windows.hpp"
#include "tuning.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Passes over a matrix of patches: of a convolution, and of its input gradient.
constexpr double patch_forward = 1, patch_dx = 2;
// Weights, where channels are neighbours, and sums of a weight gradient that caches do
// not hold.
constexpr double nhwc_large = 600000, dweight_large = 600000;

// The products' steps.
template <class T>
AC_INLINE double conv_steps(const Windows& w) {
    return static_cast<double>(w.ins * w.taps() * w.outs) *
           static_cast<double>(w.batch * w.y.out * w.x.out) / (2 * vec<T>::lanes);
}
AC_INLINE double conv_filters(const Windows& w) {
    return static_cast<double>(w.ins * w.outs);
}

template <class T>
AC_INLINE double patches_cost(const Windows& w, double passes) {
    const auto lines = static_cast<double>(w.ins * w.taps() * w.batch * w.y.out);
    const double line =
        Costs::patch_line + Costs::patch_element * static_cast<double>(w.x.out);
    return conv_steps<T>(w) / Costs::patch_share + passes * lines * line;
}
template <class T>
AC_INLINE double strided_cost(const Windows& w, bool turned) {
    const double filters = conv_filters(w);
    double channel = turned ? Costs::filter_channel_dx : Costs::filter_channel;
    if (turned && filters > Costs::filters_large) channel = Costs::filter_channel_large;
    return conv_steps<T>(w) / Costs::strided_share + channel * filters;
}
template <class T>
AC_INLINE double planes_cost(const Windows& w) {
    const double waste = Costs::planes_waste / static_cast<double>(w.x.out);
    return conv_steps<T>(w) * (1 / Costs::planes_share + waste) +
           Costs::planes_channel * conv_filters(w);
}
// Of channels that are neighbours.
template <class T>
AC_INLINE double nhwc_cost(const Windows& w) {
    const double weights = conv_filters(w) * static_cast<double>(w.taps());
    const double weight =
        weights <= nhwc_large ? Costs::nhwc_weight : Costs::nhwc_weight_large;
    return conv_steps<T>(w) / Costs::strided_share + weight * weights;
}
// With the images in `parts`; `share` of the multipliers' rate where caches hold the
// sums.
template <class T>
AC_INLINE double dweight_cost(const Windows& w, int64_t parts, double share) {
    const double sums = conv_filters(w) * static_cast<double>(w.taps());
    if (sums > dweight_large) share = Costs::dweight_share_large;
    return conv_steps<T>(w) / share +
           Costs::dweight_sum * sums * static_cast<double>(parts);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
