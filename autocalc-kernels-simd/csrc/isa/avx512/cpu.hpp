// SPDX-License-Identifier: MIT
//
// Whether a CPU has AVX-512 as servers do since Skylake. Compiled without the flags of
// any instruction set.
#pragma once

#include "../avx2/cpu.hpp"

namespace autocalc::loader {

inline bool runs_avx512() {
    return runs_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace autocalc::loader
