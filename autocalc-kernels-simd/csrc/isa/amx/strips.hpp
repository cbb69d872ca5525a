// SPDX-License-Identifier: MIT
//
// The loops of a product in tiles: of float32 in parts, or of bfloat16. The operand
// with fewer strips is packed once for all threads. A task takes a group of strips of
// the other, which its thread packs, through a part of the first, block by block of k.
// Small products of many steps take the blocks of k in passes, each with tasks of its
// own.
#pragma once

#include "gemm/run.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Of a block of k: 96 KiB of a strip in three levels. In one level strips of both
// sides, 16 KiB each, stay in L1: chunks of 8 run at 1.3 times the rate of 16.
constexpr int64_t block_chunks_of(int levels) { return levels == 1 ? 8 : 16; }
// Strips of a group, and of the shared operand, that go through each other together:
// with both, 1.2 MiB, and their sums they stay in L2, which has 2 MiB on every CPU with
// AMX. Fewer strips in a group would bring the shared ones from L3 as often again.
constexpr int64_t own_together = 4;
constexpr int64_t shared_together = 8;
// One block of k after another for all tasks, where its sums, 1 MiB at most, may wait
// for the next: what a block has packed is still in L2 when the next one overwrites it.
// Otherwise a product of 512 x 256 x 1024 packs 4.7 MB, which goes to memory and back.
// A block should take a thread 80 us or more, as it is handed out twice.
constexpr int64_t most_sums = 1 << 18;
constexpr int64_t least_block = 1 << 23;

// A pass over some chunks of k of a `Product`, whose operands are packed, and whose
// blocks are finished, by the functions of these types.
template <class Product, class Operand>
struct StripJob {
    const Product* product;
    ac_context* context;
    Operand own, shared;
    int64_t own_strips, shared_strips;
    int64_t groups, parts;  // of own and of shared strips; tasks count parts fastest
    int64_t first_chunk, chunks, k_blocks;
    int32_t* packed;  // shared: [block of k][strip][chunk of the block]
    float* sums;      // between passes: [own strip][shared strip]; null if there is one
    uint64_t number;  // no other pass's
    int levels;
    [[nodiscard]] AC_INLINE int64_t chunk_pairs() const { return levels * level_pairs; }
    [[nodiscard]] AC_INLINE int64_t sums_of_all() const {
        return own_strips * shared_strips * sums_of_block;
    }
    // Where a strip's block of k begins in `packed`.
    [[nodiscard]] AC_INLINE int32_t* packed_at(const Cuts& depths, int64_t block,
                                               int64_t strip) const {
        return packed +
               (depths.at(block) * shared_strips + strip * depths.size(block)) *
                   chunk_pairs();
    }
};

// Strips strip0 .. strip1 - 1, each with `chunks` chunks from `chunk0` on, to
// out + i * step. Memory is read in the order of addresses.
template <class Operand>
AC_NOINLINE void pack_strips(const Operand& operand, int64_t strip0, int64_t strip1,
                             int64_t chunk0, int64_t chunks, int32_t* out,
                             int64_t step) {
    const int64_t strips = strip1 - strip0;
    const bool row_major = operand.step_k == 1;
    const auto pack_chunk = pack_chunk_of(operand);
    for (int64_t n = 0; n < strips * chunks; ++n) {
        const int64_t i = row_major ? n / chunks : n % strips;
        const int64_t j = row_major ? n % chunks : n / strips;
        pack_chunk(operand, strip0 + i, (chunk0 + j) * chunk_steps,
                   out + i * step + j * operand.chunk_pairs());
    }
}

template <class Job>
void pack_shared_strips(const Job& job, int64_t begin, int64_t end) {
    const Cuts depths(job.chunks, job.k_blocks);
    while (begin < end) {
        const int64_t block = begin / job.shared_strips;
        const int64_t first = begin % job.shared_strips;
        const int64_t last = smaller(job.shared_strips, first + end - begin);
        pack_strips(job.shared, first, last, job.first_chunk + depths.at(block),
                    depths.size(block), job.packed_at(depths, block, first),
                    depths.size(block) * job.chunk_pairs());
        begin += last - first;
    }
}

// ---- tasks

// Strips own0 to own1 of a group, by strips shared0 to shared1.
struct StripBlock {
    int64_t own0, own1, shared0, shared1;
};

// What a thread needs: a group's strips, whole, and the sums of a StripBlock.
struct StripWorkspace {
    int32_t* own;
    float* sums;
};

// The group that a thread has packed last, and for which product: its next run of the
// same product's tasks finds it in its workspace.
struct PackedGroup {
    uint64_t number;
    int64_t group;
};
thread_local PackedGroup kept_group = {0, 0};

template <class Job>
void run_strip_block(const Job& job, const StripBlock& block, bool packs,
                     const StripWorkspace& workspace) {
    const Cuts depths(job.chunks, job.k_blocks);
    const int64_t chunk_pairs = job.chunk_pairs();
    constexpr decltype(&multiply_chunks<1>) in_levels[] = {
        multiply_chunks<1>, multiply_chunks<2>, multiply_chunks<3>};
    const auto multiply_in_levels = in_levels[job.levels - 1];
    for (int64_t kb = 0; kb < job.k_blocks; ++kb) {
        const int64_t begin = depths.at(kb), count = depths.size(kb);
        const int64_t chunk = job.first_chunk + begin;
        const bool last = (chunk + count) * chunk_steps >= job.own.k;
        float* sums = workspace.sums;
        if (packs) {
            const Phase phase(job.context, AC_PHASE_PACK);
            pack_strips(job.own, block.own0, block.own1, chunk, count,
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
                if (job.sums != nullptr)
                    sums = job.sums + (i * job.shared_strips + j) * sums_of_block;
                if (last) ask_for_block(*job.product, row, column);
                multiply_in_levels(chunks, sums, chunk != 0);
                if (last) finish_block(*job.product, row, column, sums);
                sums += sums_of_block;
            }
        }
    }
}

template <class Job>
void run_group(const Job& job, int64_t group, int64_t shared0, int64_t shared1,
               const StripWorkspace& workspace) {
    const Cuts own(job.own_strips, job.groups);
    bool packs = kept_group.number != job.number || kept_group.group != group;
    for (int64_t j = shared0; j < shared1; j += shared_together) {
        run_strip_block(job,
                        {own.at(group), own.at(group + 1), j,
                         smaller(shared1, j + shared_together)},
                        packs, workspace);
        packs = false;
    }
    kept_group = {job.number, group};
}

template <class Job>
bool run_strip_tasks(const Job& job, int64_t begin, int64_t end) {
    const StripWorkspace workspace = {
        scratch_of<int32_t>(job.context, slot_a,
                            own_together * job.chunks * job.chunk_pairs()),
        scratch_of<float>(job.context, slot_b,
                          own_together * shared_together * sums_of_block)};
    if (workspace.own == nullptr || workspace.sums == nullptr) return false;
    const Phase phase(job.context, AC_PHASE_COMPUTE);
    const Tiles tiles;
    const Cuts shared(job.shared_strips, job.parts);
    while (begin < end) {
        const int64_t part = begin % job.parts;
        const int64_t last = smaller(job.parts, part + end - begin);
        run_group(job, begin / job.parts, shared.at(part), shared.at(last), workspace);
        begin += last - part;
    }
    return true;
}

// So many parts that threads can help each other, if each is worth it. A thread that
// helps packs the group again: 7 us of 4 strips of 256 steps, which two strips of the
// shared operand take 11 us to go through.
template <class Job>
int64_t parts_of(const Job& job, ac_context* context) {
    if (context->num_threads < 2) return 1;
    const int64_t wanted = ceil_div(tasks_for(context, 1, tasks_each), job.groups);
    const int64_t strip_work =
        own_together * strip_width * strip_width * chunk_steps * job.chunks;
    const int64_t least = ceil_div(task_work, strip_work);
    return larger<int64_t>(1, smaller(wanted, job.shared_strips / least));
}

template <class Job>
int64_t passes_of(const Job& job, int64_t k_blocks) {
    const int64_t sums = job.sums_of_all();
    const int64_t threads = larger(1, job.context->num_threads);
    const bool each_worth_it =
        sums * block_chunks_of(job.levels) * chunk_steps >= threads * least_block;
    return sums <= most_sums && each_worth_it ? k_blocks : 1;
}

// ---- the product

template <class Job>
bool run_pass(const Job& job) {
    parallel(job.context, job.shared_strips * job.k_blocks, true,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 pack_shared_strips(job, begin, end);
             });
    return try_parallel(
        job.context, job.groups * job.parts, true,
        [&](int64_t begin, int64_t end) { return run_strip_tasks(job, begin, end); });
}

// `a` and `b` are what `product`, of m x n x k, multiplies.
template <class Product, class Operand>
bool multiply_strips(const Product& product, const Operand& a, const Operand& b,
                     ac_context* context) {
    StripJob<Product, Operand> job = {};
    job.product = &product;
    job.context = context;
    job.levels = a.levels;
    const int64_t m = a.width, n = b.width, k = a.k;
    job.own = m >= n ? a : b;
    job.shared = m >= n ? b : a;
    job.own_strips = ceil_div(job.own.width, strip_width);
    job.shared_strips = ceil_div(job.shared.width, strip_width);
    // As many for each thread, so that no two pack the same group.
    job.groups =
        smaller(job.own_strips, round_up(ceil_div(job.own_strips, own_together),
                                         larger(1, context->num_threads)));
    const int64_t chunks = ceil_div(k, chunk_steps);
    const int64_t k_blocks = ceil_div(chunks, block_chunks_of(job.levels));
    const int64_t passes = passes_of(job, k_blocks);
    const Cuts depths(chunks, passes);
    job.k_blocks = k_blocks / passes;
    job.chunks = depths.size(0);  // the most
    job.parts = parts_of(job, context);
    const int64_t packed = job.shared_strips * job.chunks * job.chunk_pairs();
    const int64_t sums = passes > 1 ? job.sums_of_all() : 0;
    job.packed = scratch_of<int32_t>(context, slot_shared, packed + sums);
    if (job.packed == nullptr) return false;
    if (passes > 1) job.sums = reinterpret_cast<float*>(job.packed + packed);
    for (int64_t pass = 0; pass < passes; ++pass) {
        job.first_chunk = depths.at(pass);
        job.chunks = depths.size(pass);
        job.number = next_number();
        if (!run_pass(job)) return false;
    }
    return true;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
