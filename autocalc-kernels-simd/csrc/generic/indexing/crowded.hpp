// SPDX-License-Identifier: MIT
//
// Sums of many terms at one place: they are kept with twice the digits, so that their
// error does not grow with the number of terms.
#pragma once

#include "indexing/indexed.hpp"
#include "reduce/running.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t few_terms = 1024;  // which are added one after the other

// Whether a place may be named by more than a few of the indices. To count them all
// takes as long as to add, so one of each `sampled_from` is counted, at a position that
// is as good as random. Of places with 4 `few_terms` one in 250 is missed, of those
// with 8 one in 10^8. Places share counters: eight for each index that is counted, so
// that more than `most` are a crowd.
constexpr int64_t sampled_from = 256;

AC_NOINLINE inline bool is_crowded(ac_context* context, const ColumnSteps along,
                                   const char* index) {
    constexpr int most = 6;
    if (along.count <= few_terms) return false;
    int bits = 6;
    while ((sampled_from << bits) < 8 * along.count) ++bits;
    uint8_t* counters = scratch_of<uint8_t>(context, 4, int64_t{1} << bits);
    if (counters == nullptr) return true;
    memset(counters, 0, size_t{1} << bits);
    constexpr uint64_t mix = 0x9E3779B97F4A7C15u;
    for (int64_t j = 0; j + sampled_from <= along.count; j += sampled_from) {
        const auto offset =
            static_cast<int64_t>(static_cast<uint64_t>(j + sampled_from) * mix >> 56);
        int64_t at;
        if (!along.indices.read(index + (j + offset) * along.index, at)) return false;
        if (at == along.skipped) continue;
        if (++counters[static_cast<uint64_t>(at) * mix >> (64 - bits)] > most)
            return true;
    }
    return false;
}

// Wide sums of `width` columns at each place that is named. slot_of[place] needs no
// first values: what it holds counts only if that slot is the place's, as in
// chains.hpp.
template <class T>
struct WideSums {
    int64_t *slot_of, *place_of;
    LineSum<T>* sums;
    int64_t width, count = 0;

    bool reserve(ac_context* context, int64_t places, int64_t indices) {
        const int64_t most = smaller(places, indices);
        slot_of = scratch_of<int64_t>(context, 4, places + most);
        sums = scratch_of<LineSum<T>>(context, 5, most * width);
        place_of = slot_of + places;
        return slot_of != nullptr && sums != nullptr;
    }
    // The sums at a place, which begin with what `out` holds.
    AC_INLINE LineSum<T>* at(int64_t place, const char* out, int64_t step) {
        const int64_t slot = slot_of[place];
        if (slot >= 0 && slot < count && place_of[slot] == place)
            return sums + slot * width;
        place_of[count] = place;
        slot_of[place] = count;
        LineSum<T>* to = sums + count++ * width;
        for (int64_t i = 0; i < width; ++i) {
            to[i] = {};
            to[i].add(*reinterpret_cast<const T*>(out + i * step));
        }
        return to;
    }
};

// Adds `n` columns that have one index. Answers false if there is no memory.
template <class T>
AC_NOINLINE bool add_widely(ac_context* context, const ColumnSteps along,
                            const char* index, const char* src, int64_t src_step,
                            char* out, int64_t out_step, int64_t n) {
    WideSums<T> wide;
    wide.width = n;
    if (!wide.reserve(context, static_cast<int64_t>(along.indices.size), along.count))
        return false;
    for (int64_t j = 0; j < along.count; ++j) {
        int64_t place;
        if (!along.indices.read(index + j * along.index, place)) break;
        if (place == along.skipped) continue;
        LineSum<T>* sums = wide.at(place, out + place * along.out, out_step);
        const char* from = src + j * along.src;
        for (int64_t i = 0; i < n; ++i)
            sums[i].add(*reinterpret_cast<const T*>(from + i * src_step));
    }
    for (int64_t slot = 0; slot < wide.count; ++slot) {
        char* to = out + wide.place_of[slot] * along.out;
        for (int64_t i = 0; i < n; ++i)
            *reinterpret_cast<T*>(to + i * out_step) = wide.sums[slot * n + i].value();
    }
    return true;
}

// n columns of a task, of which some may have crowded places.
template <class T, class Op>
bool add_columns(ac_context* context, const ColumnPlan& plan, const char* index,
                 const char* src, char* out, int64_t n) {
    const int inner = plan.columns.dims - 1;
    const int64_t out_step = plan.columns.stride[0][inner];
    const int64_t index_step = plan.columns.stride[1][inner];
    const int64_t src_step = plan.columns.stride[2][inner];
    const int64_t lines = index_step == 0 ? 1 : n;  // of indices
    bool crowded = false;
    for (int64_t i = 0; i < lines && !crowded; ++i)
        crowded = is_crowded(context, plan.along, index + i * index_step);
    if (!crowded) {
        write_columns<Op>(plan, index, src, out, n);
        return true;
    }
    for (int64_t i = 0; i < lines; ++i) {
        if (!add_widely<T>(context, plan.along, index + i * index_step,
                           src + i * src_step, src_step, out + i * out_step, out_step,
                           n / lines))
            return false;
    }
    return true;
}

// One column of floats into few places, all of which are kept wide: as fast as adding
// in float, where to count what is crowded would take as long again.
constexpr int64_t few_places = 4096;

inline void add_to_few_places(const ColumnSteps along, const char* index,
                              const char* src, char* out) {
    double sums[few_places];
    const auto places = static_cast<int64_t>(along.indices.size);
    for (int64_t i = 0; i < places; ++i)
        sums[i] = double(*reinterpret_cast<const float*>(out + i * along.out));
    for (int64_t j = 0; j < along.count; ++j) {
        int64_t at;
        if (!along.indices.read(index + j * along.index, at)) break;
        if (at != along.skipped)
            sums[at] += double(*reinterpret_cast<const float*>(src + j * along.src));
    }
    for (int64_t i = 0; i < places; ++i)
        *reinterpret_cast<float*>(out + i * along.out) = float(sums[i]);
}

// As write_indexed, of a sum. Answers false if there is no memory.
template <class T, class Op>
bool add_indexed(ac_context* context, const ColumnPlan& plan) {
    const Nest& nest = plan.columns;
    const auto places = static_cast<int64_t>(plan.along.indices.size);
    if (sizeof(T) == sizeof(float) && nest.total == 1 && places <= few_places &&
        places <= plan.along.count && plan.along.count > few_terms) {
        add_to_few_places(plan.along, nest.data[1], nest.data[2], nest.data[0]);
        return true;
    }
    if (plan.along.count <= few_terms) {
        write_indexed<Op>(context, plan);
        return true;
    }
    int failed = 0;
    write_indexed<Op>(context, plan,
                      [&](const char* index, const char* src, char* out, int64_t n) {
                          if (!add_columns<T, Op>(context, plan, index, src, out, n))
                              __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
                      });
    return failed == 0;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
