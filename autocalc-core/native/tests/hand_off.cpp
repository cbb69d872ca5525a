// SPDX-License-Identifier: MIT
//
// Hands jobs of one task a thread to the pool: hand_off THREADS JOBS PAUSE_US WORK_NS.
// With a pause above 1500 all workers sleep before each job. Run it below
// `strace -f -c -e futex` for system calls, or below `perf stat` for instructions.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "pool/pool.hpp"

int main(int count, char** words) {
    if (count != 5) {
        std::fprintf(stderr, "usage: hand_off THREADS JOBS PAUSE_US WORK_NS\n");
        return 2;
    }
    const int threads = std::atoi(words[1]), jobs = std::atoi(words[2]);
    const auto pause = std::chrono::microseconds(std::atoi(words[3]));
    using clock = std::chrono::steady_clock;
    autocalc::runtime::set_num_threads(threads);
    autocalc::runtime::set_team_limit(threads);
    std::chrono::nanoseconds work(std::atoi(words[4]));
    const auto task = [](void* arg, std::int64_t begin, std::int64_t end) {
        const auto until =
            clock::now() + (end - begin) * *static_cast<std::chrono::nanoseconds*>(arg);
        while (clock::now() < until) {
        }
    };
    std::vector<double> took;
    for (int i = 0; i < jobs; ++i) {
        if (pause.count() > 0) std::this_thread::sleep_for(pause);
        const auto begin = clock::now();
        autocalc::runtime::parallel_for(threads, task, &work);
        took.push_back(
            std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    }
    std::sort(took.begin(), took.end());
    std::printf("%d threads: %.2f us a job in the median\n", threads,
                took.empty() ? 0 : took[took.size() / 2]);
    return 0;
}
