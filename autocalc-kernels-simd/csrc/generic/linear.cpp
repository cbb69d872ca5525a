// SPDX-License-Identifier: MIT
#include "families.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

const ac_kernel_entry entries[] = {{"", "", nullptr, nullptr, nullptr, 0, 0, 0}};

}  // namespace
AC_DEFINE_FAMILY(linear, entries);
}  // namespace autocalc::simd::AC_ISA
