// SPDX-License-Identifier: MIT
//
// Whether a CPU has NEON. Compiled without the flags of any instruction set.
#pragma once

namespace autocalc::loader {

inline bool runs_neon() { return true; }  // no AArch64 is without it

}  // namespace autocalc::loader
