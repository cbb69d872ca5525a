// SPDX-License-Identifier: MIT
//
// Ends the program, as ctest's "skipped", where the CPU cannot run it. This file is
// compiled without the flags of the instruction set, and its constructor comes first:
// every other one may already hold such instructions.
#include <cstdio>
#include <cstdlib>

#include "loader/cpu.hpp"

#define AC_QUOTE2(a) #a
#define AC_QUOTE(a) AC_QUOTE2(a)

namespace {

constexpr int skipped = 77;  // SKIP_RETURN_CODE in CMakeLists.txt

__attribute__((constructor(101))) void require_cpu() {
    if (autocalc::loader::cpu_runs(AC_QUOTE(AC_ISA))) return;
    std::puts("skipped: this CPU lacks " AC_QUOTE(AC_ISA));
    std::fflush(stdout);
    std::_Exit(skipped);
}

}  // namespace
