// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "region.hpp"

using autocalc::runtime::Region;

namespace {

constexpr std::size_t mega = std::size_t{1} << 20;
bool reused = false;

char* take(Region& region, std::size_t bytes) {
    return static_cast<char*>(region.take(bytes, reused));
}

}  // namespace

TEST_CASE("a region's blocks are aligned and hold what was asked for") {
    Region region;
    for (const std::size_t bytes : {mega, mega + 1, 12 * mega + 77, std::size_t{1}}) {
        char* block = take(region, bytes);
        REQUIRE(block != nullptr);
        CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
        CHECK(Region::capacity(block) >= bytes);
        CHECK(Region::capacity(block) <= bytes + 2 * 4096);
        std::memset(block, 1, bytes);
    }
}

TEST_CASE("freed neighbours become one block") {
    Region region;
    char* first = take(region, 2 * mega);
    char* second = take(region, 2 * mega);
    char* third = take(region, 2 * mega);
    char* last = take(region, 2 * mega);
    region.give(first);
    region.give(third);
    region.give(second);  // joins both sides
    char* whole = take(region, 6 * mega);
    CHECK(whole == first);
    CHECK(reused);
    region.give(whole);
    region.give(last);
}

TEST_CASE("a block is cut from the smallest that fits") {
    Region region;
    char* large = take(region, 8 * mega);
    char* wall = take(region, mega);
    char* small = take(region, 3 * mega);
    char* end = take(region, mega);
    region.give(large);
    region.give(small);
    CHECK(take(region, 2 * mega) == small);
    CHECK(take(region, 4 * mega) == large);
    CHECK(take(region, 2 * mega) > large);  // what was left of the large one
    CHECK(take(region, 2 * mega) > end);
    CHECK(wall != nullptr);
}

TEST_CASE("trimmed blocks are counted as new memory, and read as zeros") {
    Region region;
    char* block = take(region, 4 * mega);
    CHECK(!reused);
    std::memset(block, 7, 4 * mega);
    region.give(block);
    CHECK(region.kept() >= 4 * mega);
    CHECK(region.trim(0) >= 4 * mega);
    CHECK(region.kept() == 0);
    CHECK(region.trim(0) == 0);
    char* again = take(region, 4 * mega);
    CHECK(again == block);
    CHECK(!reused);
#if defined(__linux__)
    CHECK(again[2 * mega] == 0);
#endif
}

TEST_CASE("more than there are addresses is refused") {
    Region region;
    CHECK(take(region, std::size_t{1} << 46) == nullptr);
    CHECK(take(region, mega) != nullptr);
}

TEST_CASE("where a range is full another one follows") {
    Region region;
    std::vector<char*> blocks;
    for (int i = 0; i < 7; ++i) {  // 400 MiB each, in ranges of 1 and 2 GiB
        blocks.push_back(take(region, 400 * mega));
        REQUIRE(blocks.back() != nullptr);
        blocks.back()[0] = blocks.back()[400 * mega - 1] = 1;
    }
    for (char* block : blocks) region.give(block);
    CHECK(region.kept() >= 2800 * mega);
    CHECK(region.trim(0) >= 2800 * mega);
    CHECK(take(region, 800 * mega) != nullptr);
}

TEST_CASE("thousands of blocks, taken and given, keep what is theirs") {
    struct Held {
        char* block;
        std::size_t bytes;
        unsigned char mark;
    };
    Region region;
    std::mt19937 random(3);
    std::vector<Held> held;
    std::uint64_t in_use = 0, most = 0;
    for (int i = 0; i < 20000; ++i) {
        if (held.size() < 5 || (held.size() < 40 && random() % 2 == 0)) {
            const std::size_t bytes = 1 + random() % (300 * 1024);
            const Held one = {take(region, bytes), bytes,
                              static_cast<unsigned char>(random() % 256)};
            REQUIRE(one.block != nullptr);
            one.block[0] = one.block[bytes - 1] = static_cast<char>(one.mark);
            in_use += Region::capacity(one.block) + 64;
            held.push_back(one);
        } else {
            const std::size_t which = random() % held.size();
            const Held one = held[which];
            held[which] = held.back();
            held.pop_back();
            REQUIRE(static_cast<unsigned char>(one.block[0]) == one.mark);
            REQUIRE(static_cast<unsigned char>(one.block[one.bytes - 1]) == one.mark);
            in_use -= Region::capacity(one.block) + 64;
            region.give(one.block);
            if (i % 97 == 0) region.trim(region.kept() / 2);
        }
        most = most > in_use ? most : in_use;
        CHECK(region.kept() <= 2 * most);
    }
    for (const Held& one : held) region.give(one.block);
    CHECK(take(region, most) != nullptr);  // all of it is one block again
}
