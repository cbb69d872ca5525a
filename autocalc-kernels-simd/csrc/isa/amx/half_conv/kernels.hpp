// SPDX-License-Identifier: MIT
//
// Convolutions of bfloat16 images, summed in float32.
#pragma once

#include "autocalc_kernel.h"

namespace autocalc::simd::AC_ISA {

void half_conv(const ac_call* call, ac_context* context, ac_status* status);
void half_conv_activation(const ac_call* call, ac_context* context, ac_status* status);
void half_conv_dx(const ac_call* call, ac_context* context, ac_status* status);
void half_conv_dweight(const ac_call* call, ac_context* context, ac_status* status);

}  // namespace autocalc::simd::AC_ISA
