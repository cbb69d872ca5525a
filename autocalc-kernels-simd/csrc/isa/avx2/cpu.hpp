// SPDX-License-Identifier: MIT
//
// Whether a CPU has AVX2 and its companions. Compiled without the flags of any
// instruction set.
#pragma once

namespace autocalc::loader {

// The builtins also ask whether the operating system saves the registers.
inline bool runs_avx2() {
    __builtin_cpu_init();  // this may run before other constructors
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

}  // namespace autocalc::loader
