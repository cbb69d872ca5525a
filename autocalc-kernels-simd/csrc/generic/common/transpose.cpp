// SPDX-License-Identifier: MIT
#include "common/transpose.hpp"

#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// out[r][c] = in[c][r], up to one square of registers; rows of `in` run along r.
template <class T>
AC_INLINE void transpose_registers(T* out, int64_t out_row, const T* in, int64_t in_row,
                                   int64_t rows, int64_t columns) {
    constexpr int lanes = vec<T>::lanes;
    vec<T> r[lanes];
    if (rows == lanes && columns == lanes) {
#pragma GCC unroll 16
        for (int c = 0; c < lanes; ++c) r[c] = load(in + c * in_row);
        transpose(r);
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(out + i * out_row, r[i]);
        return;
    }
#pragma GCC unroll 16
    for (int c = 0; c < lanes; ++c) {
        r[c] = c < columns ? load_first(in + c * in_row, rows) : zero<T>();
    }
    transpose(r);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
        if (i < rows) store_first(out + i * out_row, r[i], columns);
    }
}

// out[r][c] = in[c][r] where few columns follow each other without a gap, as the
// channels of pixels do: no square of registers, of which most would be empty. 3 x 224
// x 224 to channels-last: 85 and 24 us.
template <class T, int columns>
AC_NOINLINE void interleave(T* __restrict out, const char* in, int64_t in_row,
                            int64_t rows) {
    const T* from[columns];
#pragma GCC unroll 4
    for (int c = 0; c < columns; ++c)
        from[c] = reinterpret_cast<const T*>(in + c * in_row);
#pragma GCC ivdep
    for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (int c = 0; c < columns; ++c) out[r * columns + c] = from[c][r];
    }
}

// The way back: few rows of `out` of which each is every so many elements of `in`.
template <class T, int rows>
AC_NOINLINE void separate(char* out, int64_t out_row, const T* __restrict in,
                          int64_t columns) {
    T* to[rows];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) to[r] = reinterpret_cast<T*>(out + r * out_row);
#pragma GCC ivdep
    for (int64_t c = 0; c < columns; ++c) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) to[r][c] = in[c * rows + r];
    }
}

// Whether that is so; then does it.
template <class T>
AC_INLINE bool separated(char* out, int64_t out_row, const char* in, int64_t in_row,
                         int64_t rows, int64_t columns) {
    if (in_row != rows * static_cast<int64_t>(sizeof(T))) return false;
    const T* from = reinterpret_cast<const T*>(in);
    if (rows == 2) {
        separate<T, 2>(out, out_row, from, columns);
    } else if (rows == 3) {
        separate<T, 3>(out, out_row, from, columns);
    } else if (rows == 4) {
        separate<T, 4>(out, out_row, from, columns);
    }
    return rows >= 2 && rows <= 4;
}

// Whether few columns are interleaved; then does it.
template <class T>
AC_INLINE bool interleaved(char* out, int64_t out_row, const char* in, int64_t in_row,
                           int64_t rows, int64_t columns) {
    if (out_row != columns * static_cast<int64_t>(sizeof(T))) return false;
    T* to = reinterpret_cast<T*>(out);
    if (columns == 2) {
        interleave<T, 2>(to, in, in_row, rows);
    } else if (columns == 3) {
        interleave<T, 3>(to, in, in_row, rows);
    } else if (columns == 4) {
        interleave<T, 4>(to, in, in_row, rows);
    }
    return columns >= 2 && columns <= 4;
}

// Blocks of any size; strides in bytes.
template <class T>
AC_NOINLINE void transpose_block(char* out, int64_t out_row, const char* in,
                                 int64_t in_row, int64_t rows, int64_t columns) {
    if (interleaved<T>(out, out_row, in, in_row, rows, columns)) return;
    if (separated<T>(out, out_row, in, in_row, rows, columns)) return;
    if constexpr (sizeof(T) < 4) {
        for (int64_t r = 0; r < rows; ++r) {
            T* to = reinterpret_cast<T*>(out + r * out_row);
            const char* from = in + r * item_size<T>;
            for (int64_t c = 0; c < columns; ++c) {
                to[c] = *reinterpret_cast<const T*>(from + c * in_row);
            }
        }
    } else {
        constexpr int64_t lanes = vec<T>::lanes;
        constexpr int64_t size = sizeof(T);
        for (int64_t r = 0; r < rows; r += lanes) {
            for (int64_t c = 0; c < columns; c += lanes) {
                transpose_registers(
                    reinterpret_cast<T*>(out + r * out_row) + c, out_row / size,
                    reinterpret_cast<const T*>(in + c * in_row) + r, in_row / size,
                    smaller(lanes, rows - r), smaller(lanes, columns - c));
            }
        }
    }
}

}  // namespace

void transpose_items(char* out, int64_t out_row, const char* in, int64_t in_row,
                     int64_t rows, int64_t columns, int64_t item) {
    switch (item) {
        case 1:
            return transpose_block<uint8_t>(out, out_row, in, in_row, rows, columns);
        case 2:
            return transpose_block<uint16_t>(out, out_row, in, in_row, rows, columns);
        case 4:
            return transpose_block<float>(out, out_row, in, in_row, rows, columns);
        default:
            return transpose_block<double>(out, out_row, in, in_row, rows, columns);
    }
}

}  // namespace autocalc::simd::AC_ISA
