// SPDX-License-Identifier: MIT
//
// conv_dweight of bfloat16: g transposed, times what the taps read. The images are cut
// into parts that follow from the shape; each adds up a gradient of its own, band by
// band, and the parts are added in their order: the same bits for any number of
// threads.
#include "conv/dbias.hpp"
#include "half_conv/kernels.hpp"
#include "half_conv/mixed_images.hpp"
#include "half_conv/multiply.hpp"
#include "half_conv/pairs.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_right = 2, slot_left = 3, slot_places = 4, slot_sums = 5 };
enum { slot_x = 6, slot_g = 7 };
enum { out_dweight, out_dbias, in_g, in_x };
enum { at_stride = 1, at_accumulate = 5 };

// Of a band, whose left operand for one strip stays in L1.
constexpr int64_t band_chunks = 16;
constexpr int64_t most_parts = 8;
constexpr int64_t most_part_sums = 1 << 22;
// Of what a band reads of x.
constexpr int64_t right_bytes = 3 << 18;

struct WeightPass {
    LineSource x;
    GradientSource g;
    MixedImages to;
    bool accumulate;
    ac_context* context;
    int64_t batch, cuts;             // pieces of an image
    int64_t piece_rows;              // at most
    int64_t piece_chunks, together;  // pieces of a band
    int64_t parts, blocks;           // of bands, of the groups of a row
    int64_t strips, pairs;  // of results; of groups in a block, for all rows of taps
    float* sums;            // [part][block][strip][pair]

    [[nodiscard]] AC_INLINE int64_t pieces() const { return batch * cuts; }
    [[nodiscard]] AC_INLINE int64_t bands() const {
        return ceil_div(pieces(), together);
    }
    [[nodiscard]] AC_INLINE int64_t rows_of_piece() const {
        return larger(piece_rows, ceil_div(piece_chunks * half_strip, g.pairs)) +
               x.rows.last_shift;
    }
    // Pairs of memory that a piece takes for each group, in one slot.
    [[nodiscard]] AC_INLINE int64_t plane() const {
        return rows_of_piece() * g.pairs * line_pairs;
    }
    [[nodiscard]] AC_INLINE int64_t most_groups() const {
        return ceil_div(x.runs.lines, blocks);
    }
    [[nodiscard]] AC_INLINE PairGroups groups(int64_t block) const {
        const Cuts each(x.runs.lines, blocks);
        return {each.at(block), each.at(block + 1)};
    }
    [[nodiscard]] AC_INLINE Piece piece(int64_t index) const {
        const Cuts rows(x.y.places, cuts);
        const int64_t cut = index % cuts;
        return {index / cuts, rows.at(cut), rows.at(cut + 1)};
    }
    [[nodiscard]] AC_INLINE float* sums_at(int64_t part, int64_t block) const {
        return sums + (part * blocks + block) * strips * pairs * sums_of_block;
    }
};

struct WeightWorkspace {
    int32_t *left, *right;
    int64_t *left_at, *right_at;
};

// A band: pieces first to last, and the chunks that they have.
struct Band {
    int64_t first, last, chunks;
};

void pack_gradients(const WeightPass& pass, const Band& band, int32_t* to) {
    for (int64_t strip = 0; strip < pass.strips; ++strip) {
        for (int64_t i = band.first; i < band.last; ++i) {
            const Piece piece = pass.piece(i);
            for (int64_t c = 0; c < pass.piece_chunks; ++c, to += level_pairs) {
                const int64_t first = strip * strip_width;
                pack_gradient_tile(pass.g, piece, c, first, to);
                pack_gradient_tile(pass.g, piece, c, first + half_strip,
                                   to + tile_pairs);
            }
        }
    }
}

// Whether the rows of taps share the lines of a band. They do not where x has an
// infinity or NaN: lines of places that are none, whose gradient is 0, may hold rows
// that the taps of other places read.
enum class Lines { shared, apart };

struct BandLayout {
    Lines lines;
    int64_t groups;  // of the block

    // Rows of lines that are packed, one after the other.
    [[nodiscard]] AC_INLINE int64_t rows(const WeightPass& pass) const {
        return lines == Lines::shared ? pass.x.rows.slots : pass.x.y.taps;
    }
    // Where a group begins, counted through the rows of taps.
    [[nodiscard]] AC_INLINE int64_t at(const WeightPass& pass, int64_t index) const {
        const int64_t tap = index / groups, group = index % groups;
        if (lines == Lines::apart) return index * pass.plane();
        return (pass.x.rows.slot[tap] * groups + group) * pass.plane() +
               pass.x.y.shift(tap) * pass.g.pairs * line_pairs;
    }
};

bool pack_band(const WeightPass& pass, const Band& band, const PairGroups& groups,
               const BandLayout& layout, int32_t* to) {
    const LineSource& x = pass.x;
    const bool shared = layout.lines == Lines::shared;
    bool finite = true;
    for (int64_t i = band.first; i < band.last; ++i) {
        for (int64_t r = 0; r < layout.rows(pass); ++r) {
            Piece piece = pass.piece(i);
            const int64_t more = shared ? x.rows.last_shift : 0;
            const int64_t rows = piece.y1 - piece.y0 + more;
            if (!shared) piece.y0 += x.y.shift(r);
            finite &= pack_piece(x, piece, groups, shared ? r : x.rows.slot[r], rows,
                                 pass.rows_of_piece(), to);
            to += layout.groups * pass.plane();
        }
    }
    return finite;
}

void multiply_band(const WeightPass& pass, const Band& band,
                   const WeightWorkspace& space, const BandLayout& layout, bool add,
                   float* sums) {
    const int64_t groups = pass.x.y.taps * layout.groups;
    const int64_t piece = layout.rows(pass) * layout.groups * pass.plane();
    for (int64_t i = 0; i < band.chunks; ++i) {
        space.left_at[i] = i * level_pairs;
        space.right_at[i] =
            i / pass.piece_chunks * piece + i % pass.piece_chunks * tile_pairs;
    }
    for (int64_t strip = 0; strip < pass.strips; ++strip) {
        const int32_t* left = space.left + strip * band.chunks * level_pairs;
        for (int64_t u = 0; u < groups; u += 2) {
            const int64_t at = layout.at(pass, u);
            const int64_t next = layout.at(pass, smaller(u + 1, groups - 1));
            multiply_places({band.chunks, left, space.right + at, space.left_at,
                             space.right_at, tile_pairs, next - at},
                            sums + (strip * pass.pairs + u / 2) * sums_of_block, add);
        }
    }
}

void run_band(const WeightPass& pass, const Band& band, const PairGroups& groups,
              const WeightWorkspace& space, bool add, float* sums) {
    BandLayout layout = {Lines::shared, groups.group1 - groups.group0};
    {
        const Phase phase(pass.context, AC_PHASE_PACK);
        pack_gradients(pass, band, space.left);
        if (!pack_band(pass, band, groups, layout, space.right)) {
            layout.lines = Lines::apart;
            pack_band(pass, band, groups, layout, space.right);
        }
    }
    multiply_band(pass, band, space, layout, add, sums);
}

void run_weight_task(const WeightPass& pass, int64_t part, int64_t block,
                     const WeightWorkspace& space) {
    const Cuts bands(pass.bands(), pass.parts);
    for (int64_t b = bands.at(part); b < bands.at(part + 1); ++b) {
        const int64_t first = b * pass.together;
        const int64_t last = smaller(first + pass.together, pass.pieces());
        run_band(pass, {first, last, (last - first) * pass.piece_chunks},
                 pass.groups(block), space, b != bands.at(part),
                 pass.sums_at(part, block));
    }
}

bool run_weight_tasks(const WeightPass& pass, int64_t begin, int64_t end) {
    const int64_t chunks = pass.together * pass.piece_chunks;
    const int64_t right =
        pass.together * pass.x.y.taps * pass.most_groups() * pass.plane();
    int64_t* places = scratch_of<int64_t>(pass.context, slot_places, 2 * chunks);
    const WeightWorkspace space = {
        scratch_of<int32_t>(pass.context, slot_left,
                            pass.strips * chunks * level_pairs),
        scratch_of<int32_t>(pass.context, slot_right, right), places, places + chunks};
    if (space.left == nullptr || space.right == nullptr || places == nullptr)
        return false;
    const Phase phase(pass.context, AC_PHASE_COMPUTE);
    const Tiles tiles;
    for (int64_t t = begin; t < end; ++t)
        run_weight_task(pass, t / pass.blocks, t % pass.blocks, space);
    return true;
}

// ---- the gradient, from the sums of all parts

// Columns of group `group` of a row: where the first elements go, for tap `tap`.
void put_group(const WeightPass& pass, int64_t tap, int64_t group, int64_t result,
               int64_t results, const float* sums) {
    int64_t r = 0;
    while (group >= pass.x.runs.run[r].lines) group -= pass.x.runs.run[r++].lines;
    const Run& run = pass.x.runs.run[r];
    const int64_t channels = pass.x.channels, e0 = group * group_columns;
    const int64_t count = smaller(group_columns, run.columns * channels - e0);
    const int64_t row = pass.x.y.tap[tap] * pass.to.row;
    if (run.columns == 1) {
        const int64_t at = row + pass.x.x.tap[run.first] * pass.to.column;
        for (int64_t i = 0; i < results; ++i, sums += half_strip) {
            const int64_t to = at + (result + i) * pass.to.image;
            const f32 old =
                pass.accumulate ? pass.to.get(to, e0, count) : zero<float>();
            pass.to.put(to, e0, old + load(sums), count);
        }
        return;
    }
    for (int64_t i = 0; i < results; ++i, sums += half_strip) {
        for (int64_t e = 0; e < count; ++e) {
            const int64_t x = pass.x.x.tap[run.first + (e0 + e) / channels];
            const int64_t to = row + x * pass.to.column + (result + i) * pass.to.image +
                               (e0 + e) % channels * pass.to.channel;
            const float old = pass.accumulate ? pass.to.one(to) : 0.0f;
            pass.to.set(to, old + sums[e]);
        }
    }
}

void put_block(const WeightPass& pass, int64_t block, int64_t strip, int64_t pair) {
    const PairGroups groups = pass.groups(block);
    const int64_t count = groups.group1 - groups.group0;
    const int64_t at = (strip * pass.pairs + pair) * sums_of_block;
    float* all = pass.sums_at(0, block) + at;
    for (int64_t part = 1; part < pass.parts; ++part) {
        const float* more = pass.sums_at(part, block) + at;
        for (int64_t i = 0; i < sums_of_block; i += f32::lanes)
            store(all + i, load(all + i) + load(more + i));
    }
    for (int64_t half = 0; half < 2; ++half) {
        const int64_t u = 2 * pair + half;
        if (u >= pass.x.y.taps * count) return;
        for (int64_t i = 0; i < 2; ++i) {
            const int64_t result = strip * strip_width + i * half_strip;
            put_group(pass, u / count, groups.group0 + u % count, result,
                      smaller(half_strip, pass.g.results - result),
                      all + (2 * i + half) * sums_of_tile);
        }
    }
}

// ---- the call

AC_INLINE void cut_places(WeightPass& pass) {
    const int64_t row = 2 * pass.g.pairs;
    const int64_t most = larger<int64_t>(1, band_chunks * chunk_steps / row);
    pass.cuts = ceil_div(pass.x.y.places, most);
    pass.piece_rows = ceil_div(pass.x.y.places, pass.cuts);
    pass.piece_chunks = ceil_div(pass.piece_rows * row, chunk_steps);
    pass.together = larger<int64_t>(1, band_chunks / pass.piece_chunks);
    const int64_t sums = pass.strips * strip_width * pass.x.y.taps *
                         round_up(pass.x.runs.lines, 2) * group_columns;
    const int64_t parts =
        smaller(most_parts, most_part_sums / larger<int64_t>(1, sums));
    pass.parts = larger<int64_t>(1, smaller(parts, pass.bands()));
}

AC_INLINE void cut_groups(WeightPass& pass) {
    const int64_t group =
        bytes_of<int32_t>(pass.together * pass.x.rows.slots * pass.plane());
    const int64_t fitting = larger<int64_t>(1, right_bytes / group);
    const int64_t groups = pass.x.runs.lines;
    const int64_t wanted = ceil_div(tasks_for(pass.context, 1, 2), pass.parts);
    const int64_t shared = smaller(wanted, larger<int64_t>(1, groups / 4));
    pass.blocks = larger(ceil_div(groups, fitting), shared);
    pass.pairs = ceil_div(pass.x.y.taps * pass.most_groups(), 2);
}

bool sum_filters(WeightPass& pass) {
    pass.strips = ceil_div(pass.g.results, strip_width);
    cut_places(pass);
    cut_groups(pass);
    const int64_t blocks = pass.blocks * pass.strips * pass.pairs;
    const int64_t sums = pass.parts * blocks * sums_of_block;
    pass.sums = scratch_of<float>(pass.context, slot_sums, sums + 1);
    if (pass.sums == nullptr) return false;
    if (pass.bands() == 0)
        memset(pass.sums, 0, static_cast<size_t>(bytes_of<float>(sums)));
    const int64_t work = pass.pieces() * pass.piece_chunks * chunk_steps * blocks;
    const bool worthwhile = work * sums_of_block >= gemm_serial_work;
    const int64_t tasks = pass.bands() == 0 ? 0 : pass.parts * pass.blocks;
    if (!try_parallel(pass.context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
            return run_weight_tasks(pass, begin, end);
        }))
        return false;
    parallel(pass.context, blocks, sums > serial_work, [&](int64_t begin, int64_t end) {
        const Phase phase(pass.context, AC_PHASE_EPILOGUE);
        for (int64_t t = begin; t < end; ++t) {
            const int64_t each = pass.strips * pass.pairs;
            put_block(pass, t / each, t % each / pass.pairs, t % pass.pairs);
        }
    });
    return true;
}

// ---- the bias

void sum_bias_of(const Windows& w, const HalfImages& g, const ac_array* dbias,
                 bool accumulate, ac_context* context) {
    const MixedImages to = mixed_vector(dbias);
    constexpr int64_t lanes = f32::lanes;
    const bool worthwhile = w.outs * w.batch * w.y.out * w.x.out > serial_work;
    parallel(context, ceil_div(w.outs, lanes), worthwhile,
             [&](int64_t begin, int64_t end) {
                 for (int64_t t = begin; t < end; ++t) {
                     const int64_t o = t * lanes, n = smaller(lanes, w.outs - o);
                     TwoSum<float> sum;
                     for (int64_t i = 0; i < w.batch * w.y.out; ++i) {
                         const BFloat16* line =
                             g.data + i / w.y.out * g.image + i % w.y.out * g.row + o;
                         for (int64_t x = 0; x < w.x.out; ++x)
                             sum.add(load_wide_first(line + x * g.column, n));
                     }
                     const f32 old = accumulate ? to.get(0, o, n) : zero<float>();
                     to.put(0, o, old + sum.totals(), n);
                 }
             });
}

bool run_dweight(const ac_call* call, ac_context* context) {
    const ac_array *x = operand(call, in_x), *g = operand(call, in_g);
    const ac_array* dweight = operand(call, out_dweight);
    const ac_array* dbias = operand(call, out_dbias);
    // It is not optional. NOLINTNEXTLINE(clang-analyzer-core.NullPointerArithm)
    const int64_t* kernel = dweight->shape + 2;
    const Windows w = windows_of(call, at_stride, x, g, kernel, dweight->shape[1]);
    const int64_t accumulate = int_attribute(call, at_accumulate);
    WeightPass pass = {};
    pass.g.g = channels_last(g, slot_g, context);
    if (pass.g.g.data == nullptr && element_count(*g) > 0) return false;
    if (dbias != nullptr)
        sum_bias_of(w, pass.g.g, dbias, (accumulate & 2) != 0, context);
    if (element_count(*dweight) == 0) return true;
    const HalfImages from = channels_last(x, slot_x, context);
    if (from.data == nullptr && element_count(*x) > 0) return false;
    LineSource& lines = pass.x;
    lines.data = from.data;
    lines.image = from.image;
    lines.row = from.row;
    lines.column = from.column;
    lines.batch = w.batch;
    lines.channels = w.ins;
    lines.y = conv_steps(w.y);
    lines.x = conv_steps(w.x);
    lines.rows = plan_rows(lines.y);
    lines.runs = runs_of(lines.x, w.ins, from.column, group_columns);
    pass.g.results = w.outs;
    pass.g.places = w.x.out;
    pass.g.pairs = ceil_div(w.x.out, 2);
    pass.to = mixed_images(dweight);
    pass.accumulate = (accumulate & 1) != 0;
    pass.context = context;
    pass.batch = w.batch;
    return sum_filters(pass);
}

}  // namespace

void half_conv_dweight(const ac_call* call, ac_context* context, ac_status* status) {
    if (!run_dweight(call, context)) no_memory(status);
}

}  // namespace autocalc::simd::AC_ISA
