// SPDX-License-Identifier: MIT
//
// Where the pool's workers run. A scheduler may leave a worker on its caller's
// processor though another one is idle: it wakes a thread where it slept last, some
// virtual machines pack theirs on purpose, and of two threads that take turns no
// balancer ever sees both. Measured on such a machine with two processors: products of
// 128 x 128 x 128 at 64 GFLOP/s, and at 190 with the worker kept away.
#pragma once

#if defined(__linux__)
#include <sched.h>
#endif

namespace autocalc::runtime {

// The processor that the calling thread is on, and the system's number of the thread;
// -1 where the system has none.
int this_processor();
int this_thread();

// Keeps one worker off its caller's processor, free to run on every other one that it
// was given.
class AffinityGuard {
  public:
    // Called by the caller, when it finds the worker on its own processor.
    void part(int workers_thread, int processor);

#if defined(__linux__)
  private:
    cpu_set_t given_{};   // what the worker may use, but for ourselves
    cpu_set_t chosen_{};  // what we made of it; anything else was set by others
#endif
};

}  // namespace autocalc::runtime
