// SPDX-License-Identifier: MIT
//
// What is read, in lines of 64 bytes, as tiles read them. Taps along a row are gathered
// for each place of the results. Those across rows are not: rows follow each other, so
// that a tap reads the same lines from another row on.
//
// Rows of zeros above and below an image serve its neighbour, too. Places of those rows
// are computed and not stored: one row of eight for images of 7 x 7.
#pragma once

#include "common/halves.hpp"
#include "half_conv/steps.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t line_elements = 32;

// Columns that follow each other, whose channels fill lines together; one column, if
// there are channels enough.
struct Run {
    int64_t first, columns;  // taps, in the order of Steps
    int64_t lines;
};

struct Runs {
    Run run[most_taps];
    int64_t count, lines;
};

// `elements` to a line or to half of one, as tiles of left or right operands have.
AC_INLINE Runs runs_of(const Steps& x, int64_t channels, int64_t column,
                       int64_t elements) {
    const int64_t apart = x.taps * ceil_div(channels, elements);
    const int64_t together = ceil_div(x.taps * channels, elements);
    bool neighbours = column == channels && x.taps > 0;
    for (int64_t t = 1; t < x.taps; ++t)
        neighbours &= x.offset[t] == x.offset[t - 1] + 1;
    if (neighbours && together < apart) return {{{0, x.taps, together}}, 1, together};
    Runs runs = {{}, x.taps, apart};
    for (int64_t t = 0; t < x.taps; ++t)
        runs.run[t] = {t, 1, ceil_div(channels, elements)};
    return runs;
}

// The rows that are read, those of one image after those of another.
struct RowPlan {
    int64_t slots;  // phases that taps have
    int64_t phase[most_taps];
    int64_t slot[most_taps];  // of each tap
    int64_t last_shift;
    int64_t pitch;  // rows from one image to the next
};

AC_INLINE RowPlan plan_rows(const Steps& y) {
    RowPlan plan = {};
    int64_t highest = 0;
    for (int64_t t = 0; t < y.taps; ++t) {
        int64_t slot = 0;
        while (slot < plan.slots && plan.phase[slot] != y.phase(t)) ++slot;
        if (slot == plan.slots) plan.phase[plan.slots++] = y.phase(t);
        plan.slot[t] = slot;
        highest = larger(highest, y.phase(t));
    }
    plan.last_shift = y.last_shift();
    const int64_t rows = y.places + plan.last_shift;
    const int64_t above = -(y.base() + highest), below = y.size - y.base();
    const int64_t top = above > 0 ? ceil_div(above, y.step) : 0;
    const int64_t bottom = rows - (below > 0 ? ceil_div(below, y.step) : 0);
    const int64_t zeros =
        smaller(smaller(top, plan.last_shift), larger<int64_t>(0, bottom));
    plan.pitch = rows - zeros;
    return plan;
}

// ---- packing

AC_INLINE __mmask32 lanes_between(int64_t begin, int64_t end) {
    const auto below = [](int64_t n) {
        return n >= line_elements ? ~0U : (1U << larger<int64_t>(0, n)) - 1;
    };
    return below(end) & ~below(begin);
}

// A row of images, of which element `row` is the first of column 0.
struct RowOfImage {
    const BFloat16* row;
    int64_t columns, column, channels;
};

// What is read, and how it becomes lines.
struct LineSource {
    const BFloat16* data;
    int64_t image, row, column;  // strides; channels are neighbours
    int64_t batch, channels;
    Steps y, x;
    RowPlan rows;
    Runs runs;

    // Lines of a row of each slot, of each chunk.
    [[nodiscard]] AC_INLINE int64_t planes() const { return rows.slots * runs.lines; }
    // Row i of image n in slot `slot`, null if it is zeros.
    [[nodiscard]] AC_INLINE const BFloat16* line_at(int64_t slot, int64_t n,
                                                    int64_t i) const {
        const int64_t line = y.step * i + y.base() + rows.phase[slot];
        if (n >= batch || line < 0 || line >= y.size) return nullptr;
        return data + n * image + line * row;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
