// SPDX-License-Identifier: MIT
//
// var, std and the Euclidean norm over any axes. A mean far from zero is corrected by
// the mean of the deviations from it; an output whose squares leave the range of its
// format is taken again, in double precision and times a power of two.
#include "common/families.hpp"
#include "common/lanes.hpp"
#include "reduce/range.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Square {
    static constexpr bool has_parameter = false;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T>) {
        return x * x;
    }
};
struct Deviation {
    static constexpr bool has_parameter = true;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T> mean) {
        return x - mean;
    }
};
struct SquaredDeviation {
    static constexpr bool has_parameter = true;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> x, vec<T> mean) {
        const vec<T> d = x - mean;
        return d * d;
    }
};

// ---- outputs that are taken again
template <class F>
AC_INLINE void each_element(const Nest& nest, F&& f) {
    const int inner = nest.dims - 1;
    Position at;
    start_at(nest, 0, at);
    for (int64_t left = nest.total; left > 0; left -= nest.size[inner]) {
        for (int64_t i = 0; i < nest.size[inner]; ++i)
            f(at.row[0] + i * nest.stride[0][inner]);
        next_row(nest, at);
    }
}

// Whether an output is the size of its numbers, though its squares vanish; zeros and
// equal numbers are not.
template <class T>
bool is_tiny(const Nest& nest, T mean, T square) {
    if (square > T(0)) return true;
    if (__builtin_fabs(mean) > __builtin_sqrt(Range<T>::least)) return false;
    bool any_set = false;
    each_element(nest, [&](const char* x) {
        any_set |= *reinterpret_cast<const T*>(x) != T(0);
    });
    return any_set;
}

template <class T>
AC_NOINLINE Moments take_again(const Nest& nest, double factor, bool centered) {
    const auto n = static_cast<double>(nest.total);
    return moments_of(n, factor, centered, [&](auto&& f) {
        each_element(nest, [&](const char* x) {
            f(static_cast<double>(*reinterpret_cast<const T*>(x)));
        });
    });
}

// ---- results
template <class T>
struct Results {
    const ReducePlan& plan;
    T* means;   // null: squares are about 0
    T* values;  // sums of squares at first
    T freedom;  // what they are divided by
    bool root;
    // Sums of squares within these are exact to the last digits. A variance may be
    // subnormal, its root is not.
    T least, most;

    Results(const ReducePlan& of, T* means_, T* values_, T freedom_, bool root_)
        : plan(of), means(means_), values(values_), freedom(freedom_), root(root_) {
        const T n = T(plan.reduced.total);
        least = root ? Range<T>::least * n : T(0);
        most = smaller(Range<T>::most * n, 1 / Range<T>::tiny);
    }

    // Whether all squares fit, and none shows what a mean far from zero is off by: of n
    // numbers by log2(n) digits at most.
    [[nodiscard]] bool are_usual() const {
        const vec<T> n = set1<T>(T(plan.reduced.total)), enough = set1<T>(T(1024));
        mask<T> usual = first<T>(vec<T>::lanes);
        each_vector<T>(plan.outputs, [&](int64_t o, auto part) {
            const vec<T> squares = part.only(part.get(values + o), set1<T>(least));
            const vec<T> mean = means == nullptr ? zero<T>() : part.get(means + o);
            usual = usual & ge(squares, set1<T>(least)) & le(squares, set1<T>(most)) &
                    le(mean * mean * n, enough * squares);
        });
        return all(usual);
    }
    void finish() const { divide(0, plan.outputs); }
    void finish_each(ac_context* context) const {
        if (plan.reduced.total == 0) return finish();
        parallel_range(context, plan.outputs, 1, plan.outputs > 1,
                       [&](int64_t begin, int64_t end) {
                           for (int64_t o = begin; o < end; ++o) {
                               if (fits(values[o]) || !rescue(o)) divide(o, o + 1);
                           }
                       });
    }

  private:
    [[nodiscard]] AC_INLINE bool fits(T squares) const {
        return squares >= least && squares <= most;
    }
    void divide(int64_t begin, int64_t end) const {
        const vec<T> by = set1<T>(freedom);
        each_vector<T>(end - begin, [&](int64_t i, auto part) {
            const vec<T> value = part.get(values + begin + i) / by;
            part.put(values + begin + i, root ? sqrt(value) : value);
        });
    }
    AC_NOINLINE bool rescue(int64_t o) const {
        Nest nest = plan.reduced;
        nest.data[0] += kept_offset(plan, o);
        const T mean = means == nullptr ? T(0) : means[o];
        if (values[o] < least && !is_tiny(nest, mean, values[o])) return false;
        const double factor = values[o] < least ? Range<T>::up : 1 / Range<T>::up;
        const Moments m = take_again<T>(nest, factor, means != nullptr);
        const double value = m.square * static_cast<double>(nest.total) / freedom;
        if (means != nullptr) means[o] = T(m.mean / factor);
        values[o] = T(root ? __builtin_sqrt(value) / factor : value / factor / factor);
        return true;
    }
};

// ---- var, std

// Takes the mean of the deviations from the mean out of both. Answers false if memory
// is exhausted.
template <class T>
bool correct(ac_context* context, const ReducePlan& plan, T* means, T* squares) {
    const T n = T(plan.reduced.total);
    T* rests = results_of<T>(context, nullptr, plan.outputs, 3);
    if (rests == nullptr ||
        !reduce_values<T, SumOp, Deviation>(context, plan, means, rests, false)) {
        return false;
    }
    for (int64_t o = 0; o < plan.outputs; ++o) {
        const T shift = rests[o] / n;
        if (!__builtin_isfinite(shift)) continue;
        means[o] += shift;
        squares[o] = larger(squares[o] - rests[o] * shift, T(0));
    }
    return true;
}

AC_INLINE void plan_call(ReducePlan& plan, const ac_array& a, const ac_call* call) {
    const auto& axes = call->attributes[0].v.list;
    plan_reduction(plan, a, axes.values, axes.count);
}

template <class T>
void var_floats(const ac_call* call, ac_context* context, ac_status* status,
                bool root) {
    const ac_array *out = operand(call, 0), *mean = operand(call, 1);
    ReducePlan plan;
    plan_call(plan, *operand(call, 2), call);
    done(status);
    if (plan.outputs == 0) return;
    const T n = T(plan.reduced.total);
    T* values = results_of<T>(context, out, plan.outputs, 1);
    T* means = results_of<T>(context, mean, plan.outputs, 2);
    if (values == nullptr || means == nullptr ||
        !reduce_values<T, SumOp, Plain>(context, plan, nullptr, means, false)) {
        return no_memory(status);
    }
    for (int64_t o = 0; o < plan.outputs; ++o) means[o] /= n;
    if (!reduce_values<T, SumOp, SquaredDeviation>(context, plan, means, values,
                                                   false)) {
        return no_memory(status);
    }
    const T freedom = larger(n - T(float_attribute(call, 2)), T(0));
    const Results<T> results(plan, means, values, freedom, root);
    if (results.are_usual()) {
        results.finish();
    } else {
        if (!correct(context, plan, means, values)) return no_memory(status);
        results.finish_each(context);
    }
    store_results(values, *out);
    if (mean != nullptr) store_results(means, *mean);
}

// ---- norm
template <class T>
void norm_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, 0);
    ReducePlan plan;
    plan_call(plan, *operand(call, 1), call);
    done(status);
    if (plan.outputs == 0) return;
    T* values = results_of<T>(context, out, plan.outputs, 1);
    if (values == nullptr ||
        !reduce_values<T, SumOp, Square>(context, plan, nullptr, values, false)) {
        return no_memory(status);
    }
    const Results<T> results(plan, nullptr, values, T(1), true);
    results.are_usual() ? results.finish() : results.finish_each(context);
    store_results(values, *out);
}

template <bool root>
void var_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 2)->dtype == AC_FLOAT32) {
        var_floats<float>(call, context, status, root);
    } else {
        var_floats<double>(call, context, status, root);
    }
}
void norm_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 1)->dtype == AC_FLOAT32) {
        norm_floats<float>(call, context, status);
    } else {
        norm_floats<double>(call, context, status);
    }
}

constexpr const char* moments =
    "out mean? ; a ; axes:ints keepdim:bool correction:float";

const ac_kernel_entry entries[] = {
    {"var", moments, var_kernel<false>, nullptr, nullptr, 0.3, float_dtypes, nullptr},
    {"std", moments, var_kernel<true>, nullptr, nullptr, 0.3, float_dtypes, nullptr},
    {"norm", "out ; a ; axes:ints keepdim:bool", norm_kernel, nullptr, nullptr, 0.15,
     float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(moments, entries);
}  // namespace autocalc::simd::AC_ISA
