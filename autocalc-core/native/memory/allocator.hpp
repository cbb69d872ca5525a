// SPDX-License-Identifier: MIT
//
// The allocator of large arrays. A training step asks for the same sizes again and
// again, and mapping fresh pages costs several times what a kernel takes to fill them:
// freed blocks are kept and handed out again, up to a bound: small ones by size, large
// ones joined to their neighbours. Blocks are 64-byte aligned; those of a quarter of a
// MiB and more are on huge pages where the system grants them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace autocalc::runtime {

struct AllocatorStats {
    std::uint64_t in_use = 0;        // bytes of live blocks
    std::uint64_t peak = 0;          // largest in_use so far
    std::uint64_t cached = 0;        // bytes of freed blocks that are kept
    std::uint64_t blocks = 0;        // live blocks
    std::uint64_t allocations = 0;   // blocks handed out so far
    std::uint64_t reused = 0;        // of these, from the cache
    std::uint64_t workspace = 0;     // bytes of in_use that threads keep as scratch
    std::uint64_t peak_results = 0;  // largest in_use so far without workspace
};

// Null when memory is exhausted. `bytes` may be 0.
void* allocate(std::size_t bytes);
void release(void* block);
// Bytes that a block can hold, at least what was asked for.
std::size_t capacity(const void* block);

AllocatorStats allocator_stats();
void reset_peak();
// Gives every kept block back to the system; returns how many bytes that were.
std::uint64_t trim();
// The most bytes that are kept. Blocks above a new limit go at once.
void set_cache_limit(std::uint64_t bytes);

// Memory of the calling thread, `slot` 0 to 7, valid until the thread asks for the same
// slot again.
void* scratch(int slot, std::size_t bytes);

}  // namespace autocalc::runtime
