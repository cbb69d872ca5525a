// SPDX-License-Identifier: MIT
//
// cumsum, cumprod and logcumsumexp along any axis.
//
// Lines side by side run on together, one to a lane. Of a single line a register is
// summed, or multiplied, along its lanes, and what came before is added to all of them.
#include "common/families.hpp"
#include "reduce/axis.hpp"
#include "reduce/log_sums.hpp"
#include "reduce/running.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- sums
//
// Where a sum is not finite, the parts of one that is may have been infinite: such
// lines are done again, one addition after the other; of floats in doubles, as the
// reference.
template <class T>
AC_NOINLINE void sum_plainly(T* out, const T* a, int64_t n, int64_t step) {
    double so_far = 0;
    for (int64_t i = 0; i < n; ++i) {
        so_far += double(a[i * step]);
        out[i * step] = T(so_far);
    }
}

// Answers whether all is finite.
template <bool reverse, class T>
AC_INLINE bool sum_line(T* out, const T* a, int64_t n) {
    constexpr int64_t lanes = vec<T>::lanes;
    RunningSum<vec<T>> before;
    vec<T> check = zero<T>();
    int64_t steps = 0;
    const auto step = [&](int64_t i, auto part) {
        const vec<T> sums = running_sums<reverse>(part.get(a + i));
        const vec<T> result = sums + before.value();
        part.put(out + i, result);
        check = fma(result, zero<T>(), check);
        before.add(total_of_lanes<reverse>(sums));
        if (++steps % (carried_terms / 2) == 0) before.carry();
    };
    if constexpr (reverse) {
        int64_t i = n;
        while (i >= lanes) step(i -= lanes, AllLanes<T>{});
        if (i > 0) step(0, FirstLanes<T>{i});
    } else {
        each_vector<T>(n, step);
    }
    return all(eq(check, zero<T>()));
}

template <class T, class Part>
AC_INLINE bool sum_bundle(const Part& part, T* out, const T* a, int64_t n,
                          int64_t step) {
    RunningSum<vec<T>> sum;
    vec<T> check = zero<T>();
    for (int64_t from = 0; from < n; from += carried_terms) {
        const int64_t to = smaller(n, from + carried_terms);
        for (int64_t i = from; i < to; ++i) {
            const vec<T> result = sum.next(part.get(a + i * step));
            part.put(out + i * step, result);
            check = fma(result, zero<T>(), check);
        }
        sum.carry();
    }
    return all(eq(check, zero<T>()));
}

template <bool reverse>
struct Sums {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        if (line.n == 0) return;
        const int64_t apart = bundle ? line.step : 1;
        const int64_t step = reverse ? -apart : apart;
        const int64_t begin = reverse ? (line.n - 1) * apart : 0;
        bool finite;
        if constexpr (!bundle) {
            finite = sum_line<reverse>(out, a, line.n);
        } else if (line.rest == vec<T>::lanes) {
            finite = sum_bundle(AllLanes<T>{}, out + begin, a + begin, line.n, step);
        } else {
            const FirstLanes<T> lanes = {line.rest};
            finite = sum_bundle(lanes, out + begin, a + begin, line.n, step);
        }
        if (finite) return;
        for (int64_t k = 0; k < (bundle ? line.rest : 1); ++k)
            sum_plainly(out + begin + k, a + begin + k, line.n, step);
    }
};

// ---- products
//
// Of floats in doubles, which also do not become subnormal where the floats do: each
// such product takes 150 cycles.
// Products of lanes that are neither too large nor too small to be multiplied in any
// order.
AC_INLINE bool are_usual(f64 products) {
    const f64 size = abs(products);
    return all(lt(size, set1<double>(1e270)) & gt(size, set1<double>(1e-270)));
}

// By value, or so_far would pass through memory in every step.
template <class T, bool exact>
AC_NOINLINE ProductOfLanes<exact> multiply_plainly(T* out, const T* a, int64_t n,
                                                   ProductOfLanes<exact> before) {
    RunningProduct<double, exact> so_far = {before.whole.v[0], before.lost.v[0]};
    for (int64_t i = 0; i < n; ++i) {
        so_far = so_far.times({double(a[i]), 0});
        out[i] = T(so_far.value());
    }
    return {set1<double>(so_far.whole), set1<double>(so_far.lost)};
}

// The products of a register's lanes, times those before, which all lanes hold. Answers
// false, with nothing changed, where the order matters.
template <bool exact>
AC_INLINE bool multiply_lanes(f64& a, ProductOfLanes<exact>& so_far) {
    const auto lanes = running_products<1, exact>({a, zero<double>()});
    if (!are_usual(lanes.whole)) return false;
    a = so_far.times(lanes).value();
    ProductOfLanes<exact> total = {total_of_lanes<false>(lanes.whole), lanes.lost};
    if constexpr (exact) total.lost = total_of_lanes<false>(lanes.lost);
    so_far = so_far.times(total);
    return true;
}

template <bool exact>
AC_INLINE bool multiply_register(double* out, f64 a, ProductOfLanes<exact>& so_far) {
    if (!multiply_lanes(a, so_far)) return false;
    store(out, a);
    return true;
}
AC_INLINE bool multiply_register(float* out, f32 a, ProductOfLanes<false>& so_far) {
    const ProductOfLanes<false> before = so_far;
    f64 low = low_double(a), high = high_double(a);
    if (!multiply_lanes(low, so_far) || !multiply_lanes(high, so_far)) {
        so_far = before;
        return false;
    }
    store(out, narrow(low, high));
    return true;
}

template <bool exact, class T>
AC_INLINE void product_line(T* out, const T* a, int64_t n) {
    constexpr int64_t lanes = vec<T>::lanes;
    ProductOfLanes<exact> so_far = {set1<double>(1), zero<double>()};
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        if (!multiply_register(out + i, load(a + i), so_far))
            so_far = multiply_plainly<T, exact>(out + i, a + i, lanes, so_far);
    }
    multiply_plainly<T, exact>(out + i, a + i, n - i, so_far);
}

template <bool exact, class Part>
AC_INLINE void product_bundle(const Part& part, double* out, const double* a, int64_t n,
                              int64_t step) {
    ProductOfLanes<exact> so_far = {set1<double>(1), zero<double>()};
    for (int64_t i = 0; i < n; ++i) {
        so_far = so_far.times({part.get(a + i * step), zero<double>()});
        part.put(out + i * step, so_far.value());
    }
}
template <bool, class Part>
AC_INLINE void product_bundle(const Part& part, float* out, const float* a, int64_t n,
                              int64_t step) {
    f64 low = set1<double>(1), high = low;
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) {
        const f32 factor = part.get(a + i * step);
        low = low * low_double(factor);
        high = high * high_double(factor);
        part.put(out + i * step, narrow(low, high));
    }
}

struct Products {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        if (sizeof(T) == sizeof(double) && line.n > many_factors) {
            run_line<sizeof(T) == sizeof(double)>(line, out, a);
        } else {
            run_line<false>(line, out, a);
        }
    }

  private:
    template <bool exact, class T, bool bundle>
    static AC_INLINE void run_line(const Line<T, bundle>& line, T* out, const T* a) {
        if constexpr (!bundle) {
            product_line<exact>(out, a, line.n);
        } else if (line.rest == vec<T>::lanes) {
            product_bundle<exact>(AllLanes<T>{}, out, a, line.n, line.step);
        } else {
            const FirstLanes<T> lanes = {line.rest};
            product_bundle<exact>(lanes, out, a, line.n, line.step);
        }
    }
};

// ---- the kernels
template <class Kernel>
void scan(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* arrays[2] = {operand(call, 0), operand(call, 1)};
    const int64_t axis = int_attribute(call, 0);
    if (arrays[0]->dtype == AC_FLOAT64) {
        along_lines<double, Kernel>(context, status, arrays, 2, axis);
    } else {
        along_lines<float, Kernel>(context, status, arrays, 2, axis);
    }
}

void cumsum_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (int_attribute(call, 1) != 0) {
        scan<Sums<true>>(call, context, status);
    } else {
        scan<Sums<false>>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"cumsum", "out ; a ; axis:int reverse:bool", cumsum_kernel, refusal_in_floats,
     nullptr, 0.5, floating_dtypes, nullptr},
    {"cumprod", "out ; a ; axis:int", scan<Products>, refusal_in_floats, nullptr, 0.5,
     floating_dtypes, nullptr},
    {"logcumsumexp", "out ; a ; axis:int", scan<LogSums>, refusal_in_floats, nullptr,
     3.0, floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(scans, entries);
}  // namespace autocalc::simd::AC_ISA
