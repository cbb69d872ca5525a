// SPDX-License-Identifier: MIT
//
// The loops around the microkernels. A task computes one block of c: for every block of k it packs the
// block of b, sized for L2, and takes the rows of a through it, a few at a time, so that those rows stay
// in L1 while b streams out of L2. Blocks come from the shape (and the L2 size) alone, and sums run along
// k in one order, so results do not depend on threads.
#pragma once

#include <unistd.h>

#include "product_pack.hpp"
#include "product_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t k_block_limit = 1024;
constexpr int64_t task_flops = 1500000;  // a task is worth some 10 microseconds
constexpr int64_t task_target = 32;
constexpr int64_t serial_flops = 400000;  // less than this costs more to share than to do
constexpr int64_t bad_stride_bytes = 2048;  // rows this far apart compete for the same sets of L1
enum ScratchSlot { slot_b = 0, slot_a = 1 };

int64_t l2_bytes() {
    static int64_t known = 0;
    int64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (bytes == 0) {
#if defined(_SC_LEVEL2_CACHE_SIZE)
        bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
        if (bytes < (int64_t{128} << 10)) bytes = int64_t{512} << 10;
        __atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

enum class Path { packed, direct, dots };

struct Plan {
    Path path;
    bool copy_a;
    int64_t tile_m;  // rows of a register tile
    int64_t panel;   // most registers across a tile
    int64_t k_blocks;
    int64_t m_units, m_tasks;  // rows in units of tile_m
    int64_t n_units, n_tasks;  // columns in units of a register
    int64_t batch;
};

// Piece `i` of `total` split in `parts` that differ by at most one.
AC_INLINE int64_t cut(int64_t total, int64_t parts, int64_t i) { return total * i / parts; }

template <class T>
Path choose_path(const Product<T>& p) {
    constexpr int lanes = vec<T>::lanes;
    const bool along_k = p.a_col == 1 && p.b_row == 1 && p.k >= 2 * lanes;
    if (along_k && (p.n == 1 || p.m < 8 || p.n < lanes)) return Path::dots;
    const bool small = p.k * p.n * static_cast<int64_t>(sizeof(T)) <= 65536;
    if (p.b_col == 1 && p.n >= lanes && (p.m <= tile_rows[2] || small)) return Path::direct;
    return Path::packed;
}

template <class T>
void choose_tile(const Product<T>& p, Plan& plan) {
    plan.panel = smaller<int64_t>(tile_vectors, ceil_div(p.n, vec<T>::lanes));
    if (plan.path == Path::direct) {  // all rows at once read b once
        for (int64_t v = plan.panel; v >= 2; --v) {
            if (tile_rows[v] >= p.m) {
                plan.panel = v;
                break;
            }
        }
    }
    plan.tile_m = tile_rows[plan.panel];
}

template <class T>
Plan make_plan(const Product<T>& p) {
    constexpr int lanes = vec<T>::lanes;
    Plan plan;
    plan.path = choose_path(p);
    choose_tile(p, plan);
    plan.k_blocks = larger<int64_t>(1, ceil_div(p.k, k_block_limit));
    if (plan.path == Path::dots) {
        plan.tile_m = dot_rows;
        plan.k_blocks = 1;
    }
    const int64_t k_block = larger<int64_t>(1, ceil_div(p.k, plan.k_blocks));
    const int64_t item = static_cast<int64_t>(sizeof(T));
    plan.copy_a = (p.a_col != 1 && p.a_row != 1) ||
                  (p.a_col == 1 && p.a_row * item % bad_stride_bytes == 0 && p.m > 1);
    plan.batch = 1;
    for (int d = 0; d < p.batch_dims; ++d) plan.batch *= p.batch[d];
    plan.m_units = ceil_div(p.m, plan.tile_m);
    plan.n_units = ceil_div(p.n, lanes);
    const int64_t most_n =
        larger<int64_t>(plan.panel, l2_bytes() * 11 / 20 / (k_block * item * lanes));
    plan.n_tasks = ceil_div(plan.n_units, smaller<int64_t>(most_n, 512 / lanes));
    const int64_t flops = 2 * p.m * p.n * larger<int64_t>(p.k, 1) * plan.batch;
    const int64_t wanted =
        ceil_div(smaller<int64_t>(task_target, flops / task_flops + 1), plan.batch);
    plan.m_tasks = 1;
    if (plan.n_tasks < wanted) {
        plan.m_tasks = smaller<int64_t>(plan.m_units, ceil_div(wanted, plan.n_tasks));
    }
    if (plan.n_tasks * plan.m_tasks < wanted) {
        plan.n_tasks = smaller<int64_t>(plan.n_units, ceil_div(wanted, plan.m_tasks));
    }
    return plan;
}

template <class T>
struct Job {
    const Product<T>* product;
    Plan plan;
    ac_context* context;
    int failed;
};

// What one thread needs for its run of tasks.
template <class T>
struct Bench {
    const Job<T>* job;
    T* packed_b;
    T* packed_a;
    const T* packed_from;  // the block of b that packed_b holds, if k is one block
    int64_t packed_n;
};

// The operands of one index of the batch.
template <class T>
struct Matrices {
    const T* a;
    const T* b;
    T* c;
    T* pre;
};

template <class T>
Matrices<T> matrices_at(const Product<T>& p, int64_t index) {
    Matrices<T> at = {p.a, p.b, p.c, p.pre};
    for (int d = p.batch_dims - 1; d >= 0; --d) {
        const int64_t i = index % p.batch[d];
        index /= p.batch[d];
        at.a += i * p.a_step[d];
        at.b += i * p.b_step[d];
        at.c += i * p.c_step[d];
        if (at.pre != nullptr) at.pre += i * p.pre_step[d];
    }
    return at;
}

struct Block {
    int64_t m0, m1, n0, n1;
};

// Panels of a block: as few as possible, as even as possible, in registers.
AC_INLINE int64_t panel_count(int64_t units, int64_t panel) { return ceil_div(units, panel); }

template <class T>
void pack_block(const Product<T>& p, const Plan& plan, const T* b, int64_t k, int64_t columns, T* out) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t units = ceil_div(columns, lanes);
    const int64_t panels = panel_count(units, plan.panel);
    for (int64_t i = 0; i < panels; ++i) {
        const int64_t j0 = cut(units, panels, i) * lanes;
        const int64_t j1 = cut(units, panels, i + 1) * lanes;
        pack_panel(k, smaller(columns, j1) - j0, j1 - j0, b + j0 * p.b_col, p.b_row, p.b_col,
                   out + j0 * k);
    }
}

// One row of tiles: `rows` rows of a through all panels of the block.
template <class T>
void run_row(const Job<T>& job, Tile<T>& tile, const T* b, int64_t rows, int64_t columns, const T* packed) {
    constexpr int lanes = vec<T>::lanes;
    const Product<T>& p = *job.product;
    const int64_t units = ceil_div(columns, lanes);
    const int64_t panels = panel_count(units, job.plan.panel);
    T* const c = tile.c;
    T* const pre = tile.pre;
    const T* const bias = tile.bias;
    for (int64_t i = 0; i < panels; ++i) {
        const int64_t j0 = cut(units, panels, i) * lanes;
        const int64_t j1 = cut(units, panels, i + 1) * lanes;
        tile.columns = smaller(columns, j1) - j0;
        const bool direct = job.plan.path == Path::direct && tile.columns == j1 - j0;
        tile.b = direct ? b + j0 : packed + j0 * tile.k;
        tile.b_row = direct ? p.b_row : j1 - j0;
        tile.c = c + j0;
        tile.pre = pre == nullptr ? nullptr : pre + j0;
        tile.bias = bias == nullptr ? nullptr : bias + j0;
        tile_function<T>((j1 - j0) / lanes, rows)(tile);
    }
}

// The direct path packs only the panel that does not fill its registers.
template <class T>
void pack_ragged(const Product<T>& p, const Plan& plan, const T* b, int64_t k, int64_t columns, T* out) {
    constexpr int lanes = vec<T>::lanes;
    if (columns % lanes == 0) return;
    const int64_t units = ceil_div(columns, lanes);
    const int64_t panels = panel_count(units, plan.panel);
    const int64_t j0 = cut(units, panels, panels - 1) * lanes;
    pack_panel(k, columns - j0, units * lanes - j0, b + j0 * p.b_col, p.b_row, p.b_col, out + j0 * k);
}

template <class T>
void pack_for(Bench<T>& bench, const T* b, int64_t k, int64_t columns) {
    const Product<T>& p = *bench.job->product;
    const Plan& plan = bench.job->plan;
    if (bench.packed_from == b && bench.packed_n == columns && plan.k_blocks == 1) return;
    if (plan.path == Path::direct) {
        pack_ragged(p, plan, b, k, columns, bench.packed_b);
    } else {
        pack_block(p, plan, b, k, columns, bench.packed_b);
    }
    bench.packed_from = b;
    bench.packed_n = columns;
}

template <class T>
void run_block(Bench<T>& bench, const Matrices<T>& at, const Block& block) {
    const Job<T>& job = *bench.job;
    const Product<T>& p = *job.product;
    const Plan& plan = job.plan;
    const int64_t columns = block.n1 - block.n0;
    const int64_t tiles = ceil_div(block.m1 - block.m0, plan.tile_m);
    for (int64_t kb = 0; kb < plan.k_blocks; ++kb) {
        const bool last = kb + 1 == plan.k_blocks;
        const int64_t k0 = cut(p.k, plan.k_blocks, kb);
        const int64_t k = cut(p.k, plan.k_blocks, kb + 1) - k0;
        const T* b = at.b + k0 * p.b_row + block.n0 * p.b_col;
        pack_for(bench, b, k, columns);
        Tile<T> tile;
        tile.k = k;
        tile.c_row = p.c_row;
        tile.pre_row = p.pre_row;
        tile.alpha = p.alpha;
        tile.beta = kb == 0 ? p.beta : T(1);
        tile.relu = last && p.activation == Activation::relu;
        for (int64_t i = 0; i < tiles; ++i) {
            const int64_t m0 = block.m0 + cut(block.m1 - block.m0, tiles, i);
            const int64_t rows = block.m0 + cut(block.m1 - block.m0, tiles, i + 1) - m0;
            tile.a = at.a + m0 * p.a_row + k0 * p.a_col;
            tile.a_row = p.a_row;
            tile.a_col = p.a_col;
            if (plan.copy_a) {
                tile.a_row = k + 16;  // not a multiple of 4 KiB
                tile.a_col = 1;
                copy_rows(rows, k, tile.a, p.a_row, p.a_col, bench.packed_a, tile.a_row);
                tile.a = bench.packed_a;
            }
            tile.c = at.c + m0 * p.c_row + block.n0;
            tile.pre = last && at.pre != nullptr ? at.pre + m0 * p.pre_row + block.n0 : nullptr;
            tile.bias = last && p.bias != nullptr ? p.bias + block.n0 : nullptr;
            T* const c = tile.c;
            run_row(job, tile, b, rows, columns, bench.packed_b);
            if (last && p.activation > Activation::relu) {
                activate(p.activation, rows, columns, c, p.c_row);
            }
        }
    }
}

// ---- dot products

template <class T>
void finish_dots(const Product<T>& p, const Matrices<T>& at, const Block& block, const T* sums) {
    for (int64_t i = block.m0; i < block.m1; ++i) {
        for (int64_t j = block.n0; j < block.n1; ++j) {
            T* c = at.c + i * p.c_row + j;
            T x = p.alpha * sums[(i - block.m0) * dot_columns + j - block.n0];
            if (p.beta != 0) x += p.beta * *c;
            if (p.bias != nullptr) x += p.bias[j];
            if (at.pre != nullptr) at.pre[i * p.pre_row + j] = x;
            if (p.activation == Activation::relu && x < 0) x = 0;
            *c = x;
        }
    }
    if (p.activation > Activation::relu) {
        activate(p.activation, block.m1 - block.m0, block.n1 - block.n0,
                 at.c + block.m0 * p.c_row + block.n0, p.c_row);
    }
}

template <class T>
void run_dot_block(const Product<T>& p, const Matrices<T>& at, const Block& block) {
    T sums[dot_rows * dot_columns];
    const int64_t across = ceil_div(block.n1 - block.n0, dot_columns);
    const int64_t down = ceil_div(block.m1 - block.m0, dot_rows);
    for (int64_t j = 0; j < across; ++j) {
        for (int64_t i = 0; i < down; ++i) {
            const Block part = {block.m0 + cut(block.m1 - block.m0, down, i),
                                block.m0 + cut(block.m1 - block.m0, down, i + 1),
                                block.n0 + cut(block.n1 - block.n0, across, j),
                                block.n0 + cut(block.n1 - block.n0, across, j + 1)};
            const DotTile<T> tile = {p.k,     at.a + part.m0 * p.a_row, p.a_row,
                                     at.b + part.n0 * p.b_col, p.b_col, sums};
            dot_function<T>(part.m1 - part.m0, part.n1 - part.n0)(tile);
            finish_dots(p, at, part, sums);
        }
    }
}

// ---- tasks

template <class T>
bool open_bench(Job<T>& job, Bench<T>& bench) {
    constexpr int64_t lanes = vec<T>::lanes;
    const Product<T>& p = *job.product;
    const Plan& plan = job.plan;
    bench = {&job, nullptr, nullptr, nullptr, 0};
    if (plan.path == Path::dots) return true;
    const int64_t k = ceil_div(p.k, plan.k_blocks);
    const int64_t n = ceil_div(plan.n_units, plan.n_tasks) * lanes;
    if (plan.path == Path::packed || p.n % lanes != 0) {
        bench.packed_b = static_cast<T*>(job.context->scratch(
            job.context, slot_b, static_cast<size_t>((n * k + 64) * static_cast<int64_t>(sizeof(T)))));
        if (bench.packed_b == nullptr) return false;
    }
    if (plan.copy_a) {
        bench.packed_a = static_cast<T*>(job.context->scratch(
            job.context, slot_a,
            static_cast<size_t>(plan.tile_m * (k + 16) * static_cast<int64_t>(sizeof(T)))));
        if (bench.packed_a == nullptr) return false;
    }
    return true;
}

// Tasks count rows fastest, so that a thread meets the same block of b again and need not pack it twice.
template <class T>
void run_tasks(void* arg, int64_t begin, int64_t end) {
    Job<T>& job = *static_cast<Job<T>*>(arg);
    const Product<T>& p = *job.product;
    const Plan& plan = job.plan;
    Bench<T> bench;
    if (!open_bench(job, bench)) {
        __atomic_store_n(&job.failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t t = begin; t < end; ++t) {
        const int64_t m = t % plan.m_tasks;
        const int64_t n = t / plan.m_tasks % plan.n_tasks;
        const Matrices<T> at = matrices_at(p, t / plan.m_tasks / plan.n_tasks);
        const Block block = {
            cut(plan.m_units, plan.m_tasks, m) * plan.tile_m,
            smaller(p.m, cut(plan.m_units, plan.m_tasks, m + 1) * plan.tile_m),
            cut(plan.n_units, plan.n_tasks, n) * vec<T>::lanes,
            smaller(p.n, cut(plan.n_units, plan.n_tasks, n + 1) * vec<T>::lanes)};
        if (plan.path == Path::dots) {
            run_dot_block(p, at, block);
        } else {
            run_block(bench, at, block);
        }
    }
}

// Rows of the batch that lie one after another become rows of one product.
template <class T>
void fold_batch(Product<T>& p) {
    while (p.batch_dims > 0) {
        const int d = p.batch_dims - 1;
        if (p.batch[d] != 1) {
            if (p.m == 1) {
                p.a_row = p.a_step[d];
                p.c_row = p.c_step[d];
                p.pre_row = p.pre_step[d];
            }
            if (p.b_step[d] != 0 || p.a_step[d] != p.m * p.a_row || p.c_step[d] != p.m * p.c_row ||
                (p.pre != nullptr && p.pre_step[d] != p.m * p.pre_row)) {
                return;
            }
            p.m *= p.batch[d];
        }
        p.batch_dims = d;
    }
}

// The stride of a dim of size 1 means nothing: it becomes what suits the kernels.
template <class T>
void tidy_strides(Product<T>& p) {
    if (p.k == 1) p.a_col = p.b_row = 1;
    if (p.n == 1 && p.b_row != 1) p.b_col = 1;
    if (p.m == 1 && p.a_col != 1) p.a_row = 1;
}

template <class T>
bool multiply_typed(Product<T> p, ac_context* context) {
    fold_batch(p);
    tidy_strides(p);
    if (p.m == 0 || p.n == 0) return true;
    Job<T> job = {&p, make_plan(p), context, 0};
    const Plan& plan = job.plan;
    if (plan.batch == 0) return true;
    const int64_t tasks = plan.batch * plan.m_tasks * plan.n_tasks;
    if (2 * p.m * p.n * p.k * plan.batch < serial_flops) {
        run_tasks<T>(&job, 0, tasks);
    } else {
        context->parallel_for(context, tasks, run_tasks<T>, &job);
    }
    return job.failed == 0;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
