// SPDX-License-Identifier: MIT
//
// Whether a CPU has AVX-512 with products of bfloat16: AMD's since Zen 4, Intel's
// Cooper Lake and those since Sapphire Rapids. Compiled without the flags of any
// instruction set.
#pragma once

#include <cpuid.h>

#include "../avx512/cpu.hpp"

namespace autocalc::loader {

inline bool runs_avx512_bf16() {
    constexpr unsigned bf16 = 1u << 5;
    unsigned a = 0, b = 0, c = 0, d = 0;
    return runs_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
           (a & bf16) != 0;
}

}  // namespace autocalc::loader
