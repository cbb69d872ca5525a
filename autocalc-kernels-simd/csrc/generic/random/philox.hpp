// SPDX-License-Identifier: MIT
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011): block n of a stream is a function
// of (seed, n) alone, so any task computes the words it needs.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// A state word is in the low half of a 64-bit lane; what the high half holds does not
// matter, since the multiplication ignores it.
constexpr int64_t philox_lanes = vec<int64_t>::lanes;
constexpr int64_t philox_words_per_step = 4 * philox_lanes;

struct PhiloxKeys {
    i64 key[10][2];
};

AC_INLINE i64 repeat_word(uint64_t x) { return set1<int64_t>(static_cast<int64_t>(x)); }

AC_INLINE PhiloxKeys philox_keys(uint64_t seed) {
    PhiloxKeys keys;
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (auto& key : keys.key) {
        key[0] = repeat_word(k0);
        key[1] = repeat_word(k1);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return keys;
}

// The four words of `philox_lanes` blocks from block `first_block` on.
AC_INLINE void philox_step(const PhiloxKeys& keys, uint64_t first_block,
                           uint32_t* out) {
    const i64 m0 = repeat_word(0xD2511F53u), m1 = repeat_word(0xCD9E8D57u);
    const i64 low = repeat_word(0xffffffffu);
    const i64 counter = repeat_word(first_block) + lane_index<double>();
    i64 c0 = counter, c1 = shift_right<32>(counter);
    i64 c2 = repeat_word(0), c3 = repeat_word(0);
#pragma GCC unroll 10
    for (const auto& key : keys.key) {
        const i64 p0 = multiply_low(c0, m0), p1 = multiply_low(c2, m1);
        c0 = shift_right<32>(p1) ^ c1 ^ key[0];
        c2 = shift_right<32>(p0) ^ c3 ^ key[1];
        c1 = p1;
        c3 = p0;
    }
    store_pairs(out, (c0 & low) | shift_left<32>(c1), (c2 & low) | shift_left<32>(c3));
}

// Room that `philox` may write for `count` words.
constexpr int64_t philox_room(int64_t count) {
    return count + 2 * philox_words_per_step;
}

// Writes words from `start` on into `room` and answers where they begin in it.
AC_INLINE const uint32_t* philox(uint64_t seed, uint64_t start, int64_t count,
                                 uint32_t* room) {
    const int64_t skipped = static_cast<int64_t>(start % 4);
    uint64_t block = start / 4;
    const PhiloxKeys keys = philox_keys(seed);
    for (int64_t i = 0; i < skipped + count; i += philox_words_per_step) {
        philox_step(keys, block, room + i);
        block += static_cast<uint64_t>(philox_lanes);
    }
    return room + skipped;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
