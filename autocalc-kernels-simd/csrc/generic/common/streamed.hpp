// SPDX-License-Identifier: MIT
//
// Elementwise results that the last cache does not hold: made a few KiB at a time in L1
// and written past the caches, so that memory is not read before it is overwritten.
#pragma once

#include "elementwise/loops.hpp"
#include "tuning.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t streamed_bytes = 4096;  // at a time

// From how many bytes on results are streamed: never, where that is slow.
inline int64_t streamed_from() {
    static int64_t known = 0;
    int64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (bytes == 0) {
        bytes = streaming_bytes();
        if (bytes == 0) bytes = INT64_MAX;
        __atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

// Where all operands have one layout, none of them is the result itself, and the result
// is larger than the last cache.
template <int most>
inline bool is_streamed(const NestOf<most>& nest) {
    if (nest.dims != 1 || nest.total * nest.item[0] < streamed_from()) return false;
    for (int k = 0; k < nest.outputs; ++k)
        if (reinterpret_cast<uintptr_t>(nest.data[k]) % line_bytes != 0) return false;
    for (int k = 0; k < nest.operands; ++k) {
        if (!nest.dense[k]) return false;
        for (int o = 0; o < nest.outputs && k >= nest.outputs; ++o)
            if (nest.data[k] == nest.data[o]) return false;
    }
    return true;
}

inline void write_past(char* to, const char* from, int64_t bytes) {
    const int64_t lines = bytes / line_bytes * line_bytes;
    stream_lines(to, from, lines);
    memcpy(to + lines, from + lines, static_cast<size_t>(bytes - lines));
}

// `begin` is a multiple of a line's elements.
template <int most>
inline void run_streamed(const NestOf<most>& nest, int64_t begin, int64_t end,
                         RunKernel kernel, const void* parameters) {
    alignas(line_bytes) char room[most_outputs<most>][streamed_bytes];
    int64_t item = nest.item[0];
    for (int k = 1; k < nest.outputs; ++k) item = larger(item, nest.item[k]);
    const int64_t step = streamed_bytes / item;
    for (int64_t at = begin; at < end; at += step) {
        const int64_t n = smaller(step, end - at);
        void* run[most];
        for (int k = 0; k < nest.operands; ++k)
            run[k] = k < nest.outputs ? room[k] : nest.data[k] + at * nest.item[k];
        kernel(run, n, parameters);
        for (int k = 0; k < nest.outputs; ++k)
            write_past(nest.data[k] + at * nest.item[k], room[k], n * nest.item[k]);
    }
    finish_streams();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
