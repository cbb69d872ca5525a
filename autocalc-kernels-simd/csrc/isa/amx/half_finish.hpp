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
    TilePlace(const HalfGemm<BFloat16>& p, int64_t block_row, int64_t block_column,
              int64_t tile)
        : row(block_row + tile / 2 * half_strip),
          column(block_column + tile % 2 * half_strip),
          rows(smaller(half_strip, p.m - row)),
          columns(smaller(half_strip, p.n - column)) {}
};

void ask_for_block(const HalfGemm<BFloat16>&, int64_t, int64_t) {}

// A whole block that is not added to, with no activation but ReLU, in half of the time.
template <bool relu>
AC_NOINLINE void finish_whole(const HalfGemm<BFloat16>& p, int64_t row, int64_t column,
                              const float* sums) {
    const f32 alpha = set1<float>(p.alpha);
    f32 bias[2] = {zero<float>(), zero<float>()};
    for (int64_t half = 0; p.bias != nullptr && half < 2; ++half)
        bias[half] = load_wide(p.bias + column + half * half_strip);
    const Mixed<BFloat16> c = p.c.at(row, column);
    for (int64_t i = 0; i < strip_width; ++i) {
        const float* from =
            sums + i / half_strip * 2 * sums_of_tile + i % half_strip * half_strip;
        f32 y[2];
#pragma GCC unroll 2
        for (int64_t half = 0; half < 2; ++half) {
            y[half] = fma(load(from + half * sums_of_tile), alpha, bias[half]);
            if (relu) y[half] = max(zero<float>(), y[half]);
        }
        if (c.half != nullptr) {
            const auto both =
                reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(y[1].v, y[0].v));
            _mm512_storeu_si512(c.half + i * c.row, both);
        } else {
            store(c.whole + i * c.row, y[0]);
            store(c.whole + i * c.row + half_strip, y[1]);
        }
    }
}

AC_NOINLINE void finish_block(const HalfGemm<BFloat16>& p, int64_t row, int64_t column,
                              const float* sums) {
    const bool whole = p.m - row >= strip_width && p.n - column >= strip_width;
    if (whole && p.beta == 0 && !p.pre.any() && !p.mask.any() &&
        p.activation <= Activation::relu) {
        if (p.activation == Activation::relu)
            return finish_whole<true>(p, row, column, sums);
        return finish_whole<false>(p, row, column, sums);
    }
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
