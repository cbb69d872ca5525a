// SPDX-License-Identifier: MIT
//
// What attention and its backward kernel share: the operands head by head, which keys
// a query sees, and rows of masks and of dropout.
#pragma once

#include "attention/heads.hpp"
#include "common/arena.hpp"
#include "common/call.hpp"
#include "common/lanes.hpp"
#include "elementwise/loops.hpp"
#include "elementwise/vector_math.hpp"
#include "gemm/halves/pack.hpp"
#include "gemm/packed_b.hpp"
#include "random/philox.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Causal { none, upper_left, lower_right };

// Operands are of type E, sums of type T: float where E has 16 bits. Products read
// words: one element each, or pairs of neighbours along the sum (gemm/halves/pack.hpp).
template <class T, class E>
constexpr int64_t word_elements = 1;
template <>
constexpr int64_t word_elements<float, BFloat16> = per_word;

template <class T, class E>
AC_INLINE int64_t words_of(int64_t elements) {
    return ceil_div(elements, word_elements<T, E>);
}

AC_INLINE f32 load_last(const BFloat16* p, int64_t n) {
    return n == f32::lanes ? load_wide(p) : load_wide_first(p, n);
}
AC_INLINE void store_last(BFloat16* p, f32 x, int64_t n) {
    if (n == f32::lanes) return store_narrow(p, x);
    store_narrow_first(p, x, n);
}

// Rows as the right operand of a product, whose sums run down their columns.
AC_INLINE void pack_as_rows(const BFloat16* rows, int64_t step, int64_t depth,
                            int64_t columns, float* out) {
    if (columns == 0 || depth == 0) return;
    pack_across({0, depth}, Panels<float>(columns, tile_vectors), rows, step, out);
}
// The transpose of rows, whose sums run along them.
AC_INLINE void pack_as_columns(const BFloat16* rows, int64_t step, int64_t depth,
                               int64_t columns, float* out) {
    if (columns == 0 || depth == 0) return;
    pack_along({0, depth}, Panels<float>(columns, tile_vectors), rows, step, out);
}

// `rows` rows of numbers become half as many rows of words: pairs along the sum. Those
// of floats stay as they are.
template <class T, class E>
AC_INLINE void pair_rows(T* numbers, int64_t step, int64_t rows, int64_t width) {
    if constexpr (word_elements<T, E> == 2) {
        for (int64_t i = 0; i < rows; i += 2) {
            const T *low = numbers + i * step, *high = low + step;
            T* to = numbers + i / 2 * step;
            for (int64_t j = 0; j < width; j += vec<T>::lanes) {
                i32 word = narrow_to<E>(load(low + j));
                if (i + 1 < rows)
                    word = word | shift_left<16>(narrow_to<E>(load(high + j)));
                store(to + j, floats(word));
            }
        }
    }
}

// `step` elements from one row to the next, whose elements are neighbours.
template <class T>
struct RowsAt {
    const T* data;
    int64_t step;
};

// Rows s to s + count of a head; copied to `room` if their elements are apart.
template <class E, class T>
AC_INLINE RowsAt<E> rows_of(const Heads<E>& x, int64_t b, int64_t s, int64_t h,
                            int64_t count, int64_t width, T* memory) {
    E* room = reinterpret_cast<E*>(memory);
    if (x.column == 1) return {x.at(b, s, h), x.row};
    for (int64_t i = 0; i < count; ++i) {
        gather(reinterpret_cast<char*>(room + i * width),
               reinterpret_cast<const char*>(x.at(b, s + i, h)), item_size<E>,
               bytes_of<E>(x.column), width);
    }
    return {room, width};
}

// Rows as a left operand, of words; `step` numbers from one to the next.
template <class E, class T>
AC_INLINE void copy_left(const RowsAt<E>& rows, int64_t count, int64_t width, T* to,
                         int64_t step) {
    if constexpr (word_elements<T, E> == 1) {
        const Panels<T> one_panel(width, step / vec<T>::lanes);
        pack_rows<T>(count, one_panel, 0, rows.data, rows.step, to);
    } else {
        pack_left({0, width}, count, rows.data, rows.step, 1, to, step);
    }
}

struct Dims {
    int64_t batch, queries, keys, heads, groups;
    int64_t features, values;  // of queries and keys, of values
    [[nodiscard]] AC_INLINE int64_t heads_of_group() const { return heads / groups; }
    [[nodiscard]] AC_INLINE double work() const {
        return double(batch) * double(heads) * double(queries) * double(keys) *
               double(features + values);
    }
};
AC_INLINE Dims dims_of(const ac_array* q, const ac_array* k, const ac_array* v) {
    return {q->shape[0], q->shape[1], k->shape[1], q->shape[2],
            k->shape[2], q->shape[3], v->shape[3]};
}

// What hides keys and drops weights.
struct Filter {
    const ac_array* mask;  // or null
    int64_t mask_step[4];  // in bytes, 0 where it repeats
    bool causal;
    int64_t shift;  // a query sees the keys up to its own number plus this
    int64_t keys;
    bool drops;
    uint64_t seed, offset;
    uint32_t threshold;
    double kept;  // what weights that stay are multiplied by

    // How many keys query q sees, mask apart.
    [[nodiscard]] AC_INLINE int64_t visible(int64_t q) const {
        if (!causal) return keys;
        return smaller(larger<int64_t>(q + shift + 1, 0), keys);
    }
    // The first of the queries that see key k; none before it does.
    [[nodiscard]] AC_INLINE int64_t first_query(int64_t k) const {
        return causal ? larger<int64_t>(k - shift, 0) : 0;
    }
};

inline Filter filter_of(const ac_call* call, int mask_at, const Dims& dims) {
    Filter f = {};
    f.mask = operand(call, mask_at);
    for (int d = 0; f.mask != nullptr && d < 4; ++d) {
        f.mask_step[d] = f.mask->shape[d] == 1 ? 0 : f.mask->strides[d];
    }
    const auto causal = static_cast<Causal>(int_attribute(call, 1));
    f.causal = causal != Causal::none;
    f.shift = causal == Causal::lower_right ? dims.keys - dims.queries : 0;
    f.keys = dims.keys;
    const double p = float_attribute(call, 2);
    f.drops = p != 0;
    if (f.drops) {
        f.seed = static_cast<uint64_t>(scalar<int64_t>(operand(call, mask_at + 1)));
        f.offset = static_cast<uint64_t>(scalar<int64_t>(operand(call, mask_at + 2)));
        f.threshold = static_cast<uint32_t>(__builtin_ceil(p * 16777216.0));
        f.kept = p < 1 ? 1 / (1 - p) : 0;
    }
    return f;
}

// The keys k0 to k0 + n of one query.
struct KeyRun {
    int64_t b, h, q, k0, n;
};

// What the mask adds to scores: numbers, or for booleans 0 and -inf.
template <class T>
AC_NOINLINE void mask_row(const Filter& f, const KeyRun& run, T* out) {
    constexpr int64_t lanes = vec<T>::lanes;
    const int64_t step = f.mask_step[3];
    const char* from = data<char>(f.mask) + run.b * f.mask_step[0] +
                       run.h * f.mask_step[1] + run.q * f.mask_step[2] + run.k0 * step;
    if (is_half(f.mask->dtype)) {
        for (int64_t i = 0; i < run.n; ++i) {
            const auto* bits = reinterpret_cast<const BFloat16*>(from + i * step);
            out[i] = f.mask->dtype == AC_BFLOAT16 ? T(wide_of(*bits))
                                                  : T(wide_of(Float16{bits->bits}));
        }
        return;
    }
    if (f.mask->dtype != AC_BOOL) {
        gather(reinterpret_cast<char*>(out), from, item_size<T>, step, run.n);
        return;
    }
    const auto* chosen = reinterpret_cast<const uint8_t*>(from);
    const T never = -limits<T>::infinity;
    if (step != 1) {
        for (int64_t i = 0; i < run.n; ++i) out[i] = chosen[i * step] ? T(0) : never;
        return;
    }
    for (int64_t i = 0; i < run.n; i += lanes) {
        const int64_t n = smaller(lanes, run.n - i);
        const mask<T> m =
            n == lanes ? load_bools<T>(chosen + i) : load_bools_first<T>(chosen + i, n);
        store_first(out + i, select(m, zero<T>(), set1<T>(never)), n);
    }
}

// Scores plus what the mask adds; where that is -inf, whatever the score was.
template <class T>
AC_INLINE vec<T> masked(vec<T> score, vec<T> added) {
    const vec<T> never = set1<T>(-limits<T>::infinity);
    return select(eq(added, never), never, score + added);
}

constexpr int64_t dropout_keys = 512;  // at most, in a KeyRun

// What dropout multiplies weights by: 0, or what makes up for those.
template <class T>
AC_NOINLINE void dropout_row(const Filter& f, const Dims& dims, const KeyRun& run,
                             T* out) {
    uint32_t room[philox_room(dropout_keys)];
    const int64_t row = (run.b * dims.heads + run.h) * dims.queries + run.q;
    const uint64_t start = f.offset + static_cast<uint64_t>(row * dims.keys + run.k0);
    const uint32_t* words = philox(f.seed, start, run.n, room);
    const T kept = T(f.kept);
    for (int64_t i = 0; i < run.n; ++i)
        out[i] = words[i] >> 8 >= f.threshold ? kept : T(0);
}

// Queries or keys in blocks of at most `most`, and of whole registers but for the last.
template <class T>
struct Blocks {
    int64_t total, count;
    Cuts cuts;
    AC_INLINE Blocks(int64_t total_, int64_t most)
        : total(total_),
          count(larger<int64_t>(1, ceil_div(total_, most))),
          cuts(ceil_div(total_, vec<T>::lanes), count) {}
    [[nodiscard]] AC_INLINE int64_t begin(int64_t i) const {
        return smaller(total, cuts.at(i) * vec<T>::lanes);
    }
    [[nodiscard]] AC_INLINE int64_t size(int64_t i) const {
        return begin(i + 1) - begin(i);
    }
    // Room for any of them.
    [[nodiscard]] AC_INLINE int64_t largest() const {
        return cuts.size(0) * vec<T>::lanes;
    }
};

// From one row of scores to the next: one line more than the rows have, so that the
// lines of a column do not fall into a few sets of L1.
template <class T>
AC_INLINE constexpr int64_t score_step(int64_t width) {
    return width + 64 / item_size<T>;
}

// The i-th of n things whose cost falls or rises steadily, in an order of which any run
// costs about its share: first, last, second, last but one.
AC_INLINE int64_t balanced(int64_t i, int64_t n) {
    return i % 2 == 0 ? i / 2 : n - 1 - i / 2;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
