// SPDX-License-Identifier: MIT
//
// Opens the library of an instruction set, privately: its symbols are nobody else's
// business, and it is never closed, since callables and capsules point into it.
#include "library.hpp"

#include <dlfcn.h>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "autocalc_kernel_python.h"
#include "pool.hpp"

namespace autocalc::python {
namespace {

using TableFunction = const ac_kernel_table* (*)();

// The folder of this extension module, with its last slash.
std::string own_folder() {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&load_kernels), &info) == 0) return "";
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
}

#if defined(__x86_64__)
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
#endif

}  // namespace

bool cpu_runs(const std::string& isa) {
#if defined(__x86_64__)
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

PyObject* load_kernels(const std::string& isa, const std::string& family) {
    if (!cpu_runs(isa)) {
        return PyErr_Format(PyExc_ImportError, "this CPU does not run `%s` code",
                            isa.c_str());
    }
    const std::string path = own_folder() + "kernels_" + isa + ".so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return PyErr_Format(PyExc_ImportError, "%s", dlerror());
    void* symbol = dlsym(library, ("autocalc_kernels_" + isa).c_str());
    if (symbol == nullptr) return PyErr_Format(PyExc_ImportError, "%s", dlerror());
    if (ac_python_ready() < 0) return nullptr;
    const std::string name = family + "-" + isa;
    const ac_kernel_table* table = reinterpret_cast<TableFunction>(symbol)();
    while (table != nullptr && name != table->name) table = table->next;
    if (table == nullptr) {
        return PyErr_Format(PyExc_ImportError, "%s has no kernels `%s`", path.c_str(),
                            name.c_str());
    }
    return ac_python_table(table, runtime::kernel_context);
}

}  // namespace autocalc::python
