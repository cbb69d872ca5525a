// SPDX-License-Identifier: MIT
//
// Bits of integers and booleans, and signs.
#include "common/families.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

#define AC_BITWISE(Name, expression)           \
    struct Name {                              \
        template <class T>                     \
        static AC_INLINE T scalar(T a, T b) {  \
            return static_cast<T>(expression); \
        }                                      \
    };
AC_BITWISE(BitsInBoth, a& b)
AC_BITWISE(BitsInEither, a | b)
AC_BITWISE(BitsInOne, a ^ b)
#undef AC_BITWISE

// By Euclid's algorithm on the magnitudes.
struct CommonDivisor {
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        auto x = a < T(0) ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
        auto y = b < T(0) ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
        while (y != 0) {
            const uint64_t rest = x % y;
            x = y;
            y = rest;
        }
        return static_cast<T>(x);
    }
};

// What is too large is cut, as products of integers are.
struct CommonMultiple {
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        const T divisor = CommonDivisor::scalar(a, b);
        if (divisor == 0) return 0;
        const auto share = static_cast<uint64_t>(a / divisor);
        const T product = static_cast<T>(share * static_cast<uint64_t>(b));
        return product < T(0) ? static_cast<T>(0 - static_cast<uint64_t>(product))
                              : product;
    }
};

struct OtherBits {
    template <class T>
    static AC_INLINE T scalar(T a) {
        return static_cast<T>(~a);
    }
};
struct OtherTruth {
    static AC_INLINE uint8_t scalar(uint8_t a) { return a ^ 1; }
};

// By the width or more nothing is left, as NumPy has it; of a negative number, -1.
template <class T>
constexpr uint64_t width = 8 * sizeof(T);
struct ShiftLeft {
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        const uint64_t by = static_cast<uint64_t>(wrap(b));
        return by < width<T> ? static_cast<T>(static_cast<uint64_t>(wrap(a)) << by)
                             : T(0);
    }
};
struct ShiftRight {
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        const uint64_t by = static_cast<uint64_t>(wrap(b));
        return static_cast<T>(a >> (by < width<T> ? by : width<T> - 1) >>
                              (by < width<T> ? 0 : 1));
    }
};

struct Sign {
    static constexpr Ints ints = Ints::numbers;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a) {
        const vec<T> one = set1<T>(1);
        return keep(gt(a, zero<T>()), one) - keep(lt(a, zero<T>()), one);
    }
    template <class T>
    static AC_INLINE T scalar(T a) {
        return static_cast<T>((a > T(0)) - (a < T(0)));
    }
};

template <class Op, template <class, class> class Run>
AC_INLINE RunKernel int_run_for(int dtype) {
    switch (dtype) {
        case AC_INT8:
            return Run<int8_t, Op>::run;
        case AC_INT16:
            return Run<int16_t, Op>::run;
        case AC_INT32:
            return Run<int32_t, Op>::run;
        case AC_INT64:
            return Run<int64_t, Op>::run;
        case AC_UINT8:
            return Run<uint8_t, Op>::run;
        default:
            return nullptr;
    }
}
template <class T, class Op>
struct UnaryRun {
    static constexpr RunKernel run = int_unary_run<T, Op>;
};
template <class T, class Op>
struct BinaryRun {
    static constexpr RunKernel run = int_binary_run<T, Op>;
};

template <class Op>
void bitwise_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 0)->dtype;
    const RunKernel kernel = dtype == AC_BOOL ? int_binary_run<uint8_t, Op>
                                              : int_run_for<Op, BinaryRun>(dtype);
    call_elementwise(call, context, status, 3, kernel, Cost::cheap);
}
template <class Op>
void integer_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    call_elementwise(call, context, status, 3,
                     int_run_for<Op, BinaryRun>(operand(call, 0)->dtype), Cost::cheap);
}
void not_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 0)->dtype;
    const RunKernel kernel = dtype == AC_BOOL ? int_unary_run<uint8_t, OtherTruth>
                                              : int_run_for<OtherBits, UnaryRun>(dtype);
    call_elementwise(call, context, status, 2, kernel, Cost::cheap);
}

const ac_kernel_entry entries[] = {
    {"bitwise_and", "~ out ; a b", bitwise_kernel<BitsInBoth>, nullptr, nullptr, 0.2,
     int_dtypes | bool_dtype, nullptr},
    {"bitwise_or", "~ out ; a b", bitwise_kernel<BitsInEither>, nullptr, nullptr, 0.2,
     int_dtypes | bool_dtype, nullptr},
    {"bitwise_xor", "~ out ; a b", bitwise_kernel<BitsInOne>, nullptr, nullptr, 0.2,
     int_dtypes | bool_dtype, nullptr},
    {"bitwise_not", "~ out ; a", not_kernel, nullptr, nullptr, 0.15,
     int_dtypes | bool_dtype, nullptr},
    {"bitwise_left_shift", "~ out ; a b", integer_kernel<ShiftLeft>, nullptr, nullptr,
     0.2, int_dtypes, nullptr},
    {"bitwise_right_shift", "~ out ; a b", integer_kernel<ShiftRight>, nullptr, nullptr,
     0.2, int_dtypes, nullptr},
    {"gcd", "~ out ; a b", integer_kernel<CommonDivisor>, nullptr, nullptr, 20.0,
     int_dtypes, nullptr},
    {"lcm", "~ out ; a b", integer_kernel<CommonMultiple>, nullptr, nullptr, 25.0,
     int_dtypes, nullptr},
    {"sign", "~ out ; a", unary_kernel<Sign>, nullptr, nullptr, 0.15, number_dtypes,
     nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(bits, entries);
}  // namespace autocalc::simd::AC_ISA
