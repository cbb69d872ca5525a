// SPDX-License-Identifier: MIT
//
// The microkernel of tile.hpp over tiles that are anywhere: those of a convolution's
// taps overlap.
#pragma once

#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Chunk i of the sums is the tile at left + left_at[i] by that at right + right_at[i],
// in pairs. The second tile of either side begins `left_half` or `right_half` later.
struct Places {
    int64_t count;
    const int32_t *left, *right;
    const int64_t *left_at, *right_at;
    int64_t left_half, right_half;
};

// sums[left half][right half] (+)= left @ right.
AC_NOINLINE void multiply_places(const Places& p, float* sums, bool add) {
    constexpr int lines = 8;  // half a tile
    settle_memory();
    if (add) {
        _tile_loadd(0, sums, 64);
        _tile_loadd(1, sums + sums_of_tile, 64);
        _tile_loadd(2, sums + 2 * sums_of_tile, 64);
        _tile_loadd(3, sums + 3 * sums_of_tile, 64);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t i = 0; i < p.count; ++i) {
        const int64_t next = smaller(i + 1, p.count - 1);
        const int32_t* left = p.left + p.left_at[i];
        const int32_t* right = p.right + p.right_at[i];
        const int32_t* ahead_left = p.left + p.left_at[next];
        const int32_t* ahead_right = p.right + p.right_at[next];
        _tile_loadd(4, left, 64);
        _tile_loadd(6, right, 64);
        _tile_loadd(7, right + p.right_half, 64);
        _tile_loadd(5, left + p.left_half, 64);
        _tile_dpbf16ps(0, 4, 6);
        ask_and_wait<lines>(ahead_left, ahead_right);
        _tile_dpbf16ps(1, 4, 7);
        ask_and_wait<lines>(ahead_left + lines * line_pairs,
                            ahead_right + lines * line_pairs);
        ahead_left += p.left_half;
        ahead_right += p.right_half;
        _tile_dpbf16ps(2, 5, 6);
        ask_and_wait<lines>(ahead_left, ahead_right);
        _tile_dpbf16ps(3, 5, 7);
        ask_and_wait<lines>(ahead_left + lines * line_pairs,
                            ahead_right + lines * line_pairs);
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + sums_of_tile, 64);
    _tile_stored(2, sums + 2 * sums_of_tile, 64);
    _tile_stored(3, sums + 3 * sums_of_tile, 64);
    settle_memory();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
