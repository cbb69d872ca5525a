// SPDX-License-Identifier: MIT
//
// From the sums of a block of 32 x 32 to what is written: bias, activation and the
// rest.
#pragma once

#include "gemm/run.hpp"
#include "tile.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A block of c as the tiles hold it: sum(i, half) is the register with columns
// 16 * half .. 16 * half + 15 of row i.
AC_INLINE float* sum_at(float* sums, int64_t i, int64_t half) {
    return sums + (i / half_strip * 2 + half) * sums_of_tile +
           i % half_strip * half_strip;
}

// The sums of the block at (row, column), again by multiply-adds: a number that is
// infinite, or too large for a bfloat16, has left NaN where none may be.
AC_NOINLINE void multiply_exactly(const Gemm<float>& p, int64_t row, int64_t column,
                                  float* sums) {
    const int64_t rows = smaller(strip_width, p.m - row);
    const int64_t columns = smaller(strip_width, p.n - column);
    memset(sums, 0, sums_of_block * sizeof(float));
    for (int64_t k = 0; k < p.k; ++k) {
        float b[strip_width] = {};
        for (int64_t j = 0; j < columns; ++j)
            b[j] = p.b[k * p.b_row + (column + j) * p.b_col];
        for (int64_t i = 0; i < rows; ++i) {
            const vec<float> a = set1<float>(p.a[(row + i) * p.a_row + k * p.a_col]);
            for (int64_t half = 0; half < 2; ++half) {
                float* sum = sum_at(sums, i, half);
                store(sum, fma(a, load(b + half * half_strip), load(sum)));
            }
        }
    }
}

// Of sums times zero, added up: NaN if one of them was not finite.
AC_INLINE bool is_zero(vec<float> x) {
    return _mm512_cmp_ps_mask(x.v, _mm512_setzero_ps(), _CMP_EQ_OQ) == 0xffff;
}

AC_INLINE bool all_finite(const float* sums) {
    vec<float> poison = zero<float>();
    for (int64_t i = 0; i < sums_of_block; i += half_strip)
        poison = fma(load(sums + i), zero<float>(), poison);
    return is_zero(poison);
}

// Brings the lines of c nearer, to be written.
AC_INLINE void ask_for_block(const Gemm<float>& p, int64_t row, int64_t column) {
    const int64_t rows = smaller(strip_width, p.m - row);
    const int64_t columns = smaller(strip_width, p.n - column);
    for (int64_t i = 0; i < rows; ++i) {
        const float* c = p.c + (row + i) * p.c_row + column;
        __builtin_prefetch(c, 1);
        __builtin_prefetch(c + columns - 1, 1);
    }
}

// c = act(alpha * sums + beta * c + bias) for the block at (row, column).
AC_NOINLINE void finish_any(const Gemm<float>& p, int64_t row, int64_t column,
                            float* sums) {
    if (!all_finite(sums)) multiply_exactly(p, row, column, sums);
    const int64_t rows = smaller(strip_width, p.m - row);
    const vec<float> alpha = set1<float>(p.alpha), beta = set1<float>(p.beta);
    for (int64_t half = 0; half < 2; ++half) {
        const int64_t first = column + half * half_strip;
        const int64_t n = smaller(half_strip, p.n - first);
        if (n <= 0) break;
        const vec<float> bias =
            p.bias == nullptr ? zero<float>() : load_last(p.bias + first, n);
        for (int64_t i = 0; i < rows; ++i) {
            float* c = p.c + (row + i) * p.c_row + first;
            vec<float> y = fma(load(sum_at(sums, i, half)), alpha, bias);
            if (p.beta != 0) y = fma(beta, load_last(c, n), y);
            if (p.pre != nullptr)
                store_last(p.pre + (row + i) * p.pre_row + first, y, n);
            store_last(c, activated(p.activation, y), n);
        }
    }
}

// The same for most blocks, in a fifth of the instructions: a whole one that is not
// added to, with no activation but ReLU. False if a sum is not finite.
template <bool relu>
AC_NOINLINE bool finish_whole(const Gemm<float>& p, int64_t row, int64_t column,
                              const float* sums) {
    const vec<float> alpha = set1<float>(p.alpha);
    vec<float> bias[2] = {zero<float>(), zero<float>()};
    if (p.bias != nullptr) {
        bias[0] = load(p.bias + column);
        bias[1] = load(p.bias + column + half_strip);
    }
    vec<float> poison = zero<float>();
    float* c = p.c + row * p.c_row + column;
    const int64_t c_row = p.c_row;
    for (int64_t tile = 0; tile < 4; tile += 2) {
        const float* from = sums + tile * sums_of_tile;
        for (int64_t i = 0; i < half_strip; ++i, from += half_strip, c += c_row) {
#pragma GCC unroll 2
            for (int64_t half = 0; half < 2; ++half) {
                vec<float> y = fma(load(from + half * sums_of_tile), alpha, bias[half]);
                poison = fma(y, zero<float>(), poison);
                if (relu) y = max(zero<float>(), y);
                store(c + half * half_strip, y);
            }
        }
    }
    return is_zero(poison);
}

AC_NOINLINE void finish_block(const Gemm<float>& p, int64_t row, int64_t column,
                              float* sums) {
    const bool whole = p.m - row >= strip_width && p.n - column >= strip_width;
    if (whole && p.beta == 0 && p.pre == nullptr && p.activation <= Activation::relu) {
        const bool finite = p.activation == Activation::relu
                                ? finish_whole<true>(p, row, column, sums)
                                : finish_whole<false>(p, row, column, sums);
        if (finite) return;
    }
    finish_any(p, row, column, sums);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
