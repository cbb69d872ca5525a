// SPDX-License-Identifier: MIT
#include "pool/record.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "pool/pool.hpp"

namespace autocalc::runtime {
namespace {

constexpr std::size_t most_records = 1000000;

std::atomic<int> threads_recorded{0};
std::mutex mutex;
std::vector<JobRecord> records;

std::uint64_t nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// How long a run takes, on a thread of its own if one can be started. What its task
// throws reaches the caller.
std::uint64_t time_run(ac_task_fn task, void* arg, std::int64_t begin,
                       std::int64_t end) {
    std::uint64_t took = 0;
    std::exception_ptr failure;
    const auto run = [&] {
        const std::uint64_t start = nanoseconds();
        try {
            task(arg, begin, end);
        } catch (...) {
            failure = std::current_exception();
        }
        took = nanoseconds() - start;
    };
    std::thread thread;
    try {
        thread = std::thread(run);
    } catch (const std::exception&) {
        run();
    }
    if (thread.joinable()) thread.join();
    if (failure != nullptr) std::rethrow_exception(failure);
    return took;
}

// Room for a record; null where there is none.
std::unique_ptr<JobRecord> new_record(std::size_t runs) {
    try {
        auto record = std::make_unique<JobRecord>();
        record->runs_ns.reserve(runs);
        return record;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void keep(JobRecord&& record) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (records.size() >= most_records) return;
    try {
        records.push_back(std::move(record));
    } catch (const std::bad_alloc&) {
        return;
    }
}

}  // namespace

void record_jobs(int threads) {
    const std::lock_guard<std::mutex> lock(mutex);
    records.clear();
    threads_recorded.store(std::max(threads, 0));
}

int recorded_threads() { return threads_recorded.load(std::memory_order_relaxed); }

std::vector<JobRecord> job_records() {
    const std::lock_guard<std::mutex> lock(mutex);
    return records;
}

std::uint64_t hand_off_ns(int jobs) {
    std::vector<std::uint64_t> times;
    for (int i = 0; i < std::max(jobs, 1); ++i) {
        const std::uint64_t begin = nanoseconds();
        parallel_for(num_threads(), [](void*, std::int64_t, std::int64_t) {}, nullptr);
        times.push_back(nanoseconds() - begin);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

void run_recorded(std::int64_t count, ac_task_fn task, void* arg, int threads) {
    const std::uint64_t begin = nanoseconds();
    const std::int64_t runs = std::min<std::int64_t>(threads, count);
    const auto record = new_record(static_cast<std::size_t>(runs));
    for (std::int64_t i = 0; i < runs; ++i) {
        const std::uint64_t took =
            time_run(task, arg, count * i / runs, count * (i + 1) / runs);
        if (record != nullptr) record->runs_ns.push_back(took);
    }
    if (record == nullptr) return;
    record->tasks = count;
    record->passed_ns = nanoseconds() - begin;
    keep(std::move(*record));
}

}  // namespace autocalc::runtime
