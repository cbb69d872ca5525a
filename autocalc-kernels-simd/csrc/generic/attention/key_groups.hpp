// SPDX-License-Identifier: MIT
//
// Attention over many keys: the sums of groups of blocks of keys are added with twice
// the digits.
#pragma once

#include "attention/forward.hpp"
#include "elementwise/vector_math.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T, class E>
void clear_groups(const ForwardWorkspace<T, E>& w) {
    w.all_sums.clear(w.width * w.value_width);
    w.all_row_sums.clear(w.width);
    for (int64_t j = 0; j < w.width; j += vec<T>::lanes)
        store(w.all_row_max + j, set1<T>(-limits<T>::infinity));
}

// Adds the sums of a group of blocks, which begins again, to those before.
template <class T, class E>
AC_NOINLINE void add_group(const ForwardWorkspace<T, E>& w, int64_t queries) {
    constexpr int64_t lanes = vec<T>::lanes;
    const vec<T> lowest = set1<T>(-limits<T>::infinity);
    for (int64_t j = 0; j < w.width; j += lanes) {
        const vec<T> top = load(w.row_max + j);
        const vec<T> base = select(eq(top, lowest), zero<T>(), top);
        const vec<T> rescale = exp_negative(load(w.all_row_max + j) - base);
        w.all_row_sums.add(j, load(w.row_sum + j), rescale);
        store(w.row_sum + j, zero<T>());
        store(w.rescale + j, rescale);
        store(w.all_row_max + j, top);
    }
    for (int64_t i = 0; i < queries; ++i) {
        const vec<T> rescale = set1<T>(w.rescale[i]);
        for (int64_t at = i * w.value_width; at < (i + 1) * w.value_width; at += lanes)
            w.all_sums.add(at, load(w.sums + at), rescale);
    }
}

// The sums over all groups, of which the last is not added yet.
template <class T, class E>
void take_groups(const ForwardWorkspace<T, E>& w, int64_t queries) {
    constexpr int64_t lanes = vec<T>::lanes;
    add_group(w, queries);
    for (int64_t j = 0; j < w.width; j += lanes)
        store(w.row_sum + j, w.all_row_sums.value(j));
    for (int64_t at = 0; at < queries * w.value_width; at += lanes)
        store(w.sums + at, w.all_sums.value(at));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
