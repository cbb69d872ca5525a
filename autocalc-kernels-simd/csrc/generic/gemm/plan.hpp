// SPDX-License-Identifier: MIT
//
// How a product is cut into blocks and tasks. Sums always run along k in one order, cut
// as shapes and strides have it, whatever the blocks of rows and columns are. Only the
// number of these follows from the number of threads, so that the result has the same
// bits for any of them.
#pragma once

#include <unistd.h>

#include "common/call.hpp"
#include "gemm/gemm.hpp"
#include "microkernel.hpp"
#include "tuning.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Tiles are four registers across where there are 32 of them, two where there are 16.
constexpr bool wide_tiles = tile_vectors == 4;
constexpr int64_t k_block_limit = 1024;
constexpr int64_t task_work = 1 << 20;  // multiply-adds of a task: some 15 microseconds
constexpr int64_t task_target = 32;     // at least, and ...
constexpr int64_t tasks_each = 16;  // ... for each thread: then threads help each other
// Rows of a thread that are worth packing the columns of b which it takes them through:
// with more threads than there are such blocks of rows, the columns are cut, too.
constexpr int64_t packing_rows = 64;
constexpr int64_t serial_work = 200000;  // less costs more to share than to do
// Of one product. In a loop of nothing else two threads gain from 100000 on (64 cubed:
// 1.4 times as fast), but within a step, where operands are in the caller's caches, a
// small MLP's products of 520000 took its step 1.05 times as long.
constexpr int64_t gemm_serial_work = 600000;
// Rows this far apart compete for the same sets of L1, which holds eight of them.
constexpr int64_t bad_stride_bytes = 2048;
constexpr int64_t bad_stride_rows = 7;
constexpr int64_t vector_columns = 1024;  // of a task, at most: 4 or 8 KiB of c
constexpr int64_t least_vector_columns = 256;
constexpr int64_t vector_work = 1 << 18;     // elements of b that are worth two threads
constexpr int64_t steps_ahead = 8;           // of k, for which b is asked for early
constexpr int64_t packing_steps_ahead = 24;  // the same, into L2: rows compete in L1

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

// packed: blocks of b are packed. direct: b is read where it is. swapped: c^T = b^T
// a^T, so that a is packed instead of a larger b, and c is transposed as it is written.
// dots: both run along k, and one is slim. vector: one row times a wide b.
enum class Strategy { packed, direct, swapped, dots, vector };

enum class PackA { none, tile, groups };

struct Plan {
    Strategy strategy;
    PackA pack_a;
    int64_t tile_m;  // rows of a register tile
    int64_t panel;   // most registers across a tile
    int64_t k_blocks;
    int64_t b_ahead;           // direct: how far ahead of b to ask for memory
    int64_t m_units, m_tasks;  // rows in units of tile_m
    int64_t n_unit;            // columns that stay together
    int64_t n_units, n_tasks;
    int64_t batch;
    int64_t slab;         // swapped: tiles of c that are transposed together
    int64_t group;        // PackA::groups: tiles of a that share registers ...
    int64_t group_width;  // ... in this many elements
};

// The operands of one index of the batch.
template <class T>
struct Matrices {
    const T* a;
    const T* b;
    T* c;
    T* pre;
};

// Rows m0 to m1 and columns n0 to n1 of c.
struct Block {
    int64_t m0, m1, n0, n1;
};

// Of what is not multiplied: b packed, or a packed and c transposed as it is written.
template <class T>
double packed_cost(const Gemm<T>& p) {
    return Costs::pack_transposed * static_cast<double>(p.k) * static_cast<double>(p.n);
}
template <class T>
double swapped_cost(const Gemm<T>& p) {
    return (Costs::pack_transposed * static_cast<double>(p.k) +
            Costs::write_transposed * static_cast<double>(p.n)) *
           static_cast<double>(p.m);
}
template <class T>
bool better_swapped(const Gemm<T>& p) {
    return swapped_cost(p) < packed_cost(p);
}

// A register's load from two lines takes twice its time: 1024 x 128 x 128 gains 8 % if
// such a b is packed.
constexpr int64_t enough_rows_to_align = 128;
template <class T>
bool rows_aligned(const T* b, int64_t b_row) {
    return reinterpret_cast<uintptr_t>(b) % 64 == 0 && bytes_of<T>(b_row) % 64 == 0;
}

// Of more steps than one block each piece of a thread's run would pack b again. Where
// few results come of many steps, b is better read where it is: 156 x 512 x 3584 runs
// 1.12 to 1.19 times as fast, 128 x 512 x 1500 1.15, 512 x 512 x 2048 1.03, but 1024 x
// 784 x 1500 0.96, and rows of b that are whole pages apart 0.85 to 0.99 (Zen 4).
// Panels of two registers are too narrow for that: with AVX2 156 x 512 x 3584 ran at
// 0.7 of the speed (Zen 3).
constexpr int64_t few_results = 1 << 18;
constexpr int64_t page_bytes = 4096;
template <class T>
bool better_unpacked(const Gemm<T>& p) {
    return wide_tiles && p.k > k_block_limit && p.m * p.n <= few_results &&
           rows_aligned(p.b, p.b_row) && bytes_of<T>(p.b_row) % page_bytes != 0;
}

template <class T>
AC_INLINE int64_t most_dot_rows() {
    return sizeof(T) == 4 ? Costs::most_dot_rows : Costs::most_dot_rows_f64;
}

template <class T>
Strategy choose_strategy(const Gemm<T>& p) {
    constexpr int lanes = vec<T>::lanes;
    const bool along_k = p.a_col == 1 && p.b_row == 1 && p.k >= 2 * lanes;
    if (along_k && (p.n == 1 || p.m <= most_dot_rows<T>() || p.n < lanes))
        return Strategy::dots;
    if (p.m == 1 && p.b_col == 1 && p.n > tile_vectors * lanes &&
        bytes_of<T>(p.k * p.n) > l2_bytes() / 2)
        return Strategy::vector;
    const bool small = bytes_of<T>(p.k * p.n) <= 65536 &&
                       (p.m < enough_rows_to_align || rows_aligned(p.b, p.b_row));
    if (p.b_col == 1 && p.n >= lanes &&
        (p.m <= tile_rows[2] || small || better_unpacked(p)))
        return Strategy::direct;

    if (along_k && p.n >= lanes && p.m >= lanes / 2 && better_swapped(p))
        return Strategy::swapped;
    return Strategy::packed;
}

// The hardware sees ahead in a packed panel, but not from row to row of a large b. One
// that is in the caches needs no help, and the instructions cost 64 x 64 x 64 some 10
// %.
template <class T>
int64_t read_ahead(const Gemm<T>& p) {
    return bytes_of<T>(p.k * p.n) > l2_bytes() / 2 ? steps_ahead * p.b_row : 0;
}

// Rows of a that are packed in groups share registers without a gap where a tile has
// half or all of their elements: 8 x 3 instead of 6 x 4 registers then run 1.04 to 1.15
// times as fast, unless a narrow b would be cut into more panels for it.
template <class T>
int64_t group_panel(int64_t columns, int64_t panel) {
    const int64_t slim = panel - 1;
    if (!wide_tiles || panel != tile_vectors ||
        vec<T>::lanes % tile_rows[tile_vectors - 1] != 0)
        return panel;
    const bool as_few = ceil_div(columns, slim) == ceil_div(columns, panel);
    return as_few || columns >= 2 * tile_vectors ? slim : panel;
}

// Fewer registers across leave room for more rows: enough for all of them at once if
// that is possible.
template <class T>
void choose_tile(const Gemm<T>& p, Plan& plan) {
    const int64_t columns = ceil_div(p.n, vec<T>::lanes);
    plan.panel = smaller<int64_t>(tile_vectors, columns);
    if (plan.strategy == Strategy::direct) {
        for (int64_t v = plan.panel; v >= 2; --v) {
            if (tile_rows[v] >= p.m) {
                plan.panel = v;
                break;
            }
        }
    }
    plan.pack_a = PackA::none;
    if (p.a_col != 1 && p.a_row != 1) {
        plan.pack_a = PackA::tile;
    } else if (p.a_col != 1 && p.m > tile_rows[plan.panel]) {
        plan.pack_a = PackA::groups;
        if (plan.strategy == Strategy::packed)
            plan.panel = group_panel<T>(columns, plan.panel);
    }
    plan.tile_m = tile_rows[plan.panel];
    if (p.a_col == 1 && bytes_of<T>(p.a_row) % bad_stride_bytes == 0)
        plan.tile_m = smaller(plan.tile_m, bad_stride_rows);
}

AC_INLINE int64_t common_multiple(int64_t a, int64_t b) {
    int64_t multiple = a;
    while (multiple % b != 0) multiple += a;
    return multiple;
}

AC_INLINE int64_t vector_tasks(int64_t columns, const Plan& plan,
                               const ac_context* context) {
    const int64_t share = ceil_div(columns, tasks_for(context, 1, 1));
    const int64_t block = larger(least_vector_columns, smaller(vector_columns, share));
    return ceil_div(plan.n_units, larger<int64_t>(1, block / plan.n_unit));
}

// Into how many blocks of whole panels threads share the columns.
AC_INLINE int64_t packing_columns(int64_t rows, const Plan& plan, int64_t wanted,
                                  const ac_context* context) {
    const int64_t threads = ceil_div(tasks_for(context, 1, 1), plan.batch);
    const int64_t down = larger<int64_t>(1, rows / packing_rows);
    const int64_t panels = plan.n_units / (wide_tiles ? plan.panel : 1);
    return smaller(smaller(wanted, panels), ceil_div(threads, down));
}

template <class T>
void choose_tasks(const Gemm<T>& p, Plan& plan, const ac_context* context) {
    constexpr int lanes = vec<T>::lanes;
    plan.m_units = ceil_div(p.m, plan.tile_m);
    // In registers. Of two across a tile, a panel with one would load as much as it
    // multiplies; of four, one with three is as good.
    const int64_t unit = wide_tiles ? 1 : plan.panel;
    plan.n_unit = unit * lanes;
    plan.n_units = ceil_div(p.n, plan.n_unit);
    plan.m_tasks = 1;
    plan.n_tasks = 1;
    const int64_t work = p.m * p.n * larger<int64_t>(p.k, 1);
    if (plan.strategy == Strategy::vector) {
        if (work >= vector_work) plan.n_tasks = vector_tasks(p.n, plan, context);
        return;
    }
    if (work < gemm_serial_work && p.k <= k_block_limit && p.n <= 512) return;
    const int64_t k_block = larger<int64_t>(1, ceil_div(p.k, plan.k_blocks));
    const int64_t fits = l2_bytes() * 11 / 20 / bytes_of<T>(k_block * lanes);
    const int64_t most = smaller<int64_t>(larger(plan.panel, fits), 512 / lanes);
    plan.n_tasks = ceil_div(plan.n_units, most / unit);
    int64_t wanted = work < gemm_serial_work ? 1 : 2;  // powers of two share well
    const int64_t most_wanted = tasks_for(context, task_target, tasks_each);
    while (wanted < most_wanted && wanted * task_work < work) wanted *= 2;
    wanted = ceil_div(wanted, plan.batch);
    if (plan.strategy == Strategy::packed)
        plan.n_tasks =
            larger(plan.n_tasks, packing_columns(p.m, plan, wanted, context));
    if (plan.strategy ==
        Strategy::dots)  // few rows: a task takes b through all of them
        plan.n_tasks = larger(plan.n_tasks, smaller(plan.n_units, wanted));
    if (plan.n_tasks < wanted) {
        plan.m_tasks = smaller<int64_t>(plan.m_units, ceil_div(wanted, plan.n_tasks));
    }
    if (plan.n_tasks * plan.m_tasks < wanted) {
        plan.n_tasks = smaller<int64_t>(plan.n_units, ceil_div(wanted, plan.m_tasks));
    }
}

// May exchange the roles of a and b in `p`.
template <class T>
Plan make_plan(Gemm<T>& p, const ac_context* context) {
    constexpr int lanes = vec<T>::lanes;
    Plan plan;
    plan.strategy = choose_strategy(p);
    if (plan.strategy == Strategy::swapped) {
        const Gemm<T> q = p;
        p.m = q.n;
        p.n = q.m;
        p.a = q.b;
        p.a_row = q.b_col;
        p.a_col = q.b_row;
        p.b = q.a;
        p.b_row = q.a_col;
        p.b_col = q.a_row;
        for (int d = 0; d < p.batch_dims; ++d) {
            p.a_step[d] = q.b_step[d];
            p.b_step[d] = q.a_step[d];
        }
    }
    choose_tile(p, plan);
    plan.b_ahead = read_ahead(p);
    plan.k_blocks = larger<int64_t>(1, ceil_div(p.k, k_block_limit));
    if (plan.strategy == Strategy::dots) {
        plan.tile_m = dot_rows;
        plan.pack_a = PackA::none;
    }
    if (plan.strategy != Strategy::packed && plan.strategy != Strategy::direct)
        plan.k_blocks = 1;
    plan.slab = plan.group = plan.group_width = 0;
    if (plan.strategy == Strategy::swapped) {
        plan.slab = common_multiple(plan.tile_m, lanes) / plan.tile_m;
    }
    if (plan.pack_a == PackA::groups) {
        plan.group = larger<int64_t>(1, lanes / plan.tile_m);
        plan.group_width =
            plan.group == 1 ? plan.tile_m : round_up(plan.group * plan.tile_m, lanes);
    }
    plan.batch = 1;
    for (int d = 0; d < p.batch_dims; ++d) plan.batch *= p.batch[d];
    choose_tasks(p, plan, context);
    return plan;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
