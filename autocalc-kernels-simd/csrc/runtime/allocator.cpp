// SPDX-License-Identifier: MIT
#include "allocator.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

#if !defined(_WIN32)
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace autocalc::runtime {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t smallest = 1024;
// Four sizes between two powers of two: at most a quarter of a block is unused.
constexpr int steps_per_octave = 4;
constexpr int octaves = 38;
constexpr int bucket_count = octaves * steps_per_octave;

// Stands in the 64 bytes before the memory that a caller sees.
struct alignas(alignment) Header {
    Header* next;
    void* start;  // what the system gave
    std::size_t mapped;
    int bucket;
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

// Writes the header that ends where the caller's memory begins.
Header* place_header(char* memory, void* start, std::size_t mapped, int bucket) {
    Header* header = header_of(memory);
    *header = Header{nullptr, start, mapped, bucket};
    return header;
}

#if !defined(_WIN32)
// The memory begins on a huge page; the header has the small page before it, so that a
// block of exactly 2 MiB takes one huge page. Mapped with room to spare, and the rest
// returned.
Header* map_block(std::size_t size, int bucket) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t whole = (size + page - 1) / page * page;
    const std::size_t reserve = whole + huge_page + page;
    void* raw = mmap(nullptr, reserve, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(raw);
    const auto first = reinterpret_cast<std::uintptr_t>(begin) + page;
    const std::size_t before = (huge_page - first % huge_page) % huge_page;
    const std::size_t after = reserve - before - page - whole;
    if (before != 0) munmap(begin, before);
    if (after != 0) munmap(begin + before + page + whole, after);
    char* memory = begin + before + page;
#if defined(MADV_HUGEPAGE)
    madvise(memory, whole, MADV_HUGEPAGE);
#endif
    return place_header(memory, begin + before, page + whole, bucket);
}
#endif

Header* system_allocate(std::size_t size, int bucket) {
#if !defined(_WIN32)
    if (size >= huge_page) return map_block(size, bucket);
#endif
    void* start = std::aligned_alloc(alignment, size + sizeof(Header));
    if (start == nullptr) return nullptr;
    return place_header(static_cast<char*>(start) + sizeof(Header), start, 0, bucket);
}

void system_release(Header* header) {
#if !defined(_WIN32)
    if (header->mapped != 0) {
        munmap(header->start, header->mapped);
        return;
    }
#endif
    std::free(header->start);
}

std::uint64_t default_limit() {
#if !defined(_WIN32)
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) {
        return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 4;
    }
#endif
    return std::uint64_t{1} << 30;
}

class Cache {
  public:
    Header* take(int bucket, std::size_t size) {
        const std::lock_guard<std::mutex> lock(mutex);
        Header*& head = free_[static_cast<std::size_t>(bucket)];
        Header* header = head;
        if (header != nullptr) {
            head = header->next;
            stats.cached -= size;
            ++stats.reused;
            count_live(size);
        }
        return header;
    }
    void note_new(std::size_t size) {
        const std::lock_guard<std::mutex> lock(mutex);
        count_live(size);
    }
    // The block, or null if it was kept.
    Header* give(Header* header) {
        const std::size_t size = bucket_size(header->bucket);
        const std::lock_guard<std::mutex> lock(mutex);
        stats.in_use -= size;
        --stats.blocks;
        if (stats.cached + size > limit) return header;
        Header*& head = free_[static_cast<std::size_t>(header->bucket)];
        header->next = head;
        head = header;
        stats.cached += size;
        return nullptr;
    }
    // Blocks that were kept above `keep` bytes, largest first, as a list.
    Header* drain(std::uint64_t keep) {
        const std::lock_guard<std::mutex> lock(mutex);
        Header* drained = nullptr;
        for (int bucket = bucket_count - 1; bucket >= 0 && stats.cached > keep;
             --bucket) {
            Header*& head = free_[static_cast<std::size_t>(bucket)];
            while (head != nullptr && stats.cached > keep) {
                Header* header = head;
                head = header->next;
                header->next = drained;
                drained = header;
                stats.cached -= bucket_size(bucket);
            }
        }
        return drained;
    }

    std::mutex mutex;
    AllocatorStats stats;
    std::uint64_t limit = default_limit();

  private:
    void count_live(std::size_t size) {
        ++stats.allocations;
        ++stats.blocks;
        stats.in_use += size;
        stats.peak = std::max(stats.peak, stats.in_use);
    }
    std::array<Header*, bucket_count> free_{};
};

// Never destroyed: arrays may outlive every static object.
Cache& cache() {
    static Cache* const instance = [] {
        auto* made = new Cache;
#if !defined(_WIN32)
        // A fork takes the lock first, so that the child does not inherit it locked.
        pthread_atfork([] { cache().mutex.lock(); }, [] { cache().mutex.unlock(); },
                       [] { cache().mutex.unlock(); });
#endif
        return made;
    }();
    return *instance;
}

std::uint64_t release_list(Header* list) {
    std::uint64_t bytes = 0;
    while (list != nullptr) {
        Header* next = list->next;
        bytes += bucket_size(list->bucket);
        system_release(list);
        list = next;
    }
    return bytes;
}

class ThreadScratch {
  public:
    ThreadScratch() = default;
    ThreadScratch(const ThreadScratch&) = delete;
    ThreadScratch& operator=(const ThreadScratch&) = delete;
    ~ThreadScratch() {
        for (void* block : blocks_) {
            if (block != nullptr) release(block);
        }
    }
    void* get(int slot, std::size_t bytes) {
        void*& block = blocks_[static_cast<std::size_t>(slot)];
        if (block != nullptr && capacity(block) >= bytes) return block;
        if (block != nullptr) release(block);
        block = allocate(bytes);
        return block;
    }

  private:
    std::array<void*, 8> blocks_{};
};

}  // namespace

void* allocate(std::size_t bytes) {
    if (bytes > (std::size_t{1} << 46)) return nullptr;
    const int bucket = bucket_of(bytes);
    const std::size_t size = bucket_size(bucket);
    Header* header = cache().take(bucket, size);
    if (header == nullptr) {
        header = system_allocate(size, bucket);
        if (header == nullptr && trim() != 0) header = system_allocate(size, bucket);
        if (header == nullptr) return nullptr;
        cache().note_new(size);
    }
    return header + 1;
}

void release(void* block) {
    if (block == nullptr) return;
    Header* unwanted = cache().give(header_of(block));
    if (unwanted != nullptr) system_release(unwanted);
}

std::size_t capacity(const void* block) {
    return bucket_size(header_of(block)->bucket);
}

AllocatorStats allocator_stats() {
    const std::lock_guard<std::mutex> lock(cache().mutex);
    return cache().stats;
}

void reset_peak() {
    const std::lock_guard<std::mutex> lock(cache().mutex);
    cache().stats.peak = cache().stats.in_use;
}

std::uint64_t trim() { return release_list(cache().drain(0)); }

void set_cache_limit(std::uint64_t bytes) {
    {
        const std::lock_guard<std::mutex> lock(cache().mutex);
        cache().limit = bytes;
    }
    release_list(cache().drain(bytes));
}

void* scratch(int slot, std::size_t bytes) {
    thread_local ThreadScratch mine;
    return slot < 0 || slot > 7 ? nullptr : mine.get(slot, bytes);
}

}  // namespace autocalc::runtime
