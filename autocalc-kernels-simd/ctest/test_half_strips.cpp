// SPDX-License-Identifier: MIT
//
// Products of bfloat16 in AMX's tiles. All numbers are small integers, so that every
// sum is exact, and results are compared so.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "gemm_bf16.cpp"
#include "pool/pool.hpp"

using namespace autocalc::simd::AC_ISA;

namespace {

constexpr float guard = 12345.5f;

std::size_t index(int64_t i) { return static_cast<std::size_t>(i); }

BFloat16 half_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return {static_cast<uint16_t>(bits >> 16)};
}

float number(int64_t i, int64_t j) {
    return static_cast<float>((31 * i + 17 * j) % 7 - 3);
}

enum class Along { sum, other, none };

// A matrix of `width` lines with `k` steps, which runs along one of both, or neither.
struct Matrix {
    int64_t step_width, step_k;
    std::vector<BFloat16> memory;
    Matrix(int64_t width, int64_t k, Along along)
        : step_width(along == Along::sum     ? k
                     : along == Along::other ? 1
                                             : 3),
          step_k(along == Along::sum     ? 1
                 : along == Along::other ? width
                                         : 3 * width),
          memory(index(3 * width * k)) {
        for (int64_t i = 0; i < width; ++i) {
            for (int64_t j = 0; j < k; ++j)
                memory[index(i * step_width + j * step_k)] = half_of(number(i, j));
        }
    }
};

bool multiplies_exactly(int64_t m, int64_t n, int64_t k, Along a_along, Along b_along) {
    const Matrix a(m, k, a_along), b(n, k, b_along);
    std::vector<float> c(index(m * n + 1), guard);
    HalfGemm<BFloat16> p = {};
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = a.memory.data();
    p.a_row = a.step_width;
    p.a_col = a.step_k;
    p.b = b.memory.data();
    p.b_row = b.step_k;
    p.b_col = b.step_width;
    p.c = {nullptr, c.data(), n};
    p.alpha = 1;
    if (!multiply(p, autocalc::runtime::kernel_context())) return false;
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            float sum = 0;
            for (int64_t s = 0; s < k; ++s) sum += number(i, s) * number(j, s);
            if (c[index(i * n + j)] != sum) return false;
        }
    }
    return c.back() == guard;
}

void check_shapes(Along a, Along b) {
    CHECK(multiplies_exactly(32, 32, 32, a, b));
    CHECK(multiplies_exactly(33, 65, 71, a, b));
    CHECK(multiplies_exactly(16, 300, 31, a, b));
    CHECK(multiplies_exactly(310, 15, 545, a, b));
    CHECK(multiplies_exactly(290, 245, 600, a, b));
    CHECK(multiplies_exactly(1, 1, 1, a, b));
}

}  // namespace

TEST_CASE("a product of bfloat16 is exact where its sums are") {
    for (const int threads : {1, 3}) {
        autocalc::runtime::set_num_threads(threads);
        autocalc::runtime::set_team_limit(threads);
        for (const Along a : {Along::sum, Along::other, Along::none}) {
            for (const Along b : {Along::sum, Along::other, Along::none})
                check_shapes(a, b);
        }
    }
}
