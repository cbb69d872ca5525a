// SPDX-License-Identifier: MIT
//
// Ends the program, as ctest's "skipped", where the CPU cannot run it. This file is
// compiled without the flags of the instruction set, and its constructor comes first:
// every other one may already hold such instructions.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define AC_QUOTE2(a) #a
#define AC_QUOTE(a) AC_QUOTE2(a)

namespace {

constexpr int skipped = 77;  // SKIP_RETURN_CODE in CMakeLists.txt

[[maybe_unused]] bool is_isa(const char* name) {
    return std::strcmp(AC_QUOTE(AC_ISA), name) == 0;
}

#if defined(__x86_64__)
// As csrc/python/library.cpp asks for it.
bool amx_granted() {
#if defined(__linux__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned amx = 1u << 22 | 1u << 24;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & amx) == amx &&
           syscall(SYS_arch_prctl, 0x1023L, 18L) == 0;
#else
    return false;
#endif
}
#endif

bool cpu_lacks_it() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
    const bool avx512 =
        avx2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return (is_isa("avx2") && !avx2) || (is_isa("avx512") && !avx512) ||
           (is_isa("amx") && !(avx512 && amx_granted()));
#else
    return false;
#endif
}

__attribute__((constructor(101))) void require_cpu() {
    if (!cpu_lacks_it()) return;
    std::puts("skipped: this CPU lacks " AC_QUOTE(AC_ISA));
    std::fflush(stdout);
    std::_Exit(skipped);
}

}  // namespace
