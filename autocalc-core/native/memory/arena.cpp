// SPDX-License-Identifier: MIT
#include "memory/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <vector>

#include "memory/nodes.hpp"

namespace autocalc::runtime {
namespace {

constexpr std::size_t page = 4096;  // blocks are whole ones of this size
constexpr std::size_t huge_page = std::size_t{2} << 20;
// An emulator notes what it knows of each page: ranges are no longer than needed.
constexpr std::size_t first_range = std::size_t{1} << 30;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

// No process has as much as four times the memory there is.
std::size_t most_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || bytes <= 0) return std::size_t{64} << 30;
    return 4 * static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes);
}

char* reserve_addresses(std::size_t bytes) {
    void* raw = mmap(nullptr, bytes + huge_page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) return nullptr;
    const auto first = reinterpret_cast<std::uintptr_t>(raw);
    char* begin = static_cast<char*>(raw) + (huge_page - first % huge_page) % huge_page;
#if defined(MADV_HUGEPAGE)
    madvise(begin, bytes, MADV_HUGEPAGE);
#endif
    const std::vector<int> nodes = nodes_to_share();
    if (!nodes.empty()) interleave(begin, bytes, nodes);
    return begin;
}

bool make_usable(char* begin, std::size_t bytes) {
    return mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
}

// The memory of whole pages between two addresses; the next use finds zeros.
void give_back(char* begin, const char* end) {
    const auto unit = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto from = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t first = (from + unit - 1) / unit * unit;
    const std::uintptr_t stop = reinterpret_cast<std::uintptr_t>(end) / unit * unit;
    if (first < stop) madvise(begin + (first - from), stop - first, MADV_DONTNEED);
}

}  // namespace

Arena::Block* Arena::block_of(const void* memory) {
    return static_cast<Block*>(const_cast<void*>(memory)) - 1;
}

Arena::Block* Arena::after(Block* block) {
    if (block->last) return nullptr;
    return reinterpret_cast<Block*>(reinterpret_cast<char*>(block) + block->size);
}

// The block before, null for the first.
Arena::Block* Arena::ahead(Block* block) {
    if (block->before == 0) return nullptr;
    return reinterpret_cast<Block*>(reinterpret_cast<char*>(block) - block->before);
}

std::size_t Arena::capacity(const void* block) {
    return block_of(block)->size - sizeof(Block);
}

// Begins a new range, of `bytes` at least.
bool Arena::reserve(std::size_t bytes) {
    const std::size_t most = most_bytes();
    if (bytes > most) return false;
    bytes = std::max(round_up(bytes, huge_page), first_range);
    bytes = std::max(bytes, std::min(2 * reserved_, most / huge_page * huge_page));
    char* begin = reserve_addresses(bytes);
    if (begin == nullptr) return false;
    reserved_ = bytes;
    top_ = begin;
    end_ = begin + bytes;
    last_ = nullptr;
    return true;
}

void Arena::link(Block* block) {
    block->free = true;
    block->previous = nullptr;
    block->next = free_;
    if (free_ != nullptr) free_->previous = block;
    free_ = block;
    kept_ += block->kept;
}

void Arena::unlink(Block* block) {
    if (block->previous != nullptr) block->previous->next = block->next;
    if (block->next != nullptr) block->next->previous = block->previous;
    if (free_ == block) free_ = block->next;
    block->free = false;
    kept_ -= block->kept;
}

// Updates the block after it, too.
void Arena::resize(Block* block, std::size_t size) {
    block->size = size;
    if (Block* behind = after(block)) behind->before = size;
}

// Joins the next block, which is in no list, to `block`.
void Arena::absorb_next(Block* block) {
    const Block* behind = after(block);
    block->kept += behind->kept;
    block->last = behind->last;
    if (behind == last_) last_ = block;
    resize(block, block->size + behind->size);
}

// Leaves `size` bytes to a block that is in no list, and frees the others.
void Arena::cut(Block* block, std::size_t size) {
    const std::size_t rest = block->size - size;
    if (rest < page) return;
    const std::size_t kept = std::min(block->kept, rest);
    auto* behind = new (reinterpret_cast<char*>(block) + size)
        Block{of_arena, true, block->last, rest, size, kept, nullptr, nullptr};
    if (block == last_) last_ = behind;
    resize(behind, rest);
    block->last = false;
    block->size = size;
    block->kept -= kept;
    link(behind);
}

// A block of `size` bytes at the top, in no list; a free one at the top becomes
// part of it.
Arena::Block* Arena::grow(std::size_t size) {
    Block* block = last_ != nullptr && last_->free ? last_ : nullptr;
    std::size_t more = round_up(size - (block == nullptr ? 0 : block->size), huge_page);
    if (more > static_cast<std::size_t>(end_ - top_)) {
        if (!reserve(size)) return nullptr;
        block = nullptr;
        more = round_up(size, huge_page);
    }
    if (!make_usable(top_, more)) return nullptr;
    if (block == nullptr) {
        const std::size_t before = last_ == nullptr ? 0 : last_->size;
        if (last_ != nullptr) last_->last = false;
        last_ = block =
            new (top_) Block{of_arena, false, true, more, before, 0, nullptr, nullptr};
    } else {
        unlink(block);
        block->size += more;
    }
    top_ += more;
    return block;
}

void* Arena::take(std::size_t bytes, bool& reused) {
    const std::size_t size = round_up(bytes + sizeof(Block), page);
    Block* best = nullptr;
    for (Block* block = free_; block != nullptr; block = block->next) {
        if (block->size < size) continue;
        if (best == nullptr || block->size < best->size ||
            (block->size == best->size && block < best))
            best = block;
    }
    reused = best != nullptr && best->kept != 0;
    if (best != nullptr) {
        unlink(best);
    } else {
        best = grow(size);
        if (best == nullptr) return nullptr;
    }
    cut(best, size);
    return best + 1;
}

void Arena::give(void* memory) {
    Block* block = block_of(memory);
    block->kept = block->size;
    if (Block* behind = after(block); behind != nullptr && behind->free) {
        unlink(behind);
        absorb_next(block);
    }
    if (Block* front = ahead(block); front != nullptr && front->free) {
        unlink(front);
        block = front;
        absorb_next(block);
    }
    link(block);
}

std::uint64_t Arena::trim(std::uint64_t keep) {
    std::uint64_t bytes = 0;
    for (Block* block = free_; block != nullptr && kept_ > keep; block = block->next) {
        give_back(reinterpret_cast<char*>(block + 1),
                  reinterpret_cast<char*>(block) + block->size);
        bytes += block->kept;
        kept_ -= block->kept;
        block->kept = 0;
    }
    return bytes;
}

}  // namespace autocalc::runtime
