// SPDX-License-Identifier: MIT
//
// The filters as right operands: for each strip of 32 results a chunk for each line
// that a place reads, tap by tap.
#pragma once

#include "half_conv/lines.hpp"
#include "half_pack.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct FilterSource {
    const BFloat16* data;
    int64_t result, channel, row, column;  // strides
    int64_t results, channels;
};

// What a chunk holds: elements from e0 on of a run of columns, in one row.
struct FilterChunk {
    const BFloat16* row;  // its first result
    const Steps* x;
    Run run;
    int64_t e0;
};

// Sixteen results from number `first` on.
AC_NOINLINE void pack_filter_tile(const FilterSource& from, const FilterChunk& chunk,
                                  int64_t first, int32_t* out) {
    const int64_t width = larger<int64_t>(0, smaller(half_strip, from.results - first));
    const int64_t steps =
        smaller(chunk_steps, chunk.run.columns * from.channels - chunk.e0);
    const BFloat16* at = chunk.row + first * from.result;
    if (chunk.run.columns == 1 && (from.channel == 1 || from.result == 1)) {
        const int64_t tap = chunk.x->tap[chunk.run.first];
        const HalfTile tile = {at + tap * from.column + chunk.e0 * from.channel,
                               from.result, from.channel, width, steps};
        if (tile.whole()) return pack_tile<true>(tile, false, out);
        return pack_tile<false>(tile, false, out);
    }
    BFloat16 lines[half_strip * chunk_steps] = {};
    int64_t places[chunk_steps];
    for (int64_t k = 0; k < steps; ++k) {
        const int64_t e = chunk.e0 + k, t = chunk.run.first + e / from.channels;
        places[k] = chunk.x->tap[t] * from.column + e % from.channels * from.channel;
    }
    for (int64_t i = 0; i < width; ++i) {
        for (int64_t k = 0; k < steps; ++k)
            lines[i * chunk_steps + k] = at[i * from.result + places[k]];
    }
    pack_tile<true>({lines, chunk_steps, 1, half_strip, chunk_steps}, false, out);
}

// Chunks `begin` to `end`, counted through the strips.
AC_NOINLINE void pack_filters(const FilterSource& from, const LineSource& lines,
                              int64_t begin, int64_t end, int32_t* out) {
    const int64_t chunks = lines.y.taps * lines.runs.lines;
    for (int64_t n = begin; n < end; ++n) {
        const int64_t strip = n / chunks, chunk = n % chunks;
        const int64_t tap = lines.y.tap[chunk / lines.runs.lines];
        int64_t line = chunk % lines.runs.lines, r = 0;
        while (line >= lines.runs.run[r].lines) line -= lines.runs.run[r++].lines;
        const FilterChunk what = {from.data + tap * from.row, &lines.x,
                                  lines.runs.run[r], line * line_elements};
        int32_t* to = out + n * level_pairs;
        pack_filter_tile(from, what, strip * strip_width, to);
        pack_filter_tile(from, what, strip * strip_width + half_strip, to + tile_pairs);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
