// SPDX-License-Identifier: MIT
//
// The clock of phases: what threads work on within kernels, for profiles. Each thread
// adds to a slot of its own, so that no thread waits.
#pragma once

#include <cstdint>

#include "autocalc_kernel.h"

namespace autocalc::runtime {

// Whether phases are measured from now on.
void measure_phases(bool on);

// For the contexts of kernels: null unless phases are measured.
const ac_phases* phases_clock();

// What threads have done up to a moment, as a clock says it that is quick to read.
struct Reading {
    std::uint64_t nanoseconds;  // of the steady clock
    std::uint64_t ticks;        // the same moment, in the unit of `phases`
    std::uint64_t waited;       // `waited_ns` and `helped_ns` of the pool
    std::int64_t helped;
    std::uint64_t phases[AC_PHASE_COUNT];  // all threads together
};
Reading read_clock();

// What was spent in each phase between two readings, in nanoseconds.
void phases_between(const Reading& begin, const Reading& end,
                    std::uint64_t (&spent)[AC_PHASE_COUNT]);

// A phase's name; null for AC_PHASE_NONE.
const char* phase_name(int phase);

}  // namespace autocalc::runtime
