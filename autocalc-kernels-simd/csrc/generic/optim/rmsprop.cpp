// SPDX-License-Identifier: MIT
//
// rmsprop over lists of arrays, in one pass.
#include "common/families.hpp"
#include "common/lists.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct RmspropParameters {
    double lr, alpha, one_minus_alpha, eps, weight_decay, momentum, sign;
};

// Operands: params, square_avg, buffers if there is momentum, grad_avg if `centered`,
// grads.
template <class T, bool momentum, bool centered, bool decay>
void rmsprop_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const RmspropParameters*>(parameters);
    constexpr int mean_at = momentum ? 3 : 2, last = mean_at + (centered ? 1 : 0);
    T* params = static_cast<T*>(operands[0]);
    T* squares = static_cast<T*>(operands[1]);
    T* buffers = static_cast<T*>(operands[momentum ? 2 : 0]);
    T* means = static_cast<T*>(operands[centered ? mean_at : 0]);
    const T* grads = static_cast<const T*>(operands[last]);
    const vec<T> lr = set1<T>(T(s.lr)), sign = set1<T>(T(s.sign));
    const vec<T> alpha = set1<T>(T(s.alpha)), eps = set1<T>(T(s.eps));
    const vec<T> one_minus_alpha = set1<T>(T(s.one_minus_alpha));
    const vec<T> weight_decay = set1<T>(T(s.weight_decay));
    const vec<T> momentum_factor = set1<T>(T(s.momentum));
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> p = part.get(params + i);
        vec<T> g = part.get(grads + i) * sign;
        if constexpr (decay) g = fma(weight_decay, p, g);
        const vec<T> v = fma(one_minus_alpha, g * g, alpha * part.get(squares + i));
        part.put(squares + i, flushed(v));
        vec<T> spread = v;
        if constexpr (centered) {
            vec<T> m = part.get(means + i);
            m = fma(one_minus_alpha, g - m, m);
            part.put(means + i, flushed(m));
            spread = max(zero<T>(), fnma(m, m, v));  // keeps NaN, the second operand
        }
        vec<T> change = g / (sqrt(spread) + eps);
        if constexpr (momentum) {
            change = fma(momentum_factor, part.get(buffers + i), change);
            part.put(buffers + i, flushed(change));
        }
        part.put(params + i, fnma(lr, change, p));
    });
}

template <class T, bool momentum, bool centered>
RunKernel rmsprop_for(bool decay) {
    return decay ? rmsprop_run<T, momentum, centered, true>
                 : rmsprop_run<T, momentum, centered, false>;
}

template <class T>
void rmsprop_floats(const ac_call* call, ac_context* context, ac_status* status) {
    RmspropParameters s;
    s.lr = double(scalar<T>(operand(call, 5)));
    s.alpha = float_attribute(call, 0);
    s.one_minus_alpha = 1 - s.alpha;
    s.eps = float_attribute(call, 1);
    s.weight_decay = float_attribute(call, 2);
    s.momentum = float_attribute(call, 3);
    s.sign = int_attribute(call, 5) ? -1 : 1;
    const bool centered = int_attribute(call, 4) != 0, decay = s.weight_decay != 0;
    Group group = {{&list(call, 0), &list(call, 1)}, 2, 2};
    if (s.momentum != 0) group.lists[group.operands++] = &list(call, 2);
    if (centered) group.lists[group.operands++] = &list(call, 3);
    group.written = group.operands;
    group.lists[group.operands++] = &list(call, 4);
    RunKernel kernel = nullptr;
    if (s.momentum != 0) {
        kernel = centered ? rmsprop_for<T, true, true>(decay)
                          : rmsprop_for<T, true, false>(decay);
    } else {
        kernel = centered ? rmsprop_for<T, false, true>(decay)
                          : rmsprop_for<T, false, false>(decay);
    }
    update(context, group, kernel, &s);
    done(status);
}

void rmsprop_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 5)->dtype == AC_FLOAT32) {
        rmsprop_floats<float>(call, context, status);
    } else {
        rmsprop_floats<double>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"rmsprop",
     "params* square_avg* buffers* grad_avg* ; grads* lr ; alpha:float eps:float "
     "weight_decay:float momentum:float centered:bool maximize:bool",
     rmsprop_kernel, nullptr, nullptr, 0.15, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(rmsprop, entries);
}  // namespace autocalc::simd::AC_ISA
