// SPDX-License-Identifier: MIT
//
// What the machine can do at most, measured beside the kernels: reads "fma" or "axpy"
// and a count, answers seconds per call. A call of fma is 1e9 floating-point
// operations in registers, a call of axpy is y += a * x over 3 * 64 MiB of traffic;
// both are shared by the threads.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
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

void on_all(int threads, const std::function<void(int)>& task) {
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(task, t);
    task(0);
    for (std::thread& other : others) other.join();
}

}  // namespace

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    constexpr long n = 1 << 24;
    std::vector<float> x(n, 1.0f), y(n, 1.0f);
    std::printf("peak of %d-bit vectors\n", 8 * bytes);
    std::fflush(stdout);
    char name[16];
    int calls;
    while (std::scanf("%15s %d", name, &calls) == 2) {
        std::vector<double> sink(threads);
        const auto start = std::chrono::steady_clock::now();
        for (int call = 0; call < calls; ++call) {
            on_all(threads, [&](int t) {
                const long share = n / threads / lanes * lanes;
                if (std::strcmp(name, "fma") == 0)
                    sink[t] = fma_share(1e9 / threads);
                else
                    axpy_share(y.data() + t * share, x.data() + t * share, share);
            });
        }
        const std::chrono::duration<double> time =
            std::chrono::steady_clock::now() - start;
        volatile double keep = sink[0];
        (void)keep;
        std::printf("%.9g\n", time.count() / calls);
        std::fflush(stdout);
    }
}
