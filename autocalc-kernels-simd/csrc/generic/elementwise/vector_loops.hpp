// SPDX-License-Identifier: MIT
//
// Kernels over contiguous runs, made from an operation on vectors or on integers.
//
// A vector operation is a struct with a static template `apply` over vec<T>; it is used
// for whole vectors and, with masked loads and stores, for the tail, so that an
// element's result does not depend on its place.
#pragma once

#include "elementwise/elementwise.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Elements before `out` reaches a vector's alignment: stores that straddle cache lines
// cost half the speed of a long run. Short runs do without.
template <class T>
AC_INLINE int64_t head_of(const T* out, int64_t n) {
    constexpr int64_t lanes = vec<T>::lanes;
    if (n < 8 * lanes) return 0;
    const uintptr_t past = reinterpret_cast<uintptr_t>(out) % sizeof(vec<T>);
    return past == 0 ? 0 : static_cast<int64_t>((sizeof(vec<T>) - past) / sizeof(T));
}

// From how many bytes on a run asks for what comes later: tiles of chains, which are no
// longer, are in the L1 cache, where asking would cost as much as loading.
constexpr int64_t asking_bytes = 4096;

// Asks for what comes 1 KiB later: from the L3 cache, which holds arrays of some MiB,
// exp then runs 8 % faster, since arithmetic and waiting overlap; 512 B to 4 KiB do
// alike, and arrays in nearer caches lose nothing.
template <int64_t bytes, class T>
AC_INLINE void prefetch_ahead(const T* p) {
    constexpr int64_t ahead = 1024, line = 64;
#pragma GCC unroll 8
    for (int64_t i = 0; i < bytes; i += line) {
        __builtin_prefetch(reinterpret_cast<const char*>(p) + ahead + i);
    }
}

// Vectors in flight: a chain of fma waits four cycles for each link.
constexpr int64_t unary_group = 4;
constexpr int64_t binary_group = 2;

template <class T, class F>
AC_INLINE void unary_elements(void* const* operands, int64_t n, F&& f) {
    constexpr int64_t lanes = vec<T>::lanes, step = unary_group * lanes;
    constexpr int64_t bytes = step * static_cast<int64_t>(sizeof(T));
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const bool asks = n * item_size<T> > asking_bytes;
    int64_t i = head_of(out, n);
    if (i > 0) store_first(out, f(load_first(a, i)), i);
    for (; i + step <= n; i += step) {
        if (asks) {
            prefetch_ahead<bytes>(a + i);
            prefetch_ahead<bytes>(out + i);
        }
        vec<T> x[unary_group];
#pragma GCC unroll 4
        for (int64_t j = 0; j < unary_group; ++j) x[j] = f(load(a + i + j * lanes));
#pragma GCC unroll 4
        for (int64_t j = 0; j < unary_group; ++j) store(out + i + j * lanes, x[j]);
    }
    for (; i + lanes <= n; i += lanes) store(out + i, f(load(a + i)));
    if (i < n) store_first(out + i, f(load_first(a + i, n - i)), n - i);
}

template <class T, class F>
AC_INLINE void binary_elements(void* const* operands, int64_t n, F&& f) {
    constexpr int64_t lanes = vec<T>::lanes, step = binary_group * lanes;
    constexpr int64_t bytes = step * static_cast<int64_t>(sizeof(T));
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
    const bool asks = n * item_size<T> > asking_bytes;
    int64_t i = head_of(out, n);
    if (i > 0) store_first(out, f(load_first(a, i), load_first(b, i)), i);
    for (; i + step <= n; i += step) {
        if (asks) {
            prefetch_ahead<bytes>(a + i);
            prefetch_ahead<bytes>(b + i);
            prefetch_ahead<bytes>(out + i);
        }
        const vec<T> x = f(load(a + i), load(b + i));
        const vec<T> y = f(load(a + i + lanes), load(b + i + lanes));
        store(out + i, x);
        store(out + i + lanes, y);
    }
    for (; i + lanes <= n; i += lanes) store(out + i, f(load(a + i), load(b + i)));
    if (i < n) {
        store_first(out + i, f(load_first(a + i, n - i), load_first(b + i, n - i)),
                    n - i);
    }
}

template <class T, class Op>
void unary_run(void* const* operands, int64_t n, const void*) {
    unary_elements<T>(operands, n,
                      [](vec<T> a) AC_INLINE_LAMBDA { return Op::apply(a); });
}
template <class T, class Op>
void binary_run(void* const* operands, int64_t n, const void*) {
    binary_elements<T>(operands, n, [](vec<T> a, vec<T> b) AC_INLINE_LAMBDA {
        return Op::apply(a, b);
    });
}

template <class T, class Op>
void ternary_run(void* const* operands, int64_t n, const void*) {
    constexpr int64_t lanes = vec<T>::lanes;
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
    const T* c = static_cast<const T*>(operands[3]);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        store(out + i, Op::apply(load(a + i), load(b + i), load(c + i)));
    }
    if (i < n) {
        const int64_t rest = n - i;
        store_first(out + i,
                    Op::apply(load_first(a + i, rest), load_first(b + i, rest),
                              load_first(c + i, rest)),
                    rest);
    }
}

// Integers: plain loops which the compiler turns into vectors. Output and input may be
// the same array, but never overlap partly.
template <class T, class Op>
void int_unary_run(void* const* operands, int64_t n, const void*) {
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = Op::scalar(a[i]);
}
template <class T, class Op>
void int_binary_run(void* const* operands, int64_t n, const void*) {
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = Op::scalar(a[i], b[i]);
}
template <class T, class Op>
void int_ternary_run(void* const* operands, int64_t n, const void*) {
    T* out = static_cast<T*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
    const T* c = static_cast<const T*>(operands[3]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = Op::scalar(a[i], b[i], c[i]);
}

// Sums and products of integers wrap around, as NumPy's do; signed overflow would be
// undefined.
template <class T>
struct unsigned_of;
template <>
struct unsigned_of<int8_t> {
    using type = uint8_t;
};
template <>
struct unsigned_of<int16_t> {
    using type = uint16_t;
};
template <>
struct unsigned_of<int32_t> {
    using type = uint32_t;
};
template <>
struct unsigned_of<int64_t> {
    using type = uint64_t;
};
template <>
struct unsigned_of<uint8_t> {
    using type = uint8_t;
};
template <class T>
AC_INLINE typename unsigned_of<T>::type wrap(T x) {
    return static_cast<typename unsigned_of<T>::type>(x);
}

// Which dtypes an operation has in addition to the floats.
enum class Ints { no, numbers, with_bool };

// A costly function of one float, whose code is the same for scalars and for vectors.
#define AC_FUNCTION(Name, function)                \
    struct Name {                                  \
        static constexpr Ints ints = Ints::no;     \
        static constexpr Cost cost = Cost::costly; \
        template <class V>                         \
        static AC_INLINE V apply(V a) {            \
            return function(a);                    \
        }                                          \
    };

#define AC_RUN_FOR(name, run, int_run)                                        \
    template <class Op>                                                       \
    AC_INLINE RunKernel name(int dtype) {                                     \
        switch (dtype) {                                                      \
            case AC_FLOAT32:                                                  \
                return run<float, Op>;                                        \
            case AC_FLOAT64:                                                  \
                return run<double, Op>;                                       \
            default:                                                          \
                break;                                                        \
        }                                                                     \
        if constexpr (Op::ints != Ints::no) {                                 \
            switch (dtype) {                                                  \
                case AC_INT8:                                                 \
                    return int_run<int8_t, Op>;                               \
                case AC_INT16:                                                \
                    return int_run<int16_t, Op>;                              \
                case AC_INT32:                                                \
                    return int_run<int32_t, Op>;                              \
                case AC_INT64:                                                \
                    return int_run<int64_t, Op>;                              \
                case AC_UINT8:                                                \
                    return int_run<uint8_t, Op>;                              \
                default:                                                      \
                    break;                                                    \
            }                                                                 \
        }                                                                     \
        if constexpr (Op::ints == Ints::with_bool) {                          \
            if (dtype == AC_BOOL) return int_run<uint8_t, typename Op::Bool>; \
        }                                                                     \
        return nullptr;                                                       \
    }
AC_RUN_FOR(unary_for, unary_run, int_unary_run)
AC_RUN_FOR(binary_for, binary_run, int_binary_run)
AC_RUN_FOR(ternary_for, ternary_run, int_ternary_run)
#undef AC_RUN_FOR

// An elementwise call whose operands 0 to n - 1 are all present. Parameters, of a
// trivial type, are copied to run the kernel later.
template <class Parameters>
void call_elementwise(const ac_call* call, ac_context* context, ac_status* status,
                      int n, RunKernel kernel, Cost cost,
                      const Parameters* parameters) {
    if (kernel == nullptr) return unsupported(status);
    const ac_array* arrays[max_operands];
    for (int k = 0; k < n; ++k) arrays[k] = operand(call, k);
    constexpr int64_t bytes = __is_class(Parameters) ? sizeof(Parameters) : 0;
    elementwise(context, arrays, n, kernel, parameters, cost, bytes);
    done(status);
}
inline void call_elementwise(const ac_call* call, ac_context* context,
                             ac_status* status, int n, RunKernel kernel, Cost cost) {
    struct None {};
    call_elementwise<None>(call, context, status, n, kernel, cost, nullptr);
}

template <class Op>
void unary_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    call_elementwise(call, context, status, 2, unary_for<Op>(operand(call, 0)->dtype),
                     Op::cost);
}
template <class Op>
void binary_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    call_elementwise(call, context, status, 3, binary_for<Op>(operand(call, 0)->dtype),
                     Op::cost);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
