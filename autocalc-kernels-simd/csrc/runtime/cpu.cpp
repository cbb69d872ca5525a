// SPDX-License-Identifier: MIT
#include "cpu.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace autocalc::runtime {

#if defined(__x86_64__)
namespace {

// Whether the CPU has AMX with bfloat16, and the system lets this process use it: Linux
// does from 5.16 on, and has to be asked. It holds for threads and children to come.
bool amx_granted() {
#if defined(__linux__)
    constexpr unsigned amx = 1u << 22 | 1u << 24;  // AMX-BF16, AMX-TILE
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx) != amx) return false;
    constexpr long ask_for_state = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, ask_for_state, tile_data) == 0;
#else
    return false;
#endif
}

}  // namespace
#endif

bool cpu_runs(const std::string& isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();  // this may run before other constructors
    // These also ask whether the operating system saves the registers.
    if (isa == "sse2") return true;
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
    if (isa == "avx2") return avx2;
    const bool avx512 =
        avx2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 && (isa == "avx512" || (isa == "amx" && amx_granted()));
#elif defined(__aarch64__)
    return isa == "neon";  // no AArch64 is without it
#else
    return false;
#endif
}

}  // namespace autocalc::runtime
