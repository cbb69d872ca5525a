// SPDX-License-Identifier: MIT
//
// The one exported function of an instruction set's library: its kernel table.
#include "families.hpp"

#define AC_PASTE2(a, b) a##b
#define AC_PASTE(a, b) AC_PASTE2(a, b)
#define AC_QUOTE2(a) #a
#define AC_QUOTE(a) AC_QUOTE2(a)

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t max_entries = 256;
ac_kernel_entry all_entries[max_entries];
ac_kernel_table table = {sizeof(ac_kernel_table), AC_KERNEL_API_VERSION,
                         "simd-" AC_QUOTE(AC_ISA), all_entries, 0};

const Family* const families[] = {
#define AC_LIST_FAMILY(name) &name##_family,
    AC_FOR_EACH_FAMILY(AC_LIST_FAMILY)
#undef AC_LIST_FAMILY
        nullptr};

// Runs once: a caller holds the interpreter lock, and a second run writes the same
// bytes.
int64_t collect() {
    int64_t count = 0;
    for (const Family* const* f = families; *f != nullptr; ++f) {
        for (int64_t i = 0; i < (*f)->count && count < max_entries; ++i) {
            all_entries[count++] = (*f)->entries[i];
        }
    }
    return count;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA

extern "C" __attribute__((visibility("default"))) const ac_kernel_table* AC_PASTE(
    autocalc_kernels_, AC_ISA)(void) {
    using namespace autocalc::simd::AC_ISA;
    table.count = collect();
    return &table;
}
