// SPDX-License-Identifier: MIT
#include "placement.hpp"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#endif

namespace autocalc::runtime {

#if defined(__linux__)

int this_processor() { return sched_getcpu(); }
int this_thread() { return static_cast<int>(syscall(SYS_gettid)); }

// With more processors than a cpu_set_t holds (1024) these calls fail and the worker
// stays where it is.
void AffinityGuard::part(int workers_thread, int processor) {
    cpu_set_t now;
    if (sched_getaffinity(workers_thread, sizeof now, &now) != 0) return;
    if (!CPU_EQUAL(&now, &chosen_)) given_ = now;
    cpu_set_t others = given_;
    CPU_CLR(static_cast<std::size_t>(processor), &others);
    if (CPU_COUNT(&others) == 0) return;
    if (sched_setaffinity(workers_thread, sizeof others, &others) == 0)
        chosen_ = others;
}

#else

int this_processor() { return -1; }
int this_thread() { return -1; }
void AffinityGuard::part(int, int) {}

#endif

}  // namespace autocalc::runtime
