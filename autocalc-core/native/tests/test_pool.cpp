// SPDX-License-Identifier: MIT
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pool/pool.hpp"

namespace runtime = autocalc::runtime;

namespace {

// As many as asked for, also where there are fewer processors.
void use_threads(int count) {
    runtime::set_num_threads(count);
    runtime::set_team_limit(count);
}

// The runs that one job was split into, and what its tasks saw.
struct Log {
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> runs;
    std::set<std::thread::id> threads;
    std::vector<int> counts;

    explicit Log(std::int64_t tasks) : counts(static_cast<std::size_t>(tasks), 0) {}
    bool each_task_ran_once() const {
        for (const int count : counts) {
            if (count != 1) return false;
        }
        return true;
    }
};

void note(void* arg, std::int64_t begin, std::int64_t end) {
    Log& log = *static_cast<Log*>(arg);
    const std::lock_guard<std::mutex> lock(log.mutex);
    log.runs.insert({begin, end});
    log.threads.insert(std::this_thread::get_id());
    for (std::int64_t i = begin; i < end; ++i)
        ++log.counts[static_cast<std::size_t>(i)];
}

void sum_to(void* arg, std::int64_t begin, std::int64_t end) {
    auto& total = *static_cast<std::atomic<std::int64_t>*>(arg);
    for (std::int64_t i = begin; i < end; ++i) total.fetch_add(i);
}

std::int64_t pool_sum(std::int64_t tasks) {
    std::atomic<std::int64_t> total{0};
    runtime::parallel_for(tasks, sum_to, &total);
    return total.load();
}

}  // namespace

TEST_CASE("short runs are contiguous and differ by at most one task") {
    for (const int threads : {1, 2, 3, 5}) {
        use_threads(threads);
        for (std::int64_t tasks = 1; tasks < 15 * threads; ++tasks) {
            Log log(tasks);
            runtime::parallel_for(tasks, note, &log);
            CHECK(log.each_task_ran_once());
            CHECK(static_cast<std::int64_t>(log.runs.size()) ==
                  (tasks < threads ? tasks : threads));
            std::int64_t next = 0;
            for (const auto& [begin, end] : log.runs) {
                CHECK(begin == next);
                const std::int64_t share = tasks / static_cast<int>(log.runs.size());
                CHECK(end - begin >= share);
                CHECK(end - begin <= share + 1);
                next = end;
            }
            CHECK(next == tasks);
        }
    }
}

TEST_CASE("long runs are taken in pieces, each task once") {
    for (const int threads : {2, 3}) {
        use_threads(threads);
        for (std::int64_t run = 16; run < 50; ++run) {
            Log log(run * threads);
            runtime::parallel_for(run * threads, note, &log);
            CHECK(log.each_task_ran_once());
            CHECK(static_cast<int>(log.runs.size()) == 5 * threads);
            for (const auto& [begin, end] : log.runs) {
                CHECK(begin / run == (end - 1) / run);  // of one run
                const std::int64_t at = begin % run;
                const std::int64_t sixteenths = at == 0              ? 10
                                                : 16 * at < 14 * run ? 2
                                                                     : 1;
                CHECK(end - begin >= run * sixteenths / 16);
                CHECK(end - begin <= run * sixteenths / 16 + 1);
            }
        }
    }
}

// The run that begins the job lasts until another thread has come back for more than
// its own.
TEST_CASE("a thread that is done takes over from one that is not") {
    struct Slow {
        std::atomic<int> taken_over{0};
        std::atomic<std::int64_t> done{0};
        const std::thread::id caller = std::this_thread::get_id();
        static void task(void* arg, std::int64_t begin, std::int64_t end) {
            auto& slow = *static_cast<Slow*>(arg);
            const bool of_caller = std::this_thread::get_id() == slow.caller;
            if (of_caller && begin == 0) {
                const auto late =
                    std::chrono::steady_clock::now() + std::chrono::seconds(20);
                while (slow.taken_over == 0 && std::chrono::steady_clock::now() < late)
                    std::this_thread::yield();
            }
            if (!of_caller && begin < 32) ++slow.taken_over;
            slow.done += end - begin;
        }
    } slow;
    use_threads(2);
    runtime::parallel_for(64, Slow::task, &slow);
    CHECK(slow.done == 64);
    CHECK(slow.taken_over >= 1);
    CHECK(slow.taken_over <= 3);  // the last piece stays with its thread
}

TEST_CASE("no tasks are no call") {
    Log log(1);
    runtime::parallel_for(0, note, &log);
    CHECK(log.runs.empty());
}

TEST_CASE("the caller works too and workers stay") {
    use_threads(3);
    std::set<std::thread::id> seen;
    for (int i = 0; i < 50; ++i) {
        Log log(3);
        runtime::parallel_for(3, note, &log);
        CHECK(log.threads.count(std::this_thread::get_id()) == 1);
        seen.insert(log.threads.begin(), log.threads.end());
    }
    CHECK(seen.size() <= 3);  // always the same two, though more have been hired
}

TEST_CASE("sleeping workers wake up") {
    use_threads(2);
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        CHECK(pool_sum(100) == 4950);
    }
}

// Threads go to sleep some 50 microseconds after their last run. Jobs that come about
// then, from a caller that dawdles at random, in a run that dawdles, would find the
// moment at which a thread is woken that is not asleep yet.
TEST_CASE("no wake-up is lost") {
    const auto jobs = [] {
        std::minstd_rand random(7);
        const auto dawdle = [](unsigned microseconds) {
            const auto until = std::chrono::steady_clock::now() +
                               std::chrono::microseconds(microseconds);
            while (std::chrono::steady_clock::now() < until) {
            }
        };
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
        int wrong = 0;
        for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
            use_threads(2 + i / 64 % 3);
            std::atomic<unsigned> delay{static_cast<unsigned>(random() % 150)};
            std::atomic<int> runs{0};
            struct Arg {
                std::atomic<unsigned>& delay;
                std::atomic<int>& runs;
                const decltype(dawdle)& wait;
            } arg{delay, runs, dawdle};
            runtime::parallel_for(
                4,
                [](void* given, std::int64_t begin, std::int64_t last) {
                    const Arg& a = *static_cast<Arg*>(given);
                    if (begin != 0) a.wait(a.delay);
                    a.runs += static_cast<int>(last - begin);
                },
                &arg);
            wrong += runs != 4;
            const unsigned pause = static_cast<unsigned>(random() % 200);
            if (pause < 100) dawdle(pause);
            if (pause >= 190)
                std::this_thread::sleep_for(std::chrono::microseconds(pause));
        }
        return wrong;
    };
    std::future<int> wrong = std::async(std::launch::async, jobs);
    if (wrong.wait_for(std::chrono::minutes(2)) != std::future_status::ready) {
        MESSAGE("a job has not ended for two minutes");
        std::abort();  // nothing could wait for that thread
    }
    CHECK(wrong.get() == 0);
}

#if defined(__linux__)
namespace {

void stay_at_home(const cpu_set_t& given) {
    sched_setaffinity(0, sizeof given, &given);
}

// Which thread ran each of two tasks, and where.
struct Places {
    std::thread::id thread[2];
    int processor[2] = {-1, -1};
    static void task(void* arg, std::int64_t begin, std::int64_t end) {
        auto& places = *static_cast<Places*>(arg);
        for (std::int64_t i = begin; i < end; ++i) {
            places.thread[i] = std::this_thread::get_id();
            places.processor[i] = sched_getcpu();
        }
        // Long enough for the worker to begin, too.
        const auto until =
            std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
        while (std::chrono::steady_clock::now() < until) {
        }
    }
};

}  // namespace

// The caller is pinned: whichever processor it is, the worker goes elsewhere.
TEST_CASE("a worker keeps off the processor of its caller") {
    cpu_set_t given;
    if (sched_getaffinity(0, sizeof given, &given) != 0 || CPU_COUNT(&given) < 2)
        return;
    use_threads(2);
    pool_sum(2);  // the worker exists, with all processors to choose from
    int apart = 0;
    int together = 0;
    int processors = 0;
    for (std::size_t home = 0; home < CPU_SETSIZE && processors < 2; ++home) {
        if (!CPU_ISSET(home, &given)) continue;
        ++processors;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(home, &one);
        stay_at_home(one);
        for (int i = 0, runs = 0; i < 2000 && runs < 20; ++i) {
            Places places;
            runtime::parallel_for(2, Places::task, &places);
            if (places.thread[0] == places.thread[1]) continue;  // it was late
            ++runs;
            ++(places.processor[0] == places.processor[1] ? together : apart);
        }
    }
    stay_at_home(given);
    CHECK(apart > 0);
    CHECK(together <= 2);  // a run may begin before its worker has been seen
}

#endif

TEST_CASE("a job inside a job is serial") {
    use_threads(4);
    struct Inner {
        static void task(void* arg, std::int64_t begin, std::int64_t end) {
            CHECK(runtime::inside_job());
            CHECK(runtime::kernel_context()->num_threads == 1);
            for (std::int64_t i = begin; i < end; ++i) {
                Log log(8);
                runtime::parallel_for(8, note, &log);
                if (log.runs.size() == 1 &&
                    log.threads.count(std::this_thread::get_id())) {
                    static_cast<std::atomic<int>*>(arg)->fetch_add(1);
                }
            }
        }
    };
    std::atomic<int> serial{0};
    runtime::parallel_for(12, Inner::task, &serial);
    CHECK(serial.load() == 12);
    CHECK(!runtime::inside_job());
}

TEST_CASE("two submitting threads both finish") {
    use_threads(3);
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&right] {
            for (int i = 0; i < 200; ++i) {
                if (pool_sum(64) == 2016) right.fetch_add(1);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right.load() == 800);
}

TEST_CASE("the budget may change while jobs run") {
    std::atomic<bool> stop{false};
    std::thread other([&stop] {
        for (int n = 1; !stop.load(); n = n % 6 + 1) use_threads(n);
    });
    bool right = true;
    for (int i = 0; i < 2000; ++i) right = right && pool_sum(37) == 666;
    stop.store(true);
    other.join();
    CHECK(right);
}

TEST_CASE("the first exception reaches the caller") {
    use_threads(4);
    struct Throwing {
        static void task(void*, std::int64_t begin, std::int64_t) {
            throw std::runtime_error("run " + std::to_string(begin));
        }
        static void one(void*, std::int64_t begin, std::int64_t) {
            if (begin == 6) throw std::runtime_error("the third run");
        }
    };
    int caught = 0;
    for (int i = 0; i < 20; ++i) {
        try {
            runtime::parallel_for(8, Throwing::task, nullptr);
        } catch (const std::runtime_error& error) {
            caught += std::string(error.what()).rfind("run ", 0) == 0;
        }
        try {
            runtime::parallel_for(12, Throwing::one, nullptr);
        } catch (const std::runtime_error& error) {
            caught += std::string(error.what()) == "the third run";
        }
        CHECK(pool_sum(10) == 45);  // the pool is whole afterwards
    }
    CHECK(caught == 40);
}

TEST_CASE("a forked child gets a pool of its own") {
    use_threads(3);
    CHECK(pool_sum(1000) == 499500);
    for (int i = 0; i < 3; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            bool right = true;
            for (int j = 0; j < 20; ++j) right = right && pool_sum(1000) == 499500;
            _exit(right ? 0 : 1);
        }
        CHECK(pool_sum(1000) == 499500);
        int status = -1;
        CHECK(waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 0);
    }
}

TEST_CASE("no more threads work than the process has processors") {
    runtime::set_num_threads(8);
    runtime::set_team_limit(2);
    std::set<std::thread::id> seen;
    for (int i = 0; i < 50; ++i) {
        Log log(8 + i);
        runtime::parallel_for(8 + i, note, &log);
        CHECK(log.each_task_ran_once());
        CHECK(log.runs.size() <= 2 * 5);  // pieces of two runs
        seen.insert(log.threads.begin(), log.threads.end());
    }
    CHECK(seen.size() <= 2);
    runtime::set_team_limit(0);
    if (std::thread::hardware_concurrency() >= 8) return;
    seen.clear();
    for (int i = 0; i < 50; ++i) {
        Log log(8);
        runtime::parallel_for(8, note, &log);
        CHECK(log.each_task_ran_once());
        seen.insert(log.threads.begin(), log.threads.end());
    }
    CHECK(seen.size() <= std::thread::hardware_concurrency());
}

// No task ends before all have begun, so that no thread can do another one's: each
// worker must have been woken, by its caller or by another worker.
TEST_CASE("every sleeper is woken") {
    struct Meeting {
        std::atomic<int> there{0};
        int expected = 0;
        std::atomic<bool> late{false};
        static void task(void* arg, std::int64_t, std::int64_t) {
            auto& meeting = *static_cast<Meeting*>(arg);
            ++meeting.there;
            const auto end =
                std::chrono::steady_clock::now() + std::chrono::seconds(60);
            while (meeting.there < meeting.expected) {
                if (std::chrono::steady_clock::now() > end) meeting.late = true;
                if (meeting.late) return;
                std::this_thread::yield();
            }
        }
    };
    for (const int threads : {2, 3, 5, 16, 64, 9}) {
        use_threads(threads);
        for (int i = 0; i < 3; ++i) {
            Meeting meeting;
            meeting.expected = threads;
            runtime::parallel_for(threads, Meeting::task, &meeting);
            CHECK(!meeting.late);
            CHECK(meeting.there == threads);
            std::this_thread::sleep_for(std::chrono::milliseconds(2 * i));
        }
    }
}

TEST_CASE("hundreds of threads") {
    use_threads(300);
    for (int i = 0; i < 20; ++i) {
        CHECK(pool_sum(299) == 44551);
        CHECK(pool_sum(1000) == 499500);
    }
    use_threads(3);
    CHECK(pool_sum(1000) == 499500);
    runtime::set_num_threads(1 << 30);  // takes as many as are of use
    runtime::set_team_limit(4);
    CHECK(pool_sum(10000) == 49995000);
}

TEST_CASE("the context is the pool") {
    use_threads(2);
    ac_context* context = runtime::kernel_context();
    CHECK(context->size == sizeof(ac_context));
    CHECK(context->num_threads == 2);
    std::atomic<std::int64_t> total{0};
    context->parallel_for(context, 10, sum_to, &total);
    CHECK(total.load() == 45);
    void* first = context->scratch(context, 0, 100);
    void* second = context->scratch(context, 1, 100);
    CHECK(first != second);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    CHECK(context->scratch(context, 0, 50) == first);
    CHECK(context->scratch(context, 8, 50) == nullptr);
}
