// SPDX-License-Identifier: MIT
#include "memory/allocator.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <new>

#include "memory/arena.hpp"
#include "pool/limits.hpp"

namespace autocalc::runtime {
namespace {

constexpr std::size_t alignment = 64;
// Up to here freed blocks are in lists, and what was freed last, which caches may still
// hold, is used first: a step of a transformer took 1.2 times as long when its arrays
// of 2 MiB were cut from the arena each time.
constexpr std::size_t largest_listed = std::size_t{2} << 20;
// From here on their memory comes from the arena, for its huge pages.
constexpr std::size_t least_cut = std::size_t{256} << 10;
constexpr std::size_t smallest = 1024;
// Four sizes between two powers of two: at most a quarter of a block is unused.
constexpr int steps_per_octave = 4;
constexpr int octaves = 38;
constexpr int bucket_count = octaves * steps_per_octave;

// Is stored in the 64 bytes before the memory that a caller sees.
struct alignas(alignment) Header {
    int bucket;  // or of_arena
    bool cut;    // its memory is a block of the arena
    Header* next;
};
static_assert(sizeof(Header) == alignment, "the header keeps the alignment");

// Of a positive number.
int bit_width(std::size_t x) { return 64 - __builtin_clzll(x); }

// Bucket b holds blocks of smallest * 2^(b / 4) * (4 + b % 4) / 4 bytes.
std::size_t bucket_size(int bucket) {
    const std::size_t octave = smallest << (bucket / steps_per_octave);
    return octave / steps_per_octave *
           static_cast<std::size_t>(steps_per_octave + bucket % steps_per_octave);
}

int bucket_of(std::size_t bytes) {
    if (bytes <= smallest) return 0;
    // bytes - 1 in [2^k, 2^(k+1)) with 2^k >= smallest: the top three bits name the
    // step below.
    const int k = bit_width(bytes - 1) - 1;
    const int octave = k - (bit_width(smallest) - 1);
    // NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift): k >= log2(smallest) > 2
    const int step = static_cast<int>((bytes - 1) >> (k - 2)) - steps_per_octave;
    return octave * steps_per_octave + step + 1;
}

Header* header_of(const void* block) {
    return reinterpret_cast<Header*>(static_cast<char*>(const_cast<void*>(block)) -
                                     sizeof(Header));
}

// A quarter of what the machine, or the control group of a container, has.
std::uint64_t default_limit() {
    const std::uint64_t memory = usable_memory();
    return memory == 0 ? std::uint64_t{1} << 30 : memory / 4;
}

class Cache {
  public:
    void* take(std::size_t bytes, bool scratch) {
        const std::lock_guard<std::mutex> lock(mutex_);
        bool reused = false;
        void* block = nullptr;
        if (bytes > largest_listed) block = region_.take(bytes, reused);
        if (block == nullptr) block = take_listed(bucket_of(bytes), reused);
        if (block == nullptr) return nullptr;
        ++stats_.allocations;
        ++stats_.blocks;
        if (reused) ++stats_.reused;
        stats_.in_use += capacity(block);
        if (scratch) stats_.workspace += capacity(block);
        stats_.peak = std::max(stats_.peak, stats_.in_use);
        stats_.peak_results = std::max(stats_.peak_results, results());
        return block;
    }
    void give(void* block, bool scratch) {
        const std::lock_guard<std::mutex> lock(mutex_);
        --stats_.blocks;
        stats_.in_use -= capacity(block);
        if (scratch) stats_.workspace -= capacity(block);
        Header* header = header_of(block);
        if (header->bucket == of_arena) {
            region_.give(block);
        } else {
            Header*& head = free_[static_cast<std::size_t>(header->bucket)];
            header->next = head;
            head = header;
            listed_ += bucket_size(header->bucket);
        }
        if (cached() > limit_) shrink(limit_);
    }
    // Gives kept memory back until at most `keep` bytes are; how many that were.
    std::uint64_t trim(std::uint64_t keep) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return shrink(keep);
    }
    void set_limit(std::uint64_t bytes) {
        const std::lock_guard<std::mutex> lock(mutex_);
        limit_ = bytes;
        shrink(bytes);
    }
    AllocatorStats stats() {
        const std::lock_guard<std::mutex> lock(mutex_);
        AllocatorStats now = stats_;
        now.cached = cached();
        return now;
    }
    void reset_peak() {
        const std::lock_guard<std::mutex> lock(mutex_);
        stats_.peak = stats_.in_use;
        stats_.peak_results = results();
    }
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    [[nodiscard]] std::uint64_t results() const {
        return stats_.in_use - stats_.workspace;
    }
    [[nodiscard]] std::uint64_t cached() const {
        return listed_ + region_.kept() + under_.kept();
    }
    void* take_listed(int bucket, bool& reused) {
        Header*& head = free_[static_cast<std::size_t>(bucket)];
        Header* header = head;
        reused = header != nullptr;
        if (!reused) return make(bucket);
        head = header->next;
        listed_ -= bucket_size(bucket);
        return header + 1;
    }
    void* make(int bucket) {
        const std::size_t bytes = bucket_size(bucket) + sizeof(Header);
        bool reused = false;
        void* memory = bytes > least_cut ? under_.take(bytes, reused) : nullptr;
        const bool cut = memory != nullptr;
        if (!cut) memory = std::aligned_alloc(alignment, bytes);
        if (memory == nullptr && shrink(0) != 0)
            memory = std::aligned_alloc(alignment, bytes);
        if (memory == nullptr) return nullptr;
        return new (memory) Header{bucket, cut, nullptr} + 1;
    }
    // Returns how many bytes fewer are kept.
    std::uint64_t shrink(std::uint64_t keep) {
        const std::uint64_t before = cached();
        region_.trim(keep - std::min(keep, listed_));
        for (int bucket = bucket_count - 1; bucket >= 0 && listed_ > keep; --bucket) {
            Header*& head = free_[static_cast<std::size_t>(bucket)];
            while (head != nullptr && listed_ > keep) {
                Header* header = head;
                head = header->next;
                listed_ -= bucket_size(bucket);
                if (header->cut) {
                    under_.give(header);
                } else {
                    std::free(header);
                }
            }
        }
        under_.trim(0);
        return before - cached();
    }

    std::mutex mutex_;
    AllocatorStats stats_;
    std::uint64_t limit_ = default_limit();
    std::uint64_t listed_ = 0;  // bytes of free blocks in lists
    std::array<Header*, bucket_count> free_{};
    Arena region_;
    // Of listed blocks, apart: one that stays, as a gradient, would part its
    // neighbours.
    Arena under_;
};

// Never destroyed: arrays may outlive every static object. Nor does it need memory of
// its own, for NumPy and kernels call from C, through which nothing may be thrown.
Cache& cache() {
    static Cache* const instance = [] {
        alignas(Cache) static unsigned char room[sizeof(Cache)];
        auto* made = new (room) Cache;
        // A fork takes the lock first, so that the child does not inherit it locked.
        pthread_atfork([] { cache().lock(); }, [] { cache().unlock(); },
                       [] { cache().unlock(); });
        return made;
    }();
    return *instance;
}

// A block, null when memory is exhausted.
void* take(std::size_t bytes, bool scratch) {
    return bytes > (std::size_t{1} << 46) ? nullptr : cache().take(bytes, scratch);
}

class ThreadScratch {
  public:
    ThreadScratch() = default;
    ThreadScratch(const ThreadScratch&) = delete;
    ThreadScratch& operator=(const ThreadScratch&) = delete;
    ~ThreadScratch() {
        for (void* block : blocks_) drop(block);
    }
    void* get(int slot, std::size_t bytes) {
        void*& block = blocks_[static_cast<std::size_t>(slot)];
        if (block != nullptr && capacity(block) >= bytes) return block;
        drop(block);
        return block = take(bytes, true);
    }

  private:
    static void drop(void* block) {
        if (block != nullptr) cache().give(block, true);
    }

    std::array<void*, 8> blocks_{};
};

}  // namespace

std::size_t capacity(const void* block) {
    const int bucket = header_of(block)->bucket;
    return bucket == of_arena ? Arena::capacity(block) : bucket_size(bucket);
}

void* allocate(std::size_t bytes) { return take(bytes, false); }

void release(void* block) {
    if (block != nullptr) cache().give(block, false);
}

AllocatorStats allocator_stats() { return cache().stats(); }
void reset_peak() { cache().reset_peak(); }
std::uint64_t trim() { return cache().trim(0); }
void set_cache_limit(std::uint64_t bytes) { cache().set_limit(bytes); }

void* scratch(int slot, std::size_t bytes) {
    thread_local ThreadScratch mine;
    return slot < 0 || slot > 7 ? nullptr : mine.get(slot, bytes);
}

}  // namespace autocalc::runtime
