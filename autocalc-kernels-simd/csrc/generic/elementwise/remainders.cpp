// SPDX-License-Identifier: MIT
//
// Division with a rest: fmod, remainder, floor_divide.
//
// The quotient's integer part n is known while it is small, and a - n b then needs one
// rounding that loses nothing. Other lanes go through the C library.
#include "common/families.hpp"
#include "elementwise/vector_loops.hpp"
#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_NOINLINE void fmod_lanes(const double* a, const double* b, double* out,
                            uint32_t near) {
    for (int i = 0; i < f64::lanes; ++i) {
        if ((near >> i & 1) == 0) out[i] = __builtin_fmod(a[i], b[i]);
    }
}

// Products with n are exact: by FMA, or those of floats in double precision.
template <bool from_floats>
AC_INLINE f64 fmod_of(f64 a, f64 b) {
    const f64 infinity = set1<double>(limits<double>::infinity);
    constexpr double most = from_floats ? 134217728.0 : 4503599627370496.0;
    f64 rest = a;
    mask<double> near = lt(b, b);
    if constexpr (has_fma || from_floats) {
        const f64 quotient = a / b, n = trunc(quotient);
        near = lt(abs(quotient), set1<double>(most)) & lt(abs(b), infinity);
        rest = fnma(n, b, a);
        // A quotient rounded up to n leaves what is below zero.
        const mask<double> over =
            lt(copysign(set1<double>(1), a) * rest, zero<double>());
        rest = copysign(rest + keep(over, copysign(b, a)), a);
    }
    if (!all(near)) {
        double as[f64::lanes], bs[f64::lanes], rests[f64::lanes];
        store(as, a);
        store(bs, b);
        store(rests, rest);
        fmod_lanes(as, bs, rests, lane_bits(near));
        rest = load(rests);
    }
    return rest;
}

AC_INLINE mask<double> signs_differ(f64 rest, f64 b) {
    const f64 none = zero<double>();
    return ne(rest, none) & (lt(rest, none) ^ lt(b, none));
}

struct Fmod {
    template <bool from_floats>
    static AC_INLINE f64 of(f64 a, f64 b) {
        return fmod_of<from_floats>(a, b);
    }
    template <class T>
    static AC_INLINE T integer(T a, T b) {
        return static_cast<T>(a % b);
    }
    template <class T>
    static AC_INLINE T of_minus_1(T) {
        return T(0);
    }
};

struct Remainder {
    template <bool from_floats>
    static AC_INLINE f64 of(f64 a, f64 b) {
        const f64 rest = fmod_of<from_floats>(a, b);
        const f64 whole = copysign(zero<double>(), b);
        const f64 moved = rest + keep(signs_differ(rest, b), b);
        return select(eq(rest, zero<double>()), whole, moved);
    }
    template <class T>
    static AC_INLINE T integer(T a, T b) {
        const T rest = static_cast<T>(a % b);
        return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    }
    template <class T>
    static AC_INLINE T of_minus_1(T) {
        return T(0);
    }
};

struct FloorDivide {
    template <bool from_floats>
    static AC_INLINE f64 of(f64 a, f64 b) {
        const f64 rest = fmod_of<from_floats>(a, b), one = set1<double>(1);
        const f64 quotient = a / b;
        const f64 exact = (a - rest) / b - keep(signs_differ(rest, b), one);
        const f64 below = floor(exact);
        const f64 near = below + keep(gt(exact - below, set1<double>(0.5)), one);
        const f64 whole =
            select(eq(exact, zero<double>()), copysign(zero<double>(), quotient), near);
        return select(eq(b, zero<double>()), quotient, whole);
    }
    template <class T>
    static AC_INLINE T integer(T a, T b) {
        const T quotient = static_cast<T>(a / b), rest = static_cast<T>(a % b);
        return static_cast<T>(rest != 0 && (rest < 0) != (b < 0) ? quotient - 1
                                                                 : quotient);
    }
    template <class T>
    static AC_INLINE T of_minus_1(T a) {
        return static_cast<T>(0u - wrap(a));
    }
};

template <class Op>
struct OfFloats {
    static constexpr Ints ints = Ints::no;
    static AC_INLINE f64 apply(f64 a, f64 b) { return Op::template of<false>(a, b); }
    static AC_INLINE f32 apply(f32 a, f32 b) {
        return narrow(Op::template of<true>(low_double(a), low_double(b)),
                      Op::template of<true>(high_double(a), high_double(b)));
    }
};

// Division by 0 is noted in the parameters; by -1 it would trap where the quotient
// wraps around.
template <class T, class Op>
void divided_run(void* const* operands, int64_t n, const void* parameters) {
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
    bool by_zero = false;
    for (int64_t i = 0; i < n; ++i) {
        const T dividend = a[i], divisor = b[i];
        if (divisor == T(0)) {
            by_zero = true;
            out[i] = T(0);
        } else if (T(-1) < T(0) && divisor == T(-1)) {
            out[i] = Op::of_minus_1(dividend);
        } else {
            out[i] = Op::integer(dividend, divisor);
        }
    }
    if (by_zero) {
        __atomic_store_n(static_cast<int*>(const_cast<void*>(parameters)), 1,
                         __ATOMIC_RELAXED);
    }
}

template <class Op>
AC_INLINE RunKernel divided_for(int dtype) {
    switch (dtype) {
        case AC_INT8:
            return divided_run<int8_t, Op>;
        case AC_INT16:
            return divided_run<int16_t, Op>;
        case AC_INT32:
            return divided_run<int32_t, Op>;
        case AC_INT64:
            return divided_run<int64_t, Op>;
        case AC_UINT8:
            return divided_run<uint8_t, Op>;
        default:
            return binary_for<OfFloats<Op>>(dtype);
    }
}

template <class Op>
void divided_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    int by_zero = 0;
    call_elementwise(call, context, status, 3, divided_for<Op>(operand(call, 0)->dtype),
                     Cost::costly, &by_zero);
    if (by_zero != 0) bad_value(status, 2, 0, 0);
}

const ac_kernel_entry entries[] = {
    {"fmod", "~ out ; a b", divided_kernel<Fmod>, nullptr, nullptr, 2.0, number_dtypes,
     nullptr},
    {"remainder", "~ out ; a b", divided_kernel<Remainder>, nullptr, nullptr, 2.0,
     number_dtypes, nullptr},
    {"floor_divide", "~ out ; a b", divided_kernel<FloorDivide>, nullptr, nullptr, 2.5,
     number_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(remainders, entries);
}  // namespace autocalc::simd::AC_ISA
