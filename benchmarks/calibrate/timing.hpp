// SPDX-License-Identifier: MIT
//
// Timing several ways to the same result in turn, and printing for each its time and
// its estimate, cost by cost:
//
//     way FAMILY SHAPE NAME STEPS CHOSEN COST=AMOUNT...
//
// STEPS is the time in steps, of `lanes` * 2 multiply-adds at the rate that registers
// reach here; an estimate is the sum of each COST times its AMOUNT, of a share the
// inverse. CHOSEN is 1 where the plan takes this way.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pool/pool.hpp"
#include "tuning.hpp"
#include "vec.hpp"

namespace autocalc::calibrate {

inline int rounds = 7;  // of each shape

void measure_conv();
void measure_dweight();
void measure_gemm();
void measure_winograd();

// A convolution of square images.
struct Shape {
    std::int64_t batch, ins, outs, size, kernel, stride;
    [[nodiscard]] std::int64_t padding() const { return kernel / 2; }
    [[nodiscard]] std::int64_t results() const {
        return (size + 2 * padding() - kernel) / stride + 1;
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(batch) + "x" + std::to_string(ins) + "x" +
               std::to_string(size) + "x" + std::to_string(size) + ">" +
               std::to_string(outs) + ",k" + std::to_string(kernel) + ",s" +
               std::to_string(stride);
    }
};

// Numbers of -1 to 1.
inline std::vector<float> numbers(std::int64_t count) {
    static std::mt19937 engine(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> drawn(static_cast<std::size_t>(count));
    for (float& x : drawn) x = uniform(engine);
    return drawn;
}

// The direct sum, in planes, as Winograd's transforms are compared with.
std::function<void()> conv_in_planes_of(const Shape& shape);

namespace {

using namespace autocalc::simd::AC_ISA;

using Clock = std::chrono::steady_clock;

inline double seconds_of(const std::function<void()>& run, int calls) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) run();
    return std::chrono::duration<double>(Clock::now() - begin).count() / calls;
}

// Twelve sums in flight hide a latency of six cycles.
constexpr int sums = 12;
inline float add_up(int steps) {
    const vec<float> a = set1<float>(0.9999F), b = set1<float>(1e-3F);
    vec<float> sum[sums];
    for (auto& s : sum) s = b;
    for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 12
        for (int i = 0; i < sums; ++i) sum[i] = fma(sum[i], a, b);
    }
    for (int i = 1; i < sums; ++i) sum[0] = sum[0] + sum[i];
    float lanes[vec<float>::lanes];
    store(lanes, sum[0]);
    return lanes[0];
}

// Of two registers' multiply-adds.
inline double step_seconds() {
    constexpr int steps = 4000;
    static float total = 0;
    const double all = seconds_of([] { total += add_up(steps); }, 4);
    if (total < 0) std::puts("the sums are used");
    return 2 * all / (steps * sums);
}

struct Amount {
    const char* cost;
    double amount;
};

struct Linear {
    const char* name;
    double* value;
    double built_in;
    [[nodiscard]] bool is_share() const {
        return std::string(name).find("_share") != std::string::npos;
    }
};
inline const std::vector<Linear>& linear_costs() {
    static const std::vector<Linear> all = {
#define AC_ENTRY(name) {#name, &Costs::name, BuiltIn::name},
        AC_LINEAR_COSTS(AC_ENTRY)
#undef AC_ENTRY
    };
    return all;
}

// What each cost adds to an estimate.
inline std::vector<Amount> amounts_of(const std::function<double()>& estimate) {
    const auto nothing = [](const Linear& cost) {
        *cost.value = cost.is_share() ? std::numeric_limits<double>::infinity() : 0;
    };
    for (const Linear& cost : linear_costs()) nothing(cost);
    std::vector<Amount> amounts;
    for (const Linear& cost : linear_costs()) {
        *cost.value = 1;
        const double amount = estimate();
        if (amount != 0) amounts.push_back({cost.name, amount});
        nothing(cost);
    }
    for (const Linear& cost : linear_costs()) *cost.value = cost.built_in;
    return amounts;
}

struct Way {
    const char* name;
    std::function<void()> run;
    std::function<double()> estimate;
    std::vector<Amount> more = {};  // of the estimate, which no cost of a plan says
};

constexpr double round_seconds = 0.004;  // of one way

// Medians over rounds in which all ways take turns.
inline void compare(const char* family, const std::string& shape,
                    const std::vector<Way>& ways, int chosen) {
    std::vector<std::vector<double>> steps(ways.size());
    std::vector<int> calls;
    for (const Way& way : ways) {
        const double once = std::max(seconds_of(way.run, 1), 1e-7);
        calls.push_back(std::max(1, static_cast<int>(round_seconds / once)));
    }
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const double step = std::min(step_seconds(), step_seconds());
            steps[i].push_back(seconds_of(ways[i].run, calls[i]) / step);
        }
    }
    for (std::size_t i = 0; i < ways.size(); ++i) {
        std::sort(steps[i].begin(), steps[i].end());
        std::printf("way %s %s %s %.6g %d", family, shape.c_str(), ways[i].name,
                    steps[i][steps[i].size() / 2], static_cast<int>(i) == chosen);
        if (ways[i].estimate) {
            for (const Amount& a : amounts_of(ways[i].estimate))
                std::printf(" %s=%.6g", a.cost, a.amount);
        }
        for (const Amount& a : ways[i].more) std::printf(" %s=%.6g", a.cost, a.amount);
        std::printf("\n");
    }
    std::fflush(stdout);
}

// A size that a plan compares with, by its values: `size NAME SHAPE VALUE STEPS`.
inline void try_sizes(const char* name, std::int64_t& size, const std::string& shape,
                      const std::vector<std::int64_t>& values,
                      const std::function<void()>& run) {
    const std::int64_t built_in = size;
    std::vector<std::vector<double>> steps(values.size());
    const int calls = std::max(1, static_cast<int>(round_seconds / seconds_of(run, 2)));
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            size = values[i];
            const double step = std::min(step_seconds(), step_seconds());
            steps[i].push_back(seconds_of(run, calls) / step);
        }
    }
    size = built_in;
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::sort(steps[i].begin(), steps[i].end());
        std::printf("size %s %s %lld %.6g\n", name, shape.c_str(),
                    static_cast<long long>(values[i]), steps[i][steps[i].size() / 2]);
    }
    std::fflush(stdout);
}

}  // namespace
}  // namespace autocalc::calibrate
