// SPDX-License-Identifier: MIT
//
// rms_norm and layer_norm over the last axis, of an array or of the sum of two. A row
// is read from memory once: sums and results find it in the L1 cache. The variance is
// of the centered row, in a pass of its own. Where the row is far from zero, one more
// sums the deviations from the mean, which corrects it: nothing is lost. A row whose
// squares leave the range of its format is taken again, times a power of two.
#include "common/families.hpp"
#include "common/phase.hpp"
#include "norm/rows.hpp"
#include "reduce/axis.hpp"
#include "reduce/range.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct CenteredSquare {
    static constexpr bool has_parameter = true;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T> mean) {
        const vec<T> d = x - mean;
        return d * d;
    }
};

struct Deviation {
    static constexpr bool has_parameter = true;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T> mean) {
        return x - mean;
    }
};

template <class T, class Map>
AC_INLINE T sum_of_row(const T* x, int64_t n, T parameter) {
    if (n < 32 * vec<T>::lanes) {
        return SumOp::across(reduce_few<T, SumOp, Map>(x, n, set1<T>(parameter)));
    }
    Cascade<T, SumOp> sums;
    reduce_run<T, SumOp, Map>(x, n, set1<T>(parameter), sums);
    return SumOp::across(sums.total());
}

template <class T>
AC_INLINE T inverse_root(T square) {
    return T(1) / static_cast<T>(sizeof(T) == 4 ? __builtin_sqrtf(float(square))
                                                : __builtin_sqrt(double(square)));
}

// out = f(x, i, part) over a row.
template <class T, class F>
AC_INLINE void write_row(T* out, const T* x, int64_t n, F&& f) {
    const Line<T, false> line = {n, vec<T>::lanes, vec<T>::lanes};
    line.each(
        [&](int64_t i, auto part) { part.put(out + i, f(part.get(x + i), i, part)); });
}

// What a row is normalised by: (x - mean) * rstd + offset. `square` is the mean of the
// squares and eps, and `offset` what the mean has lost by rounding.
template <class T>
struct Statistics {
    T mean, offset, variance, square, rstd;
};

// The row times a power of two, made where the result goes, brings squares into range.
// Equal numbers far from zero stay as they are, as none brings them closer.
template <class T, class Norm>
AC_INLINE Statistics<T> scaled(const Norm& norm, T* out, const T* x,
                               const Statistics<T>& found) {
    T factor = factor_for(found.square);
    if (factor > T(1) && __builtin_fabs(found.mean) * factor > Range<T>::most)
        factor = T(1);
    write_row(out, x, norm.width,
              [&](vec<T> v, int64_t, auto) { return v * set1<T>(factor); });
    const T eps = scaled_eps(norm.eps, factor);
    Statistics<T> by = norm.corrected(out, norm.measure(out, eps), eps);
    if (sum_of_row<T, CenteredSquare>(out, norm.width, by.mean) == T(0))
        by.rstd = inverse_root(norm.eps) / factor;  // of equal numbers
    norm.template write<true>(out, out, by);
    by.mean /= factor;
    by.rstd *= factor;
    return by;
}

// A row far from zero, or whose squares leave the range of its format; out of line, so
// that others are as fast as without it; with their statistics handed over, layer_norm
// of rows of 384 takes 1.05 times as long.
template <class T, class Norm>
AC_NOINLINE void unusual_row(const Norm& norm, T* out, const T* x, T* mean, T* rstd) {
    Statistics<T> by = norm.corrected(x, norm.measure(x, norm.eps), norm.eps);
    if (in_range(by.square)) {
        norm.template write<true>(out, x, by);
    } else {
        by = scaled(norm, out, x, by);
    }
    norm.put(by, mean, rstd);
}

template <class T, class Norm, class Turns>
AC_INLINE void normalise_row(const Norm& norm, T* out, const T* x, T* mean, T* rstd,
                             Turns& turns) {
    const Statistics<T> by = norm.measure(x, norm.eps);
    turns.second();
    if (!norm.is_usual(by)) return unusual_row(norm, out, x, mean, rstd);
    norm.template write<false>(out, x, by);
    norm.put(by, mean, rstd);
}

// ---- rms_norm
template <class T>
struct RmsNorm {
    static constexpr int statistics = 1, vectors = 1;
    const T* vector[vectors];  // weight: contiguous, or null
    T eps;
    int64_t width;

    [[nodiscard]] AC_INLINE Statistics<T> measure(const T* x, T plus) const {
        const T mean = sum_of_row<T, CenteredSquare>(x, width, T(0)) / T(width);
        return {T(0), T(0), mean, mean + plus, inverse_root(mean + plus)};
    }
    [[nodiscard]] AC_INLINE bool is_usual(const Statistics<T>& by) const {
        return in_range(by.square);
    }
    [[nodiscard]] AC_INLINE Statistics<T> corrected(const T*, const Statistics<T>& by,
                                                    T) const {
        return by;
    }
    template <bool far>
    AC_INLINE void write(T* out, const T* x, const Statistics<T>& by) const {
        const T* weight = vector[0];
        const vec<T> scale = set1<T>(by.rstd);
        if (weight == nullptr) {
            write_row(out, x, width,
                      [&](vec<T> v, int64_t, auto) { return v * scale; });
        } else {
            write_row(out, x, width, [&](vec<T> v, int64_t i, auto part) {
                return (v * scale) * part.get(weight + i);
            });
        }
    }
    AC_INLINE void put(const Statistics<T>& by, T*, T* rstd) const {
        if (rstd != nullptr) *rstd = by.rstd;
    }
    template <class Turns>
    AC_INLINE void operator()(const Row<T>& row, Turns& turns) const {
        T* none = nullptr;
        normalise_row(*this, row.wide[0], row.wide[1], none, row.narrow[0], turns);
    }
};

// ---- layer_norm
template <class T>
struct LayerNorm {
    static constexpr int statistics = 2, vectors = 2;
    const T* vector[vectors];  // weight and bias: contiguous, or null
    T eps;
    int64_t width;

    [[nodiscard]] AC_INLINE Statistics<T> measure(const T* x, T plus) const {
        const T mean = sum_of_row<T, Plain>(x, width, T(0)) / T(width);
        const T variance = sum_of_row<T, CenteredSquare>(x, width, mean) / T(width);
        return {mean, T(0), variance, variance + plus, inverse_root(variance + plus)};
    }
    // The error of a mean is too small to show next to deviations of its size.
    [[nodiscard]] AC_INLINE bool is_usual(const Statistics<T>& by) const {
        return in_range(by.square) && by.mean * by.mean <= T(16) * by.variance;
    }
    // The mean of the deviations corrects the mean that they are from, and the
    // variance.
    [[nodiscard]] AC_INLINE Statistics<T> corrected(const T* x, const Statistics<T>& by,
                                                    T plus) const {
        const T shift = sum_of_row<T, Deviation>(x, width, by.mean) / T(width);
        const T mean = shift == shift ? by.mean + shift : by.mean;  // may be infinite
        const T variance = larger(by.variance - shift * shift, T(0));
        const T rstd = inverse_root(variance + plus);
        const T rest = (by.mean - mean) + shift;
        return {mean, -rest * rstd, variance, variance + plus, rstd};
    }
    template <bool far>
    AC_INLINE void write(T* out, const T* x, const Statistics<T>& by) const {
        const T *weight = vector[0], *bias = vector[1];
        const vec<T> middle = set1<T>(by.mean), scale = set1<T>(by.rstd);
        const vec<T> offset = set1<T>(by.offset);
        const auto unit = [&](vec<T> v) {
            return far ? fma(v - middle, scale, offset) : (v - middle) * scale;
        };
        if (weight == nullptr && bias == nullptr) {
            write_row(out, x, width, [&](vec<T> v, int64_t, auto) { return unit(v); });
        } else if (bias == nullptr) {
            write_row(out, x, width, [&](vec<T> v, int64_t i, auto part) {
                return unit(v) * part.get(weight + i);
            });
        } else if (weight == nullptr) {
            write_row(out, x, width, [&](vec<T> v, int64_t i, auto part) {
                return unit(v) + part.get(bias + i);
            });
        } else {
            write_row(out, x, width, [&](vec<T> v, int64_t i, auto part) {
                return fma(unit(v), part.get(weight + i), part.get(bias + i));
            });
        }
    }
    AC_INLINE void put(const Statistics<T>& by, T* mean, T* rstd) const {
        if (mean != nullptr) *mean = by.mean;
        if (rstd != nullptr) *rstd = by.rstd;
    }
    template <class Turns>
    AC_INLINE void operator()(const Row<T>& row, Turns& turns) const {
        normalise_row(*this, row.wide[0], row.wide[1], row.narrow[0], row.narrow[1],
                      turns);
    }
};

// x = a + b, and the norm of x: rows x, out, a, b.
template <class T, class Norm>
struct Added {
    Norm norm;

    template <class Turns>
    AC_INLINE void operator()(const Row<T>& row, Turns& turns) const {
        T *x = row.wide[0], *b = row.wide[3];
        write_row(x, row.wide[2], norm.width,
                  [&](vec<T> v, int64_t i, auto part) { return v + part.get(b + i); });
        norm(Row<T>{{row.wide[1], x}, {row.narrow[0], row.narrow[1]}}, turns);
    }
};

template <class T, int wides, int narrows, class Norm>
void normalise(ac_context* context, ac_status* status, const RowArrays& arrays,
               const Norm& norm) {
    done(status);
    const RowWalk<T> walk(arrays);
    const int64_t rows = walk.nest.total, width = larger<int64_t>(walk.width, 1);
    // 16 Ki floats in rows of 128: layer_norm takes 8.3 us on one thread, 6.9 on two;
    // 8 Ki 4.3 and 6.2.
    const bool finished = try_parallel_range(
        context, rows, ceil_div(2048, width), rows * width >= 16384,
        [&](int64_t begin, int64_t end) {
            const auto rows_in = [&](auto& turns) {
                return walk.template each<wides, narrows>(context, 2, begin, end,
                                                          [&](const Row<T>& row) {
                                                              turns.first();
                                                              norm(row, turns);
                                                              turns.end();
                                                          });
            };
            return in_turns(context, AC_PHASE_STATISTICS, AC_PHASE_NORMALISE, rows_in);
        });
    if (!finished) no_memory(status);
}

// Operands: out, statistics; x, vectors. With `added` x is an output before out, and a
// and b stand for it.
template <class T, class Norm, bool added>
void norm_floats(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr int narrows = Norm::statistics, first = added ? 1 : 0;
    constexpr int inputs = first + 1 + narrows, vectors = inputs + 1 + first;
    const ac_array *out = operand(call, first), *x = operand(call, inputs);
    RowArrays arrays = {{out, x}, 2, 1, 1, {}, narrows};
    if (added) {
        arrays = {{operand(call, 0), out, x, operand(call, inputs + 1)},
                  4,
                  2,
                  2,
                  {},
                  narrows};
    }
    for (int k = 0; k < narrows; ++k) arrays.narrow[k] = operand(call, first + 1 + k);
    Norm norm = {};
    norm.eps = T(float_attribute(call, 0));
    norm.width = x->shape[x->ndim - 1];
    for (int k = 0; k < Norm::vectors; ++k) {
        if (!contiguous_vector<T>(context, k, operand(call, vectors + k),
                                  norm.vector[k])) {
            return no_memory(status);
        }
    }
    if constexpr (added) {
        normalise<T, 4, narrows>(context, status, arrays, Added<T, Norm>{norm});
    } else {
        normalise<T, 2, narrows>(context, status, arrays, norm);
    }
}

template <template <class> class Norm, bool added>
void norm_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT64) {
        norm_floats<double, Norm<double>, added>(call, context, status);
    } else {
        norm_floats<float, Norm<float>, added>(call, context, status);
    }
}

template <template <class> class Norm, bool added>
const char* supports(const ac_call* call) {
    constexpr int first = added ? 2 : 1;
    return refusal_of_rows(call, first, first + Norm<float>::statistics);
}

const ac_kernel_entry entries[] = {
    {"rms_norm", "out rstd? ; x weight? ; eps:float", norm_kernel<RmsNorm, false>,
     supports<RmsNorm, false>, nullptr, 0.3, floating_dtypes, nullptr},
    {"layer_norm", "out mean? rstd? ; x weight? bias? ; eps:float",
     norm_kernel<LayerNorm, false>, supports<LayerNorm, false>, nullptr, 0.4,
     floating_dtypes, nullptr},
    {"add_rms_norm", "x out rstd? ; a b weight? ; eps:float",
     norm_kernel<RmsNorm, true>, supports<RmsNorm, true>, nullptr, 0.3, floating_dtypes,
     nullptr},
    {"add_layer_norm", "x out mean? rstd? ; a b weight? bias? ; eps:float",
     norm_kernel<LayerNorm, true>, supports<LayerNorm, true>, nullptr, 0.4,
     floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(row_norms, entries);
}  // namespace autocalc::simd::AC_ISA
