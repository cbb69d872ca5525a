// SPDX-License-Identifier: MIT
//
// Activations with a tail and piecewise linear ones, and their backward kernels, which
// take the forward's input, that of hardtanh its result: one pass each.
#include "common/families.hpp"
#include "elementwise/activation_math.hpp"
#include "elementwise/exponential_math.hpp"
#include "elementwise/piecewise.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_FUNCTION(Silu, silu)
AC_FUNCTION(Gelu, gelu)
AC_FUNCTION(GeluTanh, gelu_tanh)

#define AC_SLOPE(Name, slope)                      \
    struct Name {                                  \
        static constexpr Ints ints = Ints::no;     \
        static constexpr Cost cost = Cost::costly; \
        template <class V>                         \
        static AC_INLINE V apply(V g, V a) {       \
            return g * slope(a);                   \
        }                                          \
    };
AC_SLOPE(SiluBackward, silu_slope)
AC_SLOPE(GeluBackward, gelu_slope)
AC_SLOPE(GeluTanhBackward, gelu_tanh_slope)
#undef AC_SLOPE

// ---- the loss of logits of two classes: yes log(1 + e^-a) + no log(1 + e^a)
struct LogisticLoss {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::costly;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a, vec<T> yes, vec<T> no) {
        const vec<T> size = abs(a), share = select(gt(a, zero<T>()), no, yes);
        const vec<T> line = keep(~le(abs(share), zero<T>()) | is_nan(a), share * size);
        return fma(yes + no, log_one_plus(exp_negative(-size)), line);
    }
};

struct LogisticSlope {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::costly;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a, vec<T> yes, vec<T> no) {
        vec<T> s, other;
        both_sigmoids(a, s, other);
        return no * s - yes * other;
    }
};

template <class Op>
void ternary_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const RunKernel kernel = ternary_for<Op>(operand(call, 0)->dtype);
    call_elementwise(call, context, status, 4, kernel, Op::cost);
}

enum Approximate { approximate_none, approximate_tanh };

void gelu_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 0)->dtype;
    const RunKernel kernel = int_attribute(call, 0) == approximate_tanh
                                 ? unary_for<GeluTanh>(dtype)
                                 : unary_for<Gelu>(dtype);
    call_elementwise(call, context, status, 2, kernel, Cost::costly);
}

void gelu_backward_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 0)->dtype;
    const RunKernel kernel = int_attribute(call, 0) == approximate_tanh
                                 ? binary_for<GeluTanhBackward>(dtype)
                                 : binary_for<GeluBackward>(dtype);
    call_elementwise(call, context, status, 3, kernel, Cost::costly);
}

// ---- softplus: log(1 + e^(beta a)) / beta, and a itself where beta a > threshold
struct SoftplusParameters {
    double beta, threshold;
};

template <class T>
void softplus_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const SoftplusParameters*>(parameters);
    const vec<T> beta = set1<T>(T(s.beta)), threshold = set1<T>(T(s.threshold));
    const vec<T> scale = set1<T>(T(1 / s.beta));
    unary_elements<T>(operands, n, [&](vec<T> a) AC_INLINE_LAMBDA {
        const vec<T> z = beta * a;
        return select(gt(z, threshold), a, softplus(z) * scale);
    });
}

template <class T>
void softplus_backward_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const SoftplusParameters*>(parameters);
    const vec<T> beta = set1<T>(T(s.beta)), threshold = set1<T>(T(s.threshold));
    binary_elements<T>(operands, n, [&](vec<T> g, vec<T> a) AC_INLINE_LAMBDA {
        const vec<T> z = beta * a;
        return select(gt(z, threshold), g, g * sigmoid(z));
    });
}

void call_softplus(const ac_call* call, ac_context* context, ac_status* status,
                   int operands, RunKernel floats, RunKernel doubles) {
    const SoftplusParameters s = {float_attribute(call, 0), float_attribute(call, 1)};
    const bool is_float = operand(call, 0)->dtype == AC_FLOAT32;
    call_elementwise(call, context, status, operands, is_float ? floats : doubles,
                     Cost::costly, &s);
}
void softplus_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    call_softplus(call, context, status, 2, softplus_run<float>, softplus_run<double>);
}
void softplus_backward_kernel(const ac_call* call, ac_context* context,
                              ac_status* status) {
    call_softplus(call, context, status, 3, softplus_backward_run<float>,
                  softplus_backward_run<double>);
}

// ---- elu: a, or alpha (e^(rate a) - 1) where a is not above 0, times scale
struct EluParameters {
    double alpha, rate, scale;
};

template <class T>
void elu_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const EluParameters*>(parameters);
    const vec<T> alpha = set1<T>(T(s.alpha)), rate = set1<T>(T(s.rate));
    const vec<T> scale = set1<T>(T(s.scale));
    unary_elements<T>(operands, n, [&](vec<T> a) AC_INLINE_LAMBDA {
        const mask<T> above = gt(a, zero<T>());
        const vec<T> z = rate * select(above, zero<T>(), a);
        return scale * select(above, a, alpha * expm1(z));
    });
}

template <class T>
void elu_backward_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const EluParameters*>(parameters);
    const vec<T> slope = set1<T>(T(s.alpha * s.rate * s.scale));
    const vec<T> rate = set1<T>(T(s.rate)), scale = set1<T>(T(s.scale));
    binary_elements<T>(operands, n, [&](vec<T> g, vec<T> a) AC_INLINE_LAMBDA {
        return g * select(gt(a, zero<T>()), scale, slope * exp(rate * a));
    });
}

void call_elu(const ac_call* call, ac_context* context, ac_status* status, int operands,
              RunKernel floats, RunKernel doubles) {
    const EluParameters s = {float_attribute(call, 0), float_attribute(call, 1),
                             float_attribute(call, 2)};
    const bool is_float = operand(call, 0)->dtype == AC_FLOAT32;
    call_elementwise(call, context, status, operands, is_float ? floats : doubles,
                     Cost::costly, &s);
}
void elu_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    call_elu(call, context, status, 2, elu_run<float>, elu_run<double>);
}
void elu_backward_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    call_elu(call, context, status, 3, elu_backward_run<float>,
             elu_backward_run<double>);
}

// ---- piecewise linear
struct Hardswish {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V a) {
        return hardswish(a);
    }
};
struct HardswishBackward {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::cheap;
    template <class V>
    static AC_INLINE V apply(V g, V a) {
        return hardswish_gradient(g, a);
    }
};

struct PiecewiseParams {
    double first, second;  // limits, or a slope
};

template <class T>
void hardtanh_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const PiecewiseParams*>(parameters);
    const vec<T> low = set1<T>(T(s.first)), high = set1<T>(T(s.second));
    unary_elements<T>(operands, n, [&](vec<T> a) AC_INLINE_LAMBDA {
        return hardtanh<T>(a, low, high);
    });
}
template <class T>
void hardtanh_backward_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const PiecewiseParams*>(parameters);
    const vec<T> low = set1<T>(T(s.first)), high = set1<T>(T(s.second));
    binary_elements<T>(operands, n, [&](vec<T> g, vec<T> y) AC_INLINE_LAMBDA {
        return hardtanh_gradient<T>(g, y, low, high);
    });
}
template <class T>
void leaky_relu_run(void* const* operands, int64_t n, const void* parameters) {
    const vec<T> slope =
        set1<T>(T(static_cast<const PiecewiseParams*>(parameters)->first));
    unary_elements<T>(operands, n,
                      [&](vec<T> a) AC_INLINE_LAMBDA { return leaky<T>(a, a, slope); });
}
template <class T>
void leaky_relu_backward_run(void* const* operands, int64_t n, const void* parameters) {
    const vec<T> slope =
        set1<T>(T(static_cast<const PiecewiseParams*>(parameters)->first));
    binary_elements<T>(operands, n, [&](vec<T> g, vec<T> a) AC_INLINE_LAMBDA {
        return leaky<T>(g, a, slope);
    });
}

template <int operands, int attributes>
void piecewise_kernel(const ac_call* call, ac_context* context, ac_status* status,
                      RunKernel floats, RunKernel doubles) {
    PiecewiseParams s = {float_attribute(call, 0), 0};
    if constexpr (attributes == 2) s.second = float_attribute(call, 1);
    const bool is_float = operand(call, 0)->dtype == AC_FLOAT32;
    call_elementwise(call, context, status, operands, is_float ? floats : doubles,
                     Cost::cheap, &s);
}
void hardtanh_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    piecewise_kernel<2, 2>(call, context, status, hardtanh_run<float>,
                           hardtanh_run<double>);
}
void hardtanh_backward_kernel(const ac_call* call, ac_context* context,
                              ac_status* status) {
    piecewise_kernel<3, 2>(call, context, status, hardtanh_backward_run<float>,
                           hardtanh_backward_run<double>);
}
void leaky_relu_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    piecewise_kernel<2, 1>(call, context, status, leaky_relu_run<float>,
                           leaky_relu_run<double>);
}
void leaky_relu_backward_kernel(const ac_call* call, ac_context* context,
                                ac_status* status) {
    piecewise_kernel<3, 1>(call, context, status, leaky_relu_backward_run<float>,
                           leaky_relu_backward_run<double>);
}

// clamp_backward: g where the limits let a through. NaN meets one limit at least.
struct Through {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V g) {
        return g;
    }
};
struct AtLeast {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V g, V a, V low) {
        return keep(le(low, a), g);
    }
};
struct AtMost {
    static constexpr Ints ints = Ints::no;
    template <class V>
    static AC_INLINE V apply(V g, V a, V high) {
        return keep(le(a, high), g);
    }
};

template <class T>
void within_run(void* const* operands, int64_t n, const void*) {
    constexpr int64_t lanes = vec<T>::lanes;
    T* out = static_cast<T*>(operands[0]);
    const T *g = static_cast<const T*>(operands[1]),
            *a = static_cast<const T*>(operands[2]),
            *low = static_cast<const T*>(operands[3]),
            *high = static_cast<const T*>(operands[4]);
    for (int64_t i = 0; i < n; i += lanes) {
        const int64_t some = smaller(lanes, n - i);
        const vec<T> x = load_first(a + i, some), least = load_first(low + i, some);
        const mask<T> below = le(maximum(x, least), load_first(high + i, some));
        store_first(out + i, keep(below & le(least, x), load_first(g + i, some)), some);
    }
}

void clamp_backward_kernel(const ac_call* call, ac_context* context,
                           ac_status* status) {
    const ac_array *low = operand(call, 3), *high = operand(call, 4);
    const ac_array* arrays[max_operands] = {operand(call, 0), operand(call, 1),
                                            operand(call, 2), low ? low : high, high};
    const int dtype = arrays[0]->dtype;
    RunKernel kernel = unary_for<Through>(dtype);
    int n = 2;
    if (low && high) {
        kernel = dtype == AC_FLOAT32 ? within_run<float> : within_run<double>;
        n = 5;
    } else if (low || high) {
        kernel = low ? ternary_for<AtLeast>(dtype) : ternary_for<AtMost>(dtype);
        n = 4;
    }
    elementwise(context, arrays, n, kernel, nullptr, Cost::cheap);
    done(status);
}

const ac_kernel_entry entries[] = {
    {"silu", "~ out ; a", unary_kernel<Silu>, nullptr, nullptr, 0.5, float_dtypes,
     nullptr},
    {"silu_backward", "~ out ; g a", binary_kernel<SiluBackward>, nullptr, nullptr, 0.6,
     float_dtypes, nullptr},
    {"gelu", "~ out ; a ; approximate:none,tanh", gelu_kernel, nullptr, nullptr, 0.6,
     float_dtypes, nullptr},
    {"gelu_backward", "~ out ; g a ; approximate:none,tanh", gelu_backward_kernel,
     nullptr, nullptr, 1.0, float_dtypes, nullptr},
    {"logistic_loss", "~ out ; a yes no", ternary_kernel<LogisticLoss>, nullptr,
     nullptr, 1.0, float_dtypes, nullptr},
    {"logistic_slope", "~ out ; a yes no", ternary_kernel<LogisticSlope>, nullptr,
     nullptr, 0.8, float_dtypes, nullptr},
    {"softplus", "~ out ; a ; beta:float threshold:float", softplus_kernel, nullptr,
     nullptr, 1.0, float_dtypes, nullptr},
    {"softplus_backward", "~ out ; g a ; beta:float threshold:float",
     softplus_backward_kernel, nullptr, nullptr, 0.8, float_dtypes, nullptr},
    {"elu", "~ out ; a ; alpha:float rate:float scale:float", elu_kernel, nullptr,
     nullptr, 0.8, float_dtypes, nullptr},
    {"elu_backward", "~ out ; g a ; alpha:float rate:float scale:float",
     elu_backward_kernel, nullptr, nullptr, 0.6, float_dtypes, nullptr},
    {"hardtanh", "~ out ; a ; low:float high:float", hardtanh_kernel, nullptr, nullptr,
     0.15, float_dtypes, nullptr},
    {"hardtanh_backward", "~ out ; g y ; low:float high:float",
     hardtanh_backward_kernel, nullptr, nullptr, 0.2, float_dtypes, nullptr},
    {"leaky_relu", "~ out ; a ; slope:float", leaky_relu_kernel, nullptr, nullptr, 0.15,
     float_dtypes, nullptr},
    {"leaky_relu_backward", "~ out ; g a ; slope:float", leaky_relu_backward_kernel,
     nullptr, nullptr, 0.2, float_dtypes, nullptr},
    {"hardswish", "~ out ; a", unary_kernel<Hardswish>, nullptr, nullptr, 0.15,
     float_dtypes, nullptr},
    {"hardswish_backward", "~ out ; g a", binary_kernel<HardswishBackward>, nullptr,
     nullptr, 0.2, float_dtypes, nullptr},
    {"clamp_backward", "~ out ; g a low? high?", clamp_backward_kernel, nullptr,
     nullptr, 0.25, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(activations, entries);
}  // namespace autocalc::simd::AC_ISA
