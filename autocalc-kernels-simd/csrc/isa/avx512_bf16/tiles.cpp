// SPDX-License-Identifier: MIT
//
// The register tiles over words of two bfloat16: rows or columns of a, and panels of b
// that are packed, which is all that these products use.
#include "gemm/register_tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <int vectors_, Order order>
struct PackedTiles {
    using Function = TileFunction<float>;
    static constexpr int most = tile_rows[vectors_];
    template <int rows>
    static constexpr Function at =
        run_tile<float, rows, vectors_, order, Right::packed>;
};

template <Order order>
TileFunction<float> tile_of(int64_t vectors, int64_t rows) {
    if (vectors == 1) return function_of<PackedTiles<1, order>>(rows);
    if (vectors == 2) return function_of<PackedTiles<2, order>>(rows);
    if (vectors == 3) return function_of<PackedTiles<3, order>>(rows);
    return function_of<PackedTiles<4, order>>(rows);
}

}  // namespace

void multiply_tile(const Tile<float>& tile, int64_t vectors, Order order,
                   int64_t rows) {
    const auto run = order == Order::row_major
                         ? tile_of<Order::row_major>(vectors, rows)
                         : tile_of<Order::column_major>(vectors, rows);
    run(tile);
}

}  // namespace autocalc::simd::AC_ISA
