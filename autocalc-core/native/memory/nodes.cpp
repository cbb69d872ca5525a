// SPDX-License-Identifier: MIT
#include "memory/nodes.hpp"

#if defined(__linux__)
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <sstream>
#endif

namespace autocalc::runtime {

#if defined(__linux__)

namespace {

constexpr int most_nodes = 1024;  // as in Linux

// The numbers of a list like `0-3,8`; those after a mistake are left out.
std::vector<int> numbers_of(const std::string& path) {
    std::vector<int> numbers;
    std::ifstream file(path);
    std::string part;
    while (std::getline(file, part, ',')) {
        std::istringstream range(part);
        int first = 0, last = 0;
        char dash = 0;
        if (!(range >> first)) break;
        last = first;
        if (range >> dash && !(dash == '-' && range >> last)) break;
        for (int i = first; i <= last; ++i) numbers.push_back(i);
    }
    return numbers;
}

std::vector<int> usable_processor_list() {
    std::vector<int> found;
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return found;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(static_cast<std::size_t>(i), &usable)) found.push_back(i);
    }
    return found;
}

bool has_own_policy() {
    int policy = MPOL_DEFAULT;
    const long answer = syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0);
    return answer != 0 || policy != MPOL_DEFAULT;
}

}  // namespace

std::vector<int> nodes_of(const std::vector<int>& processors,
                          const std::string& folder) {
    std::vector<int> nodes;
    for (const int node : numbers_of(folder + "/has_cpu")) {
        const std::vector<int> its =
            numbers_of(folder + "/node" + std::to_string(node) + "/cpulist");
        const bool used = std::any_of(its.begin(), its.end(), [&](int i) {
            return std::find(processors.begin(), processors.end(), i) !=
                   processors.end();
        });
        if (used) nodes.push_back(node);
    }
    return nodes;
}

std::vector<int> nodes_to_share() {
    try {
        std::vector<int> nodes = nodes_of(usable_processor_list());
        if (nodes.size() < 2 || has_own_policy()) nodes.clear();
        return nodes;
    } catch (const std::bad_alloc&) {
        return {};  // pages are placed where they are touched
    }
}

bool interleave(void* begin, std::size_t bytes, const std::vector<int>& nodes) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    unsigned long mask[most_nodes / bits] = {};
    for (const int node : nodes) {
        if (node < 0 || node >= most_nodes) return false;
        const auto at = static_cast<std::size_t>(node);
        mask[at / bits] |= 1UL << at % bits;
    }
    return !nodes.empty() && syscall(SYS_mbind, begin, bytes, MPOL_INTERLEAVE, mask,
                                     most_nodes + 1, 0) == 0;
}

#else

std::vector<int> nodes_of(const std::vector<int>&, const std::string&) { return {}; }
std::vector<int> nodes_to_share() { return {}; }
bool interleave(void*, std::size_t, const std::vector<int>&) { return false; }

#endif

}  // namespace autocalc::runtime
