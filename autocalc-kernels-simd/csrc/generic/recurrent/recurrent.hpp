// SPDX-License-Identifier: MIT
//
// What recurrent layers share: a layer's sizes, sequences in memory, and how the rows
// of a batch are shared among threads.
//
// Rows of a batch do not know of each other, so each thread takes some of them through
// the whole sequence: threads meet once, and a row's states stay in its thread's cache.
#pragma once

#include "common/arena.hpp"
#include "common/call.hpp"
#include "common/lanes.hpp"
#include "common/operands.hpp"
#include "common/phase.hpp"
#include "elementwise/loops.hpp"
#include "elementwise/vector_math.hpp"
#include "gemm/packed_b.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Slots of scratch memory; a product by itself takes 0, 1 and 6.
enum { slot_shared_arrays = 2, slot_sums = 3, slot_lines = 4, slot_thread = 7 };

struct Layer {
    int64_t steps, batch, features, hidden;
    bool reverse;
    // The i-th step that is taken.
    [[nodiscard]] AC_INLINE int64_t at(int64_t i) const {
        return reverse ? steps - 1 - i : i;
    }
    [[nodiscard]] AC_INLINE bool empty() const {
        return steps == 0 || batch == 0 || hidden == 0;
    }
    // Multiplications of a pass for each gate.
    [[nodiscard]] AC_INLINE double work() const {
        return double(steps) * double(batch) * double(hidden) *
               double(features + hidden);
    }
};

AC_INLINE Layer layer_of(const ac_array* x, const ac_array* w_hh, int64_t reverse) {
    return {dim_of(x, 0), dim_of(x, 1), dim_of(x, 2), dim_of(w_hh, 1), reverse != 0};
}

// Features in whole registers.
template <class T>
AC_INLINE int64_t padded(int64_t width) {
    return round_up(width, vec<T>::lanes);
}

// [T, B, N], or [B, N] for every step; a null pointer for an absent operand.
template <class T>
struct Sequence {
    T* data = nullptr;
    int64_t step = 0, row = 0, column = 1, width = 0;
    Sequence() = default;
    AC_INLINE explicit Sequence(const ac_array* array) : data(data_of<T>(array)) {
        if (array == nullptr) return;
        if (array->ndim == 3) step = stride_of<T>(array, 0);
        row = stride_of<T>(array, -2);
        width = dim_of(array, -1);
        if (width > 1) column = stride_of<T>(array, -1);
    }
    [[nodiscard]] AC_INLINE T* at(int64_t t, int64_t b) const {
        return data + t * step + b * row;
    }
    AC_INLINE void copy_row(int64_t t, int64_t b, T* to) const {
        gather(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(at(t, b)),
               item_size<T>, bytes_of<T>(column), width);
    }
    // A row with neighbouring elements; copied to `room` if they are apart.
    AC_INLINE const T* row_at(int64_t t, int64_t b, T* room) const {
        if (column == 1) return at(t, b);
        copy_row(t, b, room);
        return room;
    }
};

// An object with lay_out(arena), its arrays in a slot of scratch; false without memory.
template <class T, class Owner>
bool take_memory(Owner& owner, ac_context* context, int slot) {
    Arena<T> arena;
    owner.lay_out(arena);
    arena.memory = scratch_of<T>(context, slot, arena.used);
    if (arena.memory == nullptr) return false;
    arena.used = 0;
    owner.lay_out(arena);
    return true;
}

// The rows of a batch in units of a tile, which are the tasks. Sums over rows are made
// unit by unit.
struct Units {
    int64_t count;
    Shares rows;
    AC_INLINE explicit Units(int64_t batch)
        : count(ceil_div(batch, tile_rows[tile_vectors])), rows(batch, count) {}
};

// How many units go through the sequence together: their states and sums stay in L2.
template <class T>
AC_INLINE int64_t units_together(int64_t elements_of_row) {
    const int64_t rows = l2_bytes() / 4 / bytes_of<T>(elements_of_row);
    return larger<int64_t>(1, rows / tile_rows[tile_vectors]);
}

// run(workspace, first, last) for runs of units, on all threads. A workspace is what a
// thread has for itself: it is made of (job, rows).
template <class T, class Workspace, class Job, class Run>
bool for_units(const Job& job, const Units& units, int64_t together, bool worthwhile,
               ac_context* context, Run&& run) {
    return try_parallel(
        context, units.count, worthwhile, [&](int64_t begin, int64_t end) {
            const Cuts parts(end - begin, ceil_div(end - begin, together));
            const int64_t count = ceil_div(end - begin, together);
            const int64_t rows = parts.size(0) * tile_rows[tile_vectors];
            Workspace workspace(job, rows);
            if (!take_memory<T>(workspace, context, slot_thread)) return false;
            for (int64_t i = 0; i < count; ++i)
                run(workspace, begin + parts.at(i), begin + parts.at(i + 1));
            return true;
        });
}

// The product of a step. Packed weights that stay in L2 pass by tile after tile of the
// rows; larger ones come from memory once a step, all rows taking a panel together.
template <class T>
AC_INLINE void multiply_step(const PackedGemm<T>& p) {
    if (p.m == 1) return multiply_row(p);
    if (bytes_of<T>(packed_size<T>(p.k, p.n)) <= l2_bytes() / 2)
        return multiply_whole(p);
    const Panels<T> panels(p.n, tile_vectors);
    for (int64_t i = 0; i < panels.count; ++i) multiply_panel(p, panels.at(i));
}

// Whether this many outputs are contiguous, as they are written.
AC_INLINE bool all_contiguous(const ac_call* call, int outputs) {
    for (int i = 0; i < outputs; ++i) {
        const ac_array* out = operand(call, i);
        if (out != nullptr && element_count(*out) != 0 && !is_contiguous(*out))
            return false;
    }
    return true;
}

template <class T>
AC_INLINE void clear(T* to, int64_t count) {
    if (to != nullptr) memset(to, 0, static_cast<size_t>(bytes_of<T>(count)));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
