// SPDX-License-Identifier: MIT
//
// The thread pool: persistent workers that spin for a moment, yield for a while and
// then sleep. A job is a count of tasks, cut into as many contiguous runs as the budget
// has threads, and the runs differ by at most one task. Each thread takes one run, a
// long one in pieces, and then what others have not come to. No more threads work than
// the process has processors: a larger budget only cuts into more runs. Kernels cut
// their work so that results never depend on how many threads there are.
#pragma once

#include <cstdint>

#include "autocalc_kernel.h"

namespace autocalc::runtime {

// Runs tasks `0 <= i < count`. Serial when called from inside a job, while another
// thread's job runs, or with one thread; with fewer threads where there is no memory
// for more. It throws nothing itself: the first exception that a task throws reaches
// the caller once every run has ended.
void parallel_for(std::int64_t count, ac_task_fn task, void* arg);

// How many threads the next job may use, the caller's included. May be called at any
// time. Where they are more than the processors that are known of, the system is asked
// again; otherwise it is never asked.
void set_num_threads(int count);
int num_threads();

// How many threads work at most, whatever the budget: 0, as at first, for as many as
// the process has processors. More are for tests.
void set_team_limit(int threads);

// Whether jobs are timed from now on. Then `waited_ns` grows by what the threads of
// each job did not work between its beginning and its end: they woke, or were done
// early. `helped_ns` grows by what all threads of a job together worked beyond the time
// that it took.
void measure_waiting(bool on);
std::uint64_t waited_ns();
std::int64_t helped_ns();

// True on a thread that is running tasks of a job.
bool inside_job();

// The calling thread's context for kernels, on this pool and the thread's scratch
// memory.
ac_context* kernel_context();

}  // namespace autocalc::runtime
