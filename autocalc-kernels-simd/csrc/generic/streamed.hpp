// SPDX-License-Identifier: MIT
//
// Elementwise results that the last cache does not hold: made a few KiB at a time in L1
// and written past the caches, so that memory is not read before it is overwritten.
//
// Of 16 Mi floats on two threads of a Zen 4, exp runs 1.57 times as fast, gelu 1.22,
// x + y 1.14. On Intel's CPUs such stores are slower than plain ones (52 instead of 36
// ms on Cascade Lake), so that AMD's alone get them.
#pragma once

#include "loops.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>
#endif

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t line_bytes = 64;
constexpr int64_t streamed_bytes = 4096;  // at a time

#if defined(__x86_64__)
// Bytes of the last cache of a core's complex; 0 on other CPUs than AMD's. sysconf
// answers that of the whole package, ten times as much.
inline int64_t amd_last_cache() {
    unsigned a, b, c, d;
    if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != signature_AMD_ebx) return 0;
    constexpr unsigned caches = 0x8000001d, last_level = 3;
    if (__get_cpuid_count(caches, last_level, &a, &b, &c, &d) == 0) return 0;
    const int64_t line = (b & 0xfff) + 1, parts = (b >> 12 & 0x3ff) + 1;
    const int64_t ways = (b >> 22) + 1, sets = int64_t{c} + 1;
    return (a & 0x1f) == 0 ? 0 : line * parts * ways * sets;
}

// Whole lines, both aligned to them.
inline void stream_lines(char* to, const char* from, int64_t bytes) {
    constexpr int64_t word = sizeof(__m128i);
    for (int64_t i = 0; i < bytes; i += line_bytes) {
#pragma GCC unroll 4
        for (int64_t j = i; j < i + line_bytes; j += word)
            _mm_stream_si128(
                reinterpret_cast<__m128i*>(to + j),
                _mm_load_si128(reinterpret_cast<const __m128i*>(from + j)));
    }
}

inline void finish_streams() { _mm_sfence(); }
#else
inline int64_t amd_last_cache() { return 0; }
inline void stream_lines(char* to, const char* from, int64_t bytes) {
    memcpy(to, from, static_cast<size_t>(bytes));
}
inline void finish_streams() {}
#endif

// From how many bytes on results are streamed: never, where that is slow.
inline int64_t streamed_from() {
    static int64_t known = 0;
    int64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (bytes == 0) {
        bytes = amd_last_cache();
        if (bytes == 0) bytes = INT64_MAX;
        __atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

// Where all operands lie alike, none of them is the result itself, and the result is
// larger than the last cache.
inline bool is_streamed(const Nest& nest) {
    if (nest.dims != 1 || nest.total * nest.item[0] < streamed_from()) return false;
    if (reinterpret_cast<uintptr_t>(nest.data[0]) % line_bytes != 0) return false;
    for (int k = 0; k < nest.operands; ++k)
        if (!nest.dense[k] || (k > 0 && nest.data[k] == nest.data[0])) return false;
    return true;
}

// `begin` is a multiple of a line's elements.
inline void run_streamed(const Nest& nest, int64_t begin, int64_t end, RunKernel kernel,
                         const void* parameters) {
    alignas(line_bytes) char room[streamed_bytes];
    const int64_t item = nest.item[0], step = streamed_bytes / item;
    for (int64_t at = begin; at < end; at += step) {
        const int64_t n = smaller(step, end - at);
        void* run[max_operands] = {room};
        for (int k = 1; k < nest.operands; ++k)
            run[k] = nest.data[k] + at * nest.item[k];
        kernel(run, n, parameters);
        const int64_t bytes = n * item, lines = bytes / line_bytes * line_bytes;
        char* to = nest.data[0] + at * item;
        stream_lines(to, room, lines);
        memcpy(to + lines, room + lines, static_cast<size_t>(bytes - lines));
    }
    finish_streams();
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
