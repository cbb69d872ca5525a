// SPDX-License-Identifier: MIT
//
// Whether a CPU has AMX with bfloat16, and the system lets this process use it: Linux
// does from 5.16 on, and has to be asked. Compiled without the flags of any instruction
// set.
#pragma once

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../avx512/cpu.hpp"

namespace autocalc::loader {

// What the system grants holds for threads and children to come.
inline bool runs_amx() {
    constexpr unsigned amx = 1u << 22 | 1u << 24;  // AMX-BF16, AMX-TILE
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!runs_avx512()) return false;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx) != amx) return false;
    constexpr long ask_for_state = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, ask_for_state, tile_data) == 0;
}

}  // namespace autocalc::loader
