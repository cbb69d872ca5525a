// SPDX-License-Identifier: MIT
//
// What the runtime does where the system has no memory left: nothing is thrown, since
// its callers are kernels and NumPy, which are C. A program of its own, for it replaces
// operator new and needs a pool that has no workers yet.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "memory/allocator.hpp"
#include "pool/pool.hpp"

namespace runtime = autocalc::runtime;

namespace {

// How many more times operator new of this thread succeeds; below 0 always.
thread_local int allocations_left = -1;

void* allocate(std::size_t size) {
    if (allocations_left == 0) return nullptr;
    if (allocations_left > 0) --allocations_left;
    return std::malloc(size);
}
void* allocate_aligned(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    if (allocations_left == 0) return nullptr;
    if (allocations_left > 0) --allocations_left;
    return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}
void* or_throw(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return or_throw(allocate_aligned(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t&) noexcept {
    return allocate_aligned(size, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace {

// The runs of a job: noted without memory, at most as many as there are threads.
struct Runs {
    std::mutex mutex;
    std::int64_t tasks = 0;
    int count = 0;
    static void task(void* arg, std::int64_t begin, std::int64_t end) {
        auto& runs = *static_cast<Runs*>(arg);
        const std::lock_guard<std::mutex> lock(runs.mutex);
        runs.tasks += end - begin;
        ++runs.count;
    }
};

// A job of four threads, where operator new succeeds so many times more.
void run(Runs& runs, int allocations) {
    ac_context* context = runtime::kernel_context();
    allocations_left = allocations;
    context->parallel_for(context, 12, Runs::task, &runs);
    allocations_left = -1;
}

}  // namespace

// First, while neither exists.
TEST_CASE("the allocator and scratch memory need no operator new") {
    allocations_left = 0;
    void* block = runtime::allocate(100);
    void* room = runtime::kernel_context()->scratch(nullptr, 0, 100);
    allocations_left = -1;
    CHECK(block != nullptr);
    CHECK(room != nullptr);
    runtime::release(block);
}

TEST_CASE("a job is done by the threads that there is memory for") {
    runtime::set_num_threads(4);
    runtime::set_team_limit(4);
    int most = 0;
    for (int allocations = 0; allocations < 64; ++allocations) {
        Runs runs;
        run(runs, allocations);
        CHECK(runs.tasks == 12);
        if (allocations == 0) CHECK(runs.count == 1);  // not even the pool
        most = most < runs.count ? runs.count : most;
    }
    CHECK(most == 4);
    Runs runs;
    run(runs, -1);
    CHECK(runs.tasks == 12);
    CHECK(runs.count == 4);
}
