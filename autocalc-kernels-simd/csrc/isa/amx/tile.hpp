// SPDX-License-Identifier: MIT
//
// The microkernel: 32 x 32 sums in four of AMX's eight tiles.
//
// A strip is 32 rows of a, or 32 columns of b, in chunks of 32 steps of k. A chunk has
// in each level two tiles of [16][16] pairs of bfloat16: for a [row][pair], for b
// [pair][column].
#pragma once

#include <immintrin.h>

#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t half_strip = 16;
constexpr int64_t strip_width = 2 * half_strip;
constexpr int64_t chunk_steps = 32;
constexpr int64_t tile_pairs = 256;  // of a tile, 4 bytes each: 1 KiB
constexpr int64_t level_pairs = 2 * tile_pairs;
constexpr int64_t sums_of_tile = 256;
constexpr int64_t sums_of_block = 4 * sums_of_tile;
constexpr int64_t line_pairs = 16;

// As LDTILECFG reads it (Intel SDM, volume 1, section 18.2): eight tiles of 16 rows of
// 64 bytes.
struct alignas(64) TileShapes {
    uint8_t palette = 1, start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Tiles belong to a thread, and their 8 KiB to its context while they are in use.
class Tiles {
  public:
    Tiles() {
        // Not on the stack: GCC 12 thinks that no more than 8 bytes of it are read.
        static constexpr TileShapes shapes;
        _tile_loadconfig(&shapes);
    }
    ~Tiles() { _tile_release(); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
};

// Instructions that do nothing. Tile instructions with nothing between them run at half
// of their rate: 226 GFLOP/s of float32 on a Sapphire Rapids core, 72 while the core's
// other hyperthread is busy; with 8 to 40 other instructions after each multiplication
// 370 and 138.
AC_INLINE void wait_for_tiles() {
    asm volatile(".rept 8\n\tnop\n\t.endr");  // NOLINT(portability-no-assembler)
}

// What a multiplication leaves time for: to ask for the chunks that come next, some
// lines of each side at a time, a twenty-fourth of 6 KiB with three levels.
template <int lines>
AC_INLINE void ask_and_wait(const int32_t* left, const int32_t* right) {
#pragma GCC unroll 8
    for (int i = 0; i < lines; ++i) {
        __builtin_prefetch(left + i * line_pairs);
        __builtin_prefetch(right + i * line_pairs);
    }
    wait_for_tiles();
}

// GCC's tile intrinsics do not say what they read and write.
AC_INLINE void settle_memory() {
    asm volatile("" ::: "memory");  // NOLINT(portability-no-assembler): no instruction
}

// What a block's sums are made of. The chunks after the last ones are those that will
// be wanted next.
struct Chunks {
    int64_t count;
    const int32_t *left, *right;
    const int32_t *next_left, *next_right;
};

// sums[left half][right half] (+)= left @ right. Small parts come first, and from one
// pair of levels to the next only one side changes: 14 loads for the 24 multiplications
// of three levels, which take 16 cycles each, and 8 for the 12 of two.
template <int levels>
AC_NOINLINE void multiply_chunks(const Chunks& chunks, float* sums, bool add) {
    constexpr int64_t pairs = levels * level_pairs;
    constexpr int multiplications = 2 * levels * (levels + 1);
    constexpr int lines = (pairs / line_pairs + multiplications - 1) / multiplications;
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
    const int32_t* left = chunks.left;
    const int32_t* right = chunks.right;
#define AC_LEFT(level)                                \
    _tile_loadd(4, left + (level) * level_pairs, 64); \
    _tile_loadd(5, left + (level) * level_pairs + tile_pairs, 64);
#define AC_RIGHT(level)                                \
    _tile_loadd(6, right + (level) * level_pairs, 64); \
    _tile_loadd(7, right + (level) * level_pairs + tile_pairs, 64);
#define AC_MULTIPLY(at, sum, a, b)                              \
    _tile_dpbf16ps(sum, a, b);                                  \
    ask_and_wait<lines>(ahead_left + (at) * lines * line_pairs, \
                        ahead_right + (at) * lines * line_pairs);
#define AC_MULTIPLY_HALVES(step)         \
    AC_MULTIPLY(4 * (step), 0, 4, 6)     \
    AC_MULTIPLY(4 * (step) + 1, 1, 4, 7) \
    AC_MULTIPLY(4 * (step) + 2, 2, 5, 6) \
    AC_MULTIPLY(4 * (step) + 3, 3, 5, 7)
    for (int64_t i = chunks.count; i > 0; --i) {
        const int32_t* ahead_left = i == 1 ? chunks.next_left : left + pairs;
        const int32_t* ahead_right = i == 1 ? chunks.next_right : right + pairs;
        AC_LEFT(levels - 1)
        AC_RIGHT(0)
        AC_MULTIPLY_HALVES(0)
        if constexpr (levels == 3) {
            AC_LEFT(1)
            AC_MULTIPLY_HALVES(1)
            AC_RIGHT(1)
            AC_MULTIPLY_HALVES(2)
            AC_LEFT(0)
            AC_MULTIPLY_HALVES(3)
            AC_RIGHT(2)
            AC_MULTIPLY_HALVES(4)
            AC_RIGHT(0)
            AC_MULTIPLY_HALVES(5)
        }
        if constexpr (levels == 2) {
            AC_LEFT(0)
            AC_MULTIPLY_HALVES(1)
            AC_RIGHT(1)
            AC_MULTIPLY_HALVES(2)
        }
        left += pairs;
        right += pairs;
    }
#undef AC_LEFT
#undef AC_RIGHT
#undef AC_MULTIPLY
#undef AC_MULTIPLY_HALVES
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + sums_of_tile, 64);
    _tile_stored(2, sums + 2 * sums_of_tile, 64);
    _tile_stored(3, sums + 3 * sums_of_tile, 64);
    settle_memory();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
