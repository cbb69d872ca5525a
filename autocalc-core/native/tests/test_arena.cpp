// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "memory/arena.hpp"

using autocalc::runtime::Arena;

namespace {

constexpr std::size_t mega = std::size_t{1} << 20;
bool reused = false;

char* take(Arena& arena, std::size_t bytes) {
    return static_cast<char*>(arena.take(bytes, reused));
}

}  // namespace

TEST_CASE("an arena's blocks are aligned and hold what was asked for") {
    Arena arena;
    for (const std::size_t bytes : {mega, mega + 1, 12 * mega + 77, std::size_t{1}}) {
        char* block = take(arena, bytes);
        REQUIRE(block != nullptr);
        CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
        CHECK(Arena::capacity(block) >= bytes);
        CHECK(Arena::capacity(block) <= bytes + 2 * 4096);
        std::memset(block, 1, bytes);
    }
}

TEST_CASE("freed neighbours become one block") {
    Arena arena;
    char* first = take(arena, 2 * mega);
    char* second = take(arena, 2 * mega);
    char* third = take(arena, 2 * mega);
    char* last = take(arena, 2 * mega);
    arena.give(first);
    arena.give(third);
    arena.give(second);  // joins both sides
    char* whole = take(arena, 6 * mega);
    CHECK(whole == first);
    CHECK(reused);
    arena.give(whole);
    arena.give(last);
}

TEST_CASE("a block is cut from the smallest that fits") {
    Arena arena;
    char* large = take(arena, 8 * mega);
    char* wall = take(arena, mega);
    char* small = take(arena, 3 * mega);
    char* end = take(arena, mega);
    arena.give(large);
    arena.give(small);
    CHECK(take(arena, 2 * mega) == small);
    CHECK(take(arena, 4 * mega) == large);
    CHECK(take(arena, 2 * mega) > large);  // what was left of the large one
    CHECK(take(arena, 2 * mega) > end);
    CHECK(wall != nullptr);
}

TEST_CASE("trimmed blocks are counted as new memory, and read as zeros") {
    Arena arena;
    char* block = take(arena, 4 * mega);
    CHECK(!reused);
    std::memset(block, 7, 4 * mega);
    arena.give(block);
    CHECK(arena.kept() >= 4 * mega);
    CHECK(arena.trim(0) >= 4 * mega);
    CHECK(arena.kept() == 0);
    CHECK(arena.trim(0) == 0);
    char* again = take(arena, 4 * mega);
    CHECK(again == block);
    CHECK(!reused);
#if defined(__linux__)
    CHECK(again[2 * mega] == 0);
#endif
}

TEST_CASE("more than there are addresses is refused") {
    Arena arena;
    CHECK(take(arena, std::size_t{1} << 46) == nullptr);
    CHECK(take(arena, mega) != nullptr);
}

TEST_CASE("where a range is full another one follows") {
    Arena arena;
    std::vector<char*> blocks;
    for (int i = 0; i < 7; ++i) {  // 400 MiB each, in ranges of 1 and 2 GiB
        blocks.push_back(take(arena, 400 * mega));
        REQUIRE(blocks.back() != nullptr);
        blocks.back()[0] = blocks.back()[400 * mega - 1] = 1;
    }
    for (char* block : blocks) arena.give(block);
    CHECK(arena.kept() >= 2800 * mega);
    CHECK(arena.trim(0) >= 2800 * mega);
    CHECK(take(arena, 800 * mega) != nullptr);
}

TEST_CASE("thousands of blocks, taken and given, keep what is theirs") {
    struct Held {
        char* block;
        std::size_t bytes;
        unsigned char mark;
    };
    Arena arena;
    std::mt19937 random(3);
    std::vector<Held> held;
    std::uint64_t in_use = 0, most = 0;
    for (int i = 0; i < 20000; ++i) {
        if (held.size() < 5 || (held.size() < 40 && random() % 2 == 0)) {
            const std::size_t bytes = 1 + random() % (300 * 1024);
            const Held one = {take(arena, bytes), bytes,
                              static_cast<unsigned char>(random() % 256)};
            REQUIRE(one.block != nullptr);
            one.block[0] = one.block[bytes - 1] = static_cast<char>(one.mark);
            in_use += Arena::capacity(one.block) + 64;
            held.push_back(one);
        } else {
            const std::size_t which = random() % held.size();
            const Held one = held[which];
            held[which] = held.back();
            held.pop_back();
            REQUIRE(static_cast<unsigned char>(one.block[0]) == one.mark);
            REQUIRE(static_cast<unsigned char>(one.block[one.bytes - 1]) == one.mark);
            in_use -= Arena::capacity(one.block) + 64;
            arena.give(one.block);
            if (i % 97 == 0) arena.trim(arena.kept() / 2);
        }
        most = most > in_use ? most : in_use;
        CHECK(arena.kept() <= 2 * most);
    }
    for (const Held& one : held) arena.give(one.block);
    CHECK(take(arena, most) != nullptr);  // all of it is one block again
}
