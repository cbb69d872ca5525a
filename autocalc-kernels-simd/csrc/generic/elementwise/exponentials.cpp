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

#define AC_FUNCTION(Name, function)                \
    struct Name {                                  \
        static constexpr Ints ints = Ints::no;     \
        static constexpr Cost cost = Cost::costly; \
        template <class V>                         \
        static AC_INLINE V apply(V a) {            \
            return function(a);                    \
        }                                          \
    };
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
#undef AC_FUNCTION

struct Atan2 {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::costly;
    template <class V>
    static AC_INLINE V apply(V y, V x) {
        return atan2(y, x);
    }
};

// -a log(a), 0 at 0 and minus infinity below.
struct Entr {
    static constexpr Ints ints = Ints::no;
    static constexpr Cost cost = Cost::costly;
    template <class T>
    static AC_INLINE vec<T> apply(vec<T> a) {
        const vec<T> infinity = set1<T>(limits<T>::infinity);
        const vec<T> y = select(lt(a, zero<T>()), -infinity, a);
        return select(gt(a, zero<T>()), -a * log(a), y);
    }
};

#define AC_ENTRY(name, Op, ns) \
    {name, "~ out ; a", unary_kernel<Op>, nullptr, nullptr, ns, float_dtypes, nullptr}
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
    AC_ENTRY("entr", Entr, 0.6),
    {"atan2", "~ out ; a b", binary_kernel<Atan2>, nullptr, nullptr, 0.9, float_dtypes,
     nullptr},
};
#undef AC_ENTRY

}  // namespace
AC_DEFINE_FAMILY(exponentials, entries);
}  // namespace autocalc::simd::AC_ISA
