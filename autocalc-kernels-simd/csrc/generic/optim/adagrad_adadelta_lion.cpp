// SPDX-License-Identifier: MIT
//
// adagrad, adadelta and lion over lists of arrays, in one pass each.
#include "common/families.hpp"
#include "common/lists.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The gradient to go down.
template <class T, bool decay>
struct Slope {
    vec<T> sign, weight_decay;
    Slope(bool maximize, double decay_)
        : sign(set1<T>(maximize ? T(-1) : T(1))), weight_decay(set1<T>(T(decay_))) {}
    AC_INLINE vec<T> operator()(vec<T> p, vec<T> g) const {
        g = g * sign;
        if constexpr (decay) g = fma(weight_decay, p, g);
        return g;
    }
};

// ---- adagrad

struct AdagradParameters {
    double rate, eps, weight_decay;
    bool maximize;
};

template <class T, bool decay>
void adagrad_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const AdagradParameters*>(parameters);
    T* params = static_cast<T*>(operands[0]);
    T* totals = static_cast<T*>(operands[1]);
    const T* grads = static_cast<const T*>(operands[2]);
    const Slope<T, decay> slope(s.maximize, s.weight_decay);
    const vec<T> rate = set1<T>(T(s.rate)), eps = set1<T>(T(s.eps));
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> p = part.get(params + i);
        const vec<T> g = slope(p, part.get(grads + i));
        const vec<T> total = fma(g, g, part.get(totals + i));
        part.put(totals + i, total);
        part.put(params + i, fnma(rate, g / (sqrt(total) + eps), p));
    });
}

template <class T>
void adagrad_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const double step = static_cast<double>(scalar<int64_t>(operand(call, 4)));
    AdagradParameters s;
    s.rate = double(scalar<T>(operand(call, 3))) /
             (1 + (step - 1) * float_attribute(call, 0));
    s.eps = float_attribute(call, 1);
    s.weight_decay = float_attribute(call, 2);
    s.maximize = int_attribute(call, 3) != 0;
    const Group group = {{&list(call, 0), &list(call, 1), &list(call, 2)}, 3, 2};
    update(context, group,
           s.weight_decay != 0 ? adagrad_run<T, true> : adagrad_run<T, false>, &s);
    done(status);
}

// ---- adadelta

struct AdadeltaParameters {
    double lr, rho, eps, weight_decay;
    bool maximize;
};

template <class T, bool decay>
void adadelta_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const AdadeltaParameters*>(parameters);
    T* params = static_cast<T*>(operands[0]);
    T* squares = static_cast<T*>(operands[1]);
    T* changes = static_cast<T*>(operands[2]);
    const T* grads = static_cast<const T*>(operands[3]);
    const Slope<T, decay> slope(s.maximize, s.weight_decay);
    const vec<T> lr = set1<T>(T(s.lr)), eps = set1<T>(T(s.eps));
    const vec<T> rho = set1<T>(T(s.rho)), rest = set1<T>(T(1 - s.rho));
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> p = part.get(params + i), u = part.get(changes + i);
        const vec<T> g = slope(p, part.get(grads + i));
        const vec<T> v = fma(rest, g * g, rho * part.get(squares + i));
        const vec<T> change = sqrt_by_fma(u + eps) / sqrt_by_fma(v + eps) * g;
        part.put(squares + i, flushed(v));
        part.put(changes + i, flushed(fma(rest, change * change, rho * u)));
        part.put(params + i, fnma(lr, change, p));
    });
}

template <class T>
void adadelta_floats(const ac_call* call, ac_context* context, ac_status* status) {
    AdadeltaParameters s;
    s.lr = double(scalar<T>(operand(call, 4)));
    s.rho = float_attribute(call, 0);
    s.eps = float_attribute(call, 1);
    s.weight_decay = float_attribute(call, 2);
    s.maximize = int_attribute(call, 3) != 0;
    const Group group = {
        {&list(call, 0), &list(call, 1), &list(call, 2), &list(call, 3)}, 4, 3};
    update(context, group,
           s.weight_decay != 0 ? adadelta_run<T, true> : adadelta_run<T, false>, &s);
    done(status);
}

// ---- lion

struct LionParameters {
    double lr, shrink, beta1, beta2;
    bool maximize;
};

// Signs choose whole steps, so sums are rounded as the formula has them: no fma.
template <class T>
void lion_run(void* const* operands, int64_t n, const void* parameters) {
    const auto& s = *static_cast<const LionParameters*>(parameters);
    T* params = static_cast<T*>(operands[0]);
    T* means = static_cast<T*>(operands[1]);
    const T* grads = static_cast<const T*>(operands[2]);
    const Slope<T, false> slope(s.maximize, 0);
    const vec<T> none = zero<T>(), one = set1<T>(1), minus_one = set1<T>(-1);
    const vec<T> lr = set1<T>(T(s.lr)), shrink = set1<T>(T(s.shrink));
    const vec<T> beta1 = set1<T>(T(s.beta1)), rest1 = set1<T>(T(1 - s.beta1));
    const vec<T> beta2 = set1<T>(T(s.beta2)), rest2 = set1<T>(T(1 - s.beta2));
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> p = part.get(params + i), m = part.get(means + i);
        const vec<T> g = slope(p, part.get(grads + i));
        const vec<T> blend = beta1 * m + rest1 * g;
        // 0 and NaN stay what they are.
        const vec<T> sign =
            select(gt(blend, none), one, select(lt(blend, none), minus_one, blend));
        part.put(params + i, fnma(lr, sign, p * shrink));
        part.put(means + i, flushed(beta2 * m + rest2 * g));
    });
}

template <class T>
void lion_floats(const ac_call* call, ac_context* context, ac_status* status) {
    LionParameters s;
    s.lr = double(scalar<T>(operand(call, 3)));
    s.beta1 = float_attribute(call, 0);
    s.beta2 = float_attribute(call, 1);
    s.shrink = 1 - s.lr * float_attribute(call, 2);
    s.maximize = int_attribute(call, 3) != 0;
    const Group group = {{&list(call, 0), &list(call, 1), &list(call, 2)}, 3, 2};
    update(context, group, lion_run<T>, &s);
    done(status);
}

// The learning rate has the parameters' dtype.
#define AC_OPTIMIZER(name, lr_at)                                                     \
    void name##_kernel(const ac_call* call, ac_context* context, ac_status* status) { \
        if (operand(call, lr_at)->dtype == AC_FLOAT32) {                              \
            name##_floats<float>(call, context, status);                              \
        } else {                                                                      \
            name##_floats<double>(call, context, status);                             \
        }                                                                             \
    }
AC_OPTIMIZER(adagrad, 3)
AC_OPTIMIZER(adadelta, 4)
AC_OPTIMIZER(lion, 3)
#undef AC_OPTIMIZER

const ac_kernel_entry entries[] = {
    {"adagrad",
     "params* total* ; grads* lr step ; lr_decay:float eps:float "
     "weight_decay:float maximize:bool",
     adagrad_kernel, nullptr, nullptr, 0.12, float_dtypes, nullptr},
    {"adadelta",
     "params* square_avg* acc_delta* ; grads* lr ; rho:float eps:float "
     "weight_decay:float maximize:bool",
     adadelta_kernel, nullptr, nullptr, 0.2, float_dtypes, nullptr},
    {"lion",
     "params* exp_avg* ; grads* lr ; beta1:float beta2:float "
     "weight_decay:float maximize:bool",
     lion_kernel, nullptr, nullptr, 0.12, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(adagrad_adadelta_lion, entries);
}  // namespace autocalc::simd::AC_ISA
