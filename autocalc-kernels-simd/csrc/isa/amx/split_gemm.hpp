// SPDX-License-Identifier: MIT
//
// The loops of a split product. The operand with fewer strips is packed once for all
// threads; then every task packs its own strips of the other and takes them through all
// of the first, block by block of k.
#pragma once

#include "split.hpp"
#include "split_finish.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Of a block of k: 96 KiB of a strip.
constexpr int64_t block_chunks = 16;
// Strips of a task's own operand, and of the shared one, that go through each other
// together: with both, 1.2 MiB, and their sums they stay in L2, which has 2 MiB on
// every CPU with AMX.
constexpr int64_t own_together = 4;
constexpr int64_t shared_together = 8;

struct SplitJob {
    const Gemm<float>* product;
    ac_context* context;
    SplitOperand own, shared;
    int64_t own_strips, shared_strips;
    int64_t chunks, k_blocks;
    int32_t* packed;  // shared: [block of k][strip][chunk of the block]
    // Where a strip's block of k begins in `packed`.
    [[nodiscard]] AC_INLINE int32_t* packed_at(const Cuts& depths, int64_t block,
                                               int64_t strip) const {
        return packed +
               (depths.at(block) * shared_strips + strip * depths.size(block)) *
                   chunk_pairs;
    }
};

void pack_shared_strips(const SplitJob& job, int64_t begin, int64_t end) {
    const Cuts depths(job.chunks, job.k_blocks);
    while (begin < end) {
        const int64_t block = begin / job.shared_strips;
        const int64_t first = begin % job.shared_strips;
        const int64_t last = smaller(job.shared_strips, first + end - begin);
        pack_strips(job.shared, first, last, depths.at(block), depths.size(block),
                    job.packed_at(depths, block, first),
                    depths.size(block) * chunk_pairs);
        begin += last - first;
    }
}

// ---- tasks

// Strips own0 to own1 of a task's own operand, by strips shared0 to shared1.
struct SplitBlock {
    int64_t own0, own1, shared0, shared1;
};

// What a thread needs: its own strips, whole, and the sums of a SplitBlock.
struct SplitWorkspace {
    int32_t* own;
    float* sums;
};

void run_split_block(const SplitJob& job, const SplitBlock& block,
                     const SplitWorkspace& workspace) {
    const Cuts depths(job.chunks, job.k_blocks);
    for (int64_t kb = 0; kb < job.k_blocks; ++kb) {
        const bool last = kb + 1 == job.k_blocks;
        const int64_t begin = depths.at(kb), count = depths.size(kb);
        float* sums = workspace.sums;
        if (block.shared0 == 0) {
            const Phase phase(job.context, AC_PHASE_PACK);
            pack_strips(job.own, block.own0, block.own1, begin, count,
                        workspace.own + begin * chunk_pairs, job.chunks * chunk_pairs);
        }
        for (int64_t i = block.own0; i < block.own1; ++i) {
            const int32_t* own =
                workspace.own + ((i - block.own0) * job.chunks + begin) * chunk_pairs;
            for (int64_t j = block.shared0; j < block.shared1; ++j) {
                const int32_t* shared = job.packed_at(depths, kb, j);
                const int32_t* next = shared + count * chunk_pairs;
                const Chunks chunks = job.own.left
                                          ? Chunks{count, own, shared, own, next}
                                          : Chunks{count, shared, own, next, own};
                const int64_t row = (job.own.left ? i : j) * strip_width;
                const int64_t column = (job.own.left ? j : i) * strip_width;
                if (last) ask_for_block(*job.product, row, column);
                multiply_chunks(chunks, sums, kb != 0);
                if (last) finish_block(*job.product, row, column, sums);
                sums += sums_of_block;
            }
        }
    }
}

bool run_split_tasks(SplitJob& job, int64_t begin, int64_t end) {
    const SplitWorkspace workspace = {
        scratch_of<int32_t>(job.context, slot_a,
                            own_together * job.chunks * chunk_pairs),
        scratch_of<float>(job.context, slot_b,
                          own_together * shared_together * sums_of_block)};
    if (workspace.own == nullptr || workspace.sums == nullptr) return false;
    const Phase phase(job.context, AC_PHASE_COMPUTE);
    const Tiles tiles;
    for (int64_t i = begin; i < end; i += own_together) {
        for (int64_t j = 0; j < job.shared_strips; j += shared_together) {
            run_split_block(job,
                            {i, smaller(end, i + own_together), j,
                             smaller(job.shared_strips, j + shared_together)},
                            workspace);
        }
    }
    return true;
}

// ---- the product

// Every operand runs along one of its dims.
bool can_split(const Gemm<float>& p) {
    return p.batch_dims == 0 && (p.a_row == 1 || p.a_col == 1) &&
           (p.b_row == 1 || p.b_col == 1);
}

bool multiply_split(const Gemm<float>& p, ac_context* context) {
    SplitJob job = {};
    job.product = &p;
    job.context = context;
    const SplitOperand a = {p.a, p.m, p.k, p.a_row, p.a_col, true};
    const SplitOperand b = {p.b, p.n, p.k, p.b_col, p.b_row, false};
    job.own = p.m >= p.n ? a : b;
    job.shared = p.m >= p.n ? b : a;
    job.own_strips = ceil_div(job.own.width, strip_width);
    job.shared_strips = ceil_div(job.shared.width, strip_width);
    job.chunks = ceil_div(p.k, chunk_steps);
    job.k_blocks = ceil_div(job.chunks, block_chunks);
    job.packed = scratch_of<int32_t>(context, slot_shared,
                                     job.shared_strips * job.chunks * chunk_pairs);
    if (job.packed == nullptr) return false;
    parallel(context, job.shared_strips * job.k_blocks, true,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 pack_shared_strips(job, begin, end);
             });
    return try_parallel(context, job.own_strips, true, [&](int64_t begin, int64_t end) {
        return run_split_tasks(job, begin, end);
    });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
