// SPDX-License-Identifier: MIT
//
// Elementwise arithmetic: sums, products, extrema, and what needs no series.
#include "common/families.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Booleans add as "or" and multiply as "and", like NumPy's.
struct Or {
    static AC_INLINE uint8_t scalar(uint8_t a, uint8_t b) { return a | b; }
};
struct And {
    static AC_INLINE uint8_t scalar(uint8_t a, uint8_t b) { return a & b; }
};

struct Add {
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    using Bool = Or;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return a + b;
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return static_cast<T>(wrap(a) + wrap(b));
    }
};

struct Sub {
    static constexpr Ints ints = Ints::numbers;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return a - b;
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return static_cast<T>(wrap(a) - wrap(b));
    }
};

struct Mul {
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    using Bool = And;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return a * b;
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        // 1u: 16-bit factors would be promoted to int, whose overflow is undefined.
        return static_cast<T>(1u * wrap(a) * wrap(b));
    }
};

// A weight of 0 counts for nothing, of infinities as well.
struct Weigh {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a, vec<T> b) {
        return keep(~le(abs(a), zero<T>()) | is_nan(b), a * b);
    }
};

struct Div {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return a / b;
    }
};

struct Maximum {
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    using Bool = Or;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return maximum(a, b);
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return larger(a, b);
    }
};

struct Minimum {
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    using Bool = And;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return minimum(a, b);
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return smaller(a, b);
    }
};

// Of a number and NaN, the number.
struct Fmax {
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    using Bool = Or;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return select(is_nan(b), a, max(a, b));  // of NaN the second operand
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return larger(a, b);
    }
};

struct Fmin {
    static constexpr Ints ints = Ints::with_bool;
    static constexpr Cost cost = Cost::cheap;
    using Bool = And;
    template <class V>
    static AC_INLINE V apply(V a, V b) {
        return select(is_nan(b), a, min(a, b));
    }
    template <class T>
    static AC_INLINE T scalar(T a, T b) {
        return smaller(a, b);
    }
};

struct Reciprocal {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a) {
        return set1<T>(1) / a;
    }
};

struct Neg {
    static constexpr Ints ints = Ints::numbers;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a) {
        return -a;
    }
    template <class T>
    static AC_INLINE T scalar(T a) {
        return static_cast<T>(0u - wrap(a));
    }
};

struct Abs {
    static constexpr Ints ints = Ints::numbers;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a) {
        return abs(a);
    }
    template <class T>
    static AC_INLINE T scalar(T a) {
        return a < T(0) ? static_cast<T>(0u - wrap(a)) : a;
    }
};

struct Sqrt {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a) {
        return sqrt_by_fma(a);
    }
};

struct Rsqrt {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a) {
        return set1<T>(1) / sqrt_by_fma(a);
    }
};

struct Relu {
    static constexpr Ints ints = Ints::numbers;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a) {
        return max(zero<T>(), a);  // keeps NaN, the second operand
    }
    template <class T>
    static AC_INLINE T scalar(T a) {
        return larger(a, T(0));
    }
};

struct ReluBackward {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> g, vec<T> y) {
        return keep(~le(y, zero<T>()), g);  // g where y is NaN
    }
};

struct SigmoidBackward {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> g, vec<T> y) {
        return g * (y * (set1<T>(1) - y));
    }
};

struct TanhBackward {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> g, vec<T> y) {
        return g * ((set1<T>(1) - y) * (set1<T>(1) + y));  // 1 - y * y would cancel
    }
};

struct Floor {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V a) {
        return floor(a);
    }
};
struct Ceil {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V a) {
        return ceil(a);
    }
};
struct Trunc {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V a) {
        return trunc(a);
    }
};
struct Even {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V a) {
        return round_even(a);
    }
};

void round_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 0)->dtype;
    RunKernel kernel = nullptr;
    switch (int_attribute(call, 0)) {
        case 0:
            kernel = unary_for<Floor>(dtype);
            break;
        case 1:
            kernel = unary_for<Ceil>(dtype);
            break;
        case 2:
            kernel = unary_for<Trunc>(dtype);
            break;
        default:
            kernel = unary_for<Even>(dtype);
            break;
    }
    call_elementwise(call, context, status, 2, kernel, Cost::cheap);
}

// clamp: absent limits leave one of the extrema, or a copy.
struct Clamp {
    static constexpr Ints ints = Ints::numbers;
    template <class V>
    static AC_INLINE V apply(V a, V low, V high) {
        return minimum(maximum(a, low), high);
    }
    template <class T>
    static AC_INLINE T scalar(T a, T low, T high) {
        return smaller(larger(a, low), high);
    }
};
struct Same {
    static constexpr Ints ints = Ints::numbers;
    template <class V>
    static AC_INLINE V apply(V a) {
        return a;
    }
    template <class T>
    static AC_INLINE T scalar(T a) {
        return a;
    }
};

void clamp_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* low = operand(call, 2);
    const ac_array* high = operand(call, 3);
    const ac_array* arrays[max_operands] = {operand(call, 0), operand(call, 1),
                                            low ? low : high, high};
    const int dtype = arrays[0]->dtype;
    RunKernel kernel = nullptr;
    int n = 3;
    if (low && high) {
        kernel = ternary_for<Clamp>(dtype);
        n = 4;
    } else if (low) {
        kernel = binary_for<Maximum>(dtype);
    } else if (high) {
        kernel = binary_for<Minimum>(dtype);
    } else {
        kernel = unary_for<Same>(dtype);
        n = 2;
    }
    if (kernel == nullptr) return unsupported(status);
    elementwise(context, arrays, n, kernel, nullptr, Cost::cheap);
    done(status);
}

// y += alpha x; y is among the operands twice, written and read.
template <class T>
void axpy_run(void* const* operands, int64_t n, const void* parameters) {
    constexpr int64_t lanes = vec<T>::lanes;
    T* out = static_cast<T*>(operands[0]);
    const T* y = static_cast<const T*>(operands[1]);
    const T* x = static_cast<const T*>(operands[2]);
    const vec<T> alpha = set1(*static_cast<const T*>(parameters));
    int64_t i = head_of(out, n);
    if (i > 0) store_first(out, fma(alpha, load_first(x, i), load_first(y, i)), i);
    for (; i + lanes <= n; i += lanes) {
        store(out + i, fma(alpha, load(x + i), load(y + i)));
    }
    if (i < n) {
        store_first(out + i,
                    fma(alpha, load_first(x + i, n - i), load_first(y + i, n - i)),
                    n - i);
    }
}

void axpy_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* y = operand(call, 0);
    const ac_array* arrays[3] = {y, y, operand(call, 2)};
    RunKernel kernel = nullptr;
    if (y->dtype == AC_FLOAT32) kernel = axpy_run<float>;
    if (y->dtype == AC_FLOAT64) kernel = axpy_run<double>;
    if (kernel == nullptr) return unsupported(status);
    elementwise(context, arrays, 3, kernel, operand(call, 1)->data, Cost::cheap);
    done(status);
}

const ac_kernel_entry entries[] = {
    {"add", "~ out ; a b", binary_kernel<Add>, nullptr, nullptr, 0.2, all_dtypes,
     nullptr},
    {"sub", "~ out ; a b", binary_kernel<Sub>, nullptr, nullptr, 0.2, number_dtypes,
     nullptr},
    {"mul", "~ out ; a b", binary_kernel<Mul>, nullptr, nullptr, 0.2, all_dtypes,
     nullptr},
    {"weigh", "~ out ; a b", binary_kernel<Weigh>, nullptr, nullptr, 0.2, float_dtypes,
     nullptr},
    {"div", "~ out ; a b", binary_kernel<Div>, nullptr, nullptr, 0.3, float_dtypes,
     nullptr},
    {"maximum", "~ out ; a b", binary_kernel<Maximum>, nullptr, nullptr, 0.2,
     all_dtypes, nullptr},
    {"minimum", "~ out ; a b", binary_kernel<Minimum>, nullptr, nullptr, 0.2,
     all_dtypes, nullptr},
    {"fmax", "~ out ; a b", binary_kernel<Fmax>, nullptr, nullptr, 0.2, all_dtypes,
     nullptr},
    {"fmin", "~ out ; a b", binary_kernel<Fmin>, nullptr, nullptr, 0.2, all_dtypes,
     nullptr},
    {"reciprocal", "~ out ; a", unary_kernel<Reciprocal>, nullptr, nullptr, 0.3,
     float_dtypes, nullptr},
    {"neg", "~ out ; a", unary_kernel<Neg>, nullptr, nullptr, 0.15, number_dtypes,
     nullptr},
    {"abs", "~ out ; a", unary_kernel<Abs>, nullptr, nullptr, 0.15, number_dtypes,
     nullptr},
    {"sqrt", "~ out ; a", unary_kernel<Sqrt>, nullptr, nullptr, 0.4, float_dtypes,
     nullptr},
    {"rsqrt", "~ out ; a", unary_kernel<Rsqrt>, nullptr, nullptr, 0.7, float_dtypes,
     nullptr},
    {"relu", "~ out ; a", unary_kernel<Relu>, nullptr, nullptr, 0.15, number_dtypes,
     nullptr},
    {"round", "~ out ; a ; mode:floor,ceil,trunc,even", round_kernel, nullptr, nullptr,
     0.15, float_dtypes, nullptr},
    {"clamp", "~ out ; a low? high?", clamp_kernel, nullptr, nullptr, 0.2,
     number_dtypes, nullptr},
    {"relu_backward", "~ out ; g y", binary_kernel<ReluBackward>, nullptr, nullptr, 0.2,
     float_dtypes, nullptr},
    {"sigmoid_backward", "~ out ; g y", binary_kernel<SigmoidBackward>, nullptr,
     nullptr, 0.2, float_dtypes, nullptr},
    {"tanh_backward", "~ out ; g y", binary_kernel<TanhBackward>, nullptr, nullptr, 0.2,
     float_dtypes, nullptr},
    {"axpy", "y ; alpha x", axpy_kernel, nullptr, nullptr, 0.2, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(arithmetic, entries);
}  // namespace autocalc::simd::AC_ISA
