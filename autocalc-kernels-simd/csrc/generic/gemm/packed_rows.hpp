// SPDX-License-Identifier: MIT
//
// Products of packed_b.hpp in register tiles.
#pragma once

namespace autocalc::simd::AC_ISA {
namespace {

// part(r0, r1) answers the Part of rows r0 to r1.
template <class T, class Parts>
AC_INLINE void multiply_packed(const PackedGemm<T>& p, Parts&& part_of) {
    constexpr int64_t lanes = vec<T>::lanes;
    if (p.m == 0 || p.n == 0) return;
    const Panels<T> panels(p.n, tile_vectors);
    int64_t most = tile_rows[panels.at(0).width / lanes];
    if (p.a.column == 1 && bytes_of<T>(p.a.row) % bad_stride_bytes == 0)
        most = smaller(most, bad_stride_rows);
    const int64_t tiles = ceil_div(p.m, most);
    const Cuts rows(p.m, tiles);
    const Order a_order = p.a.column == 1 ? Order::row_major : Order::column_major;
    for (int64_t i = 0; i < tiles; ++i) {
        const int64_t first = rows.at(i), height = rows.size(i);
        const Part part = part_of(first, first + height);
        Tile<T> tile = {};
        tile.k = larger<int64_t>(part.k1 - part.k0, 0);
        tile.a = p.a.data + first * p.a.row + part.k0 * p.a.column;
        tile.a_row = p.a.row;
        tile.a_col = p.a.column;
        if (p.a.column == 1 && i + 1 < tiles) tile.next = tile.a + height * p.a.row;
        tile.next_row = p.a.row;
        tile.c_row = p.c.row;
        tile.alpha = p.alpha;
        tile.beta = p.beta;
        for (int64_t j = 0; j < panels.count; ++j) {
            const Panel panel = panels.at(j);
            int64_t begin = larger(panel.begin, part.n0);
            int64_t end = smaller(panel.begin + panel.columns, part.n1);
            if (begin >= end) continue;
            if constexpr (multiplies_pairs) {  // whose tiles read whole panels
                begin = panel.begin;
                end = panel.begin + panel.columns;
            }
            tile.columns = end - begin;
            tile.b = p.b.data + panel.begin * p.b.depth +
                     (p.b.first + part.k0) * panel.width + begin - panel.begin;
            tile.b_row = panel.width;
            tile.c = p.c.data + first * p.c.row + begin;
            multiply_tile(tile, ceil_div(tile.columns, lanes), a_order, height);
            tile.next = nullptr;
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
