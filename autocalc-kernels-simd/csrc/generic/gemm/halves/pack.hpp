// SPDX-License-Identifier: MIT
//
// Packing of 16-bit operands into *words* of 32 bits, which register tiles read as they
// read floats. What a word holds depends on the instruction set:
//
//     it multiplies pairs    two neighbours along k, the first in the lower half
//     it does not            one element, as a float
//
// Either way a step along k takes one word of a and one of b: the tiles are float32's.
#pragma once

#include "common/halves.hpp"
#include "common/lanes.hpp"
#include "gemm/pack.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t per_word = multiplies_pairs ? 2 : 1;

// ---- a register of words, of which the first are asked for; others are 0

// Along k: `n` elements, at most as many as a register's words hold.
template <class E>
AC_INLINE f32 words_along(const E* p, int64_t n) {
    if constexpr (multiplies_pairs) {
        if (n == 2 * f32::lanes) return load(reinterpret_cast<const float*>(p));
        E all[2 * f32::lanes] = {};
        for (int64_t i = 0; i < n; ++i) all[i] = p[i];
        return load(reinterpret_cast<const float*>(all));
    } else {
        return n == f32::lanes ? load_wide(p) : load_wide_first(p, n);
    }
}

// Across k: `n` words, each of the elements at p[i] and, `step` away, the next along k,
// if there is one.
template <class E>
AC_INLINE f32 words_across(const E* p, int64_t step, bool next, int64_t n) {
    if constexpr (multiplies_pairs) {
        const bool all = n == f32::lanes;
        const uint16_t* low = &p->bits;
        i32 words = all ? load_halves(low) : load_halves_first(low, n);
        if (next) {
            const uint16_t* high = low + step;
            words = words | shift_left<16>(all ? load_halves(high)
                                               : load_halves_first(high, n));
        }
        return floats(words);
    } else {
        return n == f32::lanes ? load_wide(p) : load_wide_first(p, n);
    }
}

// One word, of elements anywhere.
template <class E>
AC_INLINE void set_word(float* to, const E* p, int64_t step, bool next) {
    if constexpr (multiplies_pairs) {
        const uint32_t high = next ? p[step].bits : 0u;
        store_bits<uint32_t>(to, p->bits | high << 16);
    } else {
        *to = wide_of(*p);
    }
}

// Elements k0 to k1 of all, and how many words they are.
struct Depth {
    int64_t k0, k1;
    [[nodiscard]] AC_INLINE int64_t words() const {
        return ceil_div(k1 - k0, per_word);
    }
    [[nodiscard]] AC_INLINE int64_t at(int64_t word) const {
        return k0 + word * per_word;
    }
    [[nodiscard]] AC_INLINE bool has_next(int64_t word) const {
        return at(word) + 1 < k1;
    }
};

// ---- b: panels of [words][width]

// b runs along its rows.
template <class E>
AC_NOINLINE void pack_across(const Depth& depth, const Panels<float>& panels,
                             const E* b, int64_t b_row, float* out) {
    constexpr int64_t lanes = f32::lanes;
    const int64_t words = depth.words();
    for (int64_t i = 0; i < words; ++i) {
        const E* from = b + depth.at(i) * b_row;
        const bool next = depth.has_next(i);
        for (int64_t t = 0; t < panels.count; ++t) {
            const Panel panel = panels.at(t);
            float* to = out + panel.begin * words + i * panel.width;
            for (int64_t j = 0; j < panel.width; j += lanes) {
                const int64_t n = smaller(lanes, panel.columns - j);
                store(to + j, words_across(from + panel.begin + j, b_row, next, n));
            }
        }
    }
}

// Words of `rows` lines, at most a register's, that run along k, `line` apart, are
// transposed in squares: f(word, register, words) gets the words of all lines.
template <class E, class F>
AC_INLINE void transposed_squares(const Depth& depth, int64_t rows, const E* from,
                                  int64_t line, F f) {
    constexpr int lanes = f32::lanes;
    const int64_t words = depth.words();
    for (int64_t i = 0; i < words; i += lanes) {
        const int64_t left = smaller(lanes * per_word, depth.k1 - depth.at(i));
        f32 r[lanes];
        for (int j = 0; j < lanes; ++j)
            r[j] = j < rows ? words_along(from + j * line + depth.at(i), left)
                            : zero<float>();
        transpose(r);
        f(i, r, smaller<int64_t>(lanes, words - i));
    }
}

// b runs along its columns.
template <class E>
AC_NOINLINE void pack_along(const Depth& depth, const Panels<float>& panels, const E* b,
                            int64_t b_col, float* out) {
    constexpr int64_t lanes = f32::lanes;
    const int64_t words = depth.words();
    for (int64_t t = 0; t < panels.count; ++t) {
        const Panel panel = panels.at(t);
        for (int64_t j = 0; j < panel.width; j += lanes) {
            float* to = out + panel.begin * words + j;
            transposed_squares(depth, panel.columns - j, b + (panel.begin + j) * b_col,
                               b_col, [&](int64_t i, const f32* r, int64_t count) {
                                   for (int64_t w = 0; w < count; ++w)
                                       store(to + (i + w) * panel.width, r[w]);
                               });
        }
    }
}

template <class E>
AC_NOINLINE void pack_anyhow(const Depth& depth, const Panels<float>& panels,
                             const E* b, int64_t b_row, int64_t b_col, float* out) {
    const int64_t words = depth.words();
    for (int64_t t = 0; t < panels.count; ++t) {
        const Panel panel = panels.at(t);
        float* to = out + panel.begin * words;
        for (int64_t i = 0; i < words; ++i, to += panel.width) {
            const E* from = b + depth.at(i) * b_row + panel.begin * b_col;
            for (int64_t j = 0; j < panel.width; ++j) {
                to[j] = 0;
                if (j < panel.columns)
                    set_word(to + j, from + j * b_col, b_row, depth.has_next(i));
            }
        }
    }
}

template <class E>
void pack_right(const Depth& depth, const Panels<float>& panels, const E* b,
                int64_t b_row, int64_t b_col, float* out) {
    if (b_col == 1) {
        pack_across(depth, panels, b, b_row, out);
    } else if (b_row == 1) {
        pack_along(depth, panels, b, b_col, out);
    } else {
        pack_anyhow(depth, panels, b, b_row, b_col, out);
    }
}

// ---- a: rows of words, `stride` apart

// Whether tiles can read words of a where they are.
AC_INLINE bool reads_words(int64_t k, int64_t a_row, int64_t a_col) {
    return multiplies_pairs && a_col == 1 && k % per_word == 0 && a_row % per_word == 0;
}

// Lines of a run along its columns: squares of words across k become rows.
template <class E>
AC_NOINLINE void pack_left_across(const Depth& depth, int64_t rows, const E* a,
                                  int64_t a_col, float* out, int64_t stride) {
    constexpr int64_t lanes = f32::lanes;
    const int64_t words = depth.words();
    for (int64_t i = 0; i < words; i += lanes) {
        const int64_t count = smaller(lanes, words - i);
        for (int64_t j = 0; j < rows; j += lanes) {
            const int64_t n = smaller(lanes, rows - j);
            f32 r[lanes];
            for (int64_t w = 0; w < lanes; ++w)
                r[w] = w < count ? words_across(a + depth.at(i + w) * a_col + j, a_col,
                                                depth.has_next(i + w), n)
                                 : zero<float>();
            transpose(r);
            for (int64_t row = 0; row < n; ++row)
                store_last(out + (j + row) * stride + i, r[row], count);
        }
    }
}

template <class E>
AC_NOINLINE void pack_left(const Depth& depth, int64_t rows, const E* a, int64_t a_row,
                           int64_t a_col, float* out, int64_t stride) {
    constexpr int64_t lanes = f32::lanes;
    const int64_t words = depth.words();
    if (a_row == 1 && a_col != 1)
        return pack_left_across(depth, rows, a, a_col, out, stride);
    for (int64_t r = 0; r < rows; ++r) {
        const E* from = a + r * a_row;
        float* to = out + r * stride;
        if (a_col == 1) {
            for (int64_t i = 0; i < words; i += lanes) {
                const int64_t left = smaller(lanes * per_word, depth.k1 - depth.at(i));
                store_last(to + i, words_along(from + depth.at(i), left),
                           smaller(lanes, words - i));
            }
        } else {
            for (int64_t i = 0; i < words; ++i)
                set_word(to + i, from + depth.at(i) * a_col, a_col, depth.has_next(i));
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
