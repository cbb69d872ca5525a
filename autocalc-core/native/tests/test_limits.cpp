// SPDX-License-Identifier: MIT
//
// What control groups and cores are read from, in folders made for it.
#include <unistd.h>

#include "pool/limits.hpp"
#if defined(__linux__)
#include <sched.h>
#endif

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "pool/placement.hpp"

namespace runtime = autocalc::runtime;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

// A folder that goes with the test.
class Folder {
  public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "limits-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        root_ = name;
    }
    ~Folder() { fs::remove_all(root_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << "\n";
    }
    [[nodiscard]] runtime::GroupFiles groups() const {
        return {(root_ / "tree").string(), (root_ / "membership").string()};
    }
    [[nodiscard]] std::string at(const std::string& path) const {
        return (root_ / path).string();
    }

  private:
    fs::path root_;
};

}  // namespace

TEST_CASE("without control groups nothing limits") {
    const Folder folder;
    CHECK(runtime::cpu_quota(folder.groups()) == runtime::no_quota);
    CHECK(runtime::group_memory(folder.groups()) == runtime::no_limit);
}

TEST_CASE("version 2: the least of a group and those around it") {
    const Folder folder;
    folder.write("membership", "0::/a.slice/b.scope");
    folder.write("tree/a.slice/cpu.max", "150000 100000");
    folder.write("tree/a.slice/b.scope/cpu.max", "max 100000");
    folder.write("tree/other/cpu.max", "100000 100000");
    folder.write("tree/memory.max", "max");
    folder.write("tree/a.slice/memory.max", std::to_string(4 * gib));
    folder.write("tree/a.slice/b.scope/memory.max", std::to_string(2 * gib));
    CHECK(runtime::cpu_quota(folder.groups()) == 1.5);
    CHECK(runtime::group_memory(folder.groups()) == 2 * gib);
}

TEST_CASE("version 1: each controller has a tree") {
    const Folder folder;
    folder.write("membership", "5:memory:/job\n4:cpu,cpuacct:/job\n0::/");
    folder.write("tree/cpu/cpu.cfs_quota_us", "-1");
    folder.write("tree/cpu/cpu.cfs_period_us", "100000");
    folder.write("tree/cpu/job/cpu.cfs_quota_us", "350000");
    folder.write("tree/cpu/job/cpu.cfs_period_us", "100000");
    folder.write("tree/memory/memory.limit_in_bytes", "9223372036854771712");
    folder.write("tree/memory/job/memory.limit_in_bytes", std::to_string(gib));
    CHECK(runtime::cpu_quota(folder.groups()) == 3.5);
    CHECK(runtime::group_memory(folder.groups()) == gib);
}

TEST_CASE("in a container the root is the group, and its path leads nowhere") {
    const Folder folder;
    folder.write("membership", "0::/kubepods/pod1");
    folder.write("tree/cpu.max", "50000 100000");
    folder.write("tree/memory.max", std::to_string(gib));
    CHECK(runtime::cpu_quota(folder.groups()) == 1);  // at least
    CHECK(runtime::group_memory(folder.groups()) == gib);
}

TEST_CASE("what cannot be read or makes no sense is no limit") {
    const Folder folder;
    folder.write("membership", "0::/../../elsewhere\nno group");
    folder.write("tree/cpu.max", "100000 0");
    folder.write("tree/memory.max", "much");
    CHECK(runtime::cpu_quota(folder.groups()) == runtime::no_quota);
    CHECK(runtime::group_memory(folder.groups()) == runtime::no_limit);
}

TEST_CASE("this process has a processor and memory") {
    CHECK(runtime::usable_processors() >= 1);
    CHECK(runtime::usable_memory() > gib / 64);
}

#if defined(__linux__)

TEST_CASE("hardware threads of one core are distinguished from cores") {
    cpu_set_t given;
    if (sched_getaffinity(0, sizeof given, &given) != 0 || CPU_COUNT(&given) < 2)
        return;
    const Folder folder;
    int first = -1, second = -1;
    for (int i = 0; i < CPU_SETSIZE && second < 0; ++i) {
        if (CPU_ISSET(static_cast<std::size_t>(i), &given))
            (first < 0 ? first : second) = i;
    }
    const runtime::Topology apart(folder.at("nothing").c_str());
    CHECK(apart.cores() == CPU_COUNT(&given));
    CHECK(apart.core_of(second) == second);
    const std::string siblings = std::to_string(first) + "," + std::to_string(second);
    for (const int i : {first, second}) {
        folder.write("cpu" + std::to_string(i) + "/topology/thread_siblings_list",
                     siblings);
    }
    const runtime::Topology together(folder.at("").c_str());
    CHECK(together.cores() == CPU_COUNT(&given) - 1);
    CHECK(together.core_of(second) == first);

    // The first workers get a core each, later ones what there is.
    runtime::AffinityGuard guard;
    guard.spread(together, 0);
    cpu_set_t chosen;
    sched_getaffinity(0, sizeof chosen, &chosen);
    CHECK(CPU_COUNT(&chosen) == together.cores());
    CHECK(!CPU_ISSET(static_cast<std::size_t>(second), &chosen));
    CHECK(guard.beside(second, first, together));
    sched_setaffinity(0, sizeof given, &given);
    runtime::AffinityGuard late;
    late.spread(together, together.cores());
    sched_getaffinity(0, sizeof chosen, &chosen);
    CHECK(CPU_EQUAL(&chosen, &given));
    CHECK(!late.beside(second, first, together));
    CHECK(late.beside(first, first, together));
    late.keep_off(0, first, together);
    sched_getaffinity(0, sizeof chosen, &chosen);
    CHECK(!CPU_ISSET(static_cast<std::size_t>(first), &chosen));
    CHECK(CPU_COUNT(&chosen) == CPU_COUNT(&given) - 1);
    sched_setaffinity(0, sizeof given, &given);
}

#endif
