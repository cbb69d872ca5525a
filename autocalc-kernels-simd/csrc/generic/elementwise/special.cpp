// SPDX-License-Identifier: MIT
//
// The functions of elementwise/special_math.hpp as kernels.
#include "common/families.hpp"
#include "common/lanes.hpp"
#include "elementwise/special_math.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

#define AC_SPECIAL(Name, function)                                            \
    struct Name {                                                             \
        static constexpr Ints ints = Ints::no;                                \
        static constexpr Cost cost = Cost::costly;                            \
        static AC_INLINE f64 apply(f64 a) { return function(a); }             \
        static AC_INLINE f32 apply(f32 a) {                                   \
            return narrow(function(low_double(a)), function(high_double(a))); \
        }                                                                     \
    };
AC_SPECIAL(Erfcx, erfcx)
AC_SPECIAL(LogNdtr, log_ndtr)
AC_SPECIAL(Lgamma, lgamma)
AC_SPECIAL(Digamma, digamma)
#undef AC_SPECIAL
AC_FUNCTION(Erfc, erfc)
AC_FUNCTION(Erfinv, erfinv)
AC_FUNCTION(Ndtri, ndtri)

// Without groups of vectors: these functions are long.
template <class T, class Op>
void special_run(void* const* operands, int64_t n, const void*) {
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t i = 0; i < n; i += lanes) {
        const int64_t count = smaller(lanes, n - i);
        store_last(out + i, Op::apply(load_last(a + i, count)), count);
    }
}
template <class Op>
void special_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    RunKernel kernel = nullptr;
    const int dtype = operand(call, 0)->dtype;
    if (dtype == AC_FLOAT32) kernel = special_run<float, Op>;
    if (dtype == AC_FLOAT64) kernel = special_run<double, Op>;
    call_elementwise(call, context, status, 2, kernel, Cost::costly);
}

#define AC_ENTRY(name, Op, ns) \
    {name, "~ out ; a", special_kernel<Op>, nullptr, nullptr, ns, float_dtypes, nullptr}
const ac_kernel_entry entries[] = {
    AC_ENTRY("erfc", Erfc, 2.0),        AC_ENTRY("erfcx", Erfcx, 3.0),
    AC_ENTRY("erfinv", Erfinv, 5.0),    AC_ENTRY("ndtri", Ndtri, 5.0),
    AC_ENTRY("digamma", Digamma, 5.0),  AC_ENTRY("lgamma", Lgamma, 4.0),
    AC_ENTRY("log_ndtr", LogNdtr, 6.0),
};
#undef AC_ENTRY

}  // namespace
AC_DEFINE_FAMILY(special, entries);
}  // namespace autocalc::simd::AC_ISA
