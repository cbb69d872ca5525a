// SPDX-License-Identifier: MIT
//
// bfloat16 as memory has them, packed as AMX's tiles read them: pair j of a tile's row
// holds steps 2j and 2j + 1 of the chunk.
#pragma once

#include "common/halves.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// One operand: `width` rows of a, or columns of b, with `k` steps.
struct HalfOperand {
    const BFloat16* data;
    int64_t width, k;
    int64_t step_width, step_k;  // strides
    bool left;                   // a's tiles are [row][pair], b's [pair][column]
    int levels = 1;
    [[nodiscard]] static AC_INLINE int64_t chunk_pairs() { return level_pairs; }
};

// What an operand has of a tile: so many lines, of so many steps each.
struct HalfTile {
    const BFloat16* from;
    int64_t step_width, step_k;
    int64_t width, steps;
    [[nodiscard]] AC_INLINE bool whole() const {
        return width == half_strip && steps == chunk_steps;
    }
};

// Register i holds the pairs of line i, which runs along k.
template <bool all>
AC_INLINE void load_along(const HalfTile& tile, f32* to) {
    const auto steps = static_cast<__mmask32>((int64_t{1} << tile.steps) - 1);
#pragma GCC unroll 16
    for (int64_t i = 0; i < half_strip; ++i) {
        const BFloat16* line = tile.from + i * tile.step_width;
        if (all) __builtin_prefetch(line + chunk_steps);
        __m512i pairs = _mm512_setzero_si512();
        if (all) {
            pairs = _mm512_loadu_si512(line);
        } else if (i < tile.width) {
            pairs = _mm512_maskz_loadu_epi16(steps, line);
        }
        to[i].v = _mm512_castsi512_ps(pairs);
    }
}

// Register j holds pair j of all lines, which are neighbours.
template <bool all>
AC_INLINE void load_across(const HalfTile& tile, f32* to) {
    const auto width = static_cast<__mmask16>((1 << tile.width) - 1);
    const auto step = [&](int64_t k) {
        const BFloat16* line = tile.from + k * tile.step_k;
        if (!all && k >= tile.steps) return _mm512_setzero_si512();
        const __m256i halves =
            all ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line))
                : _mm256_maskz_loadu_epi16(width, line);
        return _mm512_cvtepu16_epi32(halves);
    };
#pragma GCC unroll 16
    for (int64_t j = 0; j < half_strip; ++j) {
        const __m512i high = _mm512_slli_epi32(step(2 * j + 1), 16);
        to[j].v = _mm512_castsi512_ps(_mm512_or_si512(step(2 * j), high));
    }
}

// As load_along, of elements anywhere.
AC_NOINLINE void load_anyhow(const HalfTile& tile, f32* to) {
    BFloat16 lines[half_strip * chunk_steps] = {};
    for (int64_t i = 0; i < tile.width; ++i) {
        for (int64_t k = 0; k < tile.steps; ++k)
            lines[i * chunk_steps + k] =
                tile.from[i * tile.step_width + k * tile.step_k];
    }
    load_along<true>({lines, chunk_steps, 1, half_strip, chunk_steps}, to);
}

template <bool all>
AC_NOINLINE void pack_tile(const HalfTile& tile, bool left, int32_t* out) {
    f32 lines[half_strip];
    const bool across = tile.step_k != 1 && tile.step_width == 1;
    if (across) {
        load_across<all>(tile, lines);
    } else if (tile.step_k == 1) {
        load_along<all>(tile, lines);
    } else {
        load_anyhow(tile, lines);
    }
    if (left == across) transpose(lines);
#pragma GCC unroll 16
    for (int64_t i = 0; i < half_strip; ++i)
        _mm512_store_ps(out + i * half_strip, lines[i].v);
}

// The chunk of strip `strip` that begins at step k0.
AC_NOINLINE void pack_half_chunk(const HalfOperand& operand, int64_t strip, int64_t k0,
                                 int32_t* out) {
    for (int64_t i = 0; i < 2; ++i, out += tile_pairs) {
        const int64_t at = strip * strip_width + i * half_strip;
        const HalfTile tile = {
            operand.data + at * operand.step_width + k0 * operand.step_k,
            operand.step_width, operand.step_k,
            larger<int64_t>(0, smaller(half_strip, operand.width - at)),
            smaller(chunk_steps, operand.k - k0)};
        if (tile.whole()) {
            pack_tile<true>(tile, operand.left, out);
        } else {
            pack_tile<false>(tile, operand.left, out);
        }
    }
}

inline auto pack_chunk_of(const HalfOperand&) { return pack_half_chunk; }

}  // namespace
}  // namespace autocalc::simd::AC_ISA
