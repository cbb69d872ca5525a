// SPDX-License-Identifier: MIT
//
// Adding at indices: scatter_add, scatter_mul, scatter_amax, scatter_amin, index_add,
// embedding_backward.
#include "common/contiguous.hpp"
#include "common/families.hpp"
#include "indexing/chains.hpp"
#include "indexing/crowded.hpp"
#include "indexing/indexed.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
AC_INLINE T plus(T a, T b) {
    if constexpr (T(0.5) != T(0)) {
        return a + b;
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
}

template <class T>
struct Add {
    static constexpr int64_t item = item_size<T>;
    AC_INLINE static void one(char* to, const char* from) {
        T* out = reinterpret_cast<T*>(to);
        *out = plus(*out, *reinterpret_cast<const T*>(from));
    }
    AC_INLINE static void run(char* to, const char* from, int64_t n) {
        T* out = reinterpret_cast<T*>(to);
        const T* src = reinterpret_cast<const T*>(from);
        if constexpr (T(0.5) != T(0)) {
            constexpr int64_t lanes = vec<T>::lanes;
            int64_t i = 0;
            for (; i + lanes <= n; i += lanes)
                store(out + i, load(out + i) + load(src + i));
            if (i < n) {
                const int64_t rest = n - i;
                store_first(out + i,
                            load_first(out + i, rest) + load_first(src + i, rest),
                            rest);
            }
        } else {
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) out[i] = plus(out[i], src[i]);
        }
    }
};

template <class T>
AC_INLINE T product(T a, T b) {
    if constexpr (T(0.5) != T(0)) {
        return a * b;
    } else {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
}

template <class T>
struct Multiply {
    static constexpr int64_t item = item_size<T>;
    AC_INLINE static void one(char* to, const char* from) {
        T* out = reinterpret_cast<T*>(to);
        *out = product(*out, *reinterpret_cast<const T*>(from));
    }
    AC_INLINE static void run(char* to, const char* from, int64_t n) {
        for (int64_t i = 0; i < n; ++i) one(to + i * item, from + i * item);
    }
};

template <class T>
struct Larger {
    AC_INLINE static bool wins(T a, T b) { return a < b; }
};
template <class T>
struct Smaller {
    AC_INLINE static bool wins(T a, T b) { return b < a; }
};
// The extremum of what is there and what is written; NaN wins.
template <class T, template <class> class Order>
struct Extremum {
    static constexpr int64_t item = item_size<T>;
    AC_INLINE static T of(T a, T b) {
        const bool second = a == a && (b != b || Order<T>::wins(a, b));
        return second ? b : a;
    }
    AC_INLINE static void one(char* to, const char* from) {
        T* out = reinterpret_cast<T*>(to);
        *out = of(*out, *reinterpret_cast<const T*>(from));
    }
    AC_INLINE static void run(char* to, const char* from, int64_t n) {
        T* out = reinterpret_cast<T*>(to);
        const T* src = reinterpret_cast<const T*>(from);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = of(out[i], src[i]);
    }
};
template <class T>
using Largest = Extremum<T, Larger>;
template <class T>
using Smallest = Extremum<T, Smaller>;

// Of numbers that are rounded as they are added, and of others.
template <class T>
void reduce_floats(ac_context* context, ac_status* status, const ColumnPlan& plan,
                   Add<T>) {
    if (!add_indexed<T, Add<T>>(context, plan)) no_memory(status);
}
template <class Op>
void reduce_floats(ac_context* context, ac_status*, const ColumnPlan& plan, Op) {
    write_indexed<Op>(context, plan);
}

template <template <class> class Op>
void reduce_indexed(ac_context* context, ac_status* status, const ColumnPlan& plan,
                    int dtype) {
    done(status);
    switch (dtype) {
        case AC_FLOAT32:
            return reduce_floats(context, status, plan, Op<float>{});
        case AC_FLOAT64:
            return reduce_floats(context, status, plan, Op<double>{});
        case AC_INT8:
            return write_indexed<Op<int8_t>>(context, plan);
        case AC_INT16:
            return write_indexed<Op<int16_t>>(context, plan);
        case AC_INT32:
            return write_indexed<Op<int32_t>>(context, plan);
        case AC_INT64:
            return write_indexed<Op<int64_t>>(context, plan);
        case AC_UINT8:
            return write_indexed<Op<uint8_t>>(context, plan);
        default:
            return unsupported(status);
    }
}

template <template <class> class Op, bool line>
void reduce_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    write_over_copy(call, context, status, line, [&](const ColumnPlan& plan) {
        reduce_indexed<Op>(context, status, plan, operand(call, 0)->dtype);
    });
}

void zero_run(void* const* operands, int64_t n, const void* item) {
    memset(operands[0], 0, static_cast<size_t>(n * *static_cast<const int64_t*>(item)));
}

// Whether the result is too large for the L1 cache, its rows are long enough to be
// worth a chain, and chains have several rows: 768 rows to 17 of 128 take 5.5 us as
// they come, 9 by chains.
AC_INLINE bool worth_chaining(const ac_array& dweight, int64_t indices) {
    const int64_t item = size_of(dweight.dtype), row = dweight.shape[1] * item;
    return dweight.strides[1] == item && row >= 256 && dweight.shape[0] * row > 32768 &&
           indices >= dweight.shape[0];
}

// A contiguous copy in scratch; null if there is no memory.
void* contiguous_copy(ac_context* context, int slot, ac_array& array) {
    const int64_t item = size_of(array.dtype);
    const size_t bytes = static_cast<size_t>(element_count(array) * item);
    void* memory = context->scratch(context, slot, bytes + 8);
    if (memory == nullptr) return nullptr;
    const ac_array from = array;
    array = contiguous_at(from, memory, item);
    copy_all(context, array, from);
    return memory;
}

// Indices of any shape count as a line, and so do the rows of g.
void embedding_backward_kernel(const ac_call* call, ac_context* context,
                               ac_status* status) {
    const ac_array& dweight = *operand(call, 0);
    ac_array g = *operand(call, 1), indices = *operand(call, 2);
    const int64_t skipped = int_attribute(call, 0), rows = dweight.shape[0];
    const int64_t count = element_count(indices), width = dweight.shape[1];
    const int64_t item = size_of(dweight.dtype);
    done(status);
    if (!is_contiguous(indices) && contiguous_copy(context, 1, indices) == nullptr)
        return no_memory(status);
    if (!is_contiguous(g) && contiguous_copy(context, 2, g) == nullptr)
        return no_memory(status);
    indices.ndim = 1;
    indices.shape[0] = count;
    indices.strides[0] = 8;
    g.ndim = 2;
    g.shape[0] = count;
    g.shape[1] = width;
    g.strides[0] = width * item;
    g.strides[1] = item;
    CheckedIndices checked(&indices, rows, 2, status);
    if (width == 0 && !checked.fit()) return;
    const ac_array* out = &dweight;
    elementwise(context, &out, 1, zero_run, &item, Cost::cheap);
    if (worth_chaining(dweight, count)) {
        Chains chains;
        if (!chains.reserve(context, rows, count)) return no_memory(status);
        chains =
            chained(chains, data<int64_t>(&indices), count, skipped, checked.reader());
        if (!checked.report()) return;
        if (dweight.dtype == AC_FLOAT32) {
            add_chains<float, Add<float>>(context, chains, dweight, data<char>(&g),
                                          count);
        } else {
            add_chains<double, Add<double>>(context, chains, dweight, data<char>(&g),
                                            count);
        }
        return;
    }
    ColumnPlan plan;
    plan_columns(plan, dweight, along_axis(indices, g, 0), g, 0, checked.reader());
    plan.along.skipped = skipped;
    reduce_indexed<Add>(context, status, plan, dweight.dtype);
    checked.report();
}

const ac_kernel_entry entries[] = {
    {"scatter_add", "out ; a index src ; axis:int", reduce_kernel<Add, false>, nullptr,
     nullptr, 1.0, number_dtypes, nullptr},
    {"scatter_mul", "out ; a index src ; axis:int", reduce_kernel<Multiply, false>,
     nullptr, nullptr, 1.0, number_dtypes, nullptr},
    {"scatter_amax", "out ; a index src ; axis:int", reduce_kernel<Largest, false>,
     nullptr, nullptr, 1.0, number_dtypes, nullptr},
    {"scatter_amin", "out ; a index src ; axis:int", reduce_kernel<Smallest, false>,
     nullptr, nullptr, 1.0, number_dtypes, nullptr},
    {"index_add", "out ; a index src ; axis:int", reduce_kernel<Add, true>, nullptr,
     nullptr, 0.4, number_dtypes, nullptr},
    {"embedding_backward", "dweight ; g indices ; padding_idx:int",
     embedding_backward_kernel, nullptr, nullptr, 0.3, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(adding, entries);
}  // namespace autocalc::simd::AC_ISA
