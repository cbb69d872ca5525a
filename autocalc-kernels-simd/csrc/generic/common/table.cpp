// SPDX-License-Identifier: MIT
//
// The one exported function of an instruction set's library: its kernel tables.
#include "common/families.hpp"
#include "families.inc"

#define AC_PASTE2(a, b) a##b
#define AC_PASTE(a, b) AC_PASTE2(a, b)
#define AC_QUOTE2(a) #a
#define AC_QUOTE(a) AC_QUOTE2(a)

namespace autocalc::simd::AC_ISA {

AC_FAMILIES(AC_DECLARE_FAMILY)
AC_WINOGRAD_FAMILIES(AC_DECLARE_FAMILY)
AC_CHAIN_FAMILIES(AC_DECLARE_FAMILY)

namespace {

constexpr int64_t max_entries = 256;
ac_kernel_entry all_entries[max_entries];
constexpr int64_t max_winograd = 8;
ac_kernel_entry winograd_entries[max_winograd];

constexpr int64_t max_chains = 8;
ac_kernel_entry chain_entries[max_chains];

// Of elementwise kernels; no kernel of AutoCalc's table.
ac_kernel_table chains = {sizeof(ac_kernel_table),
                          AC_KERNEL_API_VERSION,
                          "chain-" AC_QUOTE(AC_ISA),
                          chain_entries,
                          0,
                          nullptr};
// Convolutions by Winograd, which have an error budget of their own.
ac_kernel_table winograd = {sizeof(ac_kernel_table),
                            AC_KERNEL_API_VERSION,
                            "winograd-" AC_QUOTE(AC_ISA),
                            winograd_entries,
                            0,
                            &chains};
ac_kernel_table table = {sizeof(ac_kernel_table),
                         AC_KERNEL_API_VERSION,
                         "simd-" AC_QUOTE(AC_ISA),
                         all_entries,
                         0,
                         &winograd};

#define AC_LIST_FAMILY(name) &name##_family,
const Family* const families[] = {AC_FAMILIES(AC_LIST_FAMILY) nullptr};
const Family* const winograd_families[] = {
    AC_WINOGRAD_FAMILIES(AC_LIST_FAMILY) nullptr};
const Family* const chain_families[] = {AC_CHAIN_FAMILIES(AC_LIST_FAMILY) nullptr};
#undef AC_LIST_FAMILY

// Runs once: a caller holds the interpreter lock, and a second run writes the same
// bytes.
int64_t collect(const Family* const* f, ac_kernel_entry* entries, int64_t most) {
    int64_t count = 0;
    for (; *f != nullptr; ++f) {
        for (int64_t i = 0; i < (*f)->count && count < most; ++i) {
            entries[count++] = (*f)->entries[i];
        }
    }
    return count;
}

}  // namespace

const ac_kernel_entry* kernel_at(int64_t index) {
    return 0 <= index && index < table.count ? &all_entries[index] : nullptr;
}

}  // namespace autocalc::simd::AC_ISA

extern "C" __attribute__((visibility("default"))) const ac_kernel_table* AC_PASTE(
    autocalc_kernels_, AC_ISA)(void) {
    using namespace autocalc::simd::AC_ISA;
    table.count = collect(families, all_entries, max_entries);
    winograd.count = collect(winograd_families, winograd_entries, max_winograd);
    chains.count = collect(chain_families, chain_entries, max_chains);
    return &table;
}
