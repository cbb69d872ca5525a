// SPDX-License-Identifier: MIT
//
// The register tiles of small products, which are not worth splitting.
#pragma once

#define AC_FLOAT_PRODUCTS_ALONE

#include "../avx512/microkernel.hpp"
