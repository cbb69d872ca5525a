// SPDX-License-Identifier: MIT
//
// What the system grants this process: processors (CPU affinity, quotas of control
// groups) and memory (of the machine, limits of control groups). Control groups of both
// versions are read, a group's own and those around it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace autocalc::runtime {

// Where control groups are described; tests have folders of their own.
struct GroupFiles {
    std::string tree = "/sys/fs/cgroup";
    std::string membership = "/proc/self/cgroup";
};

constexpr double no_quota = std::numeric_limits<double>::infinity();
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// In processors, at least 1.
double cpu_quota(const GroupFiles& files = {});
// In bytes.
std::uint64_t group_memory(const GroupFiles& files = {});

// How many processors' time this process has, at least 1: a quota may be a fraction.
double usable_processors() noexcept;
// The machine's memory or what a control group allows of it; 0 if that is not known.
std::uint64_t usable_memory() noexcept;

}  // namespace autocalc::runtime
