// SPDX-License-Identifier: MIT
//
// The clock of phases: what threads work on within kernels, for profiles. Each thread
// adds to a slot of its own, so that nobody waits.
#pragma once

#include <cstdint>

#include "autocalc_kernel.h"

namespace autocalc::runtime {

// Whether phases are measured from now on.
void measure_phases(bool on);

// For the contexts of kernels: null unless phases are measured.
const ac_phases* phases_clock();

// What all threads have spent in each phase since the last call, in nanoseconds. False
// if that is nothing. One thread at a time may ask.
bool take_phases(std::uint64_t (&spent)[AC_PHASE_COUNT]);

// A phase's name; null for AC_PHASE_NONE.
const char* phase_name(int phase);

}  // namespace autocalc::runtime
