// SPDX-License-Identifier: MIT
//
// Backward kernels of rms_norm and layer_norm. With h the normalised row, gw = g
// weight:
//
//     dx = rstd (gw - mean(gw) - h mean(gw h))     (rms_norm: without mean(gw))
//     dweight = sum of g h over the rows, dbias = sum of g
//
// One pass over a row makes both means and adds to dweight and dbias, the second, which
// finds it in the L1 cache, writes dx. Rows are cut into tiles by the shape alone; each
// tile adds into columns of its own, and tiles are combined in pairs.
#include "common/families.hpp"
#include "common/phase.hpp"
#include "norm/rows.hpp"
#include "reduce/axis.hpp"
#include "reduce/range.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Norm { rms, layer };

template <class T>
struct Gradients {
    const T* weight;  // contiguous, or null
    int64_t width;
    bool want_dx, add_to_dx;
    T *dweight, *dbias;  // a tile's columns, or null
};

// The row is h = (unit x - mean) rstd, with unit a power of two.
template <class T>
struct Unit {
    T unit, mean, rstd;
};

// What brings a row into the range. An infinite rstd, of numbers whose inverse
// overflows, is made again.
template <class T, Norm norm>
AC_NOINLINE Unit<T> unit_of(const T* x, int64_t n, T mean, T rstd) {
    constexpr T up = Range<T>::up;
    const T unit = rstd > T(1) ? up : 1 / up;
    mean *= unit;
    if (__builtin_isfinite(rstd) || rstd != rstd) return {unit, mean, rstd / unit};
    Cascade<T, SumOp> squares;
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> d = part.only(part.get(x + i) * set1<T>(unit) - set1<T>(mean));
        squares.push(d * d);
    });
    const T square = n > 0 ? SumOp::across(squares.total()) / T(n) : T(0);
    return {unit, mean, T(1) / T(__builtin_sqrt(square))};
}

// Row operands: wide dx (g stands for it where it is not wanted), g, x; narrow mean,
// rstd. With `scaled`, x is multiplied by `by.unit`.
template <class T, Norm norm, bool has_weight, bool scaled, class Turns>
AC_INLINE void row_backward(const Gradients<T>& s, const Row<T>& row, const Unit<T>& by,
                            Turns& turns) {
    constexpr bool is_layer = norm == Norm::layer;
    const T *g = row.wide[1], *x = row.wide[2];
    const Line<T, false> line = {s.width, vec<T>::lanes, vec<T>::lanes};
    const vec<T> rstd = set1<T>(by.rstd), unit = set1<T>(by.unit);
    const vec<T> middle = set1<T>(by.mean);
    const auto normal = [&](int64_t i, auto part) {
        const vec<T> x_i = part.get(x + i), v = scaled ? x_i * unit : x_i;
        return (is_layer ? v - middle : v) * rstd;
    };
    const auto weighted = [&](int64_t i, auto part) {
        const vec<T> v = part.get(g + i);
        return has_weight ? v * part.get(s.weight + i) : v;
    };
    Cascade<T, SumOp> sums, products;
    vec<T> sum = zero<T>(), product = zero<T>();
    int64_t in_group = 0;
    line.each([&](int64_t i, auto part) {
        const vec<T> h = normal(i, part), gw = weighted(i, part);
        sum = sum + gw;  // what is beyond the row reads 0 in g
        product = product + part.only(gw * h, zero<T>());
        if (s.dweight != nullptr) {
            part.put(s.dweight + i, fma(part.get(g + i), h, part.get(s.dweight + i)));
        }
        if (s.dbias != nullptr) {
            part.put(s.dbias + i, part.get(s.dbias + i) + part.get(g + i));
        }
        if (++in_group == 8) {
            sums.push(sum);
            products.push(product);
            sum = product = zero<T>();
            in_group = 0;
        }
    });
    turns.second();
    if (!s.want_dx) return;
    sums.push(sum);
    products.push(product);
    const vec<T> along = set1<T>(SumOp::across(products.total()) / T(s.width));
    const vec<T> level =
        set1<T>(is_layer ? SumOp::across(sums.total()) / T(s.width) : T(0));
    line.each([&](int64_t i, auto part) {
        const vec<T> gw = weighted(i, part);
        const vec<T> rest = is_layer ? gw - level : gw;
        vec<T> dx = rstd * fnma(normal(i, part), along, rest);
        if (scaled) dx = dx * unit;
        part.put(row.wide[0] + i, s.add_to_dx ? part.get(row.wide[0] + i) + dx : dx);
    });
}

template <class T, Norm norm, bool has_weight, class Turns>
AC_NOINLINE void scaled_row_backward(const Gradients<T>& s, const Row<T>& row,
                                     const Unit<T>& given, Turns& turns) {
    const Unit<T> by = unit_of<T, norm>(row.wide[2], s.width, given.mean, given.rstd);
    row_backward<T, norm, has_weight, true>(s, row, by, turns);
}

template <class T, Norm norm, bool has_weight, class Turns>
AC_INLINE void any_row_backward(const Gradients<T>& s, const Row<T>& row,
                                Turns& turns) {
    const T mean = norm == Norm::layer ? *row.narrow[0] : T(0), rstd = *row.narrow[1];
    const Unit<T> by = {T(1), mean, rstd};
    if (in_range(rstd * rstd)) {
        row_backward<T, norm, has_weight, false>(s, row, by, turns);
    } else {
        scaled_row_backward<T, norm, has_weight>(s, row, by, turns);
    }
}

// Outputs' operands: dweight and dbias (null where absent), and whether they are added
// into.
template <class T>
struct Columns {
    const ac_array* out;
    bool accumulate;
    T* partial;  // [tiles][width]
};

template <class T>
bool make_columns(ac_context* context, int slot, const ac_array* out, bool accumulate,
                  int64_t elements, Columns<T>& columns) {
    columns = {out, accumulate, nullptr};
    if (out == nullptr) return true;
    columns.partial = static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(elements + 1) * sizeof(T)));
    return columns.partial != nullptr;
}

template <class T>
void finish_columns(const Columns<T>& columns, int64_t tiles, int64_t width,
                    int64_t begin, int64_t end) {
    if (columns.out == nullptr) return;
    T* sums = columns.partial;
    combine_columns<T, SumOp>(sums, tiles, width, begin, end);
    const int64_t stride = columns.out->strides[0];
    for (int64_t i = begin; i < end; ++i) {
        char* to = data<char>(columns.out) + i * stride;
        const int dtype = columns.out->dtype;
        const T value = tiles > 0 ? sums[i] : T(0);
        set_element(to, dtype,
                    columns.accumulate ? element_of<T>(to, dtype) + value : value);
    }
}

// Rows of a tile: the additions into a column are at most 256, and for rows of some
// length 32, so that the columns are a sixteenth of the arrays they are made of.
AC_INLINE int64_t rows_of_tile(int64_t width) {
    const int64_t short_rows = ceil_div(4096, larger<int64_t>(width, 1));
    return larger<int64_t>(32, smaller<int64_t>(256, short_rows));
}

template <class T, Norm norm>
void norm_backward(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr bool is_layer = norm == Norm::layer;
    constexpr int outputs = is_layer ? 3 : 2;
    const ac_array *dx = operand(call, 0), *g = operand(call, outputs);
    const ac_array* x = operand(call, outputs + 1);
    const ac_array* mean = is_layer ? operand(call, outputs + 2) : nullptr;
    const ac_array* rstd = operand(call, outputs + (is_layer ? 3 : 2));
    const ac_array* weight = operand(call, outputs + (is_layer ? 4 : 3));
    const int64_t accumulate = int_attribute(call, 0);
    done(status);
    const bool want_dx = dx != nullptr, add_to_dx = want_dx && (accumulate & 1) != 0;
    const int written = want_dx ? 1 : 0;
    const RowArrays arrays = {
        {want_dx ? dx : g, g, x}, 3, written, add_to_dx ? 0 : written, {mean, rstd}, 2};
    const RowWalk<T> walk(arrays);
    const int64_t rows = walk.width == 0 ? 0 : walk.nest.total, width = walk.width;
    const int64_t height = rows_of_tile(width), tiles = ceil_div(rows, height);
    const int64_t elements = tiles * width;
    const T* weights = nullptr;
    Columns<T> dweight, dbias;
    if (!contiguous_vector<T>(context, 0, weight, weights) ||
        !make_columns(context, 1, operand(call, 1), (accumulate & 2) != 0, elements,
                      dweight) ||
        !make_columns(context, 3, is_layer ? operand(call, 2) : nullptr,
                      (accumulate & 4) != 0, elements, dbias)) {
        return no_memory(status);
    }
    const auto run_tile = [&](int64_t t, auto& turns) {
        Gradients<T> s = {weights, width, want_dx, add_to_dx, nullptr, nullptr};
        const size_t bytes = static_cast<size_t>(width) * sizeof(T);
        if (dweight.partial != nullptr) {
            s.dweight = dweight.partial + t * width;
            memset(s.dweight, 0, bytes);
        }
        if (dbias.partial != nullptr) {
            s.dbias = dbias.partial + t * width;
            memset(s.dbias, 0, bytes);
        }
        return walk.template each<3, 2>(
            context, 2, t * height, smaller((t + 1) * height, rows),
            [&](const Row<T>& row) {
                turns.first();
                if (s.weight != nullptr) {
                    any_row_backward<T, norm, true>(s, row, turns);
                } else {
                    any_row_backward<T, norm, false>(s, row, turns);
                }
                turns.end();
            });
    };
    const bool finished = try_parallel(
        context, tiles, rows * width >= 16384, [&](int64_t begin, int64_t end) {
            const auto tiles_in = [&](auto& turns) {
                bool whole = true;
                for (int64_t t = begin; t < end && whole; ++t)
                    whole = run_tile(t, turns);
                return whole;
            };
            return in_turns(context, AC_PHASE_STATISTICS, AC_PHASE_NORMALISE, tiles_in);
        });
    if (!finished) return no_memory(status);
    for_columns(context, tiles, width, [&](int64_t begin, int64_t end) {
        finish_columns(dweight, tiles, width, begin, end);
        finish_columns(dbias, tiles, width, begin, end);
    });
}

template <Norm norm>
void norm_backward_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, norm == Norm::layer ? 3 : 2)->dtype == AC_FLOAT64) {
        norm_backward<double, norm>(call, context, status);
    } else {
        norm_backward<float, norm>(call, context, status);
    }
}

template <Norm norm>
const char* supports(const ac_call* call) {
    constexpr int first = norm == Norm::layer ? 5 : 4;
    return refusal_of_rows(call, first, norm == Norm::layer ? 7 : 5);
}

const ac_kernel_entry entries[] = {
    {"layer_norm_backward",
     "dx? dweight? dbias? ; g x mean rstd weight? ; accumulate:int",
     norm_backward_kernel<Norm::layer>, supports<Norm::layer>, nullptr, 0.6,
     floating_dtypes, nullptr},
    {"rms_norm_backward", "dx? dweight? ; g x rstd weight? ; accumulate:int",
     norm_backward_kernel<Norm::rms>, supports<Norm::rms>, nullptr, 0.5,
     floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(row_norms_backward, entries);
}  // namespace autocalc::simd::AC_ISA
