// SPDX-License-Identifier: MIT
#include "pool/pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <deque>
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

#include "memory/allocator.hpp"
#include "pool/limits.hpp"
#include "pool/phases.hpp"
#include "pool/placement.hpp"
#include "pool/record.hpp"

namespace autocalc::runtime {
namespace {

// 50 to 100 microseconds: longer than Python needs between two kernels.
constexpr int spin_limit = 2000;
// About a millisecond more, in which any other thread may have the processor. Waking a
// sleeper costs some 50 us in a virtual machine: a small transformer's step takes 0.87
// of its time, an MLP's 0.97, and a loader's thread next to them costs no more than
// before; spinning as long without yielding, it costs a third more (Zen 4).
constexpr int yield_limit = 2000;
constexpr std::size_t cache_line = 64;
constexpr int most_threads = (1 << 12) - 1;

void pause_briefly() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

// One waiter: spins on a condition, yields, then sleeps until `wake`. The thread that
// makes the condition true does so with a read-modify-write before `wake`, which then
// cannot miss a sleeper. A sequentially consistent store would do, and is the same
// instruction on x86; but QEMU 7.2 lets the load after an Arm `stlr` overtake it, and 5
// of 12 runs of the tests then hung.
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
    // The lock is let go before the sleeper needs it: otherwise it would sleep again.
    void wake() {
        if (!sleeping_.load()) return;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
        }
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
    int runs = 1;  // parts of the work: each thread, the caller's too, begins with one
    bool timed = false;
    int processor = -1;        // the caller's
    std::uint64_t number = 0;  // counts jobs
};

std::atomic<int> thread_budget{1};
// Those that the process may use; a quota may be a fraction.
std::atomic<double> processors{1};
std::atomic<int> chosen_team_limit{0};
std::atomic<bool> measures_waiting{false};
std::atomic<std::uint64_t> waited{0};
std::atomic<std::int64_t> helped{0};

std::uint64_t nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A run is taken piece by piece, by its own thread and then by threads that are done
// with theirs. Where another tenant keeps one core's second hyperthread busy, that core
// is slower by up to 40 %, and equal runs end 7 to 24 % later than they could (Cascade
// Lake, two threads, jobs of 20 to 2500 us).
constexpr int pieces = 5;
// Short runs stay whole: of 11 tasks an LSTM's rows, in pieces of 7, 2, 1 and 1, took
// 1.05 times as long.
constexpr std::int64_t divisible = 16;

int piece_count(std::int64_t count) { return count < divisible ? 1 : pieces; }

// Where piece `i` of a run of `count` tasks begins: 5/8 go first, for a kernel's
// preparations may be for each call, then parts that others may take over, the last
// ones the smallest, since no thread takes them over while they are at work.
std::int64_t piece_begin(std::int64_t count, int i) {
    constexpr std::int64_t sixteenths[pieces + 1] = {0, 10, 12, 14, 15, 16};
    if (count < divisible) return i == 0 ? 0 : count;
    return (count * sixteenths[i] + 15) / 16;
}

// How many pieces of a thread's run have been taken, and in which job. What was taken
// in an earlier one does not count, so that it need not be cleared.
class alignas(cache_line) Run {
  public:
    // The next piece, or `most` if as many are taken.
    int take(std::uint64_t job, int most) {
        std::uint64_t state = state_.load();
        for (;;) {
            const int piece = taken(state, job);
            if (piece >= most) return most;
            const std::uint64_t next =
                job * radix + static_cast<std::uint64_t>(piece) + 1;
            if (state_.compare_exchange_weak(state, next)) return piece;
        }
    }
    [[nodiscard]] bool begun(std::uint64_t job) const {
        return taken(state_.load(), job) != 0;
    }

  private:
    static constexpr std::uint64_t radix = 8;  // more than there are pieces
    static int taken(std::uint64_t state, std::uint64_t job) {
        return state / radix == job ? static_cast<int>(state % radix) : 0;
    }

    std::atomic<std::uint64_t> state_{0};
};

struct alignas(cache_line) Worker {
    explicit Worker(int part_) : part(part_) {}

    // Written when it changes only: the thread that wakes the worker then has it in its
    // cache.
    void note_processor() {
        const int now = this_processor();
        if (processor.load(std::memory_order_relaxed) != now)
            processor.store(now, std::memory_order_relaxed);
    }

    const int part;
    Waiter waiter;
    std::atomic<int> thread{-1};
    std::atomic<int> processor{-1};  // where it waits for its next run
    AffinityGuard guard;
};

// The job that threads may enter, if any, and how many are inside. Only its last one to
// leave a closed gate has a thread to wake.
class Gate {
  public:
    void open() { state_.fetch_sub(closed); }
    void close() { state_.fetch_add(closed); }
    bool enter() { return state_.fetch_add(1) < closed; }
    bool leave() { return state_.fetch_sub(1) == closed + 1; }
    [[nodiscard]] bool empty() const { return state_.load() == closed; }

  private:
    static constexpr std::uint32_t closed = 1U << 31;
    std::atomic<std::uint32_t> state_{closed};
};

// What waiting workers look at: the newest job's number and how many threads it wants.
class Notice {
  public:
    void post(std::uint64_t job, int threads) {
        state_.exchange(job * radix + static_cast<std::uint64_t>(threads));
    }
    [[nodiscard]] std::uint64_t job() const { return state_.load() / radix; }
    [[nodiscard]] bool calls(int part, std::uint64_t last_job) const {
        const std::uint64_t state = state_.load();
        return state / radix != last_job && static_cast<int>(state % radix) > part;
    }

  private:
    static constexpr std::uint64_t radix = most_threads + 1;
    std::atomic<std::uint64_t> state_{0};
};

// More threads than processors would take turns and wait for each other.
int team_limit() {
    const int chosen = chosen_team_limit.load(std::memory_order_relaxed);
    if (chosen > 0) return chosen;
    return static_cast<int>(std::ceil(processors.load(std::memory_order_relaxed)));
}

thread_local bool running_tasks = false;

class RunningTasks {
  public:
    RunningTasks() { running_tasks = true; }
    ~RunningTasks() { running_tasks = false; }
    RunningTasks(const RunningTasks&) = delete;
    RunningTasks& operator=(const RunningTasks&) = delete;
};

// What threads write often has cache lines of its own.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): that is what padding is for
class Pool {
  public:
    // False if another thread's job is running, or without memory for a run.
    bool try_run(std::int64_t count, ac_task_fn task, void* arg, int threads);

  private:
    void work(Worker& worker);
    Worker& worker(int part) { return *workers_[static_cast<std::size_t>(part - 1)]; }
    Run& run(int part) { return runs_[static_cast<std::size_t>(part)]; }
    [[nodiscard]] std::int64_t run_begin(int part) const {
        return job_.count * part / job_.runs;
    }
    std::uint64_t join(const Worker& worker);
    void take_part(int part);
    template <class Work>
    void timed(Work work);
    void take_pieces(int part, int left);
    void do_piece(int part, int piece);
    bool acquire(int runs);
    void hire();
    void begin(Worker& worker);
    void publish();
    void wake_children(int part);
    void await();

    std::mutex submitting_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::deque<Run> runs_;  // the caller's first, then the workers', then unused ones
    const Topology topology_;
    alignas(cache_line) Job job_;
    std::atomic<std::uint64_t> worked_{0};  // by all threads of a timed job
    // Whether waiting threads spin: with more threads than processors' time that would
    // harm.
    std::atomic<bool> spins_{true};
    std::atomic<bool> failed_{false};
    std::exception_ptr failure_;
    Waiter done_;
    alignas(cache_line) Notice notice_;
    alignas(cache_line) Gate gate_;
    // The run that the next thread without work looks at: each has one helper, so that
    // looking costs one step for each run and thread, not for each pair of them.
    alignas(cache_line) std::atomic<int> to_help_{0};
};

bool Pool::try_run(std::int64_t count, ac_task_fn task, void* arg, int threads) {
    const std::unique_lock<std::mutex> lock(submitting_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    Job next;
    next.task = task;
    next.arg = arg;
    next.count = count;
    next.runs =
        static_cast<int>(std::min<std::int64_t>({threads, count, most_threads}));
    next.timed = measures_waiting.load();
    next.processor = this_processor();
    next.number = job_.number + 1;
    if (!acquire(next.runs)) {
        const std::size_t most = std::min(runs_.size(), workers_.size() + 1);
        next.runs = std::min(next.runs, static_cast<int>(most));
    }
    if (next.runs < 1) return false;
    job_ = next;
    const bool spins = job_.runs <= processors.load(std::memory_order_relaxed);
    if (spins_.load(std::memory_order_relaxed) != spins) spins_.store(spins);
    const std::uint64_t begin = job_.timed ? nanoseconds() : 0;
    publish();
    timed([this] {
        const RunningTasks mark;
        do_piece(0, 0);
        take_part(0);
    });
    await();
    if (job_.timed) {
        const auto runs = static_cast<std::uint64_t>(job_.runs);
        const std::uint64_t took = nanoseconds() - begin, worked = worked_.exchange(0);
        waited += runs * took - worked;
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

// Whether there are so many runs, and a worker for each but the caller's; fewer, where
// there is no memory for another one. The next job asks again.
bool Pool::acquire(int runs) {
    try {
        while (static_cast<int>(runs_.size()) < runs) runs_.emplace_back();
        while (static_cast<int>(workers_.size()) + 1 < runs) hire();
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void Pool::hire() {
    const int part = static_cast<int>(workers_.size()) + 1;
    workers_.push_back(std::make_unique<Worker>(part));
    begin(*workers_.back());
}

// A worker for which the system has no thread or no memory left never begins, and the
// others take its runs: slower, but done.
void Pool::begin(Worker& worker) {
    try {
        std::thread([this, &worker] { work(worker); }).detach();
    } catch (const std::exception&) {
        return;
    }
}

// No thread is inside while a job is written. The caller's first piece is taken
// already, or a quick worker would have it.
void Pool::publish() {
    run(0).take(job_.number, 1);
    to_help_.store(1, std::memory_order_relaxed);
    gate_.open();
    notice_.post(job_.number, job_.runs);
    wake_children(0);
}

// Workers wake each other as a tree, so that none waits for more than log2 of their
// number, and the caller wakes two.
void Pool::wake_children(int part) {
    const int last = std::min(2 * part + 2, job_.runs - 1);
    for (int child = 2 * part + 1; child <= last; ++child) {
        Worker& next = worker(child);
        const int thread = next.thread.load();  // -1 until it has begun
        if (thread >= 0 &&
            next.guard.beside(next.processor.load(), job_.processor, topology_))
            next.guard.keep_off(thread, job_.processor, topology_);
        next.waiter.wake();
    }
}

// A thread that comes later has nothing to do: a worker that does not get a processor
// in time holds no other up.
void Pool::await() {
    gate_.close();
    if (!gate_.empty()) done_.wait(spins_.load(), [this] { return gate_.empty(); });
}

// First a thread's own run, then what the others will not come to. A thread that works
// does its last piece itself: taking it over would gain less than it may cost, where
// threads end at about the same time.
void Pool::take_part(int part) {
    take_pieces(part, 0);
    while (to_help_.load() <= job_.runs) {
        const int ticket = to_help_.fetch_add(1);
        if (ticket > job_.runs) return;
        const int other = ticket % job_.runs;  // the caller's last: it began first
        const bool begun = run(other).begun(job_.number);
        take_pieces(other, begun ? 1 : 0);
    }
}

// All but the last `left` of those that are not taken.
void Pool::take_pieces(int part, int left) {
    const std::int64_t count = run_begin(part + 1) - run_begin(part);
    const int most = piece_count(count) - left;
    for (;;) {
        const int piece = run(part).take(job_.number, most);
        if (piece == most) return;
        do_piece(part, piece);
    }
}

void Pool::do_piece(int part, int piece) {
    const std::int64_t begin = run_begin(part);
    const std::int64_t count = run_begin(part + 1) - begin;
    try {
        job_.task(job_.arg, begin + piece_begin(count, piece),
                  begin + piece_begin(count, piece + 1));
    } catch (...) {
        if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
}

void Pool::work(Worker& worker) {
    sigset_t all;  // signals belong to the program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    running_tasks = true;
    worker.guard.spread(topology_, worker.part);
    worker.thread.store(this_thread());
    for (std::uint64_t last = 0;;) {
        worker.waiter.wait(spins_.load(std::memory_order_relaxed), [&] {
            worker.note_processor();
            return notice_.calls(worker.part, last);
        });
        last = notice_.job();
        if (gate_.enter()) last = join(worker);
        if (gate_.leave()) done_.wake();
    }
}

// Answers the job's number: a newer one than was noticed may have begun.
std::uint64_t Pool::join(const Worker& worker) {
    if (worker.part < job_.runs) {
        wake_children(worker.part);
        timed([&] { take_part(worker.part); });
    }
    return job_.number;
}

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
    std::unique_ptr<Pool> made;
    try {
        made = std::make_unique<Pool>();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    if (current_pool.compare_exchange_strong(existing, made.get())) {
        return made.release();
    }
    return existing;
}

bool run_on_pool(std::int64_t count, ac_task_fn task, void* arg, int threads) {
    Pool* const present = pool();
    return present != nullptr && present->try_run(count, task, arg, threads);
}

// A task with the mark of a job, for threads that are not the pool's.
struct Inside {
    ac_task_fn task;
    void* arg;
};
void run_inside(void* arg, std::int64_t begin, std::int64_t end) {
    const RunningTasks mark;
    const Inside& inside = *static_cast<Inside*>(arg);
    inside.task(inside.arg, begin, end);
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

// Threads that work on a job: of a budget beyond the processors the rest would only cut
// the work finer. With a budget of 8 on two processors, a transformer's step took 1.21
// of the time that it took with 2.
int working_threads() {
    const int recorded = recorded_threads();
    return recorded > 0 ? recorded : std::min(num_threads(), team_limit());
}

}  // namespace

void parallel_for(std::int64_t count, ac_task_fn task, void* arg) {
    if (count <= 0) return;
    const int threads = working_threads();
    if (recorded_threads() > 0 && !running_tasks) {
        Inside inside = {task, arg};
        return run_recorded(count, run_inside, &inside, threads);
    }
    if (count > 1 && threads > 1 && !running_tasks &&
        run_on_pool(count, task, arg, threads)) {
        return;
    }
    task(arg, 0, count);
}

void set_num_threads(int count) {
    thread_budget.store(std::max(count, 1));
    if (count > processors.load()) processors.store(usable_processors());
}
void set_team_limit(int threads) { chosen_team_limit.store(std::max(threads, 0)); }
int num_threads() {
    const int recorded = recorded_threads();
    return recorded > 0 ? recorded : thread_budget.load(std::memory_order_relaxed);
}
void measure_waiting(bool on) { measures_waiting = on; }
std::uint64_t waited_ns() { return waited; }
std::int64_t helped_ns() { return helped; }

bool inside_job() { return running_tasks; }

ac_context* kernel_context() {
    thread_local ac_context context = {
        sizeof(ac_context),   AC_KERNEL_API_VERSION, 1,       0,
        context_parallel_for, context_scratch,       nullptr, nullptr};
    context.num_threads = running_tasks ? 1 : working_threads();
    context.phases = phases_clock();
    return &context;
}

}  // namespace autocalc::runtime
