// SPDX-License-Identifier: MIT
//
// sgd and adamw over lists of arrays: one pass over all parameters, cut into tiles
// across the list, with everything that is the same for all elements computed once.
#include "common/families.hpp"
#include "common/lists.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Halves are computed with in float32.
template <class T>
double rate_of(const ac_array* lr) {
    if (lr->dtype == AC_BFLOAT16) return double(wide_of(scalar<BFloat16>(lr)));
    if (lr->dtype == AC_FLOAT16) return double(wide_of(scalar<Float16>(lr)));
    return double(scalar<T>(lr));
}

// ---- sgd
struct SgdParameters {
    double lr, momentum, undamped, weight_decay, sign;
};
enum class Buffer { absent, first, later };

template <class T, Buffer buffer, bool decay, bool nesterov>
void sgd_run(void* const* operands, int64_t n, const void* parameters) {
    const SgdParameters& s = *static_cast<const SgdParameters*>(parameters);
    constexpr int last = buffer == Buffer::absent ? 1 : 2;
    T* params = static_cast<T*>(operands[0]);
    T* buffers = static_cast<T*>(operands[last == 2 ? 1 : 0]);
    const T* grads = static_cast<const T*>(operands[last]);
    const vec<T> lr = set1<T>(T(s.lr)), sign = set1<T>(T(s.sign));
    const vec<T> momentum = set1<T>(T(s.momentum)), undamped = set1<T>(T(s.undamped));
    const vec<T> weight_decay = set1<T>(T(s.weight_decay));
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> p = part.get(params + i);
        vec<T> g = part.get(grads + i) * sign;
        if constexpr (decay) g = fma(weight_decay, p, g);
        if constexpr (buffer != Buffer::absent) {
            vec<T> b = g;
            if constexpr (buffer == Buffer::later) {
                b = fma(momentum, part.get(buffers + i), undamped * g);
            }
            part.put(buffers + i, flushed(b));
            g = nesterov ? fma(momentum, b, g) : b;
        }
        part.put(params + i, fnma(lr, g, p));
    });
}

template <class T, Buffer buffer>
RunKernel sgd_for(bool decay, bool nesterov) {
    if (decay)
        return nesterov ? sgd_run<T, buffer, true, true>
                        : sgd_run<T, buffer, true, false>;
    return nesterov ? sgd_run<T, buffer, false, true>
                    : sgd_run<T, buffer, false, false>;
}

template <class T>
void sgd_floats(const ac_call* call, ac_context* context, ac_status* status) {
    SgdParameters s;
    s.lr = rate_of<T>(operand(call, 3));
    s.momentum = float_attribute(call, 0);
    s.undamped = 1 - float_attribute(call, 1);
    s.weight_decay = float_attribute(call, 2);
    s.sign = int_attribute(call, 4) ? -1 : 1;
    const bool nesterov = int_attribute(call, 3) != 0, decay = s.weight_decay != 0;
    const bool is_first = scalar<int64_t>(operand(call, 4)) == 1;
    Group group = {{&list(call, 0), &list(call, 2), nullptr, nullptr}, 2, 1};
    RunKernel kernel = sgd_for<T, Buffer::absent>(decay, false);
    if (s.momentum != 0) {
        group = {{&list(call, 0), &list(call, 1), &list(call, 2), nullptr}, 3, 2};
        kernel = is_first ? sgd_for<T, Buffer::first>(decay, nesterov)
                          : sgd_for<T, Buffer::later>(decay, nesterov);
    }
    update(context, group, kernel, &s);
    done(status);
}

// ---- adamw
struct AdamParameters {
    double one_minus_beta1, beta2, one_minus_beta2, eps, weight_decay, sign;
    double step_size;     // lr / (1 - beta1^t)
    double inverse_root;  // 1 / sqrt(1 - beta2^t)
    double shrink;        // 1 - lr weight_decay
    double least;         // slope whose square counts
};
enum class Decay { none, decoupled, gradient };

template <class T, Decay decay>
void adamw_run(void* const* operands, int64_t n, const void* parameters) {
    const AdamParameters& s = *static_cast<const AdamParameters*>(parameters);
    T* params = static_cast<T*>(operands[0]);
    T* means = static_cast<T*>(operands[1]);
    T* squares = static_cast<T*>(operands[2]);
    const T* grads = static_cast<const T*>(operands[3]);
    const vec<T> one_minus_beta1 = set1<T>(T(s.one_minus_beta1));
    const vec<T> beta2 = set1<T>(T(s.beta2));
    const vec<T> one_minus_beta2 = set1<T>(T(s.one_minus_beta2));
    const vec<T> eps = set1<T>(T(s.eps)), sign = set1<T>(T(s.sign));
    const vec<T> step_size = set1<T>(T(s.step_size)), shrink = set1<T>(T(s.shrink));
    const vec<T> inverse_root = set1<T>(T(s.inverse_root));
    const vec<T> weight_decay = set1<T>(T(s.weight_decay)), least = set1<T>(T(s.least));
    each_vector<T>(n, [&](int64_t i, auto part) {
        vec<T> p = part.get(params + i);
        vec<T> g = part.get(grads + i) * sign;
        if constexpr (decay == Decay::decoupled) p = p * shrink;
        if constexpr (decay == Decay::gradient) g = fma(weight_decay, p, g);
        vec<T> m = part.get(means + i);
        m = fma(one_minus_beta1, g - m, m);
        const vec<T> counts = keep(~lt(abs(g), least), g);
        const vec<T> v =
            fma(one_minus_beta2, counts * counts, beta2 * part.get(squares + i));
        part.put(means + i, flushed(m));
        part.put(squares + i, flushed(v));
        const vec<T> denominator = fma(sqrt_by_fma(v), inverse_root, eps);
        part.put(params + i, fnma(step_size, m / denominator, p));
    });
}

template <class T>
void adamw_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const double lr = rate_of<T>(operand(call, 4));
    const double step = static_cast<double>(scalar<int64_t>(operand(call, 5)));
    const double beta1 = float_attribute(call, 0), beta2 = float_attribute(call, 1);
    AdamParameters s;
    s.one_minus_beta1 = 1 - beta1;
    s.beta2 = beta2;
    s.one_minus_beta2 = 1 - beta2;
    s.eps = float_attribute(call, 2);
    s.weight_decay = float_attribute(call, 3);
    s.sign = int_attribute(call, 5) ? -1 : 1;
    s.step_size = lr / (1 - __builtin_pow(beta1, step));
    s.inverse_root = 1 / __builtin_sqrt(1 - __builtin_pow(beta2, step));
    s.shrink = 1 - lr * s.weight_decay;
    // A smaller slope makes a subnormal square, which is nothing next to such an eps.
    const double tiny = limits<T>::smallest_normal;
    s.least = s.eps < 1e-10 ? 0 : __builtin_sqrt(tiny / s.one_minus_beta2);
    RunKernel kernel = adamw_run<T, Decay::none>;
    if (s.weight_decay != 0) {
        kernel = int_attribute(call, 4) ? adamw_run<T, Decay::decoupled>
                                        : adamw_run<T, Decay::gradient>;
    }
    const Group group = {
        {&list(call, 0), &list(call, 1), &list(call, 2), &list(call, 3)}, 4, 3};
    update(context, group, kernel, &s);
    done(status);
}

void sgd_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 3)->dtype == AC_FLOAT64) {
        sgd_floats<double>(call, context, status);
    } else {
        sgd_floats<float>(call, context, status);
    }
}
void adamw_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 4)->dtype == AC_FLOAT64) {
        adamw_floats<double>(call, context, status);
    } else {
        adamw_floats<float>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"sgd",
     "params* buffers* ; grads* lr step ; momentum:float dampening:float "
     "weight_decay:float nesterov:bool maximize:bool",
     sgd_kernel, group_refusal, nullptr, 0.1, float_dtypes | half_dtypes, nullptr},
    {"adamw",
     "params* exp_avg* exp_avg_sq* ; grads* lr step ; beta1:float beta2:float "
     "eps:float "
     "weight_decay:float decoupled:bool maximize:bool",
     adamw_kernel, group_refusal, nullptr, 0.15, float_dtypes | half_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(sgd_adamw, entries);
}  // namespace autocalc::simd::AC_ISA
