// SPDX-License-Identifier: MIT
//
// How often integers occur, how many numbers fall into the bins of a histogram, and
// where a mask holds: one thread, one element after another.
#include "common/call.hpp"
#include "common/families.hpp"
#include "common/operands.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

AC_INLINE int64_t* counts_of(ac_context* context, int64_t size) {
    int64_t* counts = scratch_of<int64_t>(context, 0, larger<int64_t>(size, 1));
    if (counts != nullptr) memset(counts, 0, static_cast<size_t>(size) * 8);
    return counts;
}

template <class T>
void write_counts(const ac_array* out, const int64_t* counts) {
    T* to = data<T>(out);
    const int64_t step = stride_of<T>(out, 0);
    for (int64_t i = 0; i < out->shape[0]; ++i) to[i * step] = T(counts[i]);
}

void bincount(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = operand(call, 0), *ends = operand(call, 1);
    const ac_array* a = operand(call, 2);
    const int64_t n = a->shape[0], step = stride_of<int64_t>(a, 0);
    const auto size = static_cast<uint64_t>(out->shape[0]);
    const int64_t* values = data<int64_t>(a);
    int64_t* counts = counts_of(context, out->shape[0]);
    if (counts == nullptr) return no_memory(status);
    int64_t low = n > 0 ? values[0] : 0, high = n > 0 ? low : -1;
    for (int64_t i = 0; i < n; ++i) {
        const int64_t value = values[i * step];
        low = smaller(low, value);
        high = larger(high, value);
        const auto place = static_cast<uint64_t>(value);
        if (place < size) ++counts[place];
    }
    write_counts<int64_t>(out, counts);
    data<int64_t>(ends)[0] = low;
    data<int64_t>(ends)[stride_of<int64_t>(ends, 0)] = high;
    done(status);
}

struct Ends {
    double low, high;
};

// Of all elements; NaN if one is.
template <class T>
Ends ends_of(const T* a, int64_t n, int64_t step) {
    T low = a[0], high = a[0];
    for (int64_t i = 0; i < n; ++i) {
        const T x = a[i * step];
        low = x < low || x != x ? x : low;
        high = x > high || x != x ? x : high;
        if (x != x) break;
    }
    return {double(low), double(high)};
}

template <class T>
void count_bins(const T* a, int64_t n, int64_t step, Ends ends, int64_t bins,
                int64_t* counts) {
    const double scale = static_cast<double>(bins) / (ends.high - ends.low);
    for (int64_t i = 0; i < n; ++i) {
        const double x = double(a[i * step]);
        if (!(x >= ends.low && x <= ends.high)) continue;
        const auto place = static_cast<int64_t>((x - ends.low) * scale);
        ++counts[larger<int64_t>(0, smaller(place, bins - 1))];
    }
}

template <class T>
void histc_of(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = operand(call, 0), *rising = operand(call, 1);
    const ac_array* a = operand(call, 2);
    const int64_t n = a->shape[0], step = stride_of<T>(a, 0), bins = out->shape[0];
    Ends ends = {double(T(float_attribute(call, 1))),
                 double(T(float_attribute(call, 2)))};
    if (ends.low == 0 && ends.high == 0 && n > 0) ends = ends_of(data<T>(a), n, step);
    if (ends.low == ends.high) ends = {ends.low - 1, ends.high + 1};
    int64_t* counts = counts_of(context, bins);
    if (counts == nullptr) return no_memory(status);
    const bool rise =
        ends.low < ends.high && ends.high - ends.low < __builtin_inf() && bins > 0;
    if (rise) count_bins(data<T>(a), n, step, ends, bins, counts);
    write_counts<T>(out, counts);
    *data<uint8_t>(rising) = rise ? 1 : 0;
    done(status);
}
void histc(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 2)->dtype == AC_FLOAT32) {
        histc_of<float>(call, context, status);
    } else {
        histc_of<double>(call, context, status);
    }
}

// ---- where a mask holds

// Moves on by a row: the next index of all dimensions but the last.
AC_INLINE const char* next_row(const ac_array* mask, int64_t* index, const char* row) {
    for (int d = mask->ndim - 2; d >= 0; --d) {
        row += mask->strides[d];
        if (++index[d] < mask->shape[d]) break;
        row -= mask->shape[d] * mask->strides[d];
        index[d] = 0;
    }
    return row;
}

void nonzero(const ac_call* call, ac_context*, ac_status* status) {
    const ac_array *out = operand(call, 0), *mask = operand(call, 2);
    const int64_t room = out->shape[0], width = dim_of(mask, -1);
    const int64_t down = stride_of<int64_t>(out, 0),
                  across = stride_of<int64_t>(out, 1);
    const int64_t step = mask->strides[mask->ndim - 1], total = element_count(*mask);
    int64_t* to = data<int64_t>(out);
    int64_t index[AC_MAX_DIMS] = {}, count = 0;
    const char* row = data<char>(mask);
    for (int64_t done = 0; done < total; done += width) {
        for (int64_t j = 0; j < width; ++j) {
            if (row[j * step] == 0 || count++ >= room) continue;
            for (int d = 0; d + 1 < mask->ndim; ++d) to[d * across] = index[d];
            to[(mask->ndim - 1) * across] = j;
            to += down;
        }
        row = next_row(mask, index, row);
    }
    for (int64_t i = count; i < room; ++i, to += down) {
        for (int d = 0; d < mask->ndim; ++d) to[d * across] = 0;
    }
    *data<int64_t>(operand(call, 1)) = count;
    done(status);
}

const ac_kernel_entry entries[] = {
    {"bincount", "counts ends ; a ; size:int", bincount, nullptr, nullptr, 1.0,
     1u << AC_INT64, nullptr},
    {"histc", "counts rising ; a ; bins:int low:float high:float", histc, nullptr,
     nullptr, 3.0, float_dtypes, nullptr},
    {"nonzero", "rows count ; mask ; size:int", nonzero, nullptr, nullptr, 1.0,
     bool_dtype, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(counts, entries);
}  // namespace autocalc::simd::AC_ISA
