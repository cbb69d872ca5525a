// SPDX-License-Identifier: MIT
//
// softmax, log_softmax and their backward kernels along any axis, in three passes over
// a line that stays in the cache: its largest element, exponentials and their sum,
// results.
#include "common/families.hpp"
#include "elementwise/vector_math.hpp"
#include "reduce/axis.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Softmax {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        const vec<T> top = line.top(a);
        const vec<T> total = line.sum([&](int64_t i, auto part) {
            const vec<T> e = exp_negative(part.get(a + i) - top);
            part.put(out + i, e);
            return e;
        });
        const vec<T> scale = set1<T>(1) / total, least = least_factor_of(scale);
        line.each([&](int64_t i, auto part) {
            part.put(out + i, product_from(part.get(out + i), least, scale));
        });
    }
};

struct LogSoftmax {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        const vec<T> top = line.top(a);
        const vec<T> total = line.sum(
            [&](int64_t i, auto part) { return exp_negative(part.get(a + i) - top); });
        const vec<T> log_total = log(total);
        line.each([&](int64_t i, auto part) {
            part.put(out + i, (part.get(a + i) - top) - log_total);
        });
    }
};

struct SoftmaxBackward {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* g,
                              const T* y) {
        const vec<T> dot = line.sum(
            [&](int64_t i, auto part) { return part.get(g + i) * part.get(y + i); });
        line.each([&](int64_t i, auto part) {
            part.put(out + i, flushed(part.get(y + i) * (part.get(g + i) - dot)));
        });
    }
};

struct LogSoftmaxBackward {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* g,
                              const T* y) {
        const vec<T> total =
            line.sum([&](int64_t i, auto part) { return part.get(g + i); });
        const vec<T> least = least_factor_of(total);
        line.each([&](int64_t i, auto part) {
            const vec<T> power =
                min(set1<T>(exp_constants<T>::highest), part.get(y + i));
            const vec<T> share = product_from(exp_negative(power), least, total);
            part.put(out + i, flushed(part.get(g + i) - share));
        });
    }
};

template <class Kernel, int operands>
void line_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* arrays[3] = {operand(call, 0), operand(call, 1),
                                 operands > 2 ? operand(call, 2) : nullptr};
    const int64_t axis = int_attribute(call, 0);
    if (arrays[0]->dtype == AC_FLOAT64) {
        along_lines<double, Kernel>(context, status, arrays, operands, axis);
    } else {
        along_lines<float, Kernel>(context, status, arrays, operands, axis);
    }
}

const ac_kernel_entry entries[] = {
    {"softmax", "out ; a ; axis:int", line_kernel<Softmax, 2>, refusal_in_floats,
     nullptr, 0.7, floating_dtypes, nullptr},
    {"log_softmax", "out ; a ; axis:int", line_kernel<LogSoftmax, 2>, refusal_in_floats,
     nullptr, 0.7, floating_dtypes, nullptr},
    {"softmax_backward", "out ; g y ; axis:int", line_kernel<SoftmaxBackward, 3>,
     refusal_in_floats, nullptr, 0.4, floating_dtypes, nullptr},
    {"log_softmax_backward", "out ; g y ; axis:int", line_kernel<LogSoftmaxBackward, 3>,
     refusal_in_floats, nullptr, 0.7, floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(softmax, entries);
}  // namespace autocalc::simd::AC_ISA
