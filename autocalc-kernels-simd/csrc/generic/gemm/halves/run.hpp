// SPDX-License-Identifier: MIT
//
// A product of 16-bit operands: its tasks and their loops. A task packs its block of b
// as words, sized for L2, and takes its rows of a through it, as float32's products do
// (blocks.hpp). Tiles leave their sums as floats; a pass over them, in L1, does what
// follows and rounds.
//
// Sums always run along k in one order, whatever the blocks of rows and columns are:
// the bits do not depend on the number of threads.
#pragma once

#include "gemm/halves/batch.hpp"
#include "gemm/halves/dots.hpp"
#include "gemm/halves/finish.hpp"
#include "gemm/halves/gemm.hpp"
#include "gemm/halves/pack.hpp"
#include "gemm/plan.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum HalfSlot { slot_half_b = 0, slot_half_a = 1, slot_half_sums = 6 };

// Of a block of k. Shorter ones leave L2 room for more columns of b, for each of which
// a is read again; longer ones are fewer times added to.
constexpr int64_t most_words = multiplies_pairs ? 512 : 1024;
constexpr int64_t rows_packed = 48;  // of a, at once: whole squares, and whole tiles
constexpr int64_t panel_width = tile_vectors * f32::lanes;

struct HalfPlan {
    int64_t k_blocks;
    int64_t blocks, block;  // of columns, and how many panels each has at most
    int64_t m_tasks, batch;

    [[nodiscard]] int64_t tasks() const { return batch * blocks * m_tasks; }
};

template <class E>
HalfPlan plan_of(const HalfGemm<E>& p, const ac_context* context) {
    HalfPlan plan;
    const int64_t words = larger<int64_t>(1, ceil_div(p.k, per_word));
    plan.k_blocks = ceil_div(words, most_words);
    plan.batch = 1;
    for (int d = 0; d < p.batch_dims; ++d) plan.batch *= p.batch[d];
    const int64_t panels = ceil_div(p.n, panel_width);
    const int64_t panel_bytes =
        bytes_of<float>(ceil_div(words, plan.k_blocks) * panel_width);
    plan.block = larger<int64_t>(1, l2_bytes() / 2 / panel_bytes);
    plan.block = smaller(plan.block, panels);
    plan.blocks = ceil_div(panels, plan.block);
    const int64_t work = plan.batch * p.m * p.n * words;
    int64_t wanted = 1;
    const int64_t most = tasks_for(context, 8, 4);
    while (wanted < most && wanted * task_work < work) wanted *= 2;
    const int64_t down = ceil_div(wanted, plan.batch * plan.blocks);
    plan.m_tasks = larger<int64_t>(1, smaller(down, p.m / rows_packed));
    return plan;
}

// ---- loops

template <class E>
struct HalfJob {
    const HalfGemm<E>* product;
    HalfPlan plan;
    ac_context* context;
    // All rows of a as words, so far apart, or null: tasks then pack their own.
    const float* shared_a;
    int64_t shared_row;
};

struct HalfWorkspace {
    float *b, *a, *sums;
    int64_t a_stride;
};

// Rows m0 to m1, columns n0 to n1.
template <class E>
class HalfBlock {
  public:
    HalfBlock(const HalfJob<E>& job, const HalfWorkspace& workspace,
              const HalfMatrices<E>& at, const Block& block)
        : p_(*job.product),
          plan_(job.plan),
          job_(job),
          context_(job.context),
          space_(workspace),
          at_(at),
          block_(block),
          panels_(block.n1 - block.n0, tile_vectors),
          width_(panels_.at(panels_.count - 1).begin +
                 panels_.at(panels_.count - 1).width) {}

    void run() {
        const int64_t words = larger<int64_t>(1, ceil_div(p_.k, per_word));
        const Cuts cuts(words, plan_.k_blocks);
        for (int64_t i = 0; i < plan_.k_blocks; ++i) {
            const Depth depth = {cuts.at(i) * per_word,
                                 smaller(p_.k, cuts.at(i + 1) * per_word)};
            {
                const Phase phase(context_, AC_PHASE_PACK);
                pack_right(depth, panels_, at_.b + block_.n0 * p_.b_col, p_.b_row,
                           p_.b_col, space_.b);
            }
            for (int64_t r = block_.m0; r < block_.m1; r += rows_packed)
                run_rows(depth, i, r, smaller(block_.m1, r + rows_packed));
        }
    }

  private:
    void run_rows(const Depth& depth, int64_t k_block, int64_t r0, int64_t r1) {
        const E* from = at_.a + r0 * p_.a_row;
        Left left = {space_.a, space_.a_stride};
        if (job_.shared_a != nullptr) {
            left = {job_.shared_a + r0 * job_.shared_row + depth.k0 / per_word,
                    job_.shared_row};
        } else if (reads_words(p_.k, p_.a_row, p_.a_col)) {
            left = {reinterpret_cast<const float*>(from + depth.k0),
                    p_.a_row / per_word};
        } else {
            const Phase phase(context_, AC_PHASE_PACK);
            pack_left(depth, r1 - r0, from, p_.a_row, p_.a_col, space_.a,
                      space_.a_stride);
        }
        const int64_t most = tile_rows[panels_.at(0).width / f32::lanes];
        const Cuts tiles(r1 - r0, ceil_div(r1 - r0, most));
        for (int64_t i = 0; tiles.at(i) < r1 - r0; ++i) {
            run_tiles(depth, k_block, {left.words + tiles.at(i) * left.row, left.row},
                      r0 + tiles.at(i), tiles.size(i));
        }
    }

    // Rows of words of a.
    struct Left {
        const float* words;
        int64_t row;
    };

    void run_tiles(const Depth& depth, int64_t k_block, const Left& left, int64_t row,
                   int64_t rows) {
        const bool one_block = plan_.k_blocks == 1;
        Tile<float> tile = {};
        tile.k = depth.words();
        tile.a = left.words;
        tile.a_row = left.row;
        tile.a_col = 1;
        tile.alpha = 1;
        tile.beta = k_block == 0 ? 0.0f : 1.0f;
        for (int64_t t = 0; t < panels_.count; ++t) {
            const Panel panel = panels_.at(t);
            tile.b = space_.b + panel.begin * tile.k;
            tile.b_row = tile.columns = panel.width;
            tile.c_row = one_block ? panel.width : width_;
            tile.c = space_.sums;
            if (!one_block) tile.c += (row - block_.m0) * width_ + panel.begin;
            multiply_tile(tile, panel.width / f32::lanes, Order::row_major, rows);
            if (k_block + 1 < plan_.k_blocks) continue;
            const int64_t column = block_.n0 + panel.begin;
            finish_sums(p_, at_.c.at(row, column), at_.pre.at(row, column),
                        p_.mask.at(row, column), column, rows, panel.columns, tile.c,
                        tile.c_row);
        }
    }

    const HalfGemm<E>& p_;
    const HalfPlan& plan_;
    const HalfJob<E>& job_;
    ac_context* context_;
    const HalfWorkspace& space_;
    const HalfMatrices<E>& at_;
    const Block& block_;
    Panels<float> panels_;
    int64_t width_;
};

// Scratch memory of a thread for its run of tasks.
template <class E>
bool open_workspace(const HalfJob<E>& job, int64_t rows, HalfWorkspace& space) {
    const HalfGemm<E>& p = *job.product;
    const HalfPlan& plan = job.plan;
    const int64_t words =
        ceil_div(larger<int64_t>(1, ceil_div(p.k, per_word)), plan.k_blocks);
    const int64_t columns = plan.block * panel_width;
    space.a = nullptr;
    // Rows whole pages apart would compete for the same sets of L1.
    space.a_stride = round_up(words, f32::lanes) + f32::lanes;
    space.b = scratch_of<float>(job.context, slot_half_b, words * columns);
    const int64_t sums =
        plan.k_blocks == 1 ? tile_rows[1] * panel_width : rows * columns;
    space.sums = scratch_of<float>(job.context, slot_half_sums, sums);
    if (job.shared_a == nullptr && !reads_words(p.k, p.a_row, p.a_col)) {
        space.a =
            scratch_of<float>(job.context, slot_half_a, rows_packed * space.a_stride);
        if (space.a == nullptr) return false;
    }
    return space.b != nullptr && space.sums != nullptr;
}

// Tasks count rows fastest; a thread's tasks of the same columns are one block, whose b
// it packs once.
template <class E>
bool run_half_tasks(const HalfJob<E>& job, int64_t begin, int64_t end) {
    const HalfGemm<E>& p = *job.product;
    const HalfPlan& plan = job.plan;
    HalfWorkspace space;
    if (!open_workspace(job, p.m, space)) return false;
    const Shares down(p.m, plan.m_tasks);
    const Cuts across(ceil_div(p.n, panel_width), plan.blocks);
    while (begin < end) {
        const int64_t m = begin % plan.m_tasks;
        const int64_t n = begin / plan.m_tasks % plan.blocks;
        const int64_t m_end = smaller(plan.m_tasks, m + end - begin);
        const HalfMatrices<E> at =
            half_matrices_at(p, begin / plan.m_tasks / plan.blocks);
        const Block block = {down.at(m), down.at(m_end), across.at(n) * panel_width,
                             smaller(p.n, across.at(n + 1) * panel_width)};
        HalfBlock<E>(job, space, at, block).run();
        begin += m_end - m;
    }
    return true;
}

// ---- a packed once for all blocks of columns
//
// To pack it for each block of columns took up to a fifth of the time, however little
// of it at once. What is packed takes so many words at most: of longer products some
// rows after others.
constexpr int64_t shared_words = int64_t{1} << 22;

// Rows of a product that are packed together, 0 where tasks had better pack their own.
template <class E>
int64_t shared_rows(const HalfGemm<E>& p, const HalfPlan& plan) {
    if (plan.batch != 1 || plan.blocks == 1 || reads_words(p.k, p.a_row, p.a_col))
        return 0;
    const int64_t rows = shared_words / ceil_div(p.k, per_word);
    return smaller(p.m, rows / rows_packed * rows_packed);
}

template <class E>
bool run_half_product(const HalfGemm<E>& p, const HalfPlan& plan, ac_context* context,
                      bool worthwhile) {
    HalfJob<E> job = {&p, plan, context, nullptr, 0};
    if (shared_rows(p, plan) != 0) {
        const int64_t words = ceil_div(p.k, per_word);
        // Rows whole pages apart would compete for the same sets of L1.
        job.shared_row = round_up(words, f32::lanes) + f32::lanes;
        float* a = scratch_of<float>(context, slot_half_a, p.m * job.shared_row);
        if (a == nullptr) return false;
        job.shared_a = a;
        parallel(context, ceil_div(p.m, rows_packed), worthwhile,
                 [&](int64_t begin, int64_t end) {
                     const Phase phase(context, AC_PHASE_PACK);
                     const int64_t r0 = begin * rows_packed;
                     pack_left({0, p.k}, smaller(p.m, end * rows_packed) - r0,
                               p.a + r0 * p.a_row, p.a_row, p.a_col,
                               a + r0 * job.shared_row, job.shared_row);
                 });
    }
    return try_parallel(
        context, plan.tasks(), worthwhile, [&](int64_t begin, int64_t end) {
            return in_phase(context, AC_PHASE_COMPUTE,
                            [&] { return run_half_tasks(job, begin, end); });
        });
}

// ---- few rows

// Rows of a that are worth reading b without packing it: along k, and across.
constexpr int64_t most_half_dots = 8, most_half_rows = 4;
constexpr int64_t row_columns = 1024;  // of b, whose sums are in L1

template <class E>
bool is_dots(const HalfGemm<E>& p) {
    return p.m <= most_half_dots && p.b_row == 1 && p.k >= per_word * f32::lanes;
}

template <class E>
bool is_rows(const HalfGemm<E>& p) {
    return p.m <= most_half_rows && p.b_col == 1 && p.n >= panel_width;
}

// The words of a, zeros after the last of each row, then blocks of columns of b.
template <class E>
bool run_few_rows(const HalfGemm<E>& p, ac_context* context, int64_t width,
                  int64_t begin, int64_t end) {
    const int64_t words = round_up(ceil_div(p.k, per_word), f32::lanes);
    float* a = scratch_of<float>(context, slot_half_a, p.m * words);
    float* sums = scratch_of<float>(context, slot_half_sums, p.m * width);
    if (a == nullptr || sums == nullptr) return false;
    const int64_t blocks = ceil_div(p.n, width);
    int64_t packed = -1;
    for (int64_t t = begin; t < end; ++t) {
        const HalfMatrices<E> at = half_matrices_at(p, t / blocks);
        if (packed != t / blocks) {
            memset(a, 0, static_cast<size_t>(bytes_of<float>(p.m * words)));
            pack_left({0, p.k}, p.m, at.a, p.a_row, p.a_col, a, words);
            packed = t / blocks;
        }
        const int64_t column = t % blocks * width;
        const int64_t columns = smaller(width, p.n - column);
        const E* b = at.b + column * p.b_col;
        if (is_dots(p)) {
            run_dots_of<E>({p.k, a, words, b, p.b_col, sums, width}, p.m, columns);
        } else {
            run_rows_of<E>({p.k, a, words, b, p.b_row, sums, width}, p.m, columns);
        }
        finish_sums(p, at.c.at(0, column), at.pre.at(0, column), p.mask.at(0, column),
                    column, p.m, columns, sums, width);
    }
    return true;
}

// Blocks of columns that threads share; the bits do not depend on their width.
template <class E>
bool multiply_few_rows(const HalfGemm<E>& p, ac_context* context, int64_t batch) {
    int64_t width = panel_width;
    if (!is_dots(p)) {
        width = round_up(ceil_div(p.n, tasks_for(context, 1, 2)), panel_width);
        width = smaller(width, row_columns);
    }
    const int64_t work = batch * p.m * p.n * p.k;
    return try_parallel(context, batch * ceil_div(p.n, width), work >= vector_work,
                        [&](int64_t begin, int64_t end) {
                            return run_few_rows(p, context, width, begin, end);
                        });
}

template <class E>
bool multiply_halves(const HalfGemm<E>& product, ac_context* context) {
    HalfGemm<E> p = product;
    if (p.k == 1) p.a_col = p.b_row = 1;
    if (p.n == 1) p.b_col = 1;
    int64_t elements = p.m * p.n;
    for (int d = 0; d < p.batch_dims; ++d) elements *= p.batch[d];
    if (elements == 0) return true;
    if (is_dots(p) || is_rows(p))
        return multiply_few_rows(p, context, elements / p.m / p.n);
    const bool worthwhile = elements * p.k >= gemm_serial_work;
    const HalfPlan plan = plan_of(p, context);
    const int64_t rows = shared_rows(p, plan);
    if (rows == 0 || rows >= p.m) return run_half_product(p, plan, context, worthwhile);
    HalfGemm<E> part = p;
    for (int64_t r = 0; r < p.m; r += rows) {
        part.m = smaller(rows, p.m - r);
        part.a = p.a + r * p.a_row;
        part.c = p.c.at(r, 0);
        part.pre = p.pre.at(r, 0);
        part.mask = p.mask.at(r, 0);
        if (!run_half_product(part, plan_of(part, context), context, worthwhile))
            return false;
    }
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
