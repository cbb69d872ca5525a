// SPDX-License-Identifier: MIT
//
// From the sums of a block of 32 x 32 to what a product of bfloat16 writes.
#pragma once

#include "gemm/halves/finish.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The part of a block of 32 x 32 that the sums of tile `tile` are of.
struct TilePlace {
    int64_t row, column, rows, columns;
    TilePlace(const HalfGemm<BFloat16>& p, int64_t block_row, int64_t block_column, int64_t tile)
        : row(block_row + tile / 2 * half_strip),
          column(block_column + tile % 2 * half_strip),
          rows(smaller(half_strip, p.m - row)),
          columns(smaller(half_strip, p.n - column)) {}
};

void ask_for_block(const HalfGemm<BFloat16>&, int64_t, int64_t) {}

AC_NOINLINE void finish_block(const HalfGemm<BFloat16>& p, int64_t row, int64_t column,
                              const float* sums) {
    for (int64_t tile = 0; tile < 4; ++tile) {
        const TilePlace at(p, row, column, tile);
        if (at.rows <= 0 || at.columns <= 0) continue;
        finish_sums(p, p.c.at(at.row, at.column), p.pre.at(at.row, at.column),
                    p.mask.at(at.row, at.column), at.column, at.rows, at.columns,
                    sums + tile * sums_of_tile, half_strip);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
