// SPDX-License-Identifier: MIT
//
// The loops around the microkernels. For every block of k, a task packs its block of b,
// sized for L2, and takes the rows of a through it, a tile at a time: those rows stay
// in L1 while b streams out of L2.
//
// From the outside in, with AVX-512 and floats:
//
//     a task's block of c                     run_block
//       blocks of k, at most 1024 steps       pack_block: its b, once for all rows
//         rows of tiles, 6 rows each          take_rows: finds or packs their a
//           panels of b, 64 columns each      run_row: one tile of 6 x 64 sums
//             steps of k                      run_tile, in registers
#pragma once

#include "common/call.hpp"
#include "common/phase.hpp"
#include "elementwise/post_ops.hpp"
#include "gemm/pack.hpp"
#include "gemm/plan.hpp"
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum ScratchSlot { slot_b = 0, slot_a = 1, slot_shared = 6 };

template <class T>
struct Job {
    const Gemm<T>* product;
    Plan plan;
    ac_context* context;
    const T* shared_b;  // all of b, packed beforehand, or null
    uint64_t number;    // no other product's
};

[[maybe_unused]] uint64_t next_number() {
    static uint64_t last = 0;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

// What a thread has packed of b, where, and for which product: the next run of the same
// product's tasks finds it there. Asking for that scratch memory again would replace
// it.
struct PackedCache {
    uint64_t number;
    void* packed;
    const void* from;
    int64_t columns;
};
[[maybe_unused]] thread_local PackedCache kept = {0, nullptr, nullptr, 0};

// What one thread needs for its run of tasks.
template <class T>
struct Workspace {
    const Job<T>* job;
    T* packed_b;
    T* packed_a;  // or the tiles of c that wait for their transpose
    const T* packed_from;
    int64_t packed_columns;
};

template <class T>
Matrices<T> matrices_at(const Gemm<T>& p, int64_t index) {
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

template <class T>
bool is_packed(const Workspace<T>& workspace, const T* b, const Panels<T>& panels) {
    return workspace.packed_from == b && workspace.packed_columns == panels.columns;
}

template <class T>
void keep_packed(Workspace<T>& workspace, const T* b, const Panels<T>& panels) {
    workspace.packed_from = b;
    workspace.packed_columns = panels.columns;
}

// The direct path packs only the last panel, if that does not fill its registers.
template <class T>
AC_NOINLINE void pack_panels(Workspace<T>& workspace, const T* b, int64_t k,
                             const Panels<T>& panels) {
    const Gemm<T>& p = *workspace.job->product;
    const Plan& plan = workspace.job->plan;
    if (plan.strategy == Strategy::direct) {
        const Panel last = panels.at(panels.count - 1);
        if (last.columns < last.width)
            pack_rows(k, panels, panels.count - 1, b, p.b_row, workspace.packed_b);
    } else if (p.b_col == 1) {
        pack_rows<T>(k, panels, 0, b, p.b_row, workspace.packed_b);
    } else {
        for (int64_t i = 0; i < panels.count; ++i) {
            pack_panel(k, panels.at(i), b, p.b_row, p.b_col, workspace.packed_b);
        }
    }
    keep_packed(workspace, b, panels);
}

template <class T>
AC_INLINE void pack_block(Workspace<T>& workspace, const T* b, int64_t k,
                          const Panels<T>& panels) {
    if (is_packed(workspace, b, panels)) return;
    in_phase(workspace.job->context, AC_PHASE_PACK,
             [&] { pack_panels(workspace, b, k, panels); });
}

// The tile of a row of them that belongs to a panel.
template <class T>
AC_INLINE void begin_at(Tile<T>& tile, const Tile<T>& row, const Panel& panel) {
    tile.columns = panel.columns;
    tile.c = row.c + panel.begin;
    if (row.pre != nullptr) tile.pre = row.pre + panel.begin;
    if (row.bias != nullptr) tile.bias = row.bias + panel.begin;
}

// The b of the block that comes next, whose loads from memory overlap with this one's
// tiles: each asks for some lines. 64 rows by 64 x 3136 of each of 8 images run 1.16 to
// 1.19 times as fast (Zen 4).
template <class T>
struct Asked {
    const T* b;  // null: nothing is left to ask for
    int64_t row, columns;
    int64_t rows_left, column;
    AC_INLINE void take(Tile<T>& tile, int64_t rows) {
        if (b == nullptr) return;
        tile.next = b + column;
        tile.next_row = row;
        column += tile.k;
        if (column < columns) return;
        column = 0;
        b += rows * row;
        rows_left -= rows;
        if (rows_left <= 0) b = nullptr;
    }
};

// One row of tiles through all panels of the block. tile.c, .pre and .bias begin at the
// block's first column.
template <class T>
void run_row(const Job<T>& job, Tile<T> tile, int64_t rows, const T* b, const T* packed,
             const Panels<T>& panels, Asked<T>& asked) {
    const Gemm<T>& p = *job.product;
    const Tile<T> row = tile;
    const Order a_order = row.a_col == 1 ? Order::row_major : Order::column_major;
    for (int64_t i = 0; i < panels.count; ++i) {
        const Panel panel = panels.at(i);
        const bool direct =
            job.plan.strategy == Strategy::direct && panel.columns == panel.width;
        begin_at(tile, row, panel);
        tile.b = direct ? b + panel.begin : packed + panel.begin * tile.k;
        tile.b_row = direct ? p.b_row : panel.width;
        tile.b_ahead = direct ? job.plan.b_ahead : 0;
        tile.next = i == 0 ? row.next : nullptr;
        tile.next_row = row.next_row;
        asked.take(tile, rows);
        tile_function<T>(panel.width / vec<T>::lanes, a_order, rows)(tile);
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
void pack_some_groups(const Workspace<T>& workspace, const T* a, int64_t k,
                      const RowTiles& rows, int64_t first) {
    const Plan& plan = workspace.job->plan;
    int64_t starts[groups_at_once + 1];
    int64_t groups = 0;
    starts[0] = rows.start(first);
    for (int64_t tile = first; tile < rows.tiles && groups < groups_at_once;
         tile += plan.group) {
        starts[++groups] = rows.start(smaller(rows.tiles, tile + plan.group));
    }
    pack_groups(starts, groups, plan.group_width, k, a, workspace.job->product->a_col,
                workspace.packed_a);
}

// Whether a tile asks for the rows of the next one. With AVX2 rows whole pages apart
// had better come when they are needed: 512 x 256 x 1024 and 1024 cubed run 1.04 times
// as fast without (a quiet Zen 3; wide tiles were not measured).
template <class T>
bool asks_for_rows(const Gemm<T>& p) {
    return p.a_col == 1 && (wide_tiles || bytes_of<T>(p.a_row) % page_bytes != 0);
}

// Points the tile to its rows of a, packing them first if need be. Called for the tiles
// in order.
template <class T>
void take_rows(const Workspace<T>& workspace, const T* a, int64_t k,
               const RowTiles& rows, int64_t i, Tile<T>& tile) {
    const Gemm<T>& p = *workspace.job->product;
    const Plan& plan = workspace.job->plan;
    tile.next = nullptr;
    tile.next_row = p.a_row;
    tile.a = a + rows.start(i) * p.a_row;
    tile.a_row = p.a_row;
    tile.a_col = p.a_col;
    if (plan.pack_a == PackA::none) {
        if (i + 1 < rows.tiles && asks_for_rows(p))
            tile.next = a + rows.start(i + 1) * p.a_row;
        return;
    }
    tile.a_row = 1;
    const Phase phase(workspace.job->context, AC_PHASE_PACK);
    if (plan.pack_a == PackA::tile) {
        tile.a_col = rows.start(i + 1) - rows.start(i);
        pack_tile_any(tile.a_col, k, tile.a, p.a_row, p.a_col, workspace.packed_a);
        tile.a = workspace.packed_a;
        return;
    }
    const int64_t together = plan.group * groups_at_once;
    if (i % together == 0) pack_some_groups(workspace, a, k, rows, i);
    const int64_t group = i % together / plan.group;
    tile.a_col = plan.group_width;
    // open_workspace made room wherever rows are packed.
    // NOLINTNEXTLINE(clang-analyzer-core.NullPointerArithm)
    tile.a = workspace.packed_a + group * group_size<T>(plan.group_width, k) +
             rows.start(i) - rows.start(i / plan.group * plan.group);
}

// ---- blocks of c

// Of few rows packing b is a third of the work, and most of that is waiting for memory.
// Their first row of tiles packs b on its way, and its multiply-adds fill the time: 32
// rows by 4096 x 1024 run 1.30 times as fast, by 1024 x 4096 1.34, by 2304 x 768 1.02;
// 64 rows and more run as before (Zen 4, two threads).
constexpr int64_t most_packing_tiles = 8;

template <class T>
bool packs_on_its_way(const Workspace<T>& workspace, const T* b, const RowTiles& rows,
                      const Panels<T>& panels) {
    const Gemm<T>& p = *workspace.job->product;
    return workspace.job->plan.strategy == Strategy::packed &&
           workspace.packed_b != nullptr && p.a_col == 1 && p.b_col == 1 &&
           rows_aligned(b, p.b_row) &&
           panels.columns % (tile_vectors * vec<T>::lanes) == 0 &&
           rows.tiles <= most_packing_tiles &&
           rows.start(1) - rows.start(0) >= tile_rows[tile_vectors] - 1 &&
           !is_packed(workspace, b, panels);
}

template <class T>
void run_packing_row(Workspace<T>& workspace, Tile<T> tile, int64_t rows, const T* b,
                     const Panels<T>& panels) {
    const Tile<T> row = tile;
    tile.b_row = workspace.job->product->b_row;
    tile.b_ahead = packing_steps_ahead * tile.b_row;
    for (int64_t i = 0; i < panels.count; ++i) {
        const Panel panel = panels.at(i);
        begin_at(tile, row, panel);
        tile.b = b + panel.begin;
        tile.packed = workspace.packed_b + panel.begin * tile.k;
        packing_tile_function<T>(rows)(tile);
    }
    keep_packed(workspace, b, panels);
}

// The limits of the results, if these are the last sums.
template <class T>
AC_INLINE void clamp_tile(const Gemm<T>& p, bool last, Tile<T>& tile) {
    Epilogue<T> e = p.epilogue;
    if (p.activation == Activation::relu) e.what = PostOp::relu;
    tile.clamped = last && e.is_clamp();
    tile.low = e.low();
    tile.high = e.high();
}

// Whether anything but the limits follows the last sums, in a pass of its own.
template <class T>
AC_INLINE bool has_passes(const Gemm<T>& p) {
    return p.activation > Activation::relu || p.mask != nullptr || p.epilogue.is_pass();
}

// Those passes over rows `start` to `start + height` of a block, which are at `c`.
template <class T>
void run_passes(const Job<T>& job, const Block& block, int64_t start, int64_t height,
                T* c) {
    const Gemm<T>& p = *job.product;
    const Phase phase(job.context, AC_PHASE_EPILOGUE);
    const int64_t columns = block.n1 - block.n0;
    if (p.activation > Activation::relu)
        activate(p.activation, height, columns, c, p.c_row);
    if (p.mask != nullptr)
        mask_rows(height, columns, c, p.c_row, p.mask + start * p.mask_row + block.n0,
                  p.mask_row);
    const Epilogue<T>& e = p.epilogue;
    if (!e.is_pass()) return;
    const T* other =
        e.other == nullptr ? nullptr : e.other + start * e.other_row + block.n0;
    finish_rows(e, height, columns, c, p.c_row, other, e.other_row);
}

// Whether blocks ask for the next one's b: it needs room in L2 in addition to their
// own, packed. AVX2's tall tiles ask for rows of a alone.
template <class T>
bool asks_for_blocks(const Gemm<T>& p, const Plan& plan, int64_t columns) {
    return wide_tiles && plan.strategy == Strategy::packed && plan.k_blocks == 1 &&
           p.b_col == 1 && p.k <= columns &&
           bytes_of<T>(p.k * columns) <= l2_bytes() / 4;
}

// `next_b` is what the next block packs, or null.
template <class T>
void run_block(Workspace<T>& workspace, const Matrices<T>& at, const Block& block,
               const T* next_b) {
    const Job<T>& job = *workspace.job;
    const Gemm<T>& p = *job.product;
    const Plan& plan = job.plan;
    const int64_t columns = block.n1 - block.n0;
    const RowTiles rows(block.m0, block.m1, plan.tile_m);
    const Panels<T> panels(columns, plan.panel);
    const Cuts depths(p.k, plan.k_blocks);
    const bool passes = has_passes(p);
    for (int64_t kb = 0; kb < plan.k_blocks; ++kb) {
        const bool last = kb + 1 == plan.k_blocks;
        const int64_t k0 = depths.at(kb);
        const int64_t k = depths.size(kb);
        const T* b = at.b + k0 * p.b_row + block.n0 * p.b_col;
        const bool packing = packs_on_its_way(workspace, b, rows, panels);
        if (!packing) pack_block(workspace, b, k, panels);
        Tile<T> tile = {};
        tile.k = k;
        tile.c_row = p.c_row;
        tile.pre_row = p.pre_row;
        tile.alpha = p.alpha;
        tile.beta = kb == 0 ? p.beta : T(1);
        clamp_tile(p, last, tile);
        if (last && p.bias != nullptr) tile.bias = p.bias + block.n0;
        Asked<T> asked = {nullptr, p.b_row, columns, p.k, 0};
        if (next_b != b && asks_for_blocks(p, plan, columns)) asked.b = next_b;
        for (int64_t i = 0; i < rows.tiles; ++i) {
            const int64_t start = rows.start(i);
            const int64_t height = rows.start(i + 1) - start;
            take_rows(workspace, at.a + k0 * p.a_col, k, rows, i, tile);
            tile.c = at.c + start * p.c_row + block.n0;
            if (last && at.pre != nullptr)
                tile.pre = at.pre + start * p.pre_row + block.n0;
            if (packing && i == 0) {
                run_packing_row(workspace, tile, height, b, panels);
            } else {
                run_row(job, tile, height, b, workspace.packed_b, panels, asked);
            }
            if (last && passes) run_passes(job, block, start, height, tile.c);
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
