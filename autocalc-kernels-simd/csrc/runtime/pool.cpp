// SPDX-License-Identifier: MIT
#include "pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "allocator.hpp"
#include "phases.hpp"
#include "placement.hpp"

namespace autocalc::runtime {
namespace {

// 50 to 100 microseconds: longer than Python needs between two kernels.
constexpr int spin_limit = 2000;
// About a millisecond more, in which any other thread may have the processor. Waking a
// sleeper costs some 50 us in a virtual machine: a small transformer's step takes 0.87
// of its time, an MLP's 0.97, and a loader's thread beside them costs no more than
// before; spinning as long without yielding, it costs a third more (Zen 4).
constexpr int yield_limit = 2000;
constexpr std::size_t cache_line = 64;

void pause_briefly() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

// One waiter: spins on a condition, yields, then sleeps until `wake`. Whoever makes the
// condition true does so with a read-modify-write before `wake`, which then cannot miss
// a sleeper. A sequentially consistent store would do, and is the same instruction on
// x86; but QEMU 7.2 lets the load after an Arm `stlr` overtake it, and 5 of 12 runs of
// the tests then hung.
class Waiter {
  public:
    template <class Ready>
    void wait(bool spins, Ready ready) {
        for (int i = 0; spins && i < spin_limit + yield_limit; ++i) {
            if (ready()) return;
            if (i < spin_limit)
                pause_briefly();
            else
                std::this_thread::yield();
        }
        std::unique_lock<std::mutex> lock(mutex_);
        sleeping_.exchange(true);
        condition_.wait(lock, ready);
        sleeping_.store(false);
    }
    void wake() {
        if (!sleeping_.load()) return;
        const std::lock_guard<std::mutex> lock(mutex_);
        condition_.notify_one();
    }

  private:
    std::mutex mutex_;
    std::condition_variable condition_;
    std::atomic<bool> sleeping_{false};
};

struct Job {
    ac_task_fn task = nullptr;
    void* arg = nullptr;
    std::int64_t count = 0;
    int runs = 1;
    bool timed = false;
};

std::atomic<bool> measures_waiting{false};
std::atomic<std::uint64_t> waited{0};
std::atomic<std::int64_t> helped{0};

std::uint64_t nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A run is taken piece by piece, by its own thread and then by whoever is done with
// theirs. Where another tenant keeps one core's second hyperthread busy, that core is
// slower by up to 40 %, and equal runs end 7 to 24 % later than they could (Cascade
// Lake, two threads, jobs of 20 to 2500 us).
constexpr int pieces = 5;
// Short runs stay whole: of 11 tasks an LSTM's rows, in pieces of 7, 2, 1 and 1, took
// 1.05 times as long.
constexpr std::int64_t divisible = 16;

// Where piece `i` of a run of `count` tasks begins: 5/8 go first, for a kernel's
// preparations may be for each call, then parts that others may take over, the last
// ones the smallest, since nobody takes them over while they are at work.
std::int64_t piece_begin(std::int64_t count, int i) {
    constexpr std::int64_t sixteenths[pieces + 1] = {0, 10, 12, 14, 15, 16};
    if (i == 0) return 0;
    return count < divisible ? count : (count * sixteenths[i] + 15) / 16;
}

// One thread's run: how many of its pieces have been taken.
struct Run {
    std::atomic<int> taken{0};

    // The next piece, or `most` if as many are taken.
    int take(int most) {
        int piece = taken.load();
        while (piece < most && !taken.compare_exchange_weak(piece, piece + 1)) {
        }
        return std::min(piece, most);
    }
};

struct alignas(cache_line) Worker {
    int part = 0;
    // Whether the present job waits for this worker to join it. The caller withdraws
    // the offer when nothing is left to do: a worker that does not get a processor in
    // time holds nobody up.
    std::atomic<bool> offered{false};
    Run run;
    Waiter waiter;
    std::atomic<int> thread{-1};
    std::atomic<int> processor{-1};  // where it waits for its next run
    AffinityGuard distance;          // the caller's

    bool ready() {
        processor.store(this_processor(), std::memory_order_relaxed);
        return offered.load();
    }
    bool take() { return offered.load() && offered.exchange(false); }
};

thread_local bool running_tasks = false;

class RunningTasks {
  public:
    RunningTasks() { running_tasks = true; }
    ~RunningTasks() { running_tasks = false; }
    RunningTasks(const RunningTasks&) = delete;
    RunningTasks& operator=(const RunningTasks&) = delete;
};

class Pool {
  public:
    // False if another thread's job is running.
    bool try_run(std::int64_t count, ac_task_fn task, void* arg, int threads);

  private:
    void work(Worker& worker);
    Run& run_of(int part);
    void take_part(int part);
    template <class Work>
    void timed(Work work);
    void take_pieces(int part, int most);
    void do_piece(int part, int piece);
    bool has_joined(int part);
    int acquire(int workers);
    bool hire();
    void begin(Worker& worker);
    void publish();
    void withdraw();
    void await();
    [[nodiscard]] bool spins() const {
        return !oversubscribed_.load(std::memory_order_relaxed);
    }

    std::mutex submitting_;
    std::vector<std::unique_ptr<Worker>> workers_;
    int hired_ = 0;  // of the workers, those that the last job had
    Job job_;
    std::atomic<std::uint64_t> worked_{0};  // by all threads of a timed job
    // More threads than processors: spinning would harm.
    std::atomic<bool> oversubscribed_{false};
    // Workers that have joined the job, or still may.
    alignas(cache_line) std::atomic<int> pending_{0};
    Run own_run_;  // the caller's
    Waiter done_;
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
};

bool Pool::try_run(std::int64_t count, ac_task_fn task, void* arg, int threads) {
    const std::unique_lock<std::mutex> lock(submitting_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    const int wanted = static_cast<int>(std::min<std::int64_t>(threads, count));
    job_ = Job{task, arg, count, 1 + acquire(wanted - 1), measures_waiting.load()};
    const std::uint64_t begin = job_.timed ? nanoseconds() : 0;
    publish();
    timed([this] {
        const RunningTasks mark;
        do_piece(0, 0);
        take_part(0);
    });
    withdraw();
    await();
    if (job_.timed) {
        const auto threads = static_cast<std::uint64_t>(job_.runs);
        const std::uint64_t took = nanoseconds() - begin, worked = worked_.exchange(0);
        waited += threads * took - worked;
        helped += static_cast<std::int64_t>(worked - took);
    }
    if (failed_.load()) {
        failed_.store(false);
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    return true;
}

template <class Work>
void Pool::timed(Work work) {
    const std::uint64_t begin = job_.timed ? nanoseconds() : 0;
    work();
    if (job_.timed) worked_ += nanoseconds() - begin;
}

// Answers how many there are: fewer, where memory for another one is not to be had. The
// next job asks again.
int Pool::acquire(int workers) {
    if (workers == hired_) return workers;
    while (static_cast<int>(workers_.size()) < workers && hire()) {
    }
    hired_ = std::min(workers, static_cast<int>(workers_.size()));
    // Asks the system, which costs as much as a small job.
    const unsigned processors = std::thread::hardware_concurrency();
    oversubscribed_.store(static_cast<unsigned>(hired_) >= processors,
                          std::memory_order_relaxed);
    return hired_;
}

bool Pool::hire() {
    try {
        workers_.push_back(std::make_unique<Worker>());
    } catch (const std::bad_alloc&) {
        return false;
    }
    Worker& worker = *workers_.back();
    worker.part = static_cast<int>(workers_.size());
    begin(worker);
    return true;
}

// A worker for which the system has no thread or no memory left never begins, and the
// caller takes its runs: slower, but done.
void Pool::begin(Worker& worker) {
    try {
        std::thread([this, &worker] { work(worker); }).detach();
    } catch (const std::exception&) {
        return;
    }
}

Run& Pool::run_of(int part) {
    return part == 0 ? own_run_ : workers_[static_cast<std::size_t>(part - 1)]->run;
}

// Nobody takes part in a job while it is published: all have left the one before. The
// caller's first piece is taken already, or a quick worker would have it.
void Pool::publish() {
    for (int part = 0; part < job_.runs; ++part)
        run_of(part).taken.store(part == 0 ? 1 : 0);
    pending_.store(job_.runs - 1);
    const int processor = this_processor();
    for (int i = 0; i + 1 < job_.runs; ++i) {
        Worker& worker = *workers_[static_cast<std::size_t>(i)];
        if (processor >= 0 && worker.processor.load() == processor)
            worker.distance.part(worker.thread.load(), processor);
        worker.offered.exchange(true);
        worker.waiter.wake();
    }
}

void Pool::withdraw() {
    for (int part = job_.runs - 1; part > 0; --part) {
        if (workers_[static_cast<std::size_t>(part - 1)]->take()) pending_.fetch_sub(1);
    }
}

void Pool::await() {
    done_.wait(spins(), [this] { return pending_.load() == 0; });
}

// First a thread's own run, then what the others will not come to. A thread that works
// does its last piece itself: taking it over would gain less than it may cost, where
// threads end at about the same time.
void Pool::take_part(int part) {
    take_pieces(part, pieces);
    for (int i = 1; i < job_.runs; ++i) {
        const int other = (part + i) % job_.runs;
        take_pieces(other, has_joined(other) ? pieces - 1 : pieces);
    }
}

bool Pool::has_joined(int part) {
    return part == 0 || !workers_[static_cast<std::size_t>(part - 1)]->offered.load();
}

void Pool::take_pieces(int part, int most) {
    for (;;) {
        const int piece = run_of(part).take(most);
        if (piece == most) return;
        do_piece(part, piece);
    }
}

void Pool::do_piece(int part, int piece) {
    const std::int64_t begin = job_.count * part / job_.runs;
    const std::int64_t count = job_.count * (part + 1) / job_.runs - begin;
    const std::int64_t first = piece_begin(count, piece);
    const std::int64_t last = piece_begin(count, piece + 1);
    if (first == last) return;
    try {
        job_.task(job_.arg, begin + first, begin + last);
    } catch (...) {
        if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
}

void Pool::work(Worker& worker) {
    sigset_t all;  // signals belong to the program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    running_tasks = true;
    worker.thread.store(this_thread());
    for (;;) {
        worker.waiter.wait(spins(), [&] { return worker.ready(); });
        if (!worker.take()) continue;
        timed([&] { take_part(worker.part); });
        if (pending_.fetch_sub(1) == 1) done_.wake();
    }
}

std::atomic<int> thread_budget{1};
// Never destroyed: workers may be asleep in it when the process ends.
std::atomic<Pool*> current_pool{nullptr};

// A forked child has none of the workers: it leaves the old pool alone and makes its
// own.
void forget_pool() {
    current_pool.store(nullptr);
    running_tasks = false;
}

const int registered = pthread_atfork(nullptr, nullptr, forget_pool);

// Without a lock, which a fork could leave to its child locked for ever. Null where
// there is no memory for one.
Pool* pool() {
    Pool* existing = current_pool.load(std::memory_order_acquire);
    if (existing != nullptr) return existing;
    std::unique_ptr<Pool> made(new (std::nothrow) Pool);
    if (made == nullptr) return nullptr;
    if (current_pool.compare_exchange_strong(existing, made.get())) {
        return made.release();
    }
    return existing;
}

bool run_on_pool(std::int64_t count, ac_task_fn task, void* arg, int threads) {
    Pool* const present = pool();
    return present != nullptr && present->try_run(count, task, arg, threads);
}

// Kernels call these from C, and throw nothing in their tasks. The pool itself does not
// throw either: what memory and threads cannot be had for, the caller does alone.
void context_parallel_for(ac_context*, std::int64_t tasks, ac_task_fn task,
                          void* arg) noexcept {
    parallel_for(tasks, task, arg);
}

void* context_scratch(ac_context*, std::int32_t slot, std::size_t bytes) noexcept {
    return scratch(slot, bytes);
}

}  // namespace

void parallel_for(std::int64_t count, ac_task_fn task, void* arg) {
    if (count <= 0) return;
    const int threads = thread_budget.load(std::memory_order_relaxed);
    if (count > 1 && threads > 1 && !running_tasks &&
        run_on_pool(count, task, arg, threads)) {
        return;
    }
    task(arg, 0, count);
}

void set_num_threads(int count) { thread_budget.store(std::max(count, 1)); }
int num_threads() { return thread_budget.load(std::memory_order_relaxed); }
void measure_waiting(bool on) { measures_waiting = on; }
std::uint64_t waited_ns() { return waited; }
std::int64_t helped_ns() { return helped; }

bool inside_job() { return running_tasks; }

ac_context* kernel_context() {
    thread_local ac_context context = {
        sizeof(ac_context),   AC_KERNEL_API_VERSION, 1,       0,
        context_parallel_for, context_scratch,       nullptr, nullptr};
    context.num_threads = running_tasks ? 1 : num_threads();
    context.phases = phases_clock();
    return &context;
}

}  // namespace autocalc::runtime
