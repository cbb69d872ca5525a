// SPDX-License-Identifier: MIT
//
// Whether something holds of all elements: the first block where it does not ends it.
#include "common/call.hpp"
#include "common/families.hpp"
#include "common/lanes.hpp"
#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t block = 256;

// Whether holds(begin, count) of every block.
template <class F>
bool all_blocks(ac_context* context, int64_t count, F&& holds) {
    int failed = 0;
    parallel_range(context, count, block, count >= 256 * block,
                   [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; i += block) {
                           if (__atomic_load_n(&failed, __ATOMIC_RELAXED) != 0) return;
                           if (!holds(i, smaller(block, end - i))) {
                               __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
                           }
                       }
                   });
    return failed == 0;
}

// As numbers: NaN differs from itself, 0 and -0 are the same.
template <class T>
bool are_same(const T* a, const T* b, int64_t n) {
    int_of<T> differ = 0;
    for (int64_t i = 0; i < n; ++i) differ |= a[i] != b[i];
    return differ == 0;
}

struct Limits {
    double least, most;
    int64_t above;  // how many of a row are above the least
};

// The least T that is not below x; the same as x where T holds x.
template <class T>
T not_below(double x) {
    const T near = T(x);
    return static_cast<double>(near) < x
               ? T(__builtin_nextafterf(float(near), __builtin_inff()))
               : near;
}

template <class T>
bool lie_between(const T* a, int64_t n, const Limits& limits) {
    // Of doubles both limits are themselves.
    const T low = not_below<T>(limits.least), high = -not_below<T>(-limits.most);
    const vec<T> least = set1<T>(low), most = set1<T>(high);
    mask<T> inside = first<T>(vec<T>::lanes);
    each_vector<T>(n, [&](int64_t i, auto part) {
        const vec<T> x = part.only(part.get(a + i), least);
        inside = inside & ge(x, least) & le(x, most);
    });
    if (!all(inside)) return false;
    int64_t above = 0;
    for (int64_t i = 0; limits.above > 0 && i < n; ++i) above += a[i] > limits.least;
    return above >= limits.above;
}

void write_truth(const ac_call* call, bool truth, ac_status* status) {
    *data<uint8_t>(operand(call, 0)) = truth ? 1 : 0;
    done(status);
}

void equal(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *a = operand(call, 1), *b = operand(call, 2);
    const int64_t size = size_of(a->dtype);
    const auto same = [&](int64_t begin, int64_t n) {
        const char* x = data<char>(a) + begin * size;
        const char* y = data<char>(b) + begin * size;
        switch (a->dtype) {
            case AC_FLOAT32:
                return are_same(reinterpret_cast<const float*>(x),
                                reinterpret_cast<const float*>(y), n);
            case AC_FLOAT64:
                return are_same(reinterpret_cast<const double*>(x),
                                reinterpret_cast<const double*>(y), n);
            default:
                return memcmp(x, y, static_cast<size_t>(n * size)) == 0;
        }
    };
    write_truth(call, all_blocks(context, element_count(*a), same), status);
}

// Where rows count, a block is one.
void between(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* a = operand(call, 1);
    const int64_t above = int_attribute(call, 2);
    const Limits limits = {float_attribute(call, 0), float_attribute(call, 1), above};
    const auto inside = [&](int64_t begin, int64_t n) {
        return a->dtype == AC_FLOAT32 ? lie_between(data<float>(a) + begin, n, limits)
                                      : lie_between(data<double>(a) + begin, n, limits);
    };
    const int64_t count = element_count(*a);
    const int64_t row = a->ndim > 0 ? dim_of(a, -1) : 1;
    if (above == 0)
        return write_truth(call, all_blocks(context, count, inside), status);
    bool all = true;
    for (int64_t i = 0; all && i < count; i += row) all = inside(i, row);
    write_truth(call, all, status);
}

template <int operands>
const char* supports(const ac_call* call) {
    for (int i = 1; i < operands; ++i) {
        const ac_array* a = operand(call, i);
        if (a->ndim < 0 || !is_contiguous(*a)) return "contiguous operands only";
    }
    return nullptr;
}

const ac_kernel_entry entries[] = {
    {"equal", "out ; a b", equal, supports<3>, nullptr, 0.1, all_dtypes, nullptr},
    {"between", "out ; a ; least:float most:float above:int", between, supports<2>,
     nullptr, 0.1, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(truths, entries);
}  // namespace autocalc::simd::AC_ISA
