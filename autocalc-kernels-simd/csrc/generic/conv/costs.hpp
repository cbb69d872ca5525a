// SPDX-License-Identifier: MIT
//
// What a convolution and its gradients cost by the algorithms that read planes or
// patches, so that a call takes the cheaper one. Cycles of one thread, where a step is
// `lanes` * 2 multiply-adds: fitted to 60 shapes of 64 to 2048 filters over 1 to 32
// images, within a fifth for most, on one thread of a Zen 3 (AVX2).
#pragma once

#include "conv/windows.hpp"
#include "tuning.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Of the multipliers' rate: products of patches, strided windows, planes of wide lines.
constexpr double patch_share = 0.95, strided_share = 0.9, planes_share = 0.93;
// A line of windows wastes this many of them in planes.
constexpr double planes_waste = 1.5;
// A line of patches and each of its elements, brought or added up.
constexpr double patch_line = 17, patch_element = 0.7;
constexpr double patch_forward = 1, patch_dx = 2;
// The elements of one filter's channel, brought one by one into the planes' order.
constexpr double planes_channel = 24;
// The same of one weight where channels are neighbours, also of so many that caches do
// not hold them; and an element brought into a plane or back.
constexpr double nhwc_weight = 2, nhwc_large = 600000;
constexpr double nhwc_move = 1.5;
// The weight gradient: sums that caches hold where channels are neighbours, more sums
// than that, and a part's sums.
constexpr double nhwc_dweight_share = 0.85;
constexpr double dweight_share_large = 0.4, dweight_sum = 2;
constexpr double dweight_large = 600000;  // elements

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
    const double line = patch_line + patch_element * static_cast<double>(w.x.out);
    return conv_steps<T>(w) / patch_share + passes * lines * line;
}
template <class T>
AC_INLINE double strided_cost(const Windows& w, bool turned) {
    const double filters = conv_filters(w);
    double channel = turned ? Costs::filter_channel_dx : Costs::filter_channel;
    if (turned && filters > Costs::filters_large) channel = Costs::filter_channel_large;
    return conv_steps<T>(w) / strided_share + channel * filters;
}
template <class T>
AC_INLINE double planes_cost(const Windows& w) {
    const double waste = 1 + planes_waste / static_cast<double>(w.x.out);
    return conv_steps<T>(w) * waste / planes_share + planes_channel * conv_filters(w);
}
// Of channels that are neighbours.
template <class T>
AC_INLINE double nhwc_cost(const Windows& w) {
    const double weights = conv_filters(w) * static_cast<double>(w.taps());
    const double weight =
        weights <= nhwc_large ? nhwc_weight : Costs::nhwc_weight_large;
    return conv_steps<T>(w) / strided_share + weight * weights;
}
// With the images in `parts`; `share` of the multipliers' rate where caches hold the
// sums.
template <class T>
AC_INLINE double dweight_cost(const Windows& w, int64_t parts, double share) {
    const double sums = conv_filters(w) * static_cast<double>(w.taps());
    if (sums > dweight_large) share = dweight_share_large;
    return conv_steps<T>(w) / share + dweight_sum * sums * static_cast<double>(parts);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
