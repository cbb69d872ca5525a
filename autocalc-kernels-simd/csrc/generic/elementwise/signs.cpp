// SPDX-License-Identifier: MIT
//
// What floating-point numbers are made of: signs, ends, and the bits of neighbours.
#include "common/families.hpp"
#include "elementwise/vector_loops.hpp"
#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Copysign {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return copysign(a, b);
    }
};

struct Heaviside {
    using Bool = Heaviside;
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a, vec<T> b) {
        const vec<T> none = zero<T>(), y = select(lt(a, none), none, a);  // NaN stays
        return select(eq(a, none), b, select(gt(a, none), set1<T>(1), y));
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return a == 0 ? b : static_cast<T>(a > T(0));
    }
};

// ---- signbit
template <class T>
void signbit_run(void* const* operands, int64_t n, const void*) {
    uint8_t* out = static_cast<uint8_t*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    constexpr int64_t lanes = vec<T>::lanes;
    const auto negative = [](vec<T> x) AC_INLINE_LAMBDA {
        return lt(copysign(set1<T>(1), x), zero<T>());
    };
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store_bools(out + i, negative(load(a + i)));
    if (i < n) {
        store_bools_first(out + i, negative(load_first(a + i, n - i)), n - i);
    }
}
void signbit_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 1)->dtype;
    RunKernel kernel = nullptr;
    if (dtype == AC_FLOAT32) kernel = signbit_run<float>;
    if (dtype == AC_FLOAT64) kernel = signbit_run<double>;
    call_elementwise(call, context, status, 2, kernel, Cost::cheap);
}

// ---- nan_to_num
struct Replacements {
    double nan, high, low;
};
template <class T>
void replaced_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& values = *static_cast<const Replacements*>(parameters);
    const vec<T> infinity = set1<T>(limits<T>::infinity);
    const vec<T> of_nan = set1<T>(static_cast<T>(values.nan));
    const vec<T> high = set1<T>(static_cast<T>(values.high));
    const vec<T> low = set1<T>(static_cast<T>(values.low));
    unary_elements<T>(operands, n, [=](vec<T> a) AC_INLINE_LAMBDA {
        const vec<T> y = select(is_nan(a), of_nan, a);
        return select(eq(a, infinity), high, select(eq(a, -infinity), low, y));
    });
}
void replaced_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const Replacements values = {float_attribute(call, 0), float_attribute(call, 1),
                                 float_attribute(call, 2)};
    const int dtype = operand(call, 0)->dtype;
    RunKernel kernel = nullptr;
    if (dtype == AC_FLOAT32) kernel = replaced_run<float>;
    if (dtype == AC_FLOAT64) kernel = replaced_run<double>;
    call_elementwise(call, context, status, 2, kernel, Cost::cheap, &values);
}

// ---- the bits of the number next to another
//
// Below its sign bit a float's bits are in the order of its size.
template <class T>
struct float_bits;
template <>
struct float_bits<int32_t> {
    static constexpr int32_t infinite = 0x7f800000, nan = 0x7fc00000;
};
template <>
struct float_bits<int64_t> {
    static constexpr int64_t infinite = 0x7ff0000000000000, nan = 0x7ff8000000000000;
};

template <class T>
AC_INLINE T all_if(bool condition) {
    return static_cast<T>(-static_cast<T>(condition));
}

struct NextBits {
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        constexpr T sign = static_cast<T>(T(1) << (8 * sizeof(T) - 2) << 1);
        const T size_a = a & ~sign, size_b = b & ~sign;
        // Away from 0 where b is beyond a on its side. All bits or none, so that the
        // compiler makes vectors of it.
        const T away = all_if<T>((a ^ b) >= 0) & all_if<T>(size_b > size_a);
        const T at_0 = all_if<T>(size_a == 0);
        const T moved = static_cast<T>(wrap(a) - 1 - 2 * wrap(away));
        const T next = (at_0 & ((b & sign) | T(1))) | (~at_0 & moved);
        const T equal = all_if<T>(a == b) | all_if<T>((size_a | size_b) == 0);
        const T found = (equal & b) | (~equal & next);
        const T nan = all_if<T>(size_a > float_bits<T>::infinite) |
                      all_if<T>(size_b > float_bits<T>::infinite);
        return (nan & float_bits<T>::nan) | (~nan & found);
    }
};
void next_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 0)->dtype;
    RunKernel kernel = nullptr;
    if (dtype == AC_INT32) kernel = int_binary_run<int32_t, NextBits>;
    if (dtype == AC_INT64) kernel = int_binary_run<int64_t, NextBits>;
    call_elementwise(call, context, status, 3, kernel, Cost::cheap);
}

const ac_kernel_entry entries[] = {
    {"copysign", "~ out ; a b", binary_kernel<Copysign>, nullptr, nullptr, 0.2,
     float_dtypes, nullptr},
    {"heaviside", "~ out ; a b", binary_kernel<Heaviside>, nullptr, nullptr, 0.2,
     all_dtypes, nullptr},
    {"signbit", "~ out ; a", signbit_kernel, nullptr, nullptr, 0.15, float_dtypes,
     nullptr},
    {"nan_to_num", "~ out ; a ; nan:float posinf:float neginf:float", replaced_kernel,
     nullptr, nullptr, 0.2, float_dtypes, nullptr},
    {"next_float_bits", "~ out ; a b", next_kernel, nullptr, nullptr, 0.2,
     1u << AC_INT32 | 1u << AC_INT64, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(signs, entries);
}  // namespace autocalc::simd::AC_ISA
