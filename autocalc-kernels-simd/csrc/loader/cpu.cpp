// SPDX-License-Identifier: MIT
#include "loader/cpu.hpp"

// From CMakeLists.txt: includes isa/<isa>/cpu.hpp of each instruction set that is
// built, and has them as AC_RUNS(<isa>).
#include "isas.inc"

namespace autocalc::loader {

bool cpu_runs(const std::string& isa) {
#define AC_RUNS(name) \
    if (isa == #name) return runs_##name();
    AC_ISAS
#undef AC_RUNS
    return false;
}

}  // namespace autocalc::loader
