// SPDX-License-Identifier: MIT
//
// Hands jobs of one empty task a thread to the pool: hand_off THREADS JOBS PAUSE_US.
// With a pause above 1500 all workers sleep before each job. Run it below
// `strace -f -c -e futex` for system calls, or below `perf stat` for instructions.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "pool.hpp"

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: hand_off THREADS JOBS PAUSE_US\n");
        return 2;
    }
    const int threads = std::atoi(words[1]), jobs = std::atoi(words[2]);
    const auto pause = std::chrono::microseconds(std::atoi(words[3]));
    using clock = std::chrono::steady_clock;
    autocalc::runtime::set_num_threads(threads);
    autocalc::runtime::set_team_limit(threads);
    const auto nothing = [](void*, std::int64_t, std::int64_t) {};
    auto busy = clock::duration::zero();
    for (int i = 0; i < jobs; ++i) {
        if (pause.count() > 0) std::this_thread::sleep_for(pause);
        const auto begin = clock::now();
        autocalc::runtime::parallel_for(threads, nothing, nullptr);
        busy += clock::now() - begin;
    }
    const double us = std::chrono::duration<double, std::micro>(busy).count();
    std::printf("%d threads: %.2f us a job\n", threads, us / jobs);
    return 0;
}
