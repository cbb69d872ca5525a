// SPDX-License-Identifier: MIT
//
// The whole of an elementwise kernel: which loops it runs, in which order, and from
// where on with threads.
#pragma once

#include "common/streamed.hpp"
#include "common/transpose.hpp"
#include "elementwise/loops.hpp"

namespace autocalc::simd::AC_ISA {

// What one element costs, which sets from where on threads pay. Measured with one and
// two threads on float32 in the L1 and L2 caches: with a worker that still spins both
// take as long at 16 Ki elements of arithmetic and at 8 Ki of exp and its like (3.3
// us); one that sleeps costs 10 us more. Twice these numbers gain when it spins and
// lose little when it sleeps.
enum class Cost { cheap, costly };

// Runs a kernel over a nest, with threads from so many elements on.
void run_whole(ac_context* context, const Nest& nest, int64_t threads_from,
               RunKernel kernel, const void* parameters);

// The whole of an elementwise kernel: arrays[0] is the output. Parameters whose size is
// given can be copied, to be read later.
void elementwise(ac_context* context, const ac_array* const* arrays, int operands,
                 RunKernel kernel, const void* parameters, Cost cost,
                 int64_t bytes = 0);

namespace {

// ---- operands whose rows run across the output's
constexpr int64_t tile_height = 16;
constexpr int64_t tile_width = buffer_elements / tile_height;

// The dimension along which an input is contiguous, while it strides along the inner
// one.
template <int most>
inline int transposed_dim(const NestOf<most>& nest) {
    const int inner = nest.dims - 1;
    if (nest.dims < 2 || nest.size[inner] < 8) return -1;
    for (int k = 0; k < nest.outputs; ++k)
        if (nest.stride[k][inner] != nest.item[k]) return -1;
    for (int k = nest.outputs; k < nest.operands; ++k) {
        const int64_t stride = nest.stride[k][inner];
        if (stride <= nest.item[k] || stride % nest.item[k] != 0) continue;
        for (int d = inner - 1; d >= 0; --d) {
            if (nest.stride[k][d] == nest.item[k] && nest.size[d] >= 8) return d;
        }
    }
    return -1;
}

template <int most>
inline int64_t count_tiles(const NestOf<most>& nest, int across,
                           int64_t most_rows = tile_height) {
    const int64_t height = nest.size[across], width = nest.size[nest.dims - 1];
    return nest.total / height / width * ceil_div(height, most_rows) *
           ceil_div(width, tile_width);
}

// Tile `index`: its size, and the places of its first elements.
template <int most>
struct TileOf {
    int64_t rows, columns;
    char* data[most];
};
using Tile = TileOf<max_operands>;
template <int most>
inline void find_tile(const NestOf<most>& nest, int across, int64_t index,
                      TileOf<most>& tile, int64_t most_rows = tile_height) {
    const int inner = nest.dims - 1;
    const int64_t wide = ceil_div(nest.size[inner], tile_width);
    const int64_t high = ceil_div(nest.size[across], most_rows);
    const int64_t column = index % wide * tile_width;
    const int64_t row = index / wide % high * most_rows;
    tile.columns = smaller(tile_width, nest.size[inner] - column);
    tile.rows = smaller(most_rows, nest.size[across] - row);
    for (int k = 0; k < nest.operands; ++k) {
        tile.data[k] = nest.data[k] + column * nest.stride[k][inner] +
                       row * nest.stride[k][across];
    }
    int64_t rest = index / wide / high;
    for (int d = inner - 1; d >= 0; --d) {
        if (d == across) continue;
        const int64_t at = rest % nest.size[d];
        rest /= nest.size[d];
        for (int k = 0; k < nest.operands; ++k) tile.data[k] += at * nest.stride[k][d];
    }
}

template <int most>
inline void run_tiled(const NestOf<most>& nest, int across, int64_t begin, int64_t end,
                      RunKernel kernel, const void* parameters) {
    BuffersOf<most> buffers;
    const int inner = nest.dims - 1;
    for (int64_t index = begin; index < end; ++index) {
        TileOf<most> tile;
        find_tile(nest, across, index, tile);
        bool turned[most] = {};
        for (int k = nest.outputs; k < nest.operands; ++k) {
            const int64_t item = nest.item[k], stride = nest.stride[k][inner];
            turned[k] =
                stride > item && stride % item == 0 && nest.stride[k][across] == item;
            if (!turned[k]) continue;
            transpose_items(buffers.bytes[k], tile_width * item, tile.data[k], stride,
                            tile.rows, tile.columns, item);
        }
        for (int64_t r = 0; r < tile.rows; ++r) {
            void* run[most];
            for (int k = 0; k < nest.operands; ++k) {
                const int64_t item = nest.item[k], stride = nest.stride[k][inner];
                char* from = tile.data[k] + r * nest.stride[k][across];
                run[k] = from;
                if (turned[k]) {
                    run[k] = buffers.bytes[k] + r * tile_width * item;
                } else if (stride != item) {
                    gather(buffers.bytes[k], from, item, stride, tile.columns);
                    run[k] = buffers.bytes[k];
                }
            }
            kernel(run, tile.columns, parameters);
        }
    }
}

AC_INLINE int64_t threads_from(Cost cost) {
    return cost == Cost::cheap ? 32768 : 16384;
}

constexpr int64_t element_tile = 4096;

// Calls over arrays that the nearest caches do not hold go in turn up and down: what
// the last call wrote or read last is still there. On two cores with 1 MiB of L2 cache
// each, 4 MiB in and 4 MiB out: copying 172 us -> 143 us a call, exp 175 -> 160.
constexpr int64_t far_bytes = int64_t{1} << 20;
inline bool next_is_upward() {
    static uint32_t calls = 0;
    return __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 2 == 0;
}

template <int most>
inline int64_t bytes_of(const NestOf<most>& nest) {
    int64_t bytes = 0;
    for (int k = 0; k < nest.operands; ++k) bytes += nest.total * nest.item[k];
    return bytes;
}

// Tiles `begin` to `end`, each upward, in an order of their own.
template <int most>
inline void run_elements(const NestOf<most>& nest, int64_t begin, int64_t end,
                         bool streamed, bool upward, RunKernel kernel,
                         const void* parameters) {
    const auto run = [&](int64_t from, int64_t to) {
        from *= element_tile;
        to = smaller(to * element_tile, nest.total);
        if (streamed) return run_streamed(nest, from, to, kernel, parameters);
        run_nest(nest, from, to, kernel, parameters);
    };
    if (upward) return run(begin, end);
    for (int64_t tile = end; tile > begin; --tile) run(tile - 1, tile);
}

template <int most>
inline void run_whole(ac_context* context, const NestOf<most>& nest,
                      int64_t threads_from, RunKernel kernel, const void* parameters) {
    if (nest.total == 0) return;
    const bool worthwhile = nest.total >= threads_from;
    const int across = nest.dims > 1 ? transposed_dim(nest) : -1;
    if (across >= 0) {
        parallel(context, count_tiles(nest, across), worthwhile,
                 [&](int64_t begin, int64_t end) {
                     run_tiled(nest, across, begin, end, kernel, parameters);
                 });
        return;
    }
    const bool streamed = is_streamed(nest);
    const bool upward = streamed || bytes_of(nest) < far_bytes || next_is_upward();
    parallel(context, ceil_div(nest.total, element_tile), worthwhile,
             [&](int64_t begin, int64_t end) {
                 run_elements(nest, begin, end, streamed, upward, kernel, parameters);
             });
}

// ---- what a call would run
//
// A context without `parallel_for` asks an elementwise kernel what it would run; its
// state is a `Captured`. Chains are made of the answers.
constexpr int64_t captured_bytes = 32;
struct Captured {
    RunKernel kernel;  // null: the kernel has not answered
    const ac_array* arrays[max_operands];
    int operands;
    Cost cost;
    alignas(8) char parameters[captured_bytes];
};

AC_INLINE bool is_asked(const ac_context* context) {
    return context->parallel_for == nullptr;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
