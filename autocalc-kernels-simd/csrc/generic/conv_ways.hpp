// SPDX-License-Identifier: MIT
//
// The ways in which a convolution or one of its gradients goes, and their words for
// `explain`.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Way { channels, lines, pixels, neighbours, images, strided, planes };

AC_INLINE const char* words_of(Way way) {
    switch (way) {
        case Way::channels:
            return "channel by channel, those side by side in one register";
        case Way::lines:
            return "channel by channel, on lines where they lie";
        case Way::pixels:
            return "one product over the pixels of all images";
        case Way::neighbours:
            return "windows of channels side by side";
        case Way::images:
            return "a product for each image";
        case Way::strided:
            return "windows in steps, their channels brought side by side";
        case Way::planes:
            return "windows over planes with zeros around them";
    }
    return nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
