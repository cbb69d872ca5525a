// SPDX-License-Identifier: MIT
//
// Records of jobs, for predictions of what more threads than there are processors would
// gain. A recorded job's runs are cut for a number of threads, but run one after
// another, each on a new thread, alone, with scratch memory of its own, and timed.
#pragma once

#include <cstdint>
#include <vector>

#include "autocalc_kernel.h"

namespace autocalc::runtime {

struct JobRecord {
    std::int64_t tasks;
    std::vector<std::uint64_t> runs_ns;
    std::uint64_t passed_ns;  // from the job's beginning to its end
};

// Jobs are recorded from now on as those of so many threads; 0: no longer. What was
// recorded is forgotten.
void record_jobs(int threads);
// 0 if jobs are not recorded.
int recorded_threads();
// Of the first million jobs.
std::vector<JobRecord> job_records();

// How long the pool takes for an empty job with a task for each thread, in nanoseconds:
// the median of so many of them.
std::uint64_t hand_off_ns(int jobs);

// Runs a job and records it.
void run_recorded(std::int64_t count, ac_task_fn task, void* arg, int threads);

}  // namespace autocalc::runtime
