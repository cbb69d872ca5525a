// SPDX-License-Identifier: MIT
//
// sum, prod, mean, max, min and logsumexp over any axes; argmax along one.
#include "common/families.hpp"
#include "elementwise/vector_math.hpp"
#include "reduce/long_products.hpp"
#include "reduce/reduce.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct ShiftedExp {
    static constexpr bool has_parameter = true;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T> top) {
        return exp_negative(x - top);
    }
};

AC_INLINE void plan_call(ReducePlan& plan, const ac_array& a, const ac_call* call) {
    const auto& axes = call->attributes[0].v.list;
    plan_reduction(plan, a, axes.values, axes.count);
}

// ---- floats: one operation, then perhaps a division
template <class Op>
constexpr bool is_product = false;
template <>
constexpr bool is_product<ProductOp> = true;

template <class T, class Op, bool mean>
void reduce_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, 0);
    ReducePlan plan;
    plan_call(plan, *operand(call, 1), call);
    T* values = results_of<T>(context, out, plan.outputs, 1);
    if (values == nullptr && plan.outputs > 0) return no_memory(status);
    if (is_product<Op> && plan.reduced.total > many_factors) {
        long_products<T>(context, plan, values);
    } else if (!reduce_values<T, Op, Plain>(context, plan, nullptr, values, false)) {
        return no_memory(status);
    }
    if constexpr (mean) {
        const T n = T(plan.reduced.total);
        for (int64_t o = 0; o < plan.outputs; ++o) values[o] /= n;
    }
    store_results(values, *out);
    done(status);
}

template <class T>
void logsumexp_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, 0);
    ReducePlan plan;
    plan_call(plan, *operand(call, 1), call);
    constexpr T infinity = limits<T>::infinity;
    T* values = results_of<T>(context, out, plan.outputs, 1);
    T* maxima = results_of<T>(context, nullptr, plan.outputs, 2);
    if (plan.outputs > 0 && (!values || !maxima)) return no_memory(status);
    if (!reduce_values<T, MaxOp, Plain>(context, plan, nullptr, maxima, false) ||
        !reduce_values<T, SumOp, ShiftedExp>(context, plan, maxima, values, true)) {
        return no_memory(status);
    }
    for (int64_t o = 0; o < plan.outputs; ++o) {
        const T top = maxima[o];  // an infinite one is the result
        T lanes[vec<T>::lanes];
        store(lanes, log(set1<T>(values[o])));
        values[o] = top == infinity || top == -infinity ? top : lanes[0] + top;
    }
    store_results(values, *out);
    done(status);
}

// ---- integers and booleans
//
// Plain loops over runs, one output after another.
template <class From, class To, class Op>
AC_INLINE To reduce_ints(const Nest& nest, To identity) {
    const int inner = nest.dims - 1;
    const int64_t n = nest.size[inner], stride = nest.stride[0][inner];
    To result = identity;
    if (nest.total == 0) return result;
    Position at;
    start_at(nest, 0, at);
    for (int64_t left = nest.total;;) {
        const char* p = at.row[0];
        if (stride == item_size<From>) {
            const From* row = reinterpret_cast<const From*>(p);
            for (int64_t i = 0; i < n; ++i) result = Op::apply(result, To(row[i]));
        } else {
            for (int64_t i = 0; i < n; ++i) {
                result = Op::apply(result,
                                   To(*reinterpret_cast<const From*>(p + i * stride)));
            }
        }
        left -= n;
        if (left == 0) return result;
        next_row(nest, at);
    }
}

struct IntSum {
    static AC_INLINE int64_t apply(int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) +
                                    static_cast<uint64_t>(b));
    }
};
struct IntProduct {
    static AC_INLINE int64_t apply(int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) *
                                    static_cast<uint64_t>(b));
    }
};
struct IntMax {
    template <class T>
    static AC_INLINE T apply(T a, T b) {
        return larger(a, b);
    }
};
struct IntMin {
    template <class T>
    static AC_INLINE T apply(T a, T b) {
        return smaller(a, b);
    }
};

// Extrema start from the first element, so they need no smallest number of a type.
template <class From, class To, class Op>
void reduce_int_values(const ac_call* call, ac_context* context, ac_status* status,
                       bool from_first, To otherwise = 0) {
    const ac_array* out = operand(call, 0);
    ReducePlan plan;
    plan_call(plan, *operand(call, 1), call);
    done(status);
    if (plan.outputs == 0) return;
    To* values = results_of<To>(context, out, plan.outputs, 1);
    if (values == nullptr) return no_memory(status);
    const int64_t bundle = ceil_div(4096, larger<int64_t>(plan.reduced.total, 1));
    parallel_range(
        context, plan.outputs, bundle, plan.outputs * plan.reduced.total >= 16384,
        [&](int64_t begin, int64_t end) {
            Nest nest = plan.reduced;
            for (int64_t o = begin; o < end; ++o) {
                nest.data[0] = plan.reduced.data[0] + kept_offset(plan, o);
                const To start = from_first && nest.total > 0
                                     ? To(*reinterpret_cast<const From*>(nest.data[0]))
                                     : otherwise;
                values[o] = reduce_ints<From, To, Op>(nest, start);
            }
        });
    store_results(values, *out);
}

template <class T, class Op>
AC_INLINE void extreme(const ac_call* call, ac_context* context, ac_status* status) {
    reduce_int_values<T, T, Op>(call, context, status, true);
}

template <class FloatOp, class IntOp>
void extreme_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    switch (operand(call, 1)->dtype) {
        case AC_FLOAT32:
        case AC_BFLOAT16:
        case AC_FLOAT16:
            return reduce_floats<float, FloatOp, false>(call, context, status);
        case AC_FLOAT64:
            return reduce_floats<double, FloatOp, false>(call, context, status);
        case AC_INT8:
            return extreme<int8_t, IntOp>(call, context, status);
        case AC_INT16:
            return extreme<int16_t, IntOp>(call, context, status);
        case AC_INT32:
            return extreme<int32_t, IntOp>(call, context, status);
        case AC_INT64:
            return extreme<int64_t, IntOp>(call, context, status);
        case AC_UINT8:
        case AC_BOOL:
            return extreme<uint8_t, IntOp>(call, context, status);
        default:
            return unsupported(status);
    }
}

// Sums and products; those of integers are taken in int64.
template <class From, class Op>
AC_INLINE void fold_ints(const ac_call* call, ac_context* context, ac_status* status,
                         int64_t start) {
    reduce_int_values<From, int64_t, Op>(call, context, status, false, start);
}

template <class FloatOp, class IntOp, int start>
void fold_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    switch (operand(call, 1)->dtype) {
        case AC_FLOAT32:
        case AC_BFLOAT16:
        case AC_FLOAT16:
            return reduce_floats<float, FloatOp, false>(call, context, status);
        case AC_FLOAT64:
            return reduce_floats<double, FloatOp, false>(call, context, status);
        case AC_INT8:
            return fold_ints<int8_t, IntOp>(call, context, status, start);
        case AC_INT16:
            return fold_ints<int16_t, IntOp>(call, context, status, start);
        case AC_INT32:
            return fold_ints<int32_t, IntOp>(call, context, status, start);
        case AC_INT64:
            return fold_ints<int64_t, IntOp>(call, context, status, start);
        case AC_UINT8:
        case AC_BOOL:
            return fold_ints<uint8_t, IntOp>(call, context, status, start);
        default:
            return unsupported(status);
    }
}

#define AC_FLOAT_KERNEL(name, float_call, double_call)                       \
    void name(const ac_call* call, ac_context* context, ac_status* status) { \
        const ac_operand& first = call->operands[call->n_outputs];           \
        if (first.arrays->dtype == AC_FLOAT64) {                             \
            double_call(call, context, status);                              \
        } else {                                                             \
            float_call(call, context, status);                               \
        }                                                                    \
    }
AC_FLOAT_KERNEL(mean_kernel, (reduce_floats<float, SumOp, true>),
                (reduce_floats<double, SumOp, true>))
AC_FLOAT_KERNEL(logsumexp_kernel, logsumexp_floats<float>, logsumexp_floats<double>)
#undef AC_FLOAT_KERNEL

// ---- argmax: the largest value first, then its place
template <class T>
AC_INLINE int64_t find_first(const T* p, int64_t n, T wanted) {
    constexpr int64_t lanes = vec<T>::lanes;
    const vec<T> value = set1<T>(wanted);
    for (int64_t i = 0; i < n; i += lanes) {
        const int64_t rest = smaller(lanes, n - i);
        const vec<T> x = rest == lanes ? load(p + i) : load_first(p + i, rest);
        const mask<T> hit = (eq(x, value) | is_nan(x)) & first<T>(rest);
        if (any(hit)) return i + __builtin_ctz(lane_bits(hit));
    }
    return 0;
}

template <class T>
AC_INLINE int64_t argmax_floats(const char* p, int64_t stride, int64_t n, T* buffer) {
    const T* row = reinterpret_cast<const T*>(p);
    if (stride != item_size<T>) {
        gather(reinterpret_cast<char*>(buffer), p, sizeof(T), stride, n);
        row = buffer;
    }
    Cascade<T, MaxOp> maximum;
    reduce_run<T, MaxOp, Plain>(row, n, zero<T>(), maximum);
    return find_first(row, n, MaxOp::across(maximum.total()));
}

template <class T>
AC_INLINE int64_t argmax_ints(const char* p, int64_t stride, int64_t n) {
    T top = *reinterpret_cast<const T*>(p);
    int64_t at = 0;
    for (int64_t i = 1; i < n; ++i) {
        const T x = *reinterpret_cast<const T*>(p + i * stride);
        if (x > top) {
            top = x;
            at = i;
        }
    }
    return at;
}

constexpr int64_t gathered_row =
    4096;  // longer strided rows go through the heap's scratch

AC_INLINE int64_t argmax_one(int dtype, const char* p, int64_t stride, int64_t n,
                             void* buffer) {
    switch (dtype) {
        case AC_FLOAT32:
            return argmax_floats(p, stride, n, static_cast<float*>(buffer));
        case AC_FLOAT64:
            return argmax_floats(p, stride, n, static_cast<double*>(buffer));
        case AC_INT8:
            return argmax_ints<int8_t>(p, stride, n);
        case AC_INT16:
            return argmax_ints<int16_t>(p, stride, n);
        case AC_INT32:
            return argmax_ints<int32_t>(p, stride, n);
        case AC_INT64:
            return argmax_ints<int64_t>(p, stride, n);
        default:
            return argmax_ints<uint8_t>(p, stride, n);
    }
}

void argmax_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, 0);
    const ac_array* a = operand(call, 1);
    const int64_t axis = int_attribute(call, 0);
    ReducePlan plan;
    plan_reduction(plan, *a, &axis, 1);
    done(status);
    if (plan.outputs == 0) return;
    int64_t* values = results_of<int64_t>(context, out, plan.outputs, 1);
    if (values == nullptr) return no_memory(status);
    const int64_t n = a->ndim ? a->shape[axis] : 1;
    const int64_t stride = a->ndim ? a->strides[axis] : plan.item;
    const bool gathers = a->dtype <= AC_FLOAT64 && stride != plan.item;
    const bool finished = try_parallel_range(
        context, plan.outputs, ceil_div(4096, n), plan.outputs * n >= 16384,
        [&](int64_t begin, int64_t end) {
            alignas(64) char small[gathered_row * sizeof(double)];
            void* buffer = small;
            if (gathers && n > gathered_row) {
                buffer =
                    context->scratch(context, 2, static_cast<size_t>(n * plan.item));
                if (buffer == nullptr) return false;
            }
            for (int64_t o = begin; o < end; ++o) {
                values[o] = argmax_one(a->dtype, plan.data + kept_offset(plan, o),
                                       stride, n, buffer);
            }
            return true;
        });
    if (!finished) return no_memory(status);
    store_results(values, *out);
}

constexpr const char* over_axes = "out ; a ; axes:ints keepdim:bool";

const ac_kernel_entry entries[] = {
    {"sum", over_axes, fold_kernel<SumOp, IntSum, 0>, refusal_in_floats, nullptr, 0.15,
     all_dtypes | half_dtypes, nullptr},
    {"prod", over_axes, fold_kernel<ProductOp, IntProduct, 1>, nullptr, nullptr, 0.15,
     all_dtypes, nullptr},
    {"mean", over_axes, mean_kernel, refusal_in_floats, nullptr, 0.15, floating_dtypes,
     nullptr},
    {"max", over_axes, extreme_kernel<MaxOp, IntMax>, refusal_in_floats, nullptr, 0.15,
     all_dtypes | half_dtypes, nullptr},
    {"min", over_axes, extreme_kernel<MinOp, IntMin>, refusal_in_floats, nullptr, 0.15,
     number_dtypes | half_dtypes, nullptr},
    {"argmax", "out ; a ; axis:int keepdim:bool", argmax_kernel, nullptr, nullptr, 0.2,
     all_dtypes, nullptr},
    {"logsumexp", over_axes, logsumexp_kernel, refusal_in_floats, nullptr, 0.6,
     floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(reductions, entries);
}  // namespace autocalc::simd::AC_ISA
