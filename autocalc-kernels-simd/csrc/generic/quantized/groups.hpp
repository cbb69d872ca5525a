// SPDX-License-Identifier: MIT
//
// Packed groups: a scale of float16, then codes of 8 or 4 bits.
#pragma once

#include "bytes.hpp"
#include "common/contiguous.hpp"
#include "common/halves.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t scale_bytes = 2;
constexpr int64_t chunk = 32;  // codes that are packed together

constexpr int64_t groups_at_once = 64;  // of a task

template <int bits>
constexpr int64_t chunk_bytes = chunk * bits / 8;

// The sizes of packed rows.
struct Groups {
    int64_t rows = 1;
    int64_t count, chunks;  // groups of a row, chunks of a group
    int64_t group_bytes, row_bytes;

    Groups(const ac_array& blocks, int64_t bits, int64_t group)
        : count(blocks.shape[blocks.ndim - 2]),
          chunks(group / chunk),
          group_bytes(scale_bytes + group * bits / 8),
          row_bytes(count * group_bytes) {
        for (int i = 0; i < blocks.ndim - 2; ++i) rows *= blocks.shape[i];
    }
};

template <int bits>
AC_INLINE Bytes load_chunk(const uint8_t* codes) {
    if constexpr (bits == 8) {
        return load_bytes(codes);
    } else {
        return load_nibbles(codes);
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
