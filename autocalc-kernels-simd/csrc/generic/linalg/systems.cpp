// SPDX-License-Identifier: MIT
//
// Determinants, inverses and solutions, by LU factors in the precision of the matrix.
// What a factor cannot answer, of a matrix that is singular or holds infinities or NaN,
// is left to the reference.
#include "common/families.hpp"
#include "linalg/cofactor.hpp"
#include "linalg/lu.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum class Answer { found, no_memory, refused };

AC_INLINE Answer found_if(bool memory) {
    return memory ? Answer::found : Answer::no_memory;
}

// answer(lu, index) for the factors of each matrix of a batch; `a` is broadcast to it.
template <class T, class F>
Answer each_factor(ac_context* context, const Matrices& a, const ac_array& whole,
                   int64_t count, F&& answer) {
    Lu<T> lu = {context, a.rows};
    if (!lu.take_room()) return Answer::no_memory;
    const char* before = nullptr;
    for (int64_t index = 0; index < count; ++index) {
        const char* place = a.at(index, whole);
        if (place != before) {
            if (!read_matrix(a, place, lu.a)) return Answer::refused;
            if (!lu.factor()) return Answer::no_memory;
        }
        before = place;
        const Answer found = answer(lu, index);
        if (found != Answer::found) return found;
    }
    return Answer::found;
}

// run.template of<T>(call, context) for the dtype of a call's last operand but
// `behind`.
template <class Kernel>
void by_float(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, 0);
    done(status);
    if (element_count(*operand(call, Kernel::input)) == 0 && !Kernel::of_none) return;
    const Answer answer = out->dtype == AC_FLOAT32
                              ? Kernel::template run<float>(call, context)
                              : Kernel::template run<double>(call, context);
    if (answer == Answer::no_memory) return no_memory(status);
    if (answer == Answer::refused) bad_value(status, Kernel::input, 0, 0);
}

// The place of matrix `index` in an array of one number for each.
AC_NOINLINE char* number_at(const ac_array* array, int64_t index) {
    char* place = data<char>(array);
    for (int d = array->ndim - 1; d >= 0; --d) {
        place += index % array->shape[d] * array->strides[d];
        index /= array->shape[d];
    }
    return place;
}
template <class T>
AC_INLINE void put(const ac_array* array, int64_t index, double value) {
    *reinterpret_cast<T*>(number_at(array, index)) = static_cast<T>(value);
}

template <class T>
AC_INLINE double sign_of(const Lu<T>& lu) {
    bool negative = lu.odd;
    for (int64_t i = 0; i < lu.n; ++i) negative = negative != (lu.a.row(i)[i] < 0);
    if (lu.singular) return 0;
    return negative ? -1 : 1;
}
template <class T>
AC_INLINE double product_of(const Lu<T>& lu) {
    double product = lu.odd ? -1 : 1;
    for (int64_t i = 0; i < lu.n; ++i) product *= static_cast<double>(lu.a.row(i)[i]);
    return lu.singular ? 0 : product;
}

// Sum, largest and smallest of the logarithms of U's diagonal.
struct Logs {
    double sum = 0, most = -__builtin_inf(), least = __builtin_inf();
};
template <class T>
AC_NOINLINE Logs logs_of(const Lu<T>& lu) {
    Logs logs;
    for (int64_t i = 0; i < lu.n; ++i) {
        const double x =
            __builtin_log(__builtin_fabs(static_cast<double>(lu.a.row(i)[i])));
        logs.sum += x;
        logs.most = larger(logs.most, x);
        logs.least = smaller(logs.least, x);
    }
    return logs;
}

struct Det {
    static constexpr int input = 1;
    static constexpr bool of_none = true;
    template <class T>
    static Answer run(const ac_call* call, ac_context* context) {
        const Matrices a(operand(call, 1));
        const ac_array* out = operand(call, 0);
        return each_factor<T>(context, a, *a.array, a.count(),
                              [&](const Lu<T>& lu, int64_t index) {
                                  put<T>(out, index, product_of(lu));
                                  return Answer::found;
                              });
    }
};

struct Slogdet {
    static constexpr int input = 2;
    static constexpr bool of_none = true;
    template <class T>
    static Answer run(const ac_call* call, ac_context* context) {
        const Matrices a(operand(call, 2));
        const ac_array *sign = operand(call, 0), *log = operand(call, 1);
        return each_factor<T>(
            context, a, *a.array, a.count(), [&](const Lu<T>& lu, int64_t index) {
                put<T>(sign, index, sign_of(lu));
                put<T>(log, index, lu.singular ? -__builtin_inf() : logs_of(lu).sum);
                return Answer::found;
            });
    }
};

// U^-1 L^-1 P b, b by its strides, or the identity where there is none.
template <class T>
Answer solve_into(const Lu<T>& lu, const Matrices& out, char* to, const Matrices* b,
                  const char* from) {
    Block<T> x;
    if (lu.singular) return Answer::refused;
    if (!take(x, lu.context, solution_slot, lu.n, out.columns))
        return Answer::no_memory;
    if (b == nullptr) {
        for (int64_t i = 0; i < lu.n; ++i) x.row(i)[lu.order[i]] = 1;
    } else {
        const int64_t down = stride_of<T>(b->array, -2);
        const int64_t across = stride_of<T>(b->array, -1);
        const T* values = reinterpret_cast<const T*>(from);
        each_element(lu.n, out.columns, [&](int64_t i, int64_t j) {
            x.row(i)[j] = values[lu.order[i] * down + j * across];
        });
    }
    if (!lu.solve(x, out.columns)) return Answer::no_memory;
    write_matrix(out, to, x);
    return Answer::found;
}

struct Inv {
    static constexpr int input = 1;
    static constexpr bool of_none = false;
    template <class T>
    static Answer run(const ac_call* call, ac_context* context) {
        const Matrices out(operand(call, 0)), a(operand(call, 1));
        return each_factor<T>(
            context, a, *a.array, a.count(), [&](const Lu<T>& lu, int64_t index) {
                return solve_into<T>(lu, out, out.at(index), nullptr, nullptr);
            });
    }
};

struct Solve {
    static constexpr int input = 1;
    static constexpr bool of_none = false;
    template <class T>
    static Answer run(const ac_call* call, ac_context* context) {
        const Matrices out(operand(call, 0)), a(operand(call, 1)), b(operand(call, 2));
        return each_factor<T>(context, a, *out.array, out.count(),
                              [&](const Lu<T>& lu, int64_t index) {
                                  return solve_into<T>(lu, out, out.at(index), &b,
                                                       b.at(index, *out.array));
                              });
    }
};

// det(a) a^-T, where rounding in the inverse leaves it within eps of the largest
// product of n - 1 singular values, estimated by the pivots; other small matrices have
// a way of their own.
struct Cofactor {
    static constexpr int input = 1;
    static constexpr bool of_none = false;
    static constexpr double room = 1.4;  // the logarithm of 4

    template <class T>
    static bool is_precise(const Lu<T>& lu) {
        if (lu.singular) return false;
        const Logs logs = logs_of(lu);
        const double others = static_cast<double>(lu.n - 1) * logs.most;
        return logs.sum - 2 * logs.least + logs.most <= others + room;
    }

    template <class T>
    static Answer run(const ac_call* call, ac_context* context) {
        const Matrices a(operand(call, 1));
        const ac_array* array = operand(call, 0);
        ac_array flipped = *array;  // the inverse is written transposed
        const int last = flipped.ndim - 1;
        flipped.strides[last] = array->strides[last - 1];
        flipped.strides[last - 1] = array->strides[last];
        const Matrices out(&flipped);
        return each_factor<T>(
            context, a, *a.array, a.count(), [&](const Lu<T>& lu, int64_t index) {
                return is_precise(lu) ? by_inverse<T>(lu, out, index)
                                      : by_pivots<T>(lu, a, out, index);
            });
    }

    template <class T>
    static Answer by_inverse(const Lu<T>& lu, const Matrices& out, int64_t index) {
        Block<T> x;
        if (!take(x, lu.context, solution_slot, lu.n, lu.n)) return Answer::no_memory;
        for (int64_t i = 0; i < lu.n; ++i) x.row(i)[lu.order[i]] = 1;
        if (!lu.solve(x, lu.n)) return Answer::no_memory;
        const double det = product_of(lu);
        each_element(lu.n, lu.n, [&](int64_t i, int64_t j) {
            x.row(i)[j] = static_cast<T>(det * static_cast<double>(x.row(i)[j]));
        });
        write_matrix(out, out.at(index), x);
        return Answer::found;
    }

    template <class T>
    static Answer by_pivots(const Lu<T>& lu, const Matrices& a, const Matrices& out,
                            int64_t index) {
        const int64_t n = lu.n;
        if (n > most_adjugate) return Answer::refused;
        auto* work = scratch_of<double>(lu.context, solution_slot, n * n);
        if (work == nullptr) return Answer::no_memory;
        const T* from = reinterpret_cast<const T*>(a.at(index));
        const int64_t down = stride_of<T>(a.array, -2);
        const int64_t across = stride_of<T>(a.array, -1);
        each_element(n, n, [&](int64_t i, int64_t j) {
            work[i * n + j] = static_cast<double>(from[i * down + j * across]);
        });
        T* to = reinterpret_cast<T*>(out.at(index));
        const int64_t out_down = stride_of<T>(out.array, -2);
        const int64_t out_across = stride_of<T>(out.array, -1);
        adjugate(work, n, [&](int64_t i, int64_t j, double value) AC_INLINE_LAMBDA {
            to[i * out_down + j * out_across] = static_cast<T>(value);
        });
        return Answer::found;
    }
};

#define AC_ENTRY(name, signature, Kernel) \
    {name, signature, by_float<Kernel>, nullptr, nullptr, 10.0, float_dtypes, nullptr}
const ac_kernel_entry entries[] = {
    AC_ENTRY("det", "out ; a", Det),
    AC_ENTRY("slogdet", "sign logabs ; a", Slogdet),
    AC_ENTRY("inv", "out ; a", Inv),
    AC_ENTRY("solve", "out ; a b", Solve),
    AC_ENTRY("cofactor", "out ; a", Cofactor),
};
#undef AC_ENTRY

}  // namespace
AC_DEFINE_FAMILY(systems, entries);
}  // namespace autocalc::simd::AC_ISA
