// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "autocalc_kernel.h"
#include "pool/phases.hpp"
#include "pool/pool.hpp"

using namespace autocalc;

namespace {

using Spent = std::uint64_t[AC_PHASE_COUNT];

void work(int milliseconds) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (std::chrono::steady_clock::now() < until) {
    }
}

std::uint64_t total(const Spent& spent) {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : spent) sum += one;
    return sum;
}

struct Measured {
    Measured() {
        runtime::measure_phases(true);
        begin = runtime::read_clock();
    }
    ~Measured() { runtime::measure_phases(false); }

    // What was spent in all phases since it began.
    std::uint64_t take(Spent& spent) const {
        runtime::phases_between(begin, runtime::read_clock(), spent);
        return total(spent);
    }

    runtime::Reading begin;
};

constexpr std::uint64_t millisecond = 1000000;

}  // namespace

TEST_CASE("contexts have a clock only while phases are measured") {
    CHECK(ac_phases_of(runtime::kernel_context()) == nullptr);
    {
        const Measured measured;
        CHECK(ac_phases_of(runtime::kernel_context()) != nullptr);
    }
    CHECK(ac_phases_of(runtime::kernel_context()) == nullptr);
}

TEST_CASE("a context from before there were phases has no clock") {
    ac_context old = {};
    old.size = offsetof(ac_context, phases);
    old.phases = reinterpret_cast<const ac_phases*>(&old);
    CHECK(ac_phases_of(&old) == nullptr);
}

TEST_CASE("a phase within another has its own time") {
    const Measured measured;
    const ac_phases* clock = ac_phases_of(runtime::kernel_context());
    CHECK(clock->enter(AC_PHASE_COMPUTE) == AC_PHASE_NONE);
    work(2);
    CHECK(clock->enter(AC_PHASE_PACK) == AC_PHASE_COMPUTE);
    work(4);
    CHECK(clock->enter(AC_PHASE_COMPUTE) == AC_PHASE_PACK);
    work(2);
    CHECK(clock->enter(AC_PHASE_NONE) == AC_PHASE_COMPUTE);
    work(3);
    Spent spent;
    REQUIRE(measured.take(spent) > 0);
    CHECK(spent[AC_PHASE_COMPUTE] > 3 * millisecond);
    CHECK(spent[AC_PHASE_PACK] > 3 * millisecond);
    CHECK(spent[AC_PHASE_NONE] == 0);
    CHECK(total(spent) == spent[AC_PHASE_COMPUTE] + spent[AC_PHASE_PACK]);
    const runtime::Reading now = runtime::read_clock();
    runtime::phases_between(now, runtime::read_clock(), spent);
    CHECK(total(spent) == 0);
}

TEST_CASE("a number that is no phase counts for none") {
    const Measured measured;
    const ac_phases* clock = ac_phases_of(runtime::kernel_context());
    for (const std::int32_t wrong : {-1, static_cast<int>(AC_PHASE_COUNT), 1 << 30}) {
        clock->enter(wrong);
        work(1);
        clock->credit(wrong, 1000);
        CHECK(clock->enter(AC_PHASE_NONE) == AC_PHASE_NONE);
    }
    Spent spent;
    CHECK(measured.take(spent) == 0);
}

TEST_CASE("credit moves time and makes none") {
    const Measured measured;
    const ac_phases* clock = ac_phases_of(runtime::kernel_context());
    const auto begin = std::chrono::steady_clock::now();
    clock->enter(AC_PHASE_STATISTICS);
    const std::uint64_t first = clock->now();
    work(4);
    clock->credit(AC_PHASE_NORMALISE, (clock->now() - first) / 2);
    clock->enter(AC_PHASE_NONE);
    const std::chrono::nanoseconds passed = std::chrono::steady_clock::now() - begin;
    Spent spent;
    REQUIRE(measured.take(spent) > 0);
    CHECK(spent[AC_PHASE_STATISTICS] > millisecond);
    CHECK(spent[AC_PHASE_NORMALISE] > millisecond);
    CHECK(total(spent) <= static_cast<std::uint64_t>(passed.count()) * 1.02);
}

TEST_CASE("threads add up, more of them than slots") {
    const Measured measured;
    const ac_phases* clock = ac_phases_of(runtime::kernel_context());
    constexpr int count = 100;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([clock] {
            clock->enter(AC_PHASE_GATES);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            clock->enter(AC_PHASE_NONE);
        });
    }
    for (std::thread& thread : threads) thread.join();
    Spent spent;
    REQUIRE(measured.take(spent) > 0);
    CHECK(spent[AC_PHASE_GATES] > count * 4 * millisecond);
}

TEST_CASE("phases have names") {
    CHECK(runtime::phase_name(AC_PHASE_NONE) == nullptr);
    for (int i = 1; i < AC_PHASE_COUNT; ++i) CHECK(runtime::phase_name(i) != nullptr);
}
