// SPDX-License-Identifier: MIT
//
// Checks of index operands: values are read in row-major order before anything else, so
// that the first wrong one is named whatever the number of threads.
//
// They are checked where they are used, too, and each is loaded once for both. Long
// calls run without the interpreter lock, and another thread may write to the operand
// meanwhile: what was in range when it was checked need not be any more.
#pragma once

#include "common/call.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Loaded once, or the compiler could check one value and use another. Not an atomic
// load: around one of those GCC keeps nothing in registers.
AC_INLINE int64_t read_index(const void* place) {
    return *static_cast<const volatile int64_t*>(place);
}

// The int64 elements of an array in row-major order.
struct IndexWalk {
    const ac_array* array;
    int64_t at[AC_MAX_DIMS] = {};
    const char* here;

    explicit AC_INLINE IndexWalk(const ac_array* a) : array(a), here(data<char>(a)) {}
    [[nodiscard]] AC_INLINE int64_t value() const { return read_index(here); }
    AC_INLINE void next() {
        for (int d = array->ndim - 1; d >= 0; --d) {
            here += array->strides[d];
            if (++at[d] < array->shape[d]) return;
            here -= array->shape[d] * array->strides[d];
            at[d] = 0;
        }
    }
};

// The first index that was found out of range where it was used.
struct BadIndex {
    int found = 0;
    const char* place = nullptr;
    int64_t value = 0;

    AC_NOINLINE void note(const char* where, int64_t what) {
        if (__atomic_exchange_n(&found, 1, __ATOMIC_RELAXED) != 0) return;
        place = where;
        value = what;
    }
};

// Reads indices from 0 to size - 1. Loops keep a copy of one in registers, since a
// member of something larger would be read again after each store, and end at the first
// index that is out of range, so that they hold no call.
struct IndexReader {
    uint64_t size;
    BadIndex* bad;

    [[nodiscard]] AC_INLINE bool read(const void* place, int64_t& index) const {
        index = read_index(place);
        if (__builtin_expect(static_cast<uint64_t>(index) < size, 1)) return true;
        bad->note(static_cast<const char*>(place), index);
        return false;
    }
};

// Answers false, with the status set, if a value is not in 0 .. size - 1.
inline bool indices_fit(const ac_array* index, int64_t size, int which,
                        ac_status* status) {
    const int64_t count = element_count(*index);
    if (is_contiguous(*index)) {
        const int64_t* values = data<const int64_t>(index);
        uint64_t wrong = 0;
        for (int64_t i = 0; i < count; ++i) {
            wrong |= static_cast<uint64_t>(static_cast<uint64_t>(values[i]) >=
                                           static_cast<uint64_t>(size));
        }
        if (wrong == 0) return true;
    }
    IndexWalk walk(index);
    for (int64_t i = 0; i < count; ++i, walk.next()) {
        const int64_t value = walk.value();
        if (value < 0 || value >= size) {
            bad_value(status, which, i, value);
            return false;
        }
    }
    return true;
}

// An operand of indices from 0 to `size` - 1. A kernel that may write over its input
// calls `fit` before it writes; what its readers found is reported when they are done.
class CheckedIndices {
  public:
    AC_INLINE CheckedIndices(const ac_array* index, int64_t size, int which,
                             ac_status* status)
        : index_(index), size_(size), which_(which), status_(status) {}

    [[nodiscard]] bool fit() const {
        return indices_fit(index_, size_, which_, status_);
    }
    [[nodiscard]] AC_INLINE IndexReader reader() {
        return {static_cast<uint64_t>(size_), &bad_};
    }
    // Answers false, with the status set, if a reader found an index out of range: to
    // the first one that `fit` finds now, or else to the one that was found.
    bool report() const {
        if (!bad_.found) return true;
        if (!fit()) return false;
        const int64_t count = element_count(*index_);
        int64_t element = 0;
        IndexWalk walk(index_);
        for (; element < count && walk.here != bad_.place; walk.next()) ++element;
        bad_value(status_, which_, element, bad_.value);
        return false;
    }

  private:
    const ac_array* index_;
    int64_t size_;
    int which_;
    ac_status* status_;
    BadIndex bad_;
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
