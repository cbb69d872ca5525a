// SPDX-License-Identifier: MIT
//
// What is done to all gradients at once: their norm in one call, and scaling in place.
#include "common/families.hpp"
#include "common/lists.hpp"
#include "reduce/range.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- grad_norm
struct Square {
    static constexpr bool has_parameter = true;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T> factor) {
        const vec<T> scaled = x * factor;
        return scaled * scaled;
    }
};

AC_INLINE double sum_of_squares(const double* p, int64_t n, double factor) {
    Cascade<double, SumOp> sums;
    reduce_run<double, SumOp, Square>(p, n, set1<double>(factor), sums);
    return SumOp::across(sums.total());
}

// Floats are squared and added as doubles: no square overflows or vanishes, and what
// thousands of additions lose does not reach the float.
AC_INLINE double sum_of_squares(const float* p, int64_t n, double) {
    f64 low = zero<double>(), high = low, low2 = low, high2 = low;
    const auto add = [&](f32 x, f64& a, f64& b) AC_INLINE_LAMBDA {
        const f64 l = low_double(x), h = high_double(x);
        a = fma(l, l, a);
        b = fma(h, h, b);
    };
    constexpr int64_t lanes = f32::lanes;
    int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        add(load(p + i), low, high);
        add(load(p + i + lanes), low2, high2);
    }
    for (; i < n; i += lanes) {
        add(load_first(p + i, smaller(lanes, n - i)), low, high);
    }
    return reduce_add((low + high) + (low2 + high2));
}

// Elements first to last of an array of any strides.
template <class T>
double squares_of_tile(const ac_array& array, int64_t first, int64_t last,
                       double factor) {
    const ac_array* arrays[1] = {&array};
    Nest nest;
    make_nest(nest, arrays, 1);
    if (nest.dense[0]) {
        return sum_of_squares(reinterpret_cast<const T*>(nest.data[0]) + first,
                              last - first, factor);
    }
    alignas(64) T buffer[tile];
    const int inner = nest.dims - 1;
    const int64_t stride = nest.stride[0][inner];
    Position at;
    start_at(nest, first, at);
    for (int64_t i = first; i < last;) {
        const int64_t row = smaller(last - i, nest.size[inner] - at.column);
        gather(reinterpret_cast<char*>(buffer + (i - first)),
               at.row[0] + at.column * stride, item_size<T>, stride, row);
        i += row;
        next_row(nest, at);
    }
    return sum_of_squares(buffer, last - first, factor);
}

template <class T>
void grad_norm_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_operand& grads = list(call, 1);
    const GroupSize size = size_of_group(grads);
    double* partial = static_cast<double*>(context->scratch(
        context, 0, static_cast<size_t>(size.tiles + 1) * sizeof(double)));
    if (partial == nullptr) return no_memory(status);
    const auto sum = [&](double factor) {
        partial[0] = 0;
        // 32 Ki floats take 4.8 us on one thread and 3.1 on two; 16 Ki 2.7 and 2.8.
        parallel(context, size.tiles, size.elements >= 4 * tile,
                 [&](int64_t begin, int64_t end) {
                     each_tile(grads, begin, end,
                               [&](int64_t i, int64_t t, int64_t first, int64_t last) {
                                   partial[t] = squares_of_tile<T>(grads.arrays[i],
                                                                   first, last, factor);
                               });
                 });
        combine_columns<double, SumOp>(partial, size.tiles, 1, 0, 1);
        return partial[0];
    };
    double square = sum(1), factor = 1;
    // Squares of floats are in the range of doubles.
    const double n = static_cast<double>(larger<int64_t>(size.elements, 1));
    if (sizeof(T) == 8 && !in_range(square / n)) {
        factor = factor_for(square / n);
        square = sum(factor);
    }
    *data<T>(operand(call, 0)) = T(__builtin_sqrt(square) / factor);
    done(status);
}

void grad_norm_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        grad_norm_floats<float>(call, context, status);
    } else {
        grad_norm_floats<double>(call, context, status);
    }
}

// ---- scale
template <class T>
void scale_run(void* const* operands, int64_t n, const void* parameters) {
    T* p = static_cast<T*>(operands[0]);
    const vec<T> factor = set1<T>(*static_cast<const T*>(parameters));
    each_vector<T>(
        n, [&](int64_t i, auto part) { part.put(p + i, part.get(p + i) * factor); });
}

template <class T>
void scale_floats(const ac_call* call, ac_context* context) {
    const T factor = scalar<T>(operand(call, 1));
    if (factor == T(1)) return;  // clipping asks for it whenever the norm is small
    const Group group = {{&list(call, 0)}, 1, 1};
    update(context, group, scale_run<T>, &factor);
}

void scale_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 1)->dtype == AC_FLOAT32) {
        scale_floats<float>(call, context);
    } else {
        scale_floats<double>(call, context);
    }
    done(status);
}

const ac_kernel_entry entries[] = {
    {"grad_norm", "norm ; grads*", grad_norm_kernel, nullptr, nullptr, 0.1,
     float_dtypes, nullptr},
    {"scale", "arrays* ; factor", scale_kernel, nullptr, nullptr, 0.1, float_dtypes,
     nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(grad_norm, entries);
}  // namespace autocalc::simd::AC_ISA
