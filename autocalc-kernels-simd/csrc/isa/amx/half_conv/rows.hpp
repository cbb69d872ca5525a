// SPDX-License-Identifier: MIT
//
// Rows of images as left operands: a line for each place has 32 of the elements that it
// reads there.
#pragma once

#include "half_conv/lines.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The elements of `run` from number e0 on, of each place.
AC_NOINLINE void pack_lines(const RowOfImage& from, const Steps& x, const Run& run,
                            int64_t e0, int32_t* to) {
    const int64_t first = x.offset[run.first], columns = run.columns;
    const int64_t e1 = smaller(run.columns * from.channels, e0 + line_elements);
    const int64_t last = from.columns - columns - first;  // step * q of the last inside
    int64_t begin = first < 0 ? smaller(x.places, ceil_div(-first, x.step)) : 0;
    const int64_t end = last < 0 ? 0 : smaller(x.places, last / x.step + 1);
    begin = smaller(begin, end);
    const BFloat16* at = from.row + first * from.column + e0;
    const int64_t step = x.step * from.column;
    const auto partial = [&](int64_t q) {
        const int64_t column = x.step * q + first;
        const int64_t low = larger(e0, -column * from.channels);
        const int64_t high = smaller(e1, (from.columns - column) * from.channels);
        const __mmask32 lanes =
            low < high ? lanes_between(low - e0, high - e0) : __mmask32{0};
        _mm512_store_si512(to + q * line_pairs,
                           _mm512_maskz_loadu_epi16(lanes, at + q * step));
    };
    for (int64_t q = 0; q < begin; ++q) partial(q);
    if (e1 - e0 == line_elements) {
        for (int64_t q = begin; q < end; ++q)
            _mm512_store_si512(to + q * line_pairs, _mm512_loadu_si512(at + q * step));
    } else {
        const __mmask32 lanes = lanes_between(0, e1 - e0);
        for (int64_t q = begin; q < end; ++q)
            _mm512_store_si512(to + q * line_pairs,
                               _mm512_maskz_loadu_epi16(lanes, at + q * step));
    }
    for (int64_t q = end; q < x.places; ++q) partial(q);
}

// Rows row0 to row1 as [slot][line of a row][row][place].
AC_NOINLINE void pack_rows(const LineSource& from, int64_t row0, int64_t row1,
                           int32_t* to) {
    const int64_t pitch = from.x.places * line_pairs;  // of a row, in pairs
    const int64_t plane = (row1 - row0) * pitch;
    for (int64_t slot = 0; slot < from.rows.slots; ++slot) {
        for (int64_t at = row0; at < row1; ++at) {
            const BFloat16* row =
                from.line_at(slot, at / from.rows.pitch, at % from.rows.pitch);
            int32_t* line = to + slot * from.runs.lines * plane + (at - row0) * pitch;
            if (row == nullptr) {
                for (int64_t i = 0; i < from.runs.lines; ++i, line += plane)
                    memset(line, 0, static_cast<size_t>(bytes_of<int32_t>(pitch)));
                continue;
            }
            const RowOfImage pixels = {row, from.x.size, from.column, from.channels};
            for (int64_t r = 0; r < from.runs.count; ++r) {
                const Run& run = from.runs.run[r];
                for (int64_t i = 0; i < run.lines; ++i, line += plane)
                    pack_lines(pixels, from.x, run, i * line_elements, line);
            }
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
