// SPDX-License-Identifier: MIT
//
// Memories of several nodes: which ones a process uses, and pages that alternate.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "memory/nodes.hpp"
#if defined(__linux__)
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace runtime = autocalc::runtime;
namespace fs = std::filesystem;
using Numbers = std::vector<int>;

namespace {

// Two nodes of four processors each, one of none.
class Machine {
  public:
    Machine() {
        std::string name = (fs::temp_directory_path() / "nodes-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        root_ = name;
        write("has_cpu", "0-1");
        write("node0/cpulist", "0-1,4-5");
        write("node1/cpulist", "2-3,6-7");
        write("node2/cpulist", "");
    }
    ~Machine() { fs::remove_all(root_); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << "\n";
    }
    [[nodiscard]] std::string folder() const { return root_.string(); }

  private:
    fs::path root_;
};

constexpr std::size_t megabyte = std::size_t{1} << 20;

class Pages {
  public:
    Pages()
        : begin_(mmap(nullptr, megabyte, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        REQUIRE(begin_ != MAP_FAILED);
    }
    ~Pages() { munmap(begin_, megabyte); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    [[nodiscard]] void* begin() const { return begin_; }

  private:
    void* begin_;
};

}  // namespace

#if defined(__linux__)

TEST_CASE("a process uses the nodes of its processors") {
    const Machine machine;
    CHECK(runtime::nodes_of({0, 1}, machine.folder()) == Numbers{0});
    CHECK(runtime::nodes_of({6}, machine.folder()) == Numbers{1});
    CHECK(runtime::nodes_of({5, 7}, machine.folder()) == Numbers{0, 1});
    CHECK(runtime::nodes_of({}, machine.folder()).empty());
}

TEST_CASE("a system that does not tell has no nodes") {
    CHECK(runtime::nodes_of({0}, "/nonexistent").empty());
    const Machine machine;
    machine.write("node0/cpulist", "0-");
    machine.write("node1/cpulist", "x");
    CHECK(runtime::nodes_of({0, 1, 2}, machine.folder()).empty());
}

TEST_CASE("pages alternate between the nodes that are named") {
    const Pages pages;
    if (!runtime::interleave(pages.begin(), megabyte, {0})) {
        MESSAGE("this system has no policies for memory");
        return;
    }
    int policy = MPOL_DEFAULT;
    const long answer =
        syscall(SYS_get_mempolicy, &policy, nullptr, 0, pages.begin(), MPOL_F_ADDR);
    REQUIRE(answer == 0);
    CHECK(policy == MPOL_INTERLEAVE);
}

#endif

TEST_CASE("no nodes, or those that cannot be, change nothing") {
    const Pages pages;
    CHECK(!runtime::interleave(pages.begin(), megabyte, {}));
    CHECK(!runtime::interleave(pages.begin(), megabyte, {-1}));
    CHECK(!runtime::interleave(pages.begin(), megabyte, {1 << 20}));
}
