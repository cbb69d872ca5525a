// SPDX-License-Identifier: MIT
//
// Elementwise functions of elementwise/vector_math.hpp as kernels.
#include "common/families.hpp"
#include "elementwise/power.hpp"
#include "elementwise/trigonometry.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

#define AC_FUNCTION(Name, function)                \
    struct Name {                                  \
        static constexpr Ints ints = Ints::no;     \
        static constexpr Cost cost = Cost::costly; \
        template <class V>                         \
        static AC_INLINE V apply(V a) {            \
            return function(a);                    \
        }                                          \
    };
AC_FUNCTION(Exp, exp)
AC_FUNCTION(Log, log)
AC_FUNCTION(Tanh, tanh)
AC_FUNCTION(Sigmoid, sigmoid)
AC_FUNCTION(Erf, erf)
AC_FUNCTION(Sin, sin)
AC_FUNCTION(Cos, cos)
#undef AC_FUNCTION

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
struct Square {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V a) {
        return a * a;
    }
};

template <class T>
AC_INLINE bool repeats_two(const ac_array* b) {
    for (int i = 0; i < b->ndim; ++i) {
        if (b->shape[i] == 0 || (b->shape[i] > 1 && b->strides[i] != 0)) return false;
    }
    return scalar<T>(b) == T(2);
}

// x^2, which losses and norms are made of, is a multiplication and then also exact.
void pow_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* b = operand(call, 2);
    const int dtype = operand(call, 0)->dtype;
    const bool square = (dtype == AC_FLOAT32 && repeats_two<float>(b)) ||
                        (dtype == AC_FLOAT64 && repeats_two<double>(b));
    if (square) {
        call_elementwise(call, context, status, 2, unary_for<Square>(dtype),
                         Cost::cheap);
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
