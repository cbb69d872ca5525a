// SPDX-License-Identifier: MIT
//
// Images whose channels are neighbours: as they are, or copied so.
#pragma once

#include "common/halves.hpp"
#include "common/phase.hpp"
#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

using HalfImages = Images<const BFloat16>;

// Channel strides of 1. Without data if there is no memory.
inline HalfImages channels_last(const ac_array* array, int slot, ac_context* context) {
    HalfImages from = images_of<const BFloat16>(array);
    const int64_t channels = array->shape[1], rows = array->shape[2];
    const int64_t columns = array->shape[3], lines = array->shape[0] * rows;
    if (from.channel == 1 || channels <= 1) return from;
    BFloat16* copy = scratch_of<BFloat16>(context, slot, lines * columns * channels);
    const HalfImages to = {copy, rows * columns * channels, 1, columns * channels,
                           channels};
    if (copy == nullptr) return to;
    parallel(context, lines, element_count(*array) > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 for (int64_t t = begin; t < end; ++t) {
                     const BFloat16* line =
                         from.data + t / rows * from.image + t % rows * from.row;
                     BFloat16* pixels = copy + t * to.row;
                     for (int64_t c = 0; c < channels; ++c) {
                         for (int64_t x = 0; x < columns; ++x)
                             pixels[x * channels + c] =
                                 line[c * from.channel + x * from.column];
                     }
                 }
             });
    return to;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
