// SPDX-License-Identifier: MIT
//
// Large blocks, cut from long ranges of addresses. Freed neighbours become one block
// again and serve any size that fits: with a list for each size, as small blocks have,
// the 57 MB that the last stages of a residual network have freed could not hold the
// gradients of its first, and a step took 222 MB where 156 were in use at once.
//
// A range is reserved whole and made usable from the bottom as blocks ask for it; when
// it is full, one of twice the size follows. Not thread-safe: its user holds a lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace autocalc::runtime {

// The number that begins the 64 bytes before a block's memory, from any maker: a
// arena's blocks have this one, others the number of their list.
constexpr int of_arena = -1;

class Arena {
  public:
    // Null if no memory is left, or if no addresses can be reserved. `reused` says
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
    // Is stored in the 64 bytes before a block's memory; a block ends where the next
    // begins.
    struct alignas(64) Block {
        int list;  // of_arena
        bool free;
        bool last;           // of its range
        std::size_t size;    // with this header
        std::size_t before;  // that of the block before, 0 for the first
        std::size_t kept;    // of a free one: bytes that were used since it was mapped
        Block* next;         // free blocks, in no order
        Block* previous;
    };
    static_assert(sizeof(Block) == 64, "memory is aligned as headers are");

    static Block* block_of(const void* memory);
    static Block* after(Block* block);
    static Block* ahead(Block* block);
    bool reserve(std::size_t bytes);
    Block* grow(std::size_t size);
    void link(Block* block);
    void unlink(Block* block);
    static void resize(Block* block, std::size_t size);
    void cut(Block* block, std::size_t size);
    void absorb_next(Block* block);

    std::size_t reserved_ = 0;  // bytes of the newest range
    char* top_ = nullptr;       // of what is usable of it
    char* end_ = nullptr;
    Block* last_ = nullptr;  // of it
    Block* free_ = nullptr;
    std::uint64_t kept_ = 0;
};

}  // namespace autocalc::runtime
