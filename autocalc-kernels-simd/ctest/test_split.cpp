// SPDX-License-Identifier: MIT
//
// Products in bfloat16 parts. All numbers are integers that need all of them, small
// enough for every sum to be exact, and results are compared so.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "pool/pool.hpp"
#include "split_gemm.hpp"

using namespace autocalc::simd::AC_ISA;

namespace {

constexpr float guard = 12345.5f;
constexpr int64_t margin = 40;

std::size_t index(int64_t i) { return static_cast<std::size_t>(i); }

// Memory of `count` elements between guards.
struct Guarded {
    int64_t count;
    std::vector<float> memory;
    explicit Guarded(int64_t count_)
        : count(count_), memory(index(count_ + 2 * margin), guard) {}
    float* data() { return memory.data() + margin; }
    [[nodiscard]] bool whole() const {
        for (int64_t i = 0; i < margin; ++i) {
            if (memory[index(i)] != guard || memory[index(margin + count + i)] != guard)
                return false;
        }
        return true;
    }
};

struct Shape {
    int64_t m, n, k;
    bool a_along_k, b_along_k;
};

// Step 0 of a takes all parts; b has 0 or 1 for it. Other numbers are small.
float element(int64_t step, int64_t other, bool left, int levels) {
    constexpr float full[] = {0, 181, 46299, 5921371};  // of 8, 16 and 23 bits
    if (step == 0) return left ? full[levels] : static_cast<float>(other % 2);
    return static_cast<float>((31 * step + 17 * other) % 7 - 3);
}

bool multiplies_exactly(const Shape& s, int levels) {
    Guarded a(s.m * s.k), b(s.k * s.n), c(s.m * s.n);
    Gemm<float> p = {};
    p.m = s.m;
    p.n = s.n;
    p.k = s.k;
    p.a = a.data();
    p.a_row = s.a_along_k ? s.k : 1;
    p.a_col = s.a_along_k ? 1 : s.m;
    p.b = b.data();
    p.b_row = s.b_along_k ? 1 : s.n;
    p.b_col = s.b_along_k ? s.k : 1;
    p.c = c.data();
    p.c_row = s.n;
    p.alpha = 1;
    for (int64_t k = 0; k < s.k; ++k) {
        for (int64_t i = 0; i < s.m; ++i)
            a.data()[i * p.a_row + k * p.a_col] = element(k, i, true, levels);
        for (int64_t j = 0; j < s.n; ++j)
            b.data()[k * p.b_row + j * p.b_col] = element(k, j, false, levels);
    }
    if (!multiply_split(p, levels, autocalc::runtime::kernel_context())) return false;
    for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < s.n; ++j) {
            double sum = 0;
            for (int64_t k = 0; k < s.k; ++k)
                sum += double(p.a[i * p.a_row + k * p.a_col]) *
                       double(p.b[k * p.b_row + j * p.b_col]);
            if (c.data()[i * s.n + j] != static_cast<float>(sum)) return false;
        }
    }
    return c.whole() && a.whole() && b.whole();
}

}  // namespace

void check_shapes(bool a, bool b, int levels) {
    CHECK(multiplies_exactly({32, 32, 32, a, b}, levels));
    CHECK(multiplies_exactly({33, 65, 70, a, b}, levels));
    CHECK(multiplies_exactly({16, 300, 31, a, b}, levels));
    CHECK(multiplies_exactly({310, 15, 545, a, b}, levels));
    CHECK(multiplies_exactly({290, 545, 300, a, b}, levels));  // parts
    CHECK(multiplies_exactly({1, 1, 1, a, b}, levels));
}

TEST_CASE("a split product is that of its parts") {
    for (const int levels : {3, 2, 1}) {
        for (const int threads : {1, 3, 16}) {
            autocalc::runtime::set_num_threads(threads);
            autocalc::runtime::set_team_limit(threads);
            for (const bool a : {false, true}) {
                for (const bool b : {false, true}) check_shapes(a, b, levels);
            }
        }
    }
}

TEST_CASE("a number is the sum of its three parts") {
    Guarded x(32);
    for (int64_t i = 0; i < x.count; ++i)
        x.data()[i] = (i % 2 == 0 ? 1.0f : -1.0f) / static_cast<float>(2 * i + 3);
    const SplitOperand row = {x.data(), 1, 32, 32, 1, true, all_levels};
    alignas(64) int32_t packed[all_levels * level_pairs];
    pack_strips(row, 0, 1, 0, 1, packed, row.chunk_pairs());
    const auto number = [](uint32_t half) {
        const uint32_t bits = half << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    };
    for (int64_t i = 0; i < 32; ++i) {
        float sum = 0;
        for (int64_t level = all_levels - 1; level >= 0; --level) {
            const auto pair =
                static_cast<uint32_t>(packed[level * level_pairs + i % half_strip]);
            sum += number(i < half_strip ? pair & 0xffff : pair >> 16);
        }
        CHECK(sum == x.data()[i]);
    }
}
