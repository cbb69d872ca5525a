// SPDX-License-Identifier: MIT
//
// float32 as sums of three bfloat16, packed as AMX's tiles read them.
//
// A bfloat16 is the upper half of a float32: 8 bits of its 24. With `high` the one
// nearest to x, `middle` nearest to x - high and `low` = x - high - middle, which fits,
// x = high + middle + low without an error, and
//
//     a * b = high high + high middle + middle high
//           + high low + middle middle + low high   + at most 2^-23 |a b|
//
// (Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
// Higher-Precision Computations", ARITH 2019, section III). Six products at 16 times
// the rate of float32's multiply-adds.
//
// A chunk of a strip has three levels of two tiles. Pair j of a tile's row holds steps
// j and j + 16 of the chunk, so that pairs come from two registers without a shuffle.
#pragma once

#include "split.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Rounds to the nearest bfloat16, leaving a float32; what is too large becomes
// infinite, and an infinite or absent number leaves NaN in the levels below.
AC_INLINE __m512i round_to_upper(__m512 x) {
    const __m512i up =
        _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
    return _mm512_and_si512(up, _mm512_set1_epi32(static_cast<int>(0xffff0000)));
}
AC_INLINE __m512i pairs_of(__m512i x, __m512i y) {
    return _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(x, 16), y);
}
AC_INLINE __m512 without(__m512 x, __m512i upper) {
    return _mm512_sub_ps(x, _mm512_castsi512_ps(upper));
}

// What is left for the last level, so that its upper half is a near bfloat16, not the
// next one towards zero: at most 2/3 of a unit off, where adding half a unit in
// integers would be 1/2 and turn some NaN into numbers. The third level has no lower
// half.
template <int levels>
AC_INLINE __m512i last_level(__m512 x) {
    if (levels < all_levels) x = _mm512_mul_ps(x, _mm512_set1_ps(1 + 1 / 384.F));
    return _mm512_castps_si512(x);
}

// Sixteen pairs (x, y) into the levels.
template <int levels>
AC_INLINE void store_split(__m512 x, __m512 y, int32_t* out) {
#pragma GCC unroll 2
    for (int level = 0; level + 1 < levels; ++level, out += level_pairs) {
        const __m512i xu = round_to_upper(x), yu = round_to_upper(y);
        _mm512_store_si512(out, pairs_of(xu, yu));
        x = without(x, xu);
        y = without(y, yu);
    }
    _mm512_store_si512(out, pairs_of(last_level<levels>(x), last_level<levels>(y)));
}

// One operand: `width` rows of a, or columns of b, with `k` steps.
struct SplitOperand {
    const float* data;
    int64_t width, k;
    int64_t step_width, step_k;  // strides
    bool left;                   // a's tiles are [row][pair], b's [pair][column]
    int levels;
    [[nodiscard]] AC_INLINE int64_t chunk_pairs() const { return levels * level_pairs; }
};

// Half a strip of a chunk as memory has it: twice sixteen lines of 16 elements, where
// the operand does not end before. `ahead` of them are those of the next chunk, which
// may be pages apart.
struct HalfStrip {
    const float* from;
    int64_t step;    // to the next line
    int64_t second;  // to the other sixteen lines
    int64_t ahead;
    int64_t lines[2];   // that there are, of both
    int64_t length[2];  // of each
    [[nodiscard]] AC_INLINE bool whole() const {
        return lines[0] == half_strip && lines[1] == half_strip &&
               length[0] == half_strip && length[1] == half_strip;
    }
    // `which` is 0 or 1. For pack_pairs, which counts instructions.
    template <bool all>
    AC_INLINE __m512 line(const float* at, int64_t i, int which) const {
        if (all) {
            __builtin_prefetch(at + ahead, 0, 2);
            return _mm512_loadu_ps(at);
        }
        const auto mask = static_cast<__mmask16>((1 << length[which]) - 1);
        return i < lines[which] ? _mm512_maskz_loadu_ps(mask, at) : _mm512_setzero_ps();
    }
};

// Pairs of element j of lines i and 16 + i. With `turned` pair (i, j) goes to [j][i].
template <bool all, bool turned, int levels>
AC_NOINLINE void pack_pairs(const HalfStrip half, int32_t* out) {
    const float* at = half.from;
    if constexpr (!turned) {
        for (int64_t i = 0; i < half_strip; ++i, at += half.step, out += half_strip)
            store_split<levels>(half.line<all>(at, i, 0),
                                half.line<all>(at + half.second, i, 1), out);
    } else {
        vec<float> x[half_strip], y[half_strip];
#pragma GCC unroll 16
        for (int64_t i = 0; i < half_strip; ++i)
            x[i].v = half.line<all>(at + i * half.step, i, 0);
        transpose(x);
        at += half.second;
#pragma GCC unroll 16
        for (int64_t i = 0; i < half_strip; ++i)
            y[i].v = half.line<all>(at + i * half.step, i, 1);
        transpose(y);
#pragma GCC unroll 16
        for (int64_t i = 0; i < half_strip; ++i)
            store_split<levels>(x[i].v, y[i].v, out + i * half_strip);
    }
}

template <bool turned, int levels>
AC_INLINE void pack_half(const HalfStrip& half, int32_t* out) {
    if (half.whole()) {
        pack_pairs<true, turned, levels>(half, out);
    } else {
        pack_pairs<false, turned, levels>(half, out);
    }
}

// The chunk of strip `strip` that begins at step k0.
template <int levels>
AC_NOINLINE void pack_chunk(const SplitOperand& operand, int64_t strip, int64_t k0,
                            int32_t* out) {
    const auto upto = [](int64_t n) {
        return larger<int64_t>(0, smaller<int64_t>(half_strip, n));
    };
    const int64_t k[2] = {upto(operand.k - k0), upto(operand.k - k0 - half_strip)};
    for (int64_t i = 0; i < 2; ++i, out += tile_pairs) {
        const int64_t at = strip * strip_width + i * half_strip;
        const int64_t width = upto(operand.width - at);
        const float* from =
            operand.data + at * operand.step_width + k0 * operand.step_k;
        const int64_t second = half_strip * operand.step_k;
        const int64_t ahead = chunk_steps * operand.step_k;
        HalfStrip half = {from,  operand.step_width, second,
                          ahead, {width, width},     {k[0], k[1]}};
        if (operand.step_k != 1)
            half = {from, operand.step_k, second, ahead, {k[0], k[1]}, {width, width}};
        // Steps of a row of a, or columns of a step of b, are adjacent as in a tile.
        if (operand.left == (operand.step_k == 1)) {
            pack_half<false, levels>(half, out);
        } else {
            pack_half<true, levels>(half, out);
        }
    }
}

inline auto pack_chunk_of(const SplitOperand& operand) {
    constexpr decltype(&pack_chunk<1>) in_levels[] = {pack_chunk<1>, pack_chunk<2>,
                                                      pack_chunk<3>};
    return in_levels[operand.levels - 1];
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
