// SPDX-License-Identifier: MIT
//
// From images to images: a product of places by filters. A task packs the rows that its
// places read, and takes them through all filters, which are packed once for all
// threads. Each sum runs over its chunks in one order: the bits do not depend on how
// tasks are cut.
#pragma once

#include "common/phase.hpp"
#include "half_conv/filters.hpp"
#include "half_conv/finish.hpp"
#include "half_conv/multiply.hpp"
#include "half_conv/rows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { pass_lines = 2, pass_places = 3, pass_sums = 4, pass_filters = 5 };

// Chunks at once, whose lines of a strip stay in L1.
constexpr int64_t pass_chunks = 24;
// Strips of places, and of results, that go through each other before the next chunks.
constexpr int64_t places_together = 4;
constexpr int64_t results_together = 8;
// Of a task's lines, half of the L2 that every CPU with AMX has.
constexpr int64_t rows_bytes = 1 << 20;

struct ConvPass {
    LineSource lines;
    FilterSource filters;
    Finish finish;
    ac_context* context;
    int64_t chunks, strips, result_strips;
    int64_t groups;  // of strips of places
    const int32_t* packed;

    [[nodiscard]] AC_INLINE int64_t line() const { return lines.x.places; }
};

struct PassRows {
    int64_t row0, row1;  // that are packed
};

AC_INLINE PassRows rows_read(const ConvPass& pass, int64_t strip0, int64_t strip1) {
    const int64_t last = (strip1 * strip_width - 1) / pass.line();
    return {strip0 * strip_width / pass.line(), last + 1 + pass.lines.rows.last_shift};
}

AC_INLINE void find_pixels(const ConvPass& pass, int64_t strip, StripPixels& pixels) {
    const Steps &y = pass.lines.y, &x = pass.lines.x;
    const int64_t place = strip * strip_width;
    int64_t q = place % pass.line(), row = place / pass.line();
    int64_t n = row / pass.lines.rows.pitch, i = row % pass.lines.rows.pitch;
    for (int64_t k = 0; k < strip_width; ++k) {
        const bool inside = n < pass.lines.batch && i < y.places;
        const int64_t to_y = y.to + y.to_step * i, to_x = x.to + x.to_step * q;
        pixels.to[k] = inside ? pass.finish.to.at(n, to_y, to_x) : -1;
        pixels.other[k] = inside ? pass.finish.other.at(n, to_y, to_x) : -1;
        if (++q < pass.line()) continue;
        q = 0;
        if (++i < pass.lines.rows.pitch) continue;
        i = 0;
        ++n;
    }
}

// A thread's memory.
struct PassWorkspace {
    int32_t* lines;
    int64_t *left_at, *right_at;  // of chunks
    float* sums;
};

// Strips own0 to own1 of places by strips j0 to j1 of results; `from` is where place 0
// of all rows would be.
void run_pass_block(const ConvPass& pass, const PassWorkspace& space,
                    const int32_t* from, int64_t own0, int64_t own1, int64_t j0,
                    int64_t j1) {
    const int64_t blocks = larger<int64_t>(1, ceil_div(pass.chunks, pass_chunks));
    const Cuts depths(pass.chunks, blocks);
    for (int64_t kb = 0; kb < blocks; ++kb) {
        const int64_t first = depths.at(kb);
        float* sums = space.sums;
        for (int64_t i = own0; i < own1; ++i) {
            StripPixels pixels;
            if (kb + 1 == blocks) find_pixels(pass, i, pixels);
            for (int64_t j = j0; j < j1; ++j) {
                const int32_t* filters =
                    pass.packed + (j * pass.chunks + first) * level_pairs;
                multiply_places(
                    {depths.size(kb), from + i * strip_width * line_pairs, filters,
                     space.left_at + first, space.right_at, tile_pairs, tile_pairs},
                    sums, kb != 0);
                if (kb + 1 == blocks) finish_strip(pass.finish, pixels, j, sums);
                if (blocks > 1) sums += sums_of_block;
            }
        }
    }
}

// Where the chunks of the packed rows begin.
AC_INLINE void find_chunks(const ConvPass& pass, int64_t rows, int64_t* at) {
    const LineSource& lines = pass.lines;
    for (int64_t t = 0; t < lines.y.taps; ++t) {
        for (int64_t i = 0; i < lines.runs.lines; ++i) {
            const int64_t plane = lines.rows.slot[t] * lines.runs.lines + i;
            *at++ = (plane * rows + lines.y.shift(t)) * pass.line() * line_pairs;
        }
    }
}

void run_pass_group(const ConvPass& pass, const PassWorkspace& space, int64_t strip0,
                    int64_t strip1) {
    const PassRows rows = rows_read(pass, strip0, strip1);
    {
        const Phase phase(pass.context, AC_PHASE_PACK);
        pack_rows(pass.lines, rows.row0, rows.row1, space.lines);
        find_chunks(pass, rows.row1 - rows.row0, space.left_at);
    }
    const int32_t* from = space.lines - rows.row0 * pass.line() * line_pairs;
    for (int64_t j = 0; j < pass.result_strips; j += results_together) {
        for (int64_t i = strip0; i < strip1; i += places_together) {
            run_pass_block(pass, space, from, i, smaller(strip1, i + places_together),
                           j, smaller(pass.result_strips, j + results_together));
        }
    }
}

bool run_pass_tasks(const ConvPass& pass, int64_t begin, int64_t end) {
    const Cuts cuts(pass.strips, pass.groups);
    const PassRows most = rows_read(pass, 0, cuts.size(0));
    const int64_t lines =
        ((most.row1 - most.row0 + 1) * pass.line() * pass.lines.planes() + 1) *
        line_pairs;
    const PassWorkspace space = {
        scratch_of<int32_t>(pass.context, pass_lines, lines),
        scratch_of<int64_t>(pass.context, pass_places, 2 * pass.chunks + 1), nullptr,
        scratch_of<float>(pass.context, pass_sums,
                          places_together * results_together * sums_of_block)};
    if (space.lines == nullptr || space.left_at == nullptr || space.sums == nullptr)
        return false;
    PassWorkspace at = space;
    at.right_at = space.left_at + pass.chunks;
    for (int64_t i = 0; i < pass.chunks; ++i) at.right_at[i] = i * level_pairs;
    const Phase phase(pass.context, AC_PHASE_COMPUTE);
    const Tiles tiles;
    for (int64_t t = begin; t < end; ++t)
        run_pass_group(pass, at, cuts.at(t), cuts.at(t + 1));
    return true;
}

// Groups whose lines fit, as many for each thread.
AC_INLINE int64_t pass_groups(const ConvPass& pass) {
    const int64_t row = larger<int64_t>(
        1, pass.line() * pass.lines.planes() * bytes_of<int32_t>(line_pairs));
    const int64_t rows =
        larger<int64_t>(1, rows_bytes / row - pass.lines.rows.last_shift - 1);
    const int64_t fitting = larger<int64_t>(1, rows * pass.line() / strip_width);
    const int64_t threads = larger(1, pass.context->num_threads);
    const int64_t groups = round_up(ceil_div(pass.strips, fitting), threads);
    return smaller(pass.strips, groups);
}

// Everything but what is computed here is given.
bool run_pass(ConvPass& pass) {
    const LineSource& lines = pass.lines;
    if (lines.y.places == 0 || lines.x.places == 0 || lines.batch == 0) return true;
    pass.chunks = lines.y.taps * lines.runs.lines;
    pass.result_strips = ceil_div(pass.finish.results, strip_width);
    const int64_t places =
        ((lines.batch - 1) * lines.rows.pitch + lines.y.places) * lines.x.places;
    pass.strips = ceil_div(places, strip_width);
    pass.groups = pass_groups(pass);
    const int64_t filter_chunks = pass.result_strips * pass.chunks;
    int32_t* packed = scratch_of<int32_t>(pass.context, pass_filters,
                                          (filter_chunks + 1) * level_pairs);
    if (packed == nullptr) return false;
    pass.packed = packed;
    const bool worthwhile = places * filter_chunks * chunk_steps >= gemm_serial_work;
    parallel(pass.context, filter_chunks, worthwhile && filter_chunks > 32,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(pass.context, AC_PHASE_PACK);
                 pack_filters(pass.filters, lines, begin, end, packed);
             });
    return try_parallel(
        pass.context, pass.groups, worthwhile,
        [&](int64_t begin, int64_t end) { return run_pass_tasks(pass, begin, end); });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
