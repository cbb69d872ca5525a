// SPDX-License-Identifier: MIT
//
// The loops around the microkernels. For every block of k, a task packs its block of b,
// sized for L2, and takes the rows of a through it, a tile at a time: those rows stay
// in L1 while b streams out of L2.
#pragma once

#include "product_dots.hpp"
#include "product_pack.hpp"
#include "product_plan.hpp"
#include "product_tile.hpp"
#include "product_vector.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum ScratchSlot { slot_b = 0, slot_a = 1, slot_shared = 6 };

template <class T>
struct Job {
    const Product<T>* product;
    Plan plan;
    ac_context* context;
    const T* shared_b;  // all of b, packed beforehand, or null
    int failed;
    uint64_t number;  // no other product's
};

uint64_t next_number() {
    static uint64_t last = 0;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

// What a thread's scratch memory holds of b, and for which product: the next run of the
// same product's tasks finds it there.
struct Kept {
    uint64_t number;
    const void* from;
    int64_t columns;
};
thread_local Kept kept = {0, nullptr, 0};

// What one thread needs for its run of tasks.
template <class T>
struct Bench {
    const Job<T>* job;
    T* packed_b;
    T* packed_a;  // or the tiles of c that wait for their transpose
    const T* packed_from;
    int64_t packed_columns;
};

template <class T>
T* scratch_of(ac_context* context, ScratchSlot slot, int64_t count) {
    return static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(bytes_of<T>(count))));
}

template <class T>
Matrices<T> matrices_at(const Product<T>& p, int64_t index) {
    Matrices<T> at = {p.a, p.b, p.c, p.pre};
    for (int d = p.batch_dims - 1; d >= 0; --d) {
        // NOLINTNEXTLINE(clang-analyzer-security.ArrayBound): AC_MAX_DIMS at most
        const int64_t i = index % p.batch[d];
        index /= p.batch[d];
        at.a += i * p.a_step[d];
        at.b += i * p.b_step[d];
        at.c += i * p.c_step[d];
        if (at.pre != nullptr) at.pre += i * p.pre_step[d];
    }
    return at;
}

// ---- panels of b

// The direct path packs only the last panel, if that does not fill its registers.
template <class T>
void pack_block(Bench<T>& bench, const T* b, int64_t k, const Panels<T>& panels) {
    const Product<T>& p = *bench.job->product;
    const Plan& plan = bench.job->plan;
    if (bench.packed_from == b && bench.packed_columns == panels.columns) return;
    if (plan.path == Path::direct) {
        const Panel last = panels.at(panels.count - 1);
        if (last.columns < last.width)
            pack_rows(k, panels, panels.count - 1, b, p.b_row, bench.packed_b);
    } else if (p.b_col == 1) {
        pack_rows<T>(k, panels, 0, b, p.b_row, bench.packed_b);
    } else {
        for (int64_t i = 0; i < panels.count; ++i) {
            pack_panel(k, panels.at(i), b, p.b_row, p.b_col, bench.packed_b);
        }
    }
    bench.packed_from = b;
    bench.packed_columns = panels.columns;
}

// One row of tiles through all panels of the block. tile.c, .pre and .bias begin at the
// block's first column.
template <class T>
void run_row(const Job<T>& job, Tile<T> tile, int64_t rows, const T* b, const T* packed,
             const Panels<T>& panels) {
    const Product<T>& p = *job.product;
    const Tile<T> row = tile;
    const Runs runs = row.a_col == 1 ? Runs::along_k : Runs::along_m;
    for (int64_t i = 0; i < panels.count; ++i) {
        const Panel panel = panels.at(i);
        const bool direct =
            job.plan.path == Path::direct && panel.columns == panel.width;
        tile.columns = panel.columns;
        tile.b = direct ? b + panel.begin : packed + panel.begin * tile.k;
        tile.b_row = direct ? p.b_row : panel.width;
        tile.b_ahead = direct ? job.plan.b_ahead : 0;
        tile.c = row.c + panel.begin;
        if (row.pre != nullptr) tile.pre = row.pre + panel.begin;
        if (row.bias != nullptr) tile.bias = row.bias + panel.begin;
        tile.next_a = i == 0 ? row.next_a : nullptr;
        tile_function<T>(panel.width / vec<T>::lanes, runs, rows)(tile);
    }
}

// ---- rows of a

// A block's rows as tiles that differ by at most one row.
struct RowTiles {
    int64_t begin, tiles;
    Cuts cuts;
    AC_INLINE RowTiles(int64_t m0, int64_t m1, int64_t most)
        : begin(m0), tiles(ceil_div(m1 - m0, most)), cuts(m1 - m0, tiles) {}
    [[nodiscard]] AC_INLINE int64_t start(int64_t tile) const {
        return begin + cuts.at(tile);
    }
};

// Packs the groups of rows that begin with tile `first`.
template <class T>
void pack_some_groups(const Bench<T>& bench, const T* a, int64_t k,
                      const RowTiles& rows, int64_t first) {
    const Plan& plan = bench.job->plan;
    int64_t starts[groups_at_once + 1];
    int64_t groups = 0;
    starts[0] = rows.start(first);
    for (int64_t tile = first; tile < rows.tiles && groups < groups_at_once;
         tile += plan.group) {
        starts[++groups] = rows.start(smaller(rows.tiles, tile + plan.group));
    }
    pack_groups(starts, groups, plan.group_width, k, a, bench.job->product->a_col,
                bench.packed_a);
}

// Points the tile to its rows of a, packing them first if need be. Called for the tiles
// in order.
template <class T>
void take_rows(const Bench<T>& bench, const T* a, int64_t k, const RowTiles& rows,
               int64_t i, Tile<T>& tile) {
    const Product<T>& p = *bench.job->product;
    const Plan& plan = bench.job->plan;
    tile.next_a = nullptr;
    tile.a = a + rows.start(i) * p.a_row;
    tile.a_row = p.a_row;
    tile.a_col = p.a_col;
    if (plan.pack_a == PackA::none) {
        if (p.a_col == 1 && i + 1 < rows.tiles)
            tile.next_a = a + rows.start(i + 1) * p.a_row;
        return;
    }
    tile.a_row = 1;
    if (plan.pack_a == PackA::tile) {
        tile.a_col = rows.start(i + 1) - rows.start(i);
        pack_tile_any(tile.a_col, k, tile.a, p.a_row, p.a_col, bench.packed_a);
        tile.a = bench.packed_a;
        return;
    }
    const int64_t together = plan.group * groups_at_once;
    if (i % together == 0) pack_some_groups(bench, a, k, rows, i);
    const int64_t group = i % together / plan.group;
    tile.a_col = plan.group_width;
    tile.a = bench.packed_a + group * k * plan.group_width + rows.start(i) -
             rows.start(i / plan.group * plan.group);
}

// ---- blocks of c

template <class T>
void run_block(Bench<T>& bench, const Matrices<T>& at, const Block& block) {
    const Job<T>& job = *bench.job;
    const Product<T>& p = *job.product;
    const Plan& plan = job.plan;
    const int64_t columns = block.n1 - block.n0;
    const RowTiles rows(block.m0, block.m1, plan.tile_m);
    const Panels<T> panels(columns, plan.panel);
    const Cuts depths(p.k, plan.k_blocks);
    for (int64_t kb = 0; kb < plan.k_blocks; ++kb) {
        const bool last = kb + 1 == plan.k_blocks;
        const int64_t k0 = depths.at(kb);
        const int64_t k = depths.size(kb);
        const T* b = at.b + k0 * p.b_row + block.n0 * p.b_col;
        pack_block(bench, b, k, panels);
        Tile<T> tile = {};
        tile.k = k;
        tile.c_row = p.c_row;
        tile.pre_row = p.pre_row;
        tile.alpha = p.alpha;
        tile.beta = kb == 0 ? p.beta : T(1);
        tile.relu = last && p.activation == Activation::relu;
        if (last && p.bias != nullptr) tile.bias = p.bias + block.n0;
        for (int64_t i = 0; i < rows.tiles; ++i) {
            const int64_t start = rows.start(i);
            const int64_t height = rows.start(i + 1) - start;
            take_rows(bench, at.a + k0 * p.a_col, k, rows, i, tile);
            tile.c = at.c + start * p.c_row + block.n0;
            if (last && at.pre != nullptr)
                tile.pre = at.pre + start * p.pre_row + block.n0;
            run_row(job, tile, height, b, bench.packed_b, panels);
            if (last && p.activation > Activation::relu) {
                activate(p.activation, height, columns, tile.c, p.c_row);
            }
        }
    }
}

// ---- the swapped path: tiles of c^T gather in a slab, which is transposed into c
// square by square

template <class T>
AC_INLINE vec<T> activated(Activation activation, vec<T> x) {
    switch (activation) {
        case Activation::relu:
            return max(zero<T>(), x);
        case Activation::gelu:
            return gelu(x);
        case Activation::gelu_tanh:
            return gelu_tanh(x);
        default:
            return x;
    }
}

template <class T>
AC_INLINE int64_t slab_rows(const Plan& plan) {
    return round_up(plan.slab * plan.tile_m, vec<T>::lanes);
}

// Rows m0 .. m0 + rows of c^T.
template <class T>
struct Slab {
    T* sums;
    int64_t sums_row;
    int64_t m0, rows;
    int64_t squares, written;
};

template <class T>
AC_NOINLINE void write_square(const Product<T>& p, const Matrices<T>& at,
                              const Block& block, const Slab<T>& slab, int64_t square) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t down = ceil_div(slab.rows, lanes);
    const int64_t i =
        square % down * lanes;  // the rows of c are pages apart: stay in them
    const int64_t j = square / down * lanes;
    const int64_t n = smaller<int64_t>(lanes, slab.rows - i);
    const int64_t count = smaller<int64_t>(lanes, block.n1 - block.n0 - j);
    const int64_t column = slab.m0 + i;
    const vec<T> bias = p.bias == nullptr ? zero<T>() : load_last(p.bias + column, n);
    vec<T> x[lanes];
#pragma GCC unroll 16
    for (int r = 0; r < lanes; ++r)
        x[r] = load(slab.sums + (i + r) * slab.sums_row + j);
    transpose(x);
    for (int64_t r = 0; r < count; ++r) {
        const int64_t row = block.n0 + j + r;
        T* c = at.c + row * p.c_row + column;
        vec<T> y = x[r] * set1<T>(p.alpha);
        if (p.beta != 0) y = fma(set1<T>(p.beta), load_last(c, n), y);
        if (p.bias != nullptr) y = y + bias;
        if (at.pre != nullptr) store_last(at.pre + row * p.pre_row + column, y, n);
        store_last(c, activated(p.activation, y), n);
    }
}

template <class T>
void write_squares(const Product<T>& p, const Matrices<T>& at, const Block& block,
                   Slab<T>& slab, int64_t count) {
    const int64_t end = smaller(slab.squares, slab.written + count);
    for (; slab.written < end; ++slab.written)
        write_square(p, at, block, slab, slab.written);
}

// While one slab fills, the one before is written, a few squares before each tile: the
// misses of their stores then hide behind the tile's work instead of waiting for each
// other.
template <class T>
void run_swapped(Bench<T>& bench, const Matrices<T>& at, const Block& block) {
    constexpr int lanes = vec<T>::lanes;
    const Job<T>& job = *bench.job;
    const Product<T>& p = *job.product;
    const Plan& plan = job.plan;
    const int64_t columns = block.n1 - block.n0;
    const RowTiles rows(block.m0, block.m1, plan.tile_m);
    const Panels<T> panels(columns, plan.panel);
    const T* packed =
        job.shared_b == nullptr ? bench.packed_b : job.shared_b + block.n0 * p.k;
    if (job.shared_b == nullptr)
        pack_block(bench, at.b + block.n0 * p.b_col, p.k, panels);
    const int64_t row_step = round_up(columns, lanes);
    Slab<T> full = {bench.packed_a, row_step, 0, 0, 0, 0};
    Slab<T> filling = {
        bench.packed_a + slab_rows<T>(plan) * row_step, row_step, 0, 0, 0, 0};
    Tile<T> tile = {};
    tile.k = p.k;
    tile.alpha = 1;
    tile.c_row = row_step;
    for (int64_t i = 0; i < rows.tiles; ++i) {
        const int64_t in_slab = i % plan.slab;
        if (in_slab == 0) filling.m0 = rows.start(i);
        write_squares(p, at, block, full, ceil_div(full.squares, plan.slab));
        take_rows(bench, at.a, p.k, rows, i, tile);
        tile.c = filling.sums + (rows.start(i) - filling.m0) * row_step;
        run_row(job, tile, rows.start(i + 1) - rows.start(i),
                static_cast<const T*>(nullptr), packed, panels);
        if (i + 1 == rows.tiles || in_slab + 1 == plan.slab) {
            write_squares(p, at, block, full, full.squares);
            filling.rows = rows.start(i + 1) - filling.m0;
            filling.squares = ceil_div(filling.rows, lanes) * ceil_div(columns, lanes);
            filling.written = 0;
            const Slab<T> empty = full;
            full = filling;
            filling = empty;
        }
    }
    write_squares(p, at, block, full, full.squares);
}

// ---- tasks

template <class T>
AC_INLINE int64_t block_columns(const Plan& plan) {
    return ceil_div(plan.n_units, plan.n_tasks) * vec<T>::lanes;
}

template <class T>
bool open_bench(const Job<T>& job, Bench<T>& bench) {
    const Product<T>& p = *job.product;
    const Plan& plan = job.plan;
    bench = {&job, nullptr, nullptr, nullptr, 0};
    if (plan.path == Path::dots || plan.path == Path::vector) return true;
    const int64_t k = ceil_div(p.k, plan.k_blocks);
    const int64_t columns = block_columns<T>(plan);
    if (job.shared_b == nullptr &&
        (plan.path != Path::direct || p.n % vec<T>::lanes != 0)) {
        bench.packed_b = scratch_of<T>(job.context, slot_b, columns * k);
        if (bench.packed_b == nullptr) return false;
        if (kept.number == job.number) {
            bench.packed_from = static_cast<const T*>(kept.from);
            bench.packed_columns = kept.columns;
        }
    }
    int64_t rows = 0;
    if (plan.path == Path::swapped) {  // whole squares are read
        rows = 2 * slab_rows<T>(plan) * columns;
    } else if (plan.pack_a == PackA::tile) {
        rows = plan.tile_m * k;
    } else if (plan.pack_a == PackA::groups) {
        rows = groups_at_once * plan.group_width * k;
    }
    if (rows != 0) bench.packed_a = scratch_of<T>(job.context, slot_a, rows);
    return rows == 0 || bench.packed_a != nullptr;
}

// Tasks count rows fastest. A thread's tasks of the same columns are done as one block,
// so that it packs the block of b once; where a tile ends does not change a sum. Those
// of one row are one block too.
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
    const Shares down(plan.m_units, plan.m_tasks);
    const Shares across(plan.n_units, plan.n_tasks);
    while (begin < end) {
        const int64_t m = begin % plan.m_tasks;
        const int64_t n = begin / plan.m_tasks % plan.n_tasks;
        const int64_t m_end = smaller(plan.m_tasks, m + end - begin);
        const int64_t n_end =
            plan.path == Path::vector ? smaller(plan.n_tasks, n + end - begin) : n + 1;
        const Matrices<T> at = matrices_at(p, begin / plan.m_tasks / plan.n_tasks);
        const Block block = {down.at(m) * plan.tile_m,
                             smaller(p.m, down.at(m_end) * plan.tile_m),
                             across.at(n) * vec<T>::lanes,
                             smaller(p.n, across.at(n_end) * vec<T>::lanes)};
        if (plan.path == Path::dots) {
            run_dot_block(p, at, block);
        } else if (plan.path == Path::vector) {
            run_vector_block(p, at, block);
        } else if (plan.path == Path::swapped) {
            run_swapped(bench, at, block);
        } else {
            run_block(bench, at, block);
        }
        begin += (m_end - m) * (n_end - n);
    }
    kept = {job.number, bench.packed_from, bench.packed_columns};
}

// ---- b packed once for all threads: worth it where each of them would need all of it

template <class T>
struct SharedPacking {
    const Product<T>* product;
    const Plan* plan;
    T* out;
    int64_t panels;  // of a block, at most
};

template <class T>
void pack_shared(void* arg, int64_t begin, int64_t end) {
    const SharedPacking<T>& job = *static_cast<const SharedPacking<T>*>(arg);
    const Product<T>& p = *job.product;
    const Plan& plan = *job.plan;
    const Shares across(plan.n_units, plan.n_tasks);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t n = t / job.panels;
        const int64_t n0 = across.at(n) * vec<T>::lanes;
        const int64_t n1 = smaller(p.n, across.at(n + 1) * vec<T>::lanes);
        const Panels<T> panels(n1 - n0, plan.panel);
        if (t % job.panels < panels.count) {
            pack_panel(p.k, panels.at(t % job.panels), p.b + n0 * p.b_col, p.b_row,
                       p.b_col, job.out + n0 * p.k);
        }
    }
}

// Of one or two panels each thread had better pack its own meanwhile: that keeps them
// in its L2 and all threads at work, 1.0 to 1.1 times as fast for 32 to 128 rows of x
// through a linear layer on two threads.
constexpr int64_t enough_to_share = 3;

template <class T>
bool share_b(Job<T>& job, int64_t tasks) {
    const Product<T>& p = *job.product;
    if (job.plan.path != Path::swapped || job.plan.batch != 1 || tasks == 1)
        return true;
    const int64_t panels = Panels<T>(block_columns<T>(job.plan), job.plan.panel).count;
    if (job.plan.n_tasks * panels < enough_to_share) return true;
    T* out =
        scratch_of<T>(job.context, slot_shared, job.plan.n_units * vec<T>::lanes * p.k);
    if (out == nullptr) return false;
    SharedPacking<T> packing = {&p, &job.plan, out, panels};
    job.context->parallel_for(job.context, job.plan.n_tasks * panels, pack_shared<T>,
                              &packing);
    job.shared_b = out;
    return true;
}

// ---- the product

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
            if (p.b_step[d] != 0 || p.a_step[d] != p.m * p.a_row ||
                p.c_step[d] != p.m * p.c_row ||
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
    int64_t elements = p.m * p.n;
    for (int d = 0; d < p.batch_dims; ++d) elements *= p.batch[d];
    if (elements == 0) return true;
    const Plan plan = make_plan(p);
    Job<T> job = {&p, plan, context, nullptr, 0, next_number()};
    const int64_t tasks = plan.batch * plan.m_tasks * plan.n_tasks;
    if (elements * p.k < serial_work || tasks == 1) {
        run_tasks<T>(&job, 0, tasks);
    } else {
        if (!share_b(job, tasks)) return false;
        context->parallel_for(context, tasks, run_tasks<T>, &job);
    }
    return job.failed == 0;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
