// SPDX-License-Identifier: MIT
//
// cumsum, cumprod and logcumsumexp along any axis.
//
// Lines side by side run on together, one to a lane. A single line is a chain of
// additions of four cycles each; cut into eight pieces, whose totals are found first,
// it becomes eight chains at once. Products of floats are chains of doubles, which do
// not become subnormal where the floats do: each such product takes 150 cycles.
#include "common/families.hpp"
#include "elementwise/exponential_math.hpp"
#include "reduce/axis.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

struct Add {
    static constexpr int start = 0;
    template <class T>
    using Chain = T;
    template <class V>
    static AC_INLINE V join(V a, V b) {
        return a + b;
    }
};
struct Multiply {
    static constexpr int start = 1;
    template <class T>
    using Chain = double;
    template <class V>
    static AC_INLINE V join(V a, V b) {
        return a * b;
    }
};

constexpr int64_t pieces = 8;
constexpr int64_t piece_length = 32;  // shorter ones are not worth a second walk

// The join of n elements from a[i] on, in `step`s of 1 or -1.
template <class T, class Op>
AC_INLINE auto join_of(const T* a, int64_t n, int64_t step) {
    using Total = typename Op::template Chain<T>;
    const T* p = step > 0 ? a : a - (n - 1);
    constexpr int64_t lanes = vec<T>::lanes;
    const vec<T> none = set1<T>(T(Op::start));
    vec<T> even = none, odd = none;
    int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        even = Op::join(even, load(p + i));
        odd = Op::join(odd, load(p + i + lanes));
    }
    for (; i < n; i += lanes) {
        const int64_t rest = smaller(lanes, n - i);
        even = Op::join(even, select(first<T>(rest), load_first(p + i, rest), none));
    }
    T values[lanes];
    store(values, Op::join(even, odd));
    Total total = values[0];
    for (int64_t j = 1; j < lanes; ++j) total = Op::join(total, Total(values[j]));
    return total;
}

template <class T, class Op>
AC_INLINE void scan_short(T* out, const T* a, int64_t n, int64_t step,
                          typename Op::template Chain<T> so_far) {
    for (int64_t i = 0; i < n; ++i) {
        so_far = Op::join(so_far, decltype(so_far)(a[i * step]));
        out[i * step] = T(so_far);
    }
}

template <class T, class Op>
AC_INLINE void scan_line(T* out, const T* a, int64_t n, int64_t step) {
    using Total = typename Op::template Chain<T>;
    const int64_t length = n / pieces;
    if (length < piece_length) return scan_short<T, Op>(out, a, n, step, Op::start);
    Total so_far[pieces];
    Total total = Op::start;
    for (int64_t k = 0; k < pieces; ++k) {
        so_far[k] = total;
        if (k + 1 < pieces)
            total =
                Op::join(total, join_of<T, Op>(a + k * length * step, length, step));
    }
    for (int64_t i = 0; i < length; ++i) {
#pragma GCC unroll 8
        for (int64_t k = 0; k < pieces; ++k) {
            const int64_t at = (k * length + i) * step;
            so_far[k] = Op::join(so_far[k], Total(a[at]));
            out[at] = T(so_far[k]);
        }
    }
    const int64_t done = pieces * length;
    scan_short<T, Op>(out + done * step, a + done * step, n - done, step,
                      so_far[pieces - 1]);
}

template <class Op, bool reverse>
struct Scan {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        if constexpr (bundle) {
            vec<T> so_far = set1<T>(T(Op::start));
            const int64_t last = (line.n - 1) * line.step;
            line.each([&](int64_t i, auto part) {
                const int64_t at = reverse ? last - i : i;
                so_far = Op::join(so_far, part.get(a + at));
                part.put(out + at, so_far);
            });
        } else if (line.n > 0) {
            const int64_t begin = reverse ? line.n - 1 : 0;
            scan_line<T, Op>(out + begin, a + begin, line.n, reverse ? -1 : 1);
        }
    }
};

// logcumsumexp. A step takes some twenty cycles of one chain, so a long line is cut
// into as many pieces as there are lanes, whose totals are found first.
struct LogSums {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        constexpr int64_t lanes = vec<T>::lanes;
        const vec<T> none = set1<T>(-T(__builtin_inf()));
        if constexpr (bundle) {
            vec<T> so_far = none;
            line.each([&](int64_t i, auto part) {
                so_far = logaddexp(so_far, part.get(a + i));
                part.put(out + i, so_far);
            });
            return;
        }
        const int64_t length = line.n < 4 * lanes ? 0 : line.n / lanes;
        const vec<T> total = length == 0 ? none : in_pieces(out, a, length, none);
        T last[lanes];
        store(last, total);
        vec<T> so_far = set1<T>(last[lanes - 1]);
        for (int64_t i = lanes * length; i < line.n; ++i) {
            so_far = logaddexp(so_far, set1<T>(a[i]));
            store_first(out + i, so_far, 1);
        }
    }

  private:
    // Sums over `lanes` pieces of a line; answers those at their ends.
    template <class T>
    static AC_INLINE vec<T> in_pieces(T* out, const T* a, int64_t length, vec<T> none) {
        constexpr int64_t lanes = vec<T>::lanes;
        T values[lanes];
        vec<T> so_far = none;
        for (int64_t i = 0; i < length; ++i) {
            for (int64_t k = 0; k < lanes; ++k) values[k] = a[k * length + i];
            so_far = logaddexp(so_far, load(values));
        }
        T totals[lanes], before[lanes];
        store(totals, so_far);
        so_far = none;
        for (int64_t k = 0; k < lanes; ++k) {
            store_first(before + k, so_far, 1);
            so_far = logaddexp(so_far, set1<T>(totals[k]));
        }
        so_far = load(before);
        for (int64_t i = 0; i < length; ++i) {
            for (int64_t k = 0; k < lanes; ++k) values[k] = a[k * length + i];
            so_far = logaddexp(so_far, load(values));
            store(values, so_far);
            for (int64_t k = 0; k < lanes; ++k) out[k * length + i] = values[k];
        }
        return so_far;
    }
};

void logcumsumexp_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* arrays[2] = {operand(call, 0), operand(call, 1)};
    const int64_t axis = int_attribute(call, 0);
    if (arrays[0]->dtype == AC_FLOAT32) {
        along_lines<float, LogSums>(context, status, arrays, 2, axis);
    } else {
        along_lines<double, LogSums>(context, status, arrays, 2, axis);
    }
}

template <class Op, bool reverse>
void scan(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* arrays[2] = {operand(call, 0), operand(call, 1)};
    const int64_t axis = int_attribute(call, 0);
    if (arrays[0]->dtype == AC_FLOAT32) {
        along_lines<float, Scan<Op, reverse>>(context, status, arrays, 2, axis);
    } else {
        along_lines<double, Scan<Op, reverse>>(context, status, arrays, 2, axis);
    }
}

void cumsum_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (int_attribute(call, 1) != 0) {
        scan<Add, true>(call, context, status);
    } else {
        scan<Add, false>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"cumsum", "out ; a ; axis:int reverse:bool", cumsum_kernel, nullptr, nullptr, 0.5,
     float_dtypes, nullptr},
    {"cumprod", "out ; a ; axis:int", scan<Multiply, false>, nullptr, nullptr, 0.5,
     float_dtypes, nullptr},
    {"logcumsumexp", "out ; a ; axis:int", logcumsumexp_kernel, nullptr, nullptr, 3.0,
     float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(scans, entries);
}  // namespace autocalc::simd::AC_ISA
