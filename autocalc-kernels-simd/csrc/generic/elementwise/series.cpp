// SPDX-License-Identifier: MIT
//
// The functions of elementwise/series_math.hpp as kernels; floats are computed as
// doubles and rounded once.
#include "common/families.hpp"
#include "common/lanes.hpp"
#include "elementwise/series_math.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class Of>
AC_INLINE f64 apply(const Of& of, f64 a) {
    return of(a);
}
template <class Of>
AC_INLINE f32 apply(const Of& of, f32 a) {
    return narrow(of(low_double(a)), of(high_double(a)));
}
template <class Of>
AC_INLINE f64 apply(const Of& of, f64 a, f64 b) {
    return of(a, b);
}
template <class Of>
AC_INLINE f32 apply(const Of& of, f32 a, f32 b) {
    return narrow(of(low_double(a), low_double(b)), of(high_double(a), high_double(b)));
}

// `Of` is a function of doubles and what its call has set.
template <class T, class Of>
void series_run(void* const* operands, int64_t n, const void* parameters) {
    const Of& of = *static_cast<const Of*>(parameters);
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t i = 0; i < n; i += lanes) {
        const int64_t count = smaller(lanes, n - i);
        store_last(out + i, apply(of, load_last(a + i, count)), count);
    }
}
template <class T, class Of>
void series_pair_run(void* const* operands, int64_t n, const void* parameters) {
    const Of& of = *static_cast<const Of*>(parameters);
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t i = 0; i < n; i += lanes) {
        const int64_t count = smaller(lanes, n - i);
        const vec<T> x = load_last(a + i, count), y = load_last(b + i, count);
        store_last(out + i, apply(of, x, y), count);
    }
}
template <class Of>
void call_unary(const ac_call* call, ac_context* context, ac_status* status,
                const Of& of) {
    RunKernel kernel = nullptr;
    const int dtype = operand(call, 0)->dtype;
    if (dtype == AC_FLOAT32) kernel = series_run<float, Of>;
    if (dtype == AC_FLOAT64) kernel = series_run<double, Of>;
    call_elementwise(call, context, status, 2, kernel, Cost::costly, &of);
}
template <class Of>
void binary_kernel_of(const ac_call* call, ac_context* context, ac_status* status) {
    RunKernel kernel = nullptr;
    const int dtype = operand(call, 0)->dtype;
    if (dtype == AC_FLOAT32) kernel = series_pair_run<float, Of>;
    if (dtype == AC_FLOAT64) kernel = series_pair_run<double, Of>;
    const Of of{};
    call_elementwise(call, context, status, 3, kernel, Cost::costly, &of);
}

struct BesselOf {
    Bessel of;
    AC_INLINE f64 operator()(f64 x) const { return bessel(x, of); }
};
void bessel_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const Bessel of = {int_attribute(call, 0), int_attribute(call, 1) != 0};
    call_unary(call, context, status, BesselOf{of});
}

// (-1)^(n + 1) n! zeta(n + 1, x).
template <class Power>
struct PolygammaOf {
    double order, factor;
    Power power;
    AC_INLINE f64 operator()(f64 x) const {
        return number(factor) * zeta(number(order), x, power);
    }
};
struct DigammaOf {
    AC_INLINE f64 operator()(f64 x) const { return digamma(x); }
};
constexpr int64_t most_factors = 6;  // of a power; more would cost digits
void polygamma_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int64_t n = int_attribute(call, 0);
    if (n == 0) return call_unary(call, context, status, DigammaOf{});
    double factor = n % 2 != 0 ? 1 : -1;
    for (int64_t i = 2; i <= n && i <= 171; ++i) factor *= static_cast<double>(i);
    const auto order = static_cast<double>(n + 1);
    if (n < most_factors) {
        using Of = PolygammaOf<WholePower>;
        return call_unary(call, context, status, Of{order, factor, {n + 1}});
    }
    call_unary(call, context, status, PolygammaOf<AnyPower>{order, factor, {}});
}

struct Zeta {
    AC_INLINE f64 operator()(f64 s, f64 q) const { return zeta(s, q, AnyPower{}); }
};

// The parts of a distribution are chosen by branches: lane by lane.
template <Share wanted>
struct Igamma {
    AC_INLINE f64 operator()(f64 a, f64 x) const {
        double as[f64::lanes], xs[f64::lanes], logarithms[f64::lanes];
        store(as, a);
        store(xs, x);
        store(logarithms, lgamma_of_next(a));
        of_lanes(as, xs, logarithms);
        return load(as);
    }
    static AC_NOINLINE void of_lanes(double* a, const double* x,
                                     const double* logarithms) {
        for (int i = 0; i < f64::lanes; ++i) {
            a[i] = gamma_share<wanted>(a[i], x[i], logarithms[i]);
        }
    }
};

#define AC_ENTRY(name, signature, kernel, ns) \
    {name, signature, kernel, nullptr, nullptr, ns, float_dtypes, nullptr}
const ac_kernel_entry entries[] = {
    AC_ENTRY("bessel_i", "~ out ; a ; order:int scaled:bool", bessel_kernel, 15.0),
    AC_ENTRY("polygamma", "~ out ; a ; n:int", polygamma_kernel, 40.0),
    AC_ENTRY("zeta", "~ out ; a b", binary_kernel_of<Zeta>, 200.0),
    AC_ENTRY("igamma", "~ out ; a b", binary_kernel_of<Igamma<Share::below>>, 150.0),
    AC_ENTRY("igammac", "~ out ; a b", binary_kernel_of<Igamma<Share::above>>, 150.0),
};
#undef AC_ENTRY

}  // namespace
AC_DEFINE_FAMILY(series, entries);
}  // namespace autocalc::simd::AC_ISA
