// SPDX-License-Identifier: MIT
//
// Whether a CPU has SSE2. Compiled without the flags of any instruction set.
#pragma once

namespace autocalc::loader {

inline bool runs_sse2() { return true; }  // no x86-64 is without it

}  // namespace autocalc::loader
