// SPDX-License-Identifier: MIT
//
// Large blocks, cut from one range of addresses. Freed neighbours become one block
// again and serve any size that fits: with a list for each size, as small blocks have,
// the 57 MB that the last stages of a residual network have freed could not hold the
// gradients of its first, and a step took 222 MB where 156 were in use at once.
//
// The range is reserved whole and made usable from the bottom as blocks ask for it. Not
// thread-safe: its user holds a lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace autocalc::runtime {

// The number that begins the 64 bytes before a block's memory, whoever made it: a
// region's blocks have this one, others the number of their list.
constexpr int of_region = -1;

class Region {
  public:
    // Null if no memory is left, or if no range could be reserved. `reused` says
    // whether the memory was used before.
    void* take(std::size_t bytes, bool& reused);
    void give(void* memory);
    // Gives the memory of free blocks back until at most `keep` bytes are kept; returns
    // how many bytes that were.
    std::uint64_t trim(std::uint64_t keep);

    [[nodiscard]] static std::size_t capacity(const void* block);
    // Bytes of free blocks, which still have their memory.
    [[nodiscard]] std::uint64_t kept() const { return kept_; }

  private:
    // Stands in the 64 bytes before a block's memory; a block ends where the next
    // begins.
    struct alignas(64) Block {
        int list;  // of_region
        bool free;
        std::size_t size;    // with this header
        std::size_t before;  // that of the block before, 0 for the first
        std::size_t kept;    // of a free one: bytes that were used since it was mapped
        Block* next;         // free blocks, in no order
        Block* previous;
    };
    static_assert(sizeof(Block) == 64, "memory is aligned as headers are");

    static Block* block_of(const void* memory);
    [[nodiscard]] Block* after(const Block* block) const;
    static Block* ahead(Block* block);
    bool reserve();
    Block* grow(std::size_t size);
    void link(Block* block);
    void unlink(Block* block);
    void resize(Block* block, std::size_t size);
    void cut(Block* block, std::size_t size);
    void absorb_next(Block* block);

    bool tried_ = false;
    char* begin_ = nullptr;
    char* top_ = nullptr;  // of what is usable
    char* end_ = nullptr;
    Block* last_ = nullptr;
    Block* free_ = nullptr;
    std::uint64_t kept_ = 0;
};

}  // namespace autocalc::runtime
