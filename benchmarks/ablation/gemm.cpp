// SPDX-License-Identifier: MIT
//
// A matrix product in the order of Goto and van de Geijn ("Anatomy of high-performance
// matrix multiplication", ACM TOMS 34(3), 2008, figures 4 and 8), on one thread, in
// which each item of the plan can be left out on its own.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../vector.hpp"

namespace {

// The items that are done; the others are left out.
enum : int {
    vector_kernel = 1 << 1,     // O-1
    pack_a_once = 1 << 5,       // O-5
    keep_buffers = 1 << 11,     // O-11
    pack_b_once = 1 << 12,      // O-12
    prefetch = 1 << 13,         // O-13
    remember_blocks = 1 << 15,  // O-15
};

constexpr int mr = 6, nr = 2 * lanes;  // 12 sums

struct Blocks {
    long mc, kc, nc;
};

// A strip of B fits into the first cache, a panel of A into half of the second.
Blocks blocks_of_this_machine() {
    const long first = std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 32768L);
    const long second = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 262144L);
    const long kc = std::min(first / (nr * 4L), 512L);
    return {second / 2 / (kc * 4) / mr * mr, kc, 4080 / nr * nr};
}

// Strips of `mr` rows, column by column.
void pack_a(float* to, const float* a, long lda, long rows, long kc) {
    for (long p = 0; p < kc; ++p)
        for (long i = 0; i < mr; ++i) *to++ = i < rows ? a[i * lda + p] : 0.0f;
}

// Strips of `nr` columns, row by row.
void pack_b(float* to, const float* b, long ldb, long columns, long kc) {
    for (long j = 0; j < columns; j += nr)
        for (long p = 0; p < kc; ++p)
            for (long i = 0; i < nr; ++i)
                *to++ = j + i < columns ? b[p * ldb + j + i] : 0.0f;
}

// sums[mr][nr] = A strip times B strip: loops that the compiler may do with as it
// likes.
void plain(float* sums, const float* a, const float* b, long kc) {
    for (long p = 0; p < kc; ++p)
        for (int i = 0; i < mr; ++i)
            for (int j = 0; j < nr; ++j)
                sums[i * nr + j] += a[p * mr + i] * b[p * nr + j];
}

const Vector& at(const float* p) { return *reinterpret_cast<const Vector*>(p); }
Vector& at(float* p) { return *reinterpret_cast<Vector*>(p); }

// The same with one register for each vector of sums.
template <bool ahead>
void vectors(float* sums, const float* a, const float* b, long kc) {
    Vector s[mr][2] = {};
    for (long p = 0; p < kc; ++p) {
        if (ahead) {
            __builtin_prefetch(a + 16 * mr);
            __builtin_prefetch(b + 8 * nr);
            __builtin_prefetch(b + 8 * nr + lanes);
        }
        const Vector left = at(b), right = at(b + lanes);
#pragma GCC unroll 6
        for (int i = 0; i < mr; ++i) {
            s[i][0] += a[i] * left;
            s[i][1] += a[i] * right;
        }
        a += mr;
        b += nr;
    }
#pragma GCC unroll 6
    for (int i = 0; i < mr; ++i) {
        at(sums + i * nr) = s[i][0];
        at(sums + i * nr + lanes) = s[i][1];
    }
}

void tile(int done, float* c, long ldc, long rows, long columns, const float* a,
          const float* b, long kc) {
    alignas(64) float sums[mr * nr] = {};
    if (!(done & vector_kernel))
        plain(sums, a, b, kc);
    else if (done & prefetch)
        vectors<true>(sums, a, b, kc);
    else
        vectors<false>(sums, a, b, kc);
    if (rows == mr && columns == nr) {
        for (int i = 0; i < mr; ++i)
            for (int j = 0; j < nr; ++j) c[i * ldc + j] += sums[i * nr + j];
        return;
    }
    for (long i = 0; i < rows; ++i)
        for (long j = 0; j < columns; ++j) c[i * ldc + j] += sums[i * nr + j];
}

// Memory for a packed panel: kept from call to call, or new each time.
class Buffer {
  public:
    Buffer(std::vector<float>& kept, bool keep, std::size_t size)
        : mine_(keep ? 0 : size), used_(keep ? kept : mine_) {
        if (used_.size() < size) used_.resize(size);
    }
    float* data() { return used_.data(); }

  private:
    std::vector<float> mine_;
    std::vector<float>& used_;
};

std::vector<float> kept_a, kept_b;

}  // namespace

// C = A B; A [m, k], B [k, n], C [m, n], contiguous.
extern "C" void ablation_gemm(int done, long m, long n, long k, const float* a,
                              const float* b, float* c) {
    static const Blocks remembered = blocks_of_this_machine();
    const Blocks block =
        (done & remember_blocks) ? remembered : blocks_of_this_machine();
    std::memset(c, 0, sizeof(float) * m * n);
    for (long jc = 0; jc < n; jc += block.nc) {
        const long nc = std::min(block.nc, n - jc);
        for (long pc = 0; pc < k; pc += block.kc) {
            const long kc = std::min(block.kc, k - pc);
            const bool keep = done & keep_buffers;
            Buffer packed_b(kept_b, keep, (nc + nr) * kc);
            if (done & pack_b_once) pack_b(packed_b.data(), b + pc * n + jc, n, nc, kc);
            for (long ic = 0; ic < m; ic += block.mc) {
                const long mc = std::min(block.mc, m - ic);
                Buffer packed_a(kept_a, keep, (mc + mr) * kc);
                if (!(done & pack_b_once))
                    pack_b(packed_b.data(), b + pc * n + jc, n, nc, kc);
                if (done & pack_a_once)
                    for (long i = 0; i < mc; i += mr)
                        pack_a(packed_a.data() + i * kc, a + (ic + i) * k + pc, k,
                               mc - i, kc);
                for (long j = 0; j < nc; j += nr)
                    for (long i = 0; i < mc; i += mr) {
                        float* strip = packed_a.data() + i * kc;
                        if (!(done & pack_a_once))
                            pack_a(strip, a + (ic + i) * k + pc, k, mc - i, kc);
                        tile(done, c + (ic + i) * n + jc + j, n,
                             std::min<long>(mr, mc - i), std::min<long>(nr, nc - j),
                             strip, packed_b.data() + j * kc, kc);
                    }
            }
        }
    }
}
