// SPDX-License-Identifier: MIT
#include "pool/limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace autocalc::runtime {
namespace {

// Empty where there is no such file.
std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool names(const std::string& list, const std::string& controller) {
    return ("," + list + ",").find("," + controller + ",") != std::string::npos;
}

// The path of this process's group in a controller's tree, from lines such as
// `4:cpu,cpuacct:/job`. Version 2 has one tree, and names no controller.
std::string group_of(const GroupFiles& files, const std::string& controller) {
    std::istringstream lines(text_of(files.membership));
    std::string number, list, path;
    while (std::getline(lines, number, ':') && std::getline(lines, list, ':') &&
           std::getline(lines, path)) {
        if (names(list, controller)) return path;
    }
    return "";
}

// visit(folder) for the root of the tree and for each group down to the process's own.
// In a container the root often is that group, and its path leads nowhere.
template <class Visit>
void visit_groups(const GroupFiles& files, const std::string& controller, Visit visit) {
    std::string folder = files.tree + "/" + controller;
    visit(folder);
    const std::string path = group_of(files, controller);
    if (path.find("..") != std::string::npos) return;  // outside what it can see
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, '/');) {
        if (part.empty()) continue;
        folder += "/" + part;
        visit(folder);
    }
}

double quotient(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return no_quota;
    return std::max(1.0, static_cast<double>(quota) / static_cast<double>(period));
}

// From `150000 100000`; words such as `max` are no quota.
double quota_in(const std::string& text) {
    char *behind_quota, *behind_period;
    const long long quota = std::strtoll(text.c_str(), &behind_quota, 10);
    const long long period = std::strtoll(behind_quota, &behind_period, 10);
    const bool both = behind_quota != text.c_str() && behind_period != behind_quota;
    return both ? quotient(quota, period) : no_quota;
}

// Version 1 writes a number near 2^63 where there is no limit.
std::uint64_t bytes_in(const std::string& text) {
    const long long bytes = std::strtoll(text.c_str(), nullptr, 10);
    return bytes > 0 && bytes < 1LL << 60 ? static_cast<std::uint64_t>(bytes)
                                          : no_limit;
}

std::uint64_t machine_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return no_limit;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

}  // namespace

double cpu_quota(const GroupFiles& files) {
    double least = no_quota;
    visit_groups(files, "", [&](const std::string& folder) {
        least = std::min(least, quota_in(text_of(folder + "/cpu.max")));
    });
    visit_groups(files, "cpu", [&](const std::string& folder) {
        least = std::min(least, quota_in(text_of(folder + "/cpu.cfs_quota_us") + " " +
                                         text_of(folder + "/cpu.cfs_period_us")));
    });
    return least;
}

std::uint64_t group_memory(const GroupFiles& files) {
    std::uint64_t least = no_limit;
    visit_groups(files, "", [&](const std::string& folder) {
        least = std::min(least, bytes_in(text_of(folder + "/memory.max")));
    });
    visit_groups(files, "memory", [&](const std::string& folder) {
        least = std::min(least, bytes_in(text_of(folder + "/memory.limit_in_bytes")));
    });
    return least;
}

// What throws is a lack of memory alone: then nothing is known of control groups.
double usable_processors() noexcept {
    const double affine = std::max(1U, std::thread::hardware_concurrency());
    try {
        return std::min(affine, cpu_quota());
    } catch (...) {
        return affine;
    }
}

std::uint64_t usable_memory() noexcept {
    const std::uint64_t whole = machine_memory();
    try {
        const std::uint64_t most = std::min(whole, group_memory());
        return most == no_limit ? 0 : most;
    } catch (...) {
        return whole == no_limit ? 0 : whole;
    }
}

}  // namespace autocalc::runtime
