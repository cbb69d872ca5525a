// SPDX-License-Identifier: MIT
//
// Elementwise functions of elementwise/vector_math.hpp as kernels.
#include "common/families.hpp"
#include "elementwise/power.hpp"
#include "elementwise/trigonometry.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_FUNCTION(Exp, exp)
AC_FUNCTION(Log, log)
AC_FUNCTION(Tanh, tanh)
AC_FUNCTION(Sigmoid, sigmoid)
AC_FUNCTION(Erf, erf)
AC_FUNCTION(Sin, sin)
AC_FUNCTION(Cos, cos)

struct Pow {
    static constexpr Ints ints = Ints::numbers;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return pow(a, b);
    }
    // Wraps around; 1 / a^-b rounds toward zero, which leaves something of 1 and -1
    // only.
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        if (b < T(0)) {
            if (a != T(1) && wrap(a) != wrap(T(-1))) return T(0);
            b = b & T(1);
        }
        uint64_t base = wrap(a), result = 1;  // low bits are enough
        for (uint64_t n = wrap(b); n != 0; n >>= 1) {
            if (n & 1) result *= base;
            base *= base;
        }
        return static_cast<T>(result);
    }
};
AC_INLINE f32 one_over(f32 a) { return set1<float>(1) / a; }
AC_INLINE f64 one_over(f64 a) { return set1<double>(1) / a; }
// As C99 has it: of -0 it is 0, of -infinity infinity.
AC_INLINE f32 power_root(f32 a) {
    const f32 infinity = set1<float>(limits<float>::infinity);
    return select(eq(a, -infinity), infinity, sqrt_by_fma(a + zero<float>()));
}
AC_INLINE f64 power_root(f64 a) {
    const f64 infinity = set1<double>(limits<double>::infinity);
    return select(eq(a, -infinity), infinity, sqrt(a + zero<double>()));
}

// Powers by one number that are a few cheap operations, with two roundings at most:
// pow takes 20 times as long.
#define AC_POWER(Name, expression)             \
    struct Name {                              \
        static constexpr Ints ints = Ints::no; \
        template <class V>                     \
        static AC_INLINE V apply(V a) {        \
            return expression;                 \
        }                                      \
    };
AC_POWER(Itself, a)
AC_POWER(Square, a* a)
AC_POWER(Cube, a * a * a)
AC_POWER(Inverse, one_over(a))
AC_POWER(Root, power_root(a))
#undef AC_POWER

// The loop of a power by `exponent`, or null.
template <class T>
AC_INLINE RunKernel power_for(T exponent, int dtype) {
    if (exponent == T(2)) return unary_for<Square>(dtype);
    if (exponent == T(1)) return unary_for<Itself>(dtype);
    if (exponent == T(3)) return unary_for<Cube>(dtype);
    if (exponent == T(0.5)) return unary_for<Root>(dtype);
    if (exponent == T(-1)) return unary_for<Inverse>(dtype);
    return nullptr;
}

AC_INLINE bool is_repeated(const ac_array* b) {
    for (int i = 0; i < b->ndim; ++i) {
        if (b->shape[i] == 0 || (b->shape[i] > 1 && b->strides[i] != 0)) return false;
    }
    return true;
}

// Squares, which losses and norms are made of, are exact but for one rounding.
void pow_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* b = operand(call, 2);
    const int dtype = operand(call, 0)->dtype;
    RunKernel power = nullptr;
    if (dtype == AC_FLOAT32 && is_repeated(b)) {
        power = power_for(scalar<float>(b), dtype);
    } else if (dtype == AC_FLOAT64 && is_repeated(b)) {
        power = power_for(scalar<double>(b), dtype);
    }
    if (power != nullptr) {
        call_elementwise(call, context, status, 2, power, Cost::cheap);
    } else {
        call_elementwise(call, context, status, 3, binary_for<Pow>(dtype),
                         Cost::costly);
    }
}

const ac_kernel_entry entries[] = {
    {"exp", "~ out ; a", unary_kernel<Exp>, nullptr, nullptr, 0.4, float_dtypes,
     nullptr},
    {"log", "~ out ; a", unary_kernel<Log>, nullptr, nullptr, 0.5, float_dtypes,
     nullptr},
    {"tanh", "~ out ; a", unary_kernel<Tanh>, nullptr, nullptr, 0.6, float_dtypes,
     nullptr},
    {"sigmoid", "~ out ; a", unary_kernel<Sigmoid>, nullptr, nullptr, 0.6, float_dtypes,
     nullptr},
    {"erf", "~ out ; a", unary_kernel<Erf>, nullptr, nullptr, 0.7, float_dtypes,
     nullptr},
    {"sin", "~ out ; a", unary_kernel<Sin>, nullptr, nullptr, 1.2, float_dtypes,
     nullptr},
    {"cos", "~ out ; a", unary_kernel<Cos>, nullptr, nullptr, 1.2, float_dtypes,
     nullptr},
    {"pow", "~ out ; a b", pow_kernel, nullptr, nullptr, 3.0, number_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(transcendental, entries);
}  // namespace autocalc::simd::AC_ISA
