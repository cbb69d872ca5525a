// SPDX-License-Identifier: MIT
//
// Families of kernels. A family is one file of csrc/generic, compiled once per
// instruction set, that defines `<name>_family` with AC_DEFINE_FAMILY; CMake then lists
// it for the table.
#pragma once

#include "autocalc_kernel.h"

namespace autocalc::simd::AC_ISA {

struct Family {
    const ac_kernel_entry* entries;
    int64_t count;
};

#define AC_DECLARE_FAMILY(name) extern const Family name##_family;

// `entries` is the family's static array of ac_kernel_entry.
#define AC_DEFINE_FAMILY(name, entries) \
    AC_DECLARE_FAMILY(name)             \
    const Family name##_family = {      \
        entries, static_cast<int64_t>(sizeof(entries) / sizeof((entries)[0]))}

// Kernel `index` of the table, null beyond its end.
const ac_kernel_entry* kernel_at(int64_t index);

}  // namespace autocalc::simd::AC_ISA
