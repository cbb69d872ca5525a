// SPDX-License-Identifier: MIT
#include "pool/placement.hpp"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

#include <bitset>
#include <cstddef>
#include <fstream>
#include <new>
#include <string>
#endif

namespace autocalc::runtime {

int Topology::core_of(int processor) const {
    const bool known = processor >= 0 && processor < static_cast<int>(core_of_.size());
    return known ? core_of_[static_cast<std::size_t>(processor)] : processor;
}

#if defined(__linux__)

namespace {

// Lists begin with the lowest number: `0,64` or `2-3`.
int first_sibling(const std::string& folder, int processor) {
    std::ifstream list(folder + "/cpu" + std::to_string(processor) +
                       "/topology/thread_siblings_list");
    int first = processor;
    return list >> first ? first : processor;
}

bool contains(const cpu_set_t& set, int processor) {
    return CPU_ISSET(static_cast<std::size_t>(processor), &set);
}

// Those processors of `given` for which `wanted` holds.
template <class Wanted>
cpu_set_t those_of(const cpu_set_t& given, Wanted wanted) {
    cpu_set_t those;
    CPU_ZERO(&those);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (contains(given, i) && wanted(i))
            CPU_SET(static_cast<std::size_t>(i), &those);
    }
    return those;
}

// One hardware thread of each core, the first of those given.
cpu_set_t one_per_core(const cpu_set_t& given, const Topology& topology) {
    std::bitset<CPU_SETSIZE> seen;
    return those_of(given, [&](int i) {
        const auto core = static_cast<std::size_t>(topology.core_of(i)) % CPU_SETSIZE;
        const bool first = !seen[core];
        seen[core] = true;
        return first;
    });
}

// With more processors than a cpu_set_t holds (1024) this fails, and workers stay where
// they are.
bool affinity_of(int thread, cpu_set_t& processors) {
    return sched_getaffinity(thread, sizeof processors, &processors) == 0;
}

}  // namespace

int this_processor() { return sched_getcpu(); }
int this_thread() { return static_cast<int>(syscall(SYS_gettid)); }

Topology::Topology(const char* folder) noexcept {
    cpu_set_t usable;
    if (!affinity_of(0, usable)) return;
    try {
        for (int i = 0; i < CPU_SETSIZE; ++i)
            core_of_.push_back(contains(usable, i) ? first_sibling(folder, i) : i);
    } catch (const std::bad_alloc&) {  // then each processor is a core
        core_of_.clear();
    }
    const cpu_set_t firsts = one_per_core(usable, *this);
    cores_ = CPU_COUNT(&firsts);
}

void AffinityGuard::choose(int thread, const cpu_set_t& processors) {
    if (CPU_COUNT(&processors) != 0 &&
        sched_setaffinity(thread, sizeof processors, &processors) == 0)
        chosen_ = processors;
}

void AffinityGuard::spread(const Topology& topology, int part) {
    has_core_ = part < topology.cores();
    if (has_core_ && affinity_of(0, given_)) choose(0, one_per_core(given_, topology));
}

bool AffinityGuard::beside(int workers_processor, int processor,
                           const Topology& topology) const {
    if (processor < 0) return false;
    if (!has_core_) return workers_processor == processor;
    return topology.core_of(workers_processor) == topology.core_of(processor);
}

void AffinityGuard::keep_off(int workers_thread, int processor,
                             const Topology& topology) {
    cpu_set_t now;
    if (!affinity_of(workers_thread, now)) return;
    if (!CPU_EQUAL(&now, &chosen_)) given_ = now;
    const cpu_set_t from = has_core_ ? one_per_core(given_, topology) : given_;
    choose(workers_thread,
           those_of(from, [&](int i) { return !beside(i, processor, topology); }));
}

#else

int this_processor() { return -1; }
int this_thread() { return -1; }
Topology::Topology(const char*) noexcept {}
void AffinityGuard::spread(const Topology&, int) {}
bool AffinityGuard::beside(int, int, const Topology&) const { return false; }
void AffinityGuard::keep_off(int, int, const Topology&) {}

#endif

}  // namespace autocalc::runtime
