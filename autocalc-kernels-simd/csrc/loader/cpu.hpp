// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace autocalc::loader {

// True if this CPU and its system run code of `isa`; false for an unknown name.
bool cpu_runs(const std::string& isa);

}  // namespace autocalc::loader
