// SPDX-License-Identifier: MIT
//
// The register tiles of small products, which are not worth splitting; or, in a file
// that says AC_PAIRS, words of two bfloat16, which blocks are multiplied of in AMX's
// tiles.
#pragma once

#ifdef AC_PAIRS
#define AC_MATRIX_TILES
#include "../avx512_bf16/microkernel.hpp"
#else
#define AC_FLOAT_PRODUCTS_ALONE
#include "../avx512/microkernel.hpp"
#endif
