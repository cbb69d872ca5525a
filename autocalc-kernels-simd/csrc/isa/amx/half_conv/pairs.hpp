// SPDX-License-Identifier: MIT
//
// What conv_dweight multiplies: g as left operand, its places along the sums, and the
// elements of x that taps read as right operand, sixteen columns of pairs of places to
// a line. Rows have an even number of places, so that a tap of another row reads the
// same lines from there on.
#pragma once

#include "half_conv/images.hpp"
#include "half_conv/lines.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t group_columns = 16;

// Rows y0 to y1 of the places of image n.
struct Piece {
    int64_t n, y0, y1;
};

AC_INLINE __m512i pair_up(__m256i even, __m256i odd) {
    const __m512i high = _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16);
    return _mm512_or_si512(_mm512_cvtepu16_epi32(even), high);
}

// ---- g

struct GradientSource {
    HalfImages g;
    int64_t results, places,
        pairs;  // pairs of places in a row, the last one perhaps half
};

// Chunk `chunk` of a piece, results from number `first` on.
AC_NOINLINE void pack_gradient_tile(const GradientSource& from, const Piece& piece,
                                    int64_t chunk, int64_t first, int32_t* out) {
    const int64_t width = smaller(half_strip, from.results - first);
    const auto lanes = static_cast<__mmask16>((1 << larger<int64_t>(0, width)) - 1);
    int64_t y = piece.y0 + chunk * half_strip / from.pairs;
    int64_t p = chunk * half_strip % from.pairs;
    f32 lines[half_strip];
    for (auto& line : lines) {
        __m512i pair = _mm512_setzero_si512();
        if (y < piece.y1 && width > 0) {
            const BFloat16* at = from.g.data + piece.n * from.g.image + y * from.g.row +
                                 2 * p * from.g.column + first;
            const __mmask16 odd = 2 * p + 1 < from.places ? lanes : __mmask16{0};
            pair = pair_up(_mm256_maskz_loadu_epi16(lanes, at),
                           _mm256_maskz_loadu_epi16(odd, at + from.g.column));
        }
        line.v = _mm512_castsi512_ps(pair);
        if (++p < from.pairs) continue;
        p = 0;
        ++y;
    }
    transpose(lines);
    for (int64_t i = 0; i < half_strip; ++i)
        _mm512_store_ps(out + i * half_strip, lines[i].v);
}

// ---- x

// Sixteen elements from number e0 on of a run, in every place of a row, two to a line.
// Answers whether all are finite.
AC_NOINLINE bool pack_pairs_of(const RowOfImage& from, const Steps& x, const Run& run,
                               int64_t e0, int32_t* to) {
    const int64_t first = x.offset[run.first];
    const int64_t e1 = smaller(run.columns * from.channels, e0 + group_columns);
    const int64_t step = x.step * from.column;
    const BFloat16* at = from.row + first * from.column + e0;
    const __m512i exponent = _mm512_set1_epi16(0x7f80);
    __mmask32 special = 0;
    const auto load = [&](int64_t q) AC_INLINE_LAMBDA {
        const int64_t column = x.step * q + first;
        const int64_t low = larger(e0, -column * from.channels);
        const int64_t high = smaller(e1, (from.columns - column) * from.channels);
        const bool some = q < x.places && low < high;
        const __mmask32 lanes =
            some ? lanes_between(low - e0, high - e0) : __mmask32{0};
        return _mm256_maskz_loadu_epi16(static_cast<__mmask16>(lanes), at + q * step);
    };
    const auto put = [&](int64_t q, __m256i even, __m256i odd) AC_INLINE_LAMBDA {
        const __m512i pair = pair_up(even, odd);
        special |= _mm512_cmpeq_epi16_mask(_mm512_and_si512(pair, exponent), exponent);
        _mm512_store_si512(to + q / 2 * line_pairs, pair);
    };
    // Places whose elements are all inside, even ones at the ends.
    const int64_t last = from.columns - run.columns - first;
    int64_t begin = first < 0 ? round_up(ceil_div(-first, x.step), 2) : 0;
    int64_t end = last < 0 ? 0 : smaller(x.places, last / x.step + 1) / 2 * 2;
    begin = smaller(begin, x.places);
    if (e1 - e0 < group_columns || end < begin) end = begin = 0;
    int64_t q = 0;
    for (; q < begin; q += 2) put(q, load(q), load(q + 1));
    for (; q < end; q += 2) {
        const auto whole = [&](int64_t place) AC_INLINE_LAMBDA {
            return _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(at + place * step));
        };
        put(q, whole(q), whole(q + 1));
    }
    for (; q < x.places; q += 2) put(q, load(q), load(q + 1));
    return special == 0;
}

// Groups of sixteen columns, group0 to group1 of those of a row.
struct PairGroups {
    int64_t group0, group1;
};

// Of a piece: `rows` rows of a slot from y0 on, and zeros up to `all`, as [group][row]
// [pair]. Answers whether all are finite.
AC_NOINLINE bool pack_piece(const LineSource& from, const Piece& piece,
                            const PairGroups& groups, int64_t slot, int64_t rows,
                            int64_t all, int32_t* to) {
    const int64_t row_pairs = ceil_div(from.x.places, 2) * line_pairs;
    bool finite = true;
    int64_t group = 0;
    for (int64_t r = 0; r < from.runs.count; ++r) {
        const Run& run = from.runs.run[r];
        for (int64_t i = 0; i < run.lines; ++i, ++group) {
            if (group < groups.group0 || group >= groups.group1) continue;
            for (int64_t row = 0; row < all; ++row, to += row_pairs) {
                const BFloat16* line =
                    row < rows ? from.line_at(slot, piece.n, piece.y0 + row) : nullptr;
                if (line == nullptr) {
                    memset(to, 0, static_cast<size_t>(bytes_of<int32_t>(row_pairs)));
                    continue;
                }
                const RowOfImage pixels = {line, from.x.size, from.column,
                                           from.channels};
                finite &= pack_pairs_of(pixels, from.x, run, i * group_columns, to);
            }
        }
    }
    return finite;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
