// SPDX-License-Identifier: MIT
//
// The costs of an instruction set as variables: plans read these here, so that a cost's
// share of an estimate can be had from the estimate itself, and any algorithm from its
// plan.
#pragma once

#define Costs BuiltIn
#include AC_TUNING
#undef Costs

// Those that estimates are sums of; of a share, its inverse.
#define AC_LINEAR_COSTS(X)  \
    X(pack_transposed)      \
    X(write_transposed)     \
    X(patch_share)          \
    X(strided_share)        \
    X(planes_share)         \
    X(planes_waste)         \
    X(patch_line)           \
    X(patch_element)        \
    X(planes_channel)       \
    X(filter_channel)       \
    X(filter_channel_dx)    \
    X(filter_channel_large) \
    X(nhwc_weight)          \
    X(nhwc_weight_large)    \
    X(nhwc_move)            \
    X(dweight_share)        \
    X(nhwc_dweight_share)   \
    X(dweight_share_large)  \
    X(dweight_sum)          \
    X(plain_share)          \
    X(product_share)        \
    X(winograd_transform_4) \
    X(winograd_transform_2) \
    X(winograd_element)     \
    X(winograd_filter_4)    \
    X(winograd_filter_2)
// Those that plans compare with sizes.
#define AC_SIZES(X) X(most_dot_rows) X(strided_results) X(strided_weights)

namespace autocalc::simd::AC_ISA {
namespace {

struct Costs : BuiltIn {
#define AC_VARIABLE(name) [[maybe_unused]] static inline double name = BuiltIn::name;
    AC_LINEAR_COSTS(AC_VARIABLE)
#undef AC_VARIABLE
#define AC_VARIABLE(name) [[maybe_unused]] static inline int64_t name = BuiltIn::name;
    AC_SIZES(AC_VARIABLE)
#undef AC_VARIABLE
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
