// SPDX-License-Identifier: MIT
//
// Products of blocks that are in the cache, as gemm/packed_b.hpp has them, over words
// of two bfloat16 in AMX's tiles. Whole tiles are read where they are; others, and
// those of a left operand that runs down its columns, from copies with zeros around
// them.
#pragma once

#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t tile_side = half_strip;  // rows, words of a row, columns
constexpr int64_t most_chunks = 16;        // of a tile's words, along a sum

// A tile in memory, its rows `step` bytes apart.
struct TileAt {
    const float* data;
    int64_t step;
};

// Up to 16 rows of up to 16 words, zeros for others.
AC_INLINE TileAt copied_tile(const float* from, int64_t row, int64_t rows,
                             int64_t words, float* room) {
    for (int64_t i = 0; i < tile_side; ++i) {
        const f32 x = i < rows ? load_first(from + i * row, words) : zero<float>();
        store(room + i * tile_side, x);
    }
    return {room, tile_side * item_size<float>};
}

// The same of columns.
AC_INLINE TileAt turned_tile(const float* from, int64_t column, int64_t rows,
                             int64_t words, float* room) {
    f32 lines[tile_side];
#pragma GCC unroll 16
    for (int64_t k = 0; k < tile_side; ++k) {
        lines[k] = k < words ? load_first(from + k * column, rows) : zero<float>();
    }
    transpose(lines);
#pragma GCC unroll 16
    for (int64_t i = 0; i < tile_side; ++i) store(room + i * tile_side, lines[i]);
    return {room, tile_side * item_size<float>};
}

// One operand's tiles along a sum: of two halves, each of 16 rows of a or columns of b.
struct TileLine {
    TileAt tiles[2][most_chunks];
    alignas(64) float room[2][most_chunks][tile_pairs];
};

AC_NOINLINE void take_left(const PackedGemm<float>& p, int64_t first, int64_t height,
                           const Part& part, TileLine& line) {
    const int64_t row = p.a.row, column = p.a.column;
    for (int64_t half = 0; half * tile_side < height; ++half) {
        const int64_t rows = smaller(tile_side, height - half * tile_side);
        for (int64_t k = part.k0, i = 0; k < part.k1; k += tile_side, ++i) {
            const int64_t words = smaller(tile_side, part.k1 - k);
            const float* from =
                p.a.data + (first + half * tile_side) * row + k * column;
            TileAt& to = line.tiles[half][i];
            if (column != 1) {
                to = turned_tile(from, column, rows, words, line.room[half][i]);
            } else if (rows == tile_side && words == tile_side) {
                to = {from, bytes_of<float>(row)};
            } else {
                to = copied_tile(from, row, rows, words, line.room[half][i]);
            }
        }
    }
}

// `columns` columns from `begin` on of a panel.
AC_NOINLINE void take_right(const PackedGemm<float>& p, const Panel& panel,
                            int64_t begin, int64_t columns, const Part& part,
                            TileLine& line) {
    const float* data = p.b.data + panel.begin * p.b.depth +
                        (p.b.first + part.k0) * panel.width + begin - panel.begin;
    for (int64_t half = 0; half * tile_side < columns; ++half) {
        for (int64_t k = part.k0, i = 0; k < part.k1; k += tile_side, ++i) {
            const int64_t words = smaller(tile_side, part.k1 - k);
            const float* from = data + (k - part.k0) * panel.width + half * tile_side;
            TileAt& to = line.tiles[half][i];
            if (words == tile_side) {
                to = {from, bytes_of<float>(panel.width)};
            } else {
                to = copied_tile(from, panel.width, words, tile_side,
                                 line.room[half][i]);
            }
        }
    }
}

// sums[down][across] = left @ right, tiles of 16 x 16.
template <int down, int across>
AC_NOINLINE void multiply_tiles(const TileLine& left, const TileLine& right,
                                int64_t chunks, float* sums) {
    settle_memory();
    _tile_zero(0);
    if (across == 2) _tile_zero(1);
    if (down == 2) _tile_zero(2);
    if (down * across == 4) _tile_zero(3);
    const auto *a = left.tiles[0], *b = right.tiles[0];
    const auto *c = left.tiles[1], *d = right.tiles[1];
    for (int64_t i = 0; i < chunks; ++i) {
        _tile_loadd(4, a[i].data, a[i].step);
        _tile_loadd(6, b[i].data, b[i].step);
        _tile_dpbf16ps(0, 4, 6);
        wait_for_tiles();
        if (across == 2) {
            _tile_loadd(7, d[i].data, d[i].step);
            _tile_dpbf16ps(1, 4, 7);
            wait_for_tiles();
        }
        if (down == 2) {
            _tile_loadd(5, c[i].data, c[i].step);
            _tile_dpbf16ps(2, 5, 6);
            wait_for_tiles();
        }
        if (down * across == 4) {
            _tile_dpbf16ps(3, 5, 7);
            wait_for_tiles();
        }
    }
    _tile_stored(0, sums, 64);
    if (across == 2) _tile_stored(1, sums + sums_of_tile, 64);
    if (down == 2) _tile_stored(2, sums + 2 * sums_of_tile, 64);
    if (down * across == 4) _tile_stored(3, sums + 3 * sums_of_tile, 64);
    settle_memory();
}

// c = alpha * sums + beta * c for up to 32 rows and 32 columns.
AC_NOINLINE void write_sums(const PackedGemm<float>& p, int64_t rows, int64_t columns,
                            const float* sums, float* c) {
    const f32 alpha = set1<float>(p.alpha), beta = set1<float>(p.beta);
    for (int64_t i = 0; i < rows; ++i, c += p.c.row) {
        const float* from =
            sums + i / tile_side * 2 * sums_of_tile + i % tile_side * tile_side;
        for (int64_t j = 0; j < columns; j += tile_side, from += sums_of_tile) {
            const f32 sum = load(from) * alpha;
            store(c + j, p.beta == 0 ? sum : fma(beta, load(c + j), sum));
        }
    }
}

// Rows `first` to first + height, at most 32 of them.
template <int down>
AC_INLINE void multiply_rows(const PackedGemm<float>& p, const Part& part,
                             int64_t first, int64_t height, const TileLine& left,
                             TileLine& right) {
    const int64_t chunks = ceil_div(larger<int64_t>(part.k1 - part.k0, 0), tile_side);
    const Panels<float> panels(p.n, tile_vectors);
    alignas(64) float sums[sums_of_block];
    for (int64_t t = 0; t < panels.count; ++t) {
        const Panel panel = panels.at(t);
        const int64_t end = smaller(panel.begin + panel.width, part.n1);
        int64_t begin = larger(panel.begin, part.n0);
        while (begin < end) {
            const int64_t columns = smaller(strip_width, end - begin);
            take_right(p, panel, begin, columns, part, right);
            if (columns > tile_side) {
                multiply_tiles<down, 2>(left, right, chunks, sums);
            } else {
                multiply_tiles<down, 1>(left, right, chunks, sums);
            }
            write_sums(p, height, columns, sums, p.c.data + first * p.c.row + begin);
            begin += columns;
        }
    }
}

// part(r0, r1) answers the Part of rows r0 to r1. Sums are of at most 256 words, and
// rows of c of whole registers.
template <class Parts>
AC_INLINE void multiply_packed(const PackedGemm<float>& p, Parts&& part_of) {
    if (p.m == 0 || p.n == 0) return;
    const Tiles tiles;
    TileLine left, right;
    const Cuts blocks(ceil_div(p.m, tile_side), ceil_div(p.m, strip_width));
    for (int64_t i = 0; i * strip_width < p.m; ++i) {
        const int64_t first = blocks.at(i) * tile_side;
        const int64_t height = smaller(blocks.size(i) * tile_side, p.m - first);
        const Part part = part_of(first, first + height);
        take_left(p, first, height, part, left);
        if (height > tile_side) {
            multiply_rows<2>(p, part, first, height, left, right);
        } else {
            multiply_rows<1>(p, part, first, height, left, right);
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
