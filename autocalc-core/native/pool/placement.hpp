// SPDX-License-Identifier: MIT
//
// Where the pool's workers run. A scheduler may leave a worker on its caller's
// processor though another one is idle: it wakes a thread where it slept last, some
// virtual machines pack theirs on purpose, and of two threads that take turns no
// balancer ever sees both. Measured on such a machine with two processors: products of
// 128 x 128 x 128 at 64 GFLOP/s, and at 190 with the worker kept away.
#pragma once

#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace autocalc::runtime {

// The processor that the calling thread is on, and the system's number of the thread;
// -1 where the system has none.
int this_processor();
int this_thread();

// Which processors are hardware threads of one core.
class Topology {
  public:
    explicit Topology(const char* folder = "/sys/devices/system/cpu") noexcept;

    // The first processor of its core; itself where nothing is known.
    [[nodiscard]] int core_of(int processor) const;
    // Of those that the process may use.
    [[nodiscard]] int cores() const { return cores_; }

  private:
    std::vector<int> core_of_;
    int cores_ = 0;
};

// The processors of one worker: the first workers have a core each, so that none shares
// one with another while there are cores left, and none stays on its caller's core.
// They are free to move among all that fit.
class AffinityGuard {
  public:
    // Called by the worker before its first run.
    void spread(const Topology& topology, int part);
    // Whether the worker is on the caller's processor, or on its core where it has one.
    [[nodiscard]] bool beside(int workers_processor, int processor,
                              const Topology& topology) const;
    // Called by the thread that wakes the worker, when it finds it on the caller's
    // core.
    void keep_off(int workers_thread, int processor, const Topology& topology);

#if defined(__linux__)
  private:
    void choose(int thread, const cpu_set_t& processors);

    cpu_set_t given_{};   // what the worker may use, but for ourselves
    cpu_set_t chosen_{};  // what we made of it; anything else was set by others
    bool has_core_ = false;
#endif
};

}  // namespace autocalc::runtime
