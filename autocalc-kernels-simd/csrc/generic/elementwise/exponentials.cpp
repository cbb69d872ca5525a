// SPDX-License-Identifier: MIT
//
// The functions of elementwise/exponential_math.hpp and elementwise/angle_math.hpp as
// kernels.
#include "common/families.hpp"
#include "elementwise/angle_math.hpp"
#include "elementwise/exponential_math.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_FUNCTION(Exp2, exp2)
AC_FUNCTION(Expm1, expm1)
AC_FUNCTION(Sinh, sinh)
AC_FUNCTION(Cosh, cosh)
AC_FUNCTION(Log2, log2)
AC_FUNCTION(Log10, log10)
AC_FUNCTION(Log1p, log1p)
AC_FUNCTION(Tan, tan)
AC_FUNCTION(Asin, asin)
AC_FUNCTION(Acos, acos)
AC_FUNCTION(Atan, atan)
AC_FUNCTION(Asinh, asinh)
AC_FUNCTION(Acosh, acosh)
AC_FUNCTION(Atanh, atanh)
AC_FUNCTION(Sinc, sinc)

#define AC_FUNCTION_OF_TWO(Name, function)         \
    struct Name {                                  \
        static constexpr Ints ints = Ints::no;     \
        static constexpr Cost cost = Cost::costly; \
        template <class V>                         \
        static AC_INLINE V apply(V a, V b) {       \
            return function(a, b);                 \
        }                                          \
    };
AC_FUNCTION_OF_TWO(Atan2, atan2)
AC_FUNCTION_OF_TWO(Hypot, hypot)
AC_FUNCTION_OF_TWO(LogAddExp, logaddexp)
AC_FUNCTION_OF_TWO(LogAddExp2, logaddexp2)
AC_FUNCTION_OF_TWO(XLogY, xlogy)
AC_FUNCTION_OF_TWO(XLog1pY, xlog1py)
#undef AC_FUNCTION_OF_TWO

// -a log(a), 0 at 0 and minus infinity below; of floats rounded once.
struct Entr {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::costly;
    static AC_INLINE f64 apply(f64 a) {
        const f64 none = zero<double>();
        const f64 y = select(lt(a, none), -set1<double>(limits<double>::infinity), a);
        return select(gt(a, none), -a * log(a), y);
    }
    static AC_INLINE f32 apply(f32 a) {
        return narrow(apply(low_double(a)), apply(high_double(a)));
    }
};

#define AC_ENTRY(name, Op, ns) \
    {name, "~ out ; a", unary_kernel<Op>, nullptr, nullptr, ns, float_dtypes, nullptr}
#define AC_ENTRY_OF_TWO(name, Op, ns)                                      \
    {name,         "~ out ; a b", binary_kernel<Op>, nullptr, nullptr, ns, \
     float_dtypes, nullptr}
const ac_kernel_entry entries[] = {
    AC_ENTRY("exp2", Exp2, 0.4),
    AC_ENTRY("expm1", Expm1, 0.6),
    AC_ENTRY("sinh", Sinh, 0.8),
    AC_ENTRY("cosh", Cosh, 0.8),
    AC_ENTRY("log2", Log2, 0.6),
    AC_ENTRY("log10", Log10, 0.6),
    AC_ENTRY("log1p", Log1p, 0.7),
    AC_ENTRY("tan", Tan, 1.5),
    AC_ENTRY("asin", Asin, 0.7),
    AC_ENTRY("acos", Acos, 0.7),
    AC_ENTRY("atan", Atan, 0.7),
    AC_ENTRY("asinh", Asinh, 0.9),
    AC_ENTRY("acosh", Acosh, 0.9),
    AC_ENTRY("atanh", Atanh, 0.9),
    AC_ENTRY("sinc", Sinc, 1.5),
    AC_ENTRY("entr", Entr, 0.6),
    AC_ENTRY_OF_TWO("atan2", Atan2, 0.9),
    AC_ENTRY_OF_TWO("hypot", Hypot, 1.0),
    AC_ENTRY_OF_TWO("logaddexp", LogAddExp, 1.2),
    AC_ENTRY_OF_TWO("logaddexp2", LogAddExp2, 1.2),
    AC_ENTRY_OF_TWO("xlogy", XLogY, 0.7),
    AC_ENTRY_OF_TWO("xlog1py", XLog1pY, 0.8),
};
#undef AC_ENTRY
#undef AC_ENTRY_OF_TWO

}  // namespace
AC_DEFINE_FAMILY(exponentials, entries);
}  // namespace autocalc::simd::AC_ISA
