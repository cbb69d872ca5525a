// SPDX-License-Identifier: MIT
//
// What the machine can do at most, measured with the kernels: reads "fma" or "axpy"
// and a count, answers seconds per call. A call of fma is 1e9 floating-point
// operations in registers, a call of axpy is y += a * x over 3 * 64 MiB of traffic;
// both are shared by the threads. On Linux each thread is bound to a processor of its
// own: left to a scheduler that packs them on one, two threads show half of what two
// cores can do.
#if defined(__linux__)
#include <sched.h>
#endif

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../vector.hpp"

namespace {

// Twelve sums in flight: two units times a latency of four to six cycles.
double fma_share(double flop) {
    constexpr int sums = 12;
    Vector sum[sums], a, b;
    for (int i = 0; i < lanes; ++i) a[i] = 0.9999f, b[i] = 1e-3f;
    for (Vector& v : sum) v = b;
    const long steps = static_cast<long>(flop / (2.0 * lanes * sums));
    for (long step = 0; step < steps; ++step) {
#pragma GCC unroll 12
        for (int i = 0; i < sums; ++i) sum[i] = sum[i] * a + b;
    }
    double total = 0;
    for (const Vector& v : sum)
        for (int i = 0; i < lanes; ++i) total += v[i];
    return total;
}

void axpy_share(float* y, const float* x, long n) {
    Vector alpha;
    for (int i = 0; i < lanes; ++i) alpha[i] = 1e-6f;
    for (long i = 0; i < n; i += lanes) {
        Vector& sum = *reinterpret_cast<Vector*>(y + i);
        sum += alpha * *reinterpret_cast<const Vector*>(x + i);
    }
}

// The processors that this process may use; none where threads cannot be bound.
std::vector<int> processors() {
    std::vector<int> found;
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(static_cast<std::size_t>(i), &allowed)) found.push_back(i);
#endif
    return found;
}

// False if the system refuses.
bool bind_thread(int processor) {
#if defined(__linux__)
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(processor), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
#else
    (void)processor;
    return false;
#endif
}

// Runs the task on `threads` threads, thread t on places[t % size]; the caller, which
// stays free, only waits. Answers whether all could be bound.
bool on_all(int threads, const std::vector<int>& places,
            const std::function<void(int)>& task) {
    std::vector<char> bound(static_cast<std::size_t>(threads), 0);
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            const auto i = static_cast<std::size_t>(t);
            bound[i] = !places.empty() && bind_thread(places[i % places.size()]);
            task(t);
        });
    }
    for (std::thread& one : all) one.join();
    for (const char one : bound)
        if (!one) return false;
    return true;
}

std::string placement(int threads, const std::vector<int>& places) {
    if (!on_all(threads, places, [](int) {}))
        return "threads not bound: they may share a processor";
    std::string said = "threads bound to processors";
    for (int t = 0; t < threads; ++t)
        said +=
            " " + std::to_string(places[static_cast<std::size_t>(t) % places.size()]);
    return said;
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    constexpr long n = 1 << 24;
    std::vector<float> x(n, 1.0f), y(n, 1.0f);
    const std::vector<int> places = processors();
    std::printf("peak of %d-bit vectors, %s\n", 8 * bytes,
                placement(threads, places).c_str());
    std::fflush(stdout);
    char name[16];
    int calls;
    while (std::scanf("%15s %d", name, &calls) == 2) {
        std::vector<double> sink(threads);
        const bool fma = std::strcmp(name, "fma") == 0;
        const long share = n / threads / lanes * lanes;
        const auto start = std::chrono::steady_clock::now();
        on_all(threads, places, [&](int t) {
            if (fma) {
                sink[t] = fma_share(1e9 * calls / threads);
                return;
            }
            for (int call = 0; call < calls; ++call)
                axpy_share(y.data() + t * share, x.data() + t * share, share);
        });
        const std::chrono::duration<double> time =
            std::chrono::steady_clock::now() - start;
        volatile double keep = sink[0];
        (void)keep;
        std::printf("%.9g\n", time.count() / calls);
        std::fflush(stdout);
    }
}
