// SPDX-License-Identifier: MIT
//
// Reading an ac_call, answering an ac_status, and running tasks in parallel.
#pragma once

#include "autocalc_kernel.h"
#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Operand i in signature order, or null if it is absent. Lists go through `list`.
AC_INLINE const ac_array* operand(const ac_call* call, int i) {
    const ac_operand& o = call->operands[i];
    return o.count == 1 && o.arrays[0].present ? o.arrays : nullptr;
}
AC_INLINE const ac_operand& list(const ac_call* call, int i) {
    return call->operands[i];
}
AC_INLINE int64_t int_attribute(const ac_call* call, int i) {
    return call->attributes[i].v.i;
}
AC_INLINE double float_attribute(const ac_call* call, int i) {
    return call->attributes[i].v.f;
}

AC_INLINE void done(ac_status* status) { status->code = AC_DONE; }
AC_INLINE void unsupported(ac_status* status) { status->code = AC_UNSUPPORTED; }
AC_INLINE void no_memory(ac_status* status) { status->code = AC_NO_MEMORY; }
AC_INLINE void bad_value(ac_status* status, int operand, int64_t index, int64_t value) {
    status->code = AC_BAD_VALUE;
    status->operand = operand;
    status->index = index;
    status->value = value;
}

// 50 GFLOP/s: how long a call takes, for the decision to release the interpreter lock.
constexpr double ns_per_flop = 0.02;

constexpr int dtype_count = 10;
AC_INLINE int64_t size_of(int dtype) {
    constexpr int8_t sizes[dtype_count] = {4, 8, 1, 2, 4, 8, 1, 1, 2, 2};
    return sizes[dtype];
}
constexpr uint32_t float_dtypes = 1u << AC_FLOAT32 | 1u << AC_FLOAT64;
constexpr uint32_t int_dtypes =
    1u << AC_INT8 | 1u << AC_INT16 | 1u << AC_INT32 | 1u << AC_INT64 | 1u << AC_UINT8;
constexpr uint32_t bool_dtype = 1u << AC_BOOL;
constexpr uint32_t number_dtypes = float_dtypes | int_dtypes;
constexpr uint32_t all_dtypes = number_dtypes | bool_dtype;

AC_INLINE int64_t element_count(const ac_array& a) {
    int64_t n = 1;
    for (int i = 0; i < a.ndim; ++i) n *= a.shape[i];
    return n;
}

// Scratch memory of this thread for `count` elements, null if there is none. Another
// call with the same slot may replace it.
template <class T>
T* scratch_of(ac_context* context, int slot, int64_t count) {
    return static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(bytes_of<T>(count))));
}

// Whether elements follow each other in row-major order without gaps.
AC_INLINE bool is_contiguous(const ac_array& a) {
    int64_t expected = size_of(a.dtype);
    for (int i = a.ndim - 1; i >= 0; --i) {
        if (a.shape[i] == 1) continue;
        if (a.strides[i] != expected) return false;
        expected *= a.shape[i];
    }
    return true;
}

template <class T>
AC_INLINE T* data(const ac_array* a) {
    return static_cast<T*>(a->data);
}

// The value of a 0-d operand.
template <class T>
AC_INLINE T scalar(const ac_array* a) {
    return *static_cast<const T*>(a->data);
}

template <class F>
struct Bare {
    using type = F;
};
template <class F>
struct Bare<F&> {
    using type = F;
};
template <class F>
void run_task(void* arg, int64_t begin, int64_t end) {
    (*static_cast<F*>(arg))(begin, end);
}

// How many tasks to cut work into whose results do not depend on the cuts: some for
// each thread, which few threads need not have more of than `enough`. (None is counted
// where a call is only described.)
AC_INLINE int64_t tasks_for(const ac_context* context, int64_t enough, int64_t each) {
    return context == nullptr ? enough : larger(enough, each * context->num_threads);
}

// f(begin, end) over `tasks`, on several threads if it is `worthwhile`. Where results
// depend on the cuts, the tasks must follow from the shape alone, so that the bits do
// not depend on the number of threads.
template <class F>
AC_INLINE void parallel(ac_context* context, int64_t tasks, bool worthwhile, F&& f) {
    using Body = typename Bare<F>::type;
    if (!worthwhile || tasks < 2 || context->num_threads < 2) {
        if (tasks > 0) f(0, tasks);
        return;
    }
    context->parallel_for(context, tasks, run_task<Body>, &f);
}

// The same over `count` elements in tiles of `tile`.
template <class F>
AC_INLINE void parallel_range(ac_context* context, int64_t count, int64_t tile,
                              bool worthwhile, F&& f) {
    parallel(context, ceil_div(count, tile), worthwhile,
             [&](int64_t begin, int64_t end) {
                 f(begin * tile, smaller(end * tile, count));
             });
}

// `parallel` where f answers whether it could do its tasks; false if one could not,
// which is so where a thread gets no scratch memory.
template <class F>
AC_INLINE bool try_parallel(ac_context* context, int64_t tasks, bool worthwhile,
                            F&& f) {
    int failed = 0;
    parallel(context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
        if (!f(begin, end)) __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
    });
    return failed == 0;
}

template <class F>
AC_INLINE bool try_parallel_range(ac_context* context, int64_t count, int64_t tile,
                                  bool worthwhile, F&& f) {
    return try_parallel(context, ceil_div(count, tile), worthwhile,
                        [&](int64_t begin, int64_t end) {
                            return f(begin * tile, smaller(end * tile, count));
                        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
