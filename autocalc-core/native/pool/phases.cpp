// SPDX-License-Identifier: MIT
#include "pool/phases.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "pool/pool.hpp"

namespace autocalc::runtime {
namespace {

constexpr const char* names[AC_PHASE_COUNT] = {
    nullptr,     "pack",   "compute", "epilogue", "statistics",
    "normalise", "scores", "softmax", "products", "gates"};

std::uint64_t nanoseconds() noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A counter of a fixed rate that is read in some 20 cycles, where there is one.
std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t now;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return nanoseconds();
#endif
}

struct alignas(64) Slot {
    std::atomic<std::uint64_t> ticks[AC_PHASE_COUNT];
};
// Threads beyond these share them.
constexpr int most_slots = 64;
Slot slots[most_slots];
std::atomic<int> threads{0};

struct Thread {
    std::int32_t phase = AC_PHASE_NONE;
    std::uint64_t since = 0;
    Slot* slot = nullptr;

    void add(std::int32_t to, std::uint64_t count) {
        if (slot == nullptr) slot = &slots[threads.fetch_add(1) % most_slots];
        slot->ticks[to].fetch_add(count, std::memory_order_relaxed);
    }
};
thread_local Thread own_state;

bool is_phase(std::int32_t phase) {
    return AC_PHASE_NONE < phase && phase < AC_PHASE_COUNT;
}

std::int32_t enter(std::int32_t phase) {
    Thread& thread = own_state;
    const std::uint64_t now = ticks();
    const std::int32_t before = thread.phase;
    if (before != AC_PHASE_NONE && now > thread.since)
        thread.add(before, now - thread.since);
    thread.phase = is_phase(phase) ? phase : AC_PHASE_NONE;
    thread.since = now;
    return before;
}

void credit(std::int32_t phase, std::uint64_t count) {
    Thread& thread = own_state;
    if (!is_phase(phase) || thread.phase == AC_PHASE_NONE) return;
    thread.since += count;
    thread.add(phase, count);
}

const ac_phases the_clock = {sizeof(ac_phases), 0, enter, ticks, credit};
std::atomic<const ac_phases*> measured{nullptr};

// A moment by both clocks: the longer ago, the better the unit of ticks is known.
const std::uint64_t first_tick = ticks(), first_nanosecond = nanoseconds();

}  // namespace

void measure_phases(bool on) { measured.store(on ? &the_clock : nullptr); }

const ac_phases* phases_clock() { return measured.load(std::memory_order_relaxed); }

Reading read_clock() {
    Reading now = {nanoseconds(), ticks(), waited_ns(), helped_ns(), {}};
    const int used = std::min(threads.load(), most_slots);
    for (int i = 0; i < used; ++i) {
        for (int p = 0; p < AC_PHASE_COUNT; ++p)
            now.phases[p] += slots[i].ticks[p].load(std::memory_order_relaxed);
    }
    return now;
}

void phases_between(const Reading& begin, const Reading& end,
                    std::uint64_t (&spent)[AC_PHASE_COUNT]) {
    const double unit = static_cast<double>(end.nanoseconds - first_nanosecond) /
                        static_cast<double>(end.ticks - first_tick);
    for (int p = 0; p < AC_PHASE_COUNT; ++p)
        spent[p] = static_cast<std::uint64_t>(
            static_cast<double>(end.phases[p] - begin.phases[p]) * unit);
}

const char* phase_name(int phase) { return names[phase]; }

}  // namespace autocalc::runtime
