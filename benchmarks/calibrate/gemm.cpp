// SPDX-License-Identifier: MIT
//
// Products a b^T, both of which run along k: b packed as it is, a and b exchanged, and
// dot products.
#include "timing.hpp"

//
#include "gemm/run.hpp"

namespace autocalc::calibrate {
namespace {

struct Operands {
    std::int64_t m, n, k;
    std::vector<float> a, b, c;
    Operands(std::int64_t m_, std::int64_t n_, std::int64_t k_)
        : m(m_),
          n(n_),
          k(k_),
          a(numbers(m * k)),
          b(numbers(n * k)),
          c(numbers(m * n)) {}
    [[nodiscard]] Gemm<float> product() {
        Gemm<float> p = {};
        p.m = m;
        p.n = n;
        p.k = k;
        p.a = a.data();
        p.a_row = k;
        p.a_col = 1;
        p.b = b.data();
        p.b_row = 1;
        p.b_col = k;
        p.c = c.data();
        p.c_row = n;
        p.alpha = 1;
        p.activation = Activation::none;
        return p;
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    }
    [[nodiscard]] double steps() const {
        return static_cast<double>(m * n * k) / (2 * vec<float>::lanes);
    }
};

// The product where plans take so many rows for dot products, and packing for so dear.
std::function<void()> run_with(Operands& operands, std::int64_t dot_rows,
                               double packing) {
    return [&operands, dot_rows, packing] {
        Costs::most_dot_rows = dot_rows;
        Costs::pack_transposed = packing;
        multiply_typed(operands.product(), runtime::kernel_context());
        Costs::most_dot_rows = BuiltIn::most_dot_rows;
        Costs::pack_transposed = BuiltIn::pack_transposed;
    };
}

constexpr double never = 0, always = 1e9;  // to exchange operands

void measure_packing() {
    constexpr std::int64_t shapes[][3] = {
        {32, 512, 512},  {64, 256, 1024}, {64, 1024, 256}, {128, 512, 128},
        {128, 128, 512}, {256, 1024, 64}, {256, 256, 256}, {512, 512, 64},
        {512, 128, 128}, {48, 2048, 256}};
    for (const auto& [m, n, k] : shapes) {
        Operands operands(m, n, k);
        const Gemm<float> p = operands.product();
        const std::vector<Amount> rate = {{"gemm_share", operands.steps()}};
        compare("transposed", operands.text(),
                {{"packed", run_with(operands, 0, never),
                  [&] { return packed_cost(p); }, rate},
                 {"swapped", run_with(operands, 0, always),
                  [&] { return swapped_cost(p); }, rate}},
                better_swapped(p) ? 1 : 0);
    }
}

void measure_dots() {
    constexpr std::int64_t shapes[][2] = {{512, 512}, {1024, 256}, {2048, 768}};
    for (const auto& [n, k] : shapes) {
        for (std::int64_t m = 2; m <= 16; ++m) {
            Operands operands(m, n, k);
            compare("dots", operands.text(),
                    {{"dots", run_with(operands, 16, BuiltIn::pack_transposed), {}},
                     {"product", run_with(operands, 0, BuiltIn::pack_transposed), {}}},
                    m <= BuiltIn::most_dot_rows ? 0 : 1);
        }
    }
}

}  // namespace

void measure_gemm() {
    measure_packing();
    measure_dots();
}

}  // namespace autocalc::calibrate
