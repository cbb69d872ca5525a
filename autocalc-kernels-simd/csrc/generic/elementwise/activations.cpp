// SPDX-License-Identifier: MIT
//
// Activations with a tail, and their backward kernels, which take the forward's input:
// one pass each.
#include "common/families.hpp"
#include "elementwise/activation_math.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

#define AC_ACTIVATION(Name, function)              \
    struct Name {                                  \
        static constexpr Ints ints = Ints::no;     \
        static constexpr Cost cost = Cost::costly; \
        template <class V>                         \
        static AC_INLINE V apply(V a) {            \
            return function(a);                    \
        }                                          \
    };
AC_ACTIVATION(Silu, silu)
AC_ACTIVATION(Gelu, gelu)
AC_ACTIVATION(GeluTanh, gelu_tanh)
#undef AC_ACTIVATION

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

const ac_kernel_entry entries[] = {
    {"silu", "~ out ; a", unary_kernel<Silu>, nullptr, nullptr, 0.5, float_dtypes,
     nullptr},
    {"silu_backward", "~ out ; g a", binary_kernel<SiluBackward>, nullptr, nullptr, 0.6,
     float_dtypes, nullptr},
    {"gelu", "~ out ; a ; approximate:none,tanh", gelu_kernel, nullptr, nullptr, 0.6,
     float_dtypes, nullptr},
    {"gelu_backward", "~ out ; g a ; approximate:none,tanh", gelu_backward_kernel,
     nullptr, nullptr, 1.0, float_dtypes, nullptr},
    {"softplus", "~ out ; a ; beta:float threshold:float", softplus_kernel, nullptr,
     nullptr, 1.0, float_dtypes, nullptr},
    {"softplus_backward", "~ out ; g a ; beta:float threshold:float",
     softplus_backward_kernel, nullptr, nullptr, 0.8, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(activations, entries);
}  // namespace autocalc::simd::AC_ISA
