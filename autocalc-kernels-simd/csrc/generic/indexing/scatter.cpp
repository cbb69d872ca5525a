// SPDX-License-Identifier: MIT
//
// Writing at indices (scatter, index_copy), and what brackets with index tensors are
// turned into: positions in merged dimensions, and the places where a mask holds.
#include "common/families.hpp"
#include "elementwise/elementwise.hpp"
#include "indexing/indexed.hpp"
#include "indexing/indices.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- writing: the last one stays
template <class Bits>
struct Put {
    static constexpr int64_t item = item_size<Bits>;
    AC_INLINE static void one(char* out, const char* src) {
        store_bits(out, load_bits<Bits>(src));
    }
    AC_INLINE static void run(char* out, const char* src, int64_t n) {
        memcpy(out, src, static_cast<size_t>(n * item));
    }
};

void put_indexed(ac_context* context, const ColumnPlan& plan, int dtype) {
    switch (size_of(dtype)) {
        case 1:
            return write_indexed<Put<uint8_t>>(context, plan);
        case 2:
            return write_indexed<Put<uint16_t>>(context, plan);
        case 4:
            return write_indexed<Put<uint32_t>>(context, plan);
        default:
            return write_indexed<Put<uint64_t>>(context, plan);
    }
}

template <bool line>
void put_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    write_over_copy(call, context, status, line, [&](const ColumnPlan& plan) {
        put_indexed(context, plan, operand(call, 0)->dtype);
    });
}

// ---- positions
//
// out = out * size + index for one index after the other, each counted from the end
// where it is negative.
void first_position_run(void* const* operands, int64_t n, const void* parameters) {
    const int64_t size = *static_cast<const int64_t*>(parameters);
    auto* out = static_cast<int64_t*>(operands[0]);
    const auto* index = static_cast<const int64_t*>(operands[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = index[i] + (index[i] < 0 ? size : 0);
}

void next_position_run(void* const* operands, int64_t n, const void* parameters) {
    const int64_t size = *static_cast<const int64_t*>(parameters);
    auto* out = static_cast<int64_t*>(operands[0]);
    const auto* before = static_cast<const int64_t*>(operands[1]);
    const auto* index = static_cast<const int64_t*>(operands[2]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const int64_t at = index[i] + (index[i] < 0 ? size : 0);
        // Wraps where an index was changed after the check; a signed product must not.
        out[i] = static_cast<int64_t>(static_cast<uint64_t>(before[i]) *
                                          static_cast<uint64_t>(size) +
                                      static_cast<uint64_t>(at));
    }
}

// Answers false, with the status set, if a value is not in -size .. size - 1.
bool wrapped_indices_fit(const ac_array* index, int64_t size, int which,
                         ac_status* status) {
    const int64_t count = element_count(*index);
    const auto beyond = [size](int64_t value) {
        return static_cast<uint64_t>(value) + static_cast<uint64_t>(size) >=
               2 * static_cast<uint64_t>(size);
    };
    if (is_contiguous(*index)) {
        const int64_t* values = data<const int64_t>(index);
        uint64_t wrong = 0;
        for (int64_t i = 0; i < count; ++i) {
            wrong |= static_cast<uint64_t>(beyond(values[i]));
        }
        if (wrong == 0) return true;
    }
    IndexWalk walk(index);
    for (int64_t i = 0; i < count; ++i, walk.next()) {
        if (beyond(walk.value())) {
            bad_value(status, which, i, walk.value());
            return false;
        }
    }
    return true;
}

void positions_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array& out = *operand(call, 0);
    const ac_operand& index = list(call, 1);
    const int64_t* sizes = call->attributes[0].v.list.values;
    done(status);
    for (int64_t k = 0; k < index.count; ++k) {
        const int which = 1 + AC_MAX_OPERANDS * static_cast<int>(k);
        if (!wrapped_indices_fit(index.arrays + k, sizes[k], which, status)) return;
    }
    const ac_array* first[2] = {&out, index.arrays};
    elementwise(context, first, 2, first_position_run, sizes, Cost::cheap);
    for (int64_t k = 1; k < index.count; ++k) {
        const ac_array* next[3] = {&out, &out, index.arrays + k};
        elementwise(context, next, 3, next_position_run, sizes + k, Cost::cheap);
    }
}

// ---- where a mask holds
//
// Without a jump on the mask: every index is written, and the next one over it unless
// the mask held. The last places are written with care, since they may be the end.
AC_INLINE void write_places(const ac_array& mask, int64_t step, const ac_array& out) {
    const int64_t count = out.shape[0], n = mask.shape[0], out_step = out.strides[0];
    const char* holds = data<char>(&mask);
    char* to = data<char>(&out);
    const auto put = [&](int64_t k, int64_t value) AC_INLINE_LAMBDA {
        *reinterpret_cast<int64_t*>(to + k * out_step) = value;
    };
    int64_t i = 0, found = 0;
    constexpr int64_t block = 8;
    for (; i + block <= n && found + block <= count; i += block) {
        if (step == 1) {
            uint64_t any;
            memcpy(&any, holds + i, block);
            if (any == 0) continue;
        }
#pragma GCC unroll 8
        for (int64_t j = 0; j < block; ++j) {
            put(found, i + j);
            found += holds[(i + j) * step] != 0;
        }
    }
    for (; i < n && found < count; ++i) {
        if (holds[i * step] != 0) put(found++, i);
    }
    for (; found < count; ++found) put(found, n);
}

void true_places_kernel(const ac_call* call, ac_context*, ac_status* status) {
    const ac_array &out = *operand(call, 0), &mask = *operand(call, 1);
    done(status);
    if (mask.strides[0] == 1) {
        write_places(mask, 1, out);
    } else {
        write_places(mask, mask.strides[0], out);
    }
}

const ac_kernel_entry entries[] = {
    {"scatter", "out ; a index src ; axis:int", put_kernel<false>, nullptr, nullptr,
     0.8, all_dtypes, nullptr},
    {"index_copy", "out ; a index src ; axis:int", put_kernel<true>, nullptr, nullptr,
     0.3, all_dtypes, nullptr},
    {"positions", "out ; index* ; sizes:ints", positions_kernel, nullptr, nullptr, 0.8,
     1u << AC_INT64, nullptr},
    {"true_places", "out ; mask", true_places_kernel, nullptr, nullptr, 0.7, bool_dtype,
     nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(scatter, entries);
}  // namespace autocalc::simd::AC_ISA
