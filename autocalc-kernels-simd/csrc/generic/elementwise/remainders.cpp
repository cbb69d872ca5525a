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

// q and x - q d, 0 <= x - q d < d or d < x - q d <= 0: the product with 1 / d is off by
// one at most, and everything else is exact.
struct Division {
    f64 quotient, rest;
    AC_INLINE Division(f64 x, f64 d, f64 inverse) {
        const f64 one = set1<double>(1), none = zero<double>();
        quotient = floor(x * inverse);
        rest = fnma(quotient, d, x);
        const mask<double> under = ne(rest, none) & (lt(rest, none) ^ lt(d, none));
        quotient = quotient - keep(under, one);
        rest = rest + keep(under, d);
        const mask<double> over = ge(abs(rest), abs(d));
        quotient = quotient + keep(over, one);
        rest = rest - keep(over, d);
    }
};

struct Fmod {
    static constexpr bool only_rest = true;
    static AC_INLINE f64 of_exact(f64 x, f64 d, f64 inverse) {
        return copysign(Division(abs(x), abs(d), abs(inverse)).rest, x);
    }
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
    static constexpr bool only_rest = true;
    static AC_INLINE f64 of_exact(f64 x, f64 d, f64 inverse) {
        return Division(x, d, inverse).rest;
    }
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
    static constexpr bool only_rest = false;
    static AC_INLINE f64 of_exact(f64 x, f64 d, f64 inverse) {
        return Division(x, d, inverse).quotient;
    }
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
AC_NOINLINE void divided_elements(void* const* operands, int64_t n,
                                  const void* parameters) {
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

// ---- int64 by one number, in double precision: a division takes 20 cycles of a CPU, 8
// of them 10 as products
constexpr int64_t block = 64;
constexpr int64_t exact_end = int64_t{1}
                              << 51;  // beyond, sums and conversions may round
constexpr int64_t small_divisor = int64_t{1} << 19;

// Whether a block could be divided so: by one number that is not 0, of dividends that a
// double holds; rests also of larger ones, in two steps.
template <class Op>
AC_INLINE bool divide_block(int64_t* out, const int64_t* a, const int64_t* b) {
    uint64_t far = 0, differs = 0, sign = 0;
    for (int64_t i = 0; i < block; ++i) {
        far |= wrap(a[i]) + wrap(exact_end);
        differs |= wrap(b[i]) ^ wrap(b[0]);
        sign |= wrap(a[i]) | wrap(b[i]);
    }
    const int64_t divisor = b[0];
    const bool halves = far >> 52 != 0;
    if (differs != 0 || divisor == 0) return false;
    if (halves && (!Op::only_rest || sign >> 63 != 0 || divisor >= small_divisor))
        return false;
    if (divisor >= exact_end || divisor <= -exact_end) return false;
    const f64 d = set1<double>(static_cast<double>(divisor)),
              inverse = set1<double>(1) / d;
    for (int64_t i = 0; i < block; i += f64::lanes) {
        const i64 whole = load(a + i);
        f64 x = to_float(whole);
        if (halves) {
            const f64 high =
                Division(to_float(shift_right<32>(whole)), d, inverse).rest;
            x = fma(high, set1<double>(4294967296.0),
                    to_float(whole & set1<int64_t>(0xffffffff)));
        }
        store(out + i, to_int(Op::of_exact(x, d, inverse)));
    }
    return true;
}

template <class T, class Op>
void divided_run(void* const* operands, int64_t n, const void* parameters) {
    if constexpr (sizeof(T) == 8) {
        void* at[3] = {operands[0], operands[1], operands[2]};
        const auto advance = [&](int64_t elements) {
            for (void*& p : at) p = static_cast<T*>(p) + elements;
        };
        int64_t left = n;
        for (; left >= block; left -= block, advance(block)) {
            if (!divide_block<Op>(static_cast<T*>(at[0]), static_cast<T*>(at[1]),
                                  static_cast<T*>(at[2])))
                divided_elements<T, Op>(at, block, parameters);
        }
        divided_elements<T, Op>(at, left, parameters);
    } else {
        divided_elements<T, Op>(operands, n, parameters);
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
