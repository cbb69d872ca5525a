// SPDX-License-Identifier: MIT
//
// The algorithms of a convolution and its gradients, and their descriptions for
// `explain`.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Algorithm {
    nhwc_depthwise,
    depthwise,
    pointwise,
    pixel_rows,
    pixel_columns,
    pixel_sums,
    nhwc,
    nhwc_patches,
    image_by_image,
    patches,
    strided,
    planes
};

AC_INLINE const char* describe(Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::nhwc_depthwise:
            return "channel by channel, those side by side in one register";
        case Algorithm::depthwise:
            return "channel by channel, on lines without a copy";
        case Algorithm::pointwise:
            return "one product over the pixels of all images";
        case Algorithm::pixel_rows:
            return "one product over the pixels that windows read";
        case Algorithm::pixel_columns:
            return "one product over the windows of all images";
        case Algorithm::pixel_sums:
            return "one sum over the windows of all images";
        case Algorithm::nhwc:
            return "windows of channels side by side";
        case Algorithm::nhwc_patches:
            return "filters times a matrix of patches, by way of planes";
        case Algorithm::image_by_image:
            return "a product for each image";
        case Algorithm::patches:
            return "filters times a matrix of patches";
        case Algorithm::strided:
            return "windows in steps, their channels brought side by side";
        case Algorithm::planes:
            return "windows over planes with zeros around them";
    }
    return nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
