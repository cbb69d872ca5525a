// SPDX-License-Identifier: MIT
//
// Running logarithms of sums of exponentials.
//
// The sum is kept over e^base: log(sum e^a) = base + log(sum e^(a - base)), so that a
// step adds one exponential. The base rises where the elements are far above it; what
// the sum before then loses is small compared with what comes after.
#pragma once

#include "elementwise/exponential_math.hpp"
#include "reduce/axis.hpp"
#include "reduce/running.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int far_above = 20;      // the base: it rises
constexpr int too_far_above = 60;  // the base: the exponential nears the largest float

// Of a line in each lane.
template <class T>
struct LogSum {
    vec<T> base = zero<T>(), so_far = set1<T>(-limits<T>::infinity);
    RunningSum<vec<T>> sum;

    // Chooses the base for elements of at most `top`, of which `next` is the first.
    // Answers false where there is none, as for infinities and NaN: then elements are
    // added one by one.
    AC_INLINE bool begin(vec<T> next, vec<T> top) {
        const vec<T> first = maximum(so_far, next), before = base;
        const mask<T> near = le(top, first + set1<T>(T(too_far_above)));
        if (!all(near & is_finite(first))) return false;
        const mask<T> none = eq(so_far, set1<T>(-limits<T>::infinity));
        base = select(none | gt(first, base + set1<T>(T(far_above))), first, base);
        const vec<T> share = exp(before - base);
        sum.whole = select(none, zero<T>(), sum.whole * share);
        sum.lost = select(none, zero<T>(), sum.lost * share);
        return true;
    }
    AC_INLINE vec<T> add_plainly(vec<T> a) {
        so_far = logaddexp(so_far, a);
        return so_far;
    }
    AC_INLINE void end_plainly() {
        base = keep(is_finite(so_far), so_far);
        sum = {keep(is_finite(so_far), set1<T>(1))};
    }
};

// Down lines that are adjacent.
template <class T, class Part>
AC_INLINE void log_sum_bundle(const Part& part, T* out, const T* a, int64_t n,
                              int64_t step) {
    LogSum<T> state;
    for (int64_t from = 0; from < n; from += carried_terms) {
        const int64_t to = smaller(n, from + carried_terms);
        vec<T> top = part.get(a + from * step);
        const vec<T> next = top;
        for (int64_t i = from + 1; i < to; ++i)
            top = maximum(top, part.get(a + i * step));
        if (state.begin(next, top)) {
            for (int64_t i = from; i < to; ++i) {
                const vec<T> e = exp(part.get(a + i * step) - state.base);
                state.so_far = state.base + log(state.sum.next(e));
                part.put(out + i * step, state.so_far);
            }
            state.sum.carry();
        } else {
            for (int64_t i = from; i < to; ++i)
                part.put(out + i * step, state.add_plainly(part.get(a + i * step)));
            state.end_plainly();
        }
    }
}

// A line alone, in blocks of which exponentials and logarithms are taken at once.
template <class T>
struct LogSumOfLine {
    static constexpr int64_t lanes = vec<T>::lanes;
    static constexpr int64_t block = 4 * lanes;
    LogSum<T> state;

    AC_INLINE void add_block(T* out, const T* a, int64_t n) {
        const vec<T> lowest = set1<T>(-limits<T>::infinity);
        vec<T> top = lowest;
        each_vector<T>(n, [&](int64_t i, auto part) {
            top = maximum(top, part.only(part.get(a + i), lowest));
        });
        if (state.begin(set1<T>(a[0]), set1<T>(MaxOp::across(top)))) {
            add_sums(out, a, n);
        } else {
            for (int64_t i = 0; i < n; ++i)
                store_first(out + i, state.add_plainly(set1<T>(a[i])), 1);
            state.end_plainly();
        }
    }

  private:
    AC_INLINE void add_sums(T* out, const T* a, int64_t n) {
        T sums[block] = {}, first[2][lanes];
        each_vector<T>(n, [&](int64_t i, auto part) {
            store(sums + i, exp(part.get(a + i) - state.base));
        });
        store(first[0], state.sum.whole);
        store(first[1], state.sum.lost);
        RunningSum<T> sum = {first[0][0], 0, first[1][0]};
        for (int64_t i = 0; i < n; ++i) {
            sums[i] = sum.next(sums[i]);
            if (i % carried_terms == carried_terms - 1) sum.carry();
        }
        sum.carry();
        state.sum = {set1<T>(sum.whole), zero<T>(), set1<T>(sum.lost)};
        each_vector<T>(n, [&](int64_t i, auto part) {
            part.put(out + i, state.base + log(load(sums + i)));
        });
        state.so_far = set1<T>(out[n - 1]);
    }
};

struct LogSums {
    template <class T, bool bundle>
    static AC_INLINE void run(const Line<T, bundle>& line, T* out, const T* a,
                              const T*) {
        if constexpr (bundle) {
            if (line.rest == vec<T>::lanes)
                return log_sum_bundle(AllLanes<T>{}, out, a, line.n, line.step);
            log_sum_bundle(FirstLanes<T>{line.rest}, out, a, line.n, line.step);
        } else {
            constexpr int64_t block = LogSumOfLine<T>::block;
            LogSumOfLine<T> sums;
            for (int64_t i = 0; i < line.n; i += block)
                sums.add_block(out + i, a + i, smaller(block, line.n - i));
        }
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
