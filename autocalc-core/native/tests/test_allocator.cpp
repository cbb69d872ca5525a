// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "memory/allocator.hpp"

namespace runtime = autocalc::runtime;

namespace {

bool aligned(const void* block) {
    return reinterpret_cast<std::uintptr_t>(block) % 64 == 0;
}

}  // namespace

TEST_CASE("blocks are aligned and large enough") {
    for (const std::size_t size :
         {0UL, 1UL, 63UL, 1024UL, 1025UL, 1280UL, 1281UL, 2048UL, 100000UL, 2097151UL,
          2097152UL, 2097153UL, 9000000UL}) {
        void* block = runtime::allocate(size);
        CHECK(block != nullptr);
        CHECK(aligned(block));
        CHECK(runtime::capacity(block) >= size);
        CHECK(runtime::capacity(block) <= size + size / 4 + 1024);
        std::memset(block, 1, size);
        runtime::release(block);
    }
    runtime::trim();
}

TEST_CASE("every size fits its bucket") {
    for (std::size_t size = 1; size < 40000; size += 7) {
        void* block = runtime::allocate(size);
        CHECK(runtime::capacity(block) >= size);
        runtime::release(block);
    }
    runtime::trim();
}

TEST_CASE("freed blocks come back") {
    runtime::trim();
    const runtime::AllocatorStats before = runtime::allocator_stats();
    void* first = runtime::allocate(100000);
    runtime::release(first);
    void* second = runtime::allocate(99000);  // the same bucket
    CHECK(first == second);
    const runtime::AllocatorStats now = runtime::allocator_stats();
    CHECK(now.allocations == before.allocations + 2);
    CHECK(now.reused == before.reused + 1);
    CHECK(now.blocks == before.blocks + 1);
    CHECK(now.in_use == before.in_use + runtime::capacity(second));
    runtime::release(second);
    CHECK(runtime::allocator_stats().in_use == before.in_use);
    CHECK(runtime::trim() >= 99000);
    CHECK(runtime::allocator_stats().cached == 0);
}

TEST_CASE("the cache is bounded") {
    runtime::trim();
    runtime::set_cache_limit(300000);
    std::vector<void*> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(runtime::allocate(100000));
    for (void* block : blocks) runtime::release(block);
    CHECK(runtime::allocator_stats().cached <= 300000);
    CHECK(runtime::allocator_stats().cached > 0);
    runtime::set_cache_limit(0);
    CHECK(runtime::allocator_stats().cached == 0);
    runtime::set_cache_limit(std::uint64_t{1} << 30);
}

TEST_CASE("the peak is kept until it is reset") {
    runtime::reset_peak();
    const std::uint64_t before = runtime::allocator_stats().peak;
    runtime::release(runtime::allocate(5000000));
    CHECK(runtime::allocator_stats().peak >= before + 5000000);
    runtime::reset_peak();
    CHECK(runtime::allocator_stats().peak == runtime::allocator_stats().in_use);
    runtime::trim();
}

TEST_CASE("too much is refused") {
    CHECK(runtime::allocate(std::size_t{1} << 60) == nullptr);
}

TEST_CASE("threads share the cache") {
    std::atomic<int> broken{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([t, &broken] {
            for (int i = 0; i < 500; ++i) {
                const std::size_t size = 1000 + static_cast<std::size_t>(i % 17) * 900;
                auto* block = static_cast<unsigned char*>(runtime::allocate(size));
                std::memset(block, t, size);
                for (std::size_t k = 0; k < size; ++k) broken += block[k] != t;
                runtime::release(block);
                runtime::scratch(t % 8, size);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(broken.load() == 0);
    runtime::trim();
    CHECK(runtime::allocator_stats().cached == 0);
}
