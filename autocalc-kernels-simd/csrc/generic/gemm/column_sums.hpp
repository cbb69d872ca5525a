// SPDX-License-Identifier: MIT
//
// Sums over the rows of a matrix: the gradient of a bias.
#pragma once

#include "common/halves.hpp"
#include "gemm/gemm.hpp"
#include "gemm/rows.hpp"
#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int scratch_sums = 5;

// Rows are summed in chunks of a fixed length; the chunks' sums are added in order.
constexpr int64_t chunk_rows = 512;

template <class E>
struct ColumnSums {
    const Rows<E>* g;
    wide<E>* sums;  // [chunks][columns]
    int64_t column_tasks;
};

// Four sums of each column take turns, so that additions need not wait for each other.
constexpr int sums_together = 4;

// Sums `rows` rows of `vectors` registers; only the last one may be partly used.
template <class E, int vectors>
AC_NOINLINE void sum_strip(const E* g, int64_t rows, int64_t row, int64_t columns,
                           wide<E>* out) {
    using T = wide<E>;
    constexpr int lanes = vec<T>::lanes;
    const int64_t last = columns - (vectors - 1) * lanes;
    vec<T> sum[sums_together][vectors];
#pragma GCC unroll 4
    for (int r = 0; r < sums_together; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = zero<T>();
    }
    for (int64_t i = 0; i < rows; i += sums_together) {
#pragma GCC unroll 4
        for (int r = 0; r < sums_together; ++r) {
            if (i + r < rows) {
                const E* p = g + (i + r) * row;
#pragma GCC unroll 4
                for (int v = 0; v + 1 < vectors; ++v)
                    sum[r][v] = sum[r][v] + load_wide(p + v * lanes);
                const E* end = p + (vectors - 1) * lanes;
                sum[r][vectors - 1] =
                    sum[r][vectors - 1] +
                    (last == lanes ? load_wide(end) : load_wide_first(end, last));
            }
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        store_first(out + v * lanes, (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]),
                    v + 1 < vectors ? lanes : last);
    }
}

// As many lines of a row at once as there are registers for: with one, whose next line
// is a row away, 1024 x 384 took 85 instead of 66 us on one thread.
template <class E>
void sum_columns(const E* g, int64_t rows, int64_t row, int64_t columns, wide<E>* out) {
    using T = wide<E>;
    constexpr int64_t strip = tile_vectors * vec<T>::lanes;
    int64_t j = 0;
    for (; j + strip <= columns; j += strip)
        sum_strip<E, tile_vectors>(g + j, rows, row, strip, out + j);
    for (; j < columns; j += vec<T>::lanes)
        sum_strip<E, 1>(g + j, rows, row, smaller<int64_t>(vec<T>::lanes, columns - j),
                        out + j);
}

template <class E>
void sum_any(const E* g, int64_t rows, int64_t row, int64_t columns, int64_t column,
             wide<E>* out) {
    for (int64_t j = 0; j < columns; ++j) {
        wide<E> sum = 0;
        for (int64_t i = 0; i < rows; ++i) sum += wide_of(g[i * row + j * column]);
        out[j] = sum;
    }
}

constexpr int64_t columns_per_task = 256;

template <class E>
void column_sum_tasks(const ColumnSums<E>& job, int64_t begin, int64_t end) {
    const Rows<E>& g = *job.g;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / job.column_tasks * chunk_rows;
        const int64_t j = t % job.column_tasks * columns_per_task;
        const int64_t rows = smaller(chunk_rows, g.rows - i);
        const int64_t columns = smaller(columns_per_task, g.columns - j);
        const E* from = g.data + i * g.row + j * g.column;
        wide<E>* out = job.sums + t / job.column_tasks * g.columns + j;
        if (g.column == 1) {
            sum_columns(from, rows, g.row, columns, out);
        } else {
            sum_any(from, rows, g.row, columns, g.column, out);
        }
    }
}

// The gradient of a bias: prepared, run aside of the products, and read.
template <class E>
struct BiasGradient {
    Rows<E> g;
    bool wanted;
    int64_t chunks;
    ColumnSums<E> job;

    bool prepare(ac_context* context) {
        if (!wanted) return true;
        chunks = larger<int64_t>(1, ceil_div(g.rows, chunk_rows));
        job = {&g, scratch_of<wide<E>>(context, scratch_sums, chunks * g.columns),
               ceil_div(g.columns, columns_per_task)};
        return job.sums != nullptr;
    }

    [[nodiscard]] Aside aside() const {
        const int64_t tasks = wanted ? chunks * job.column_tasks : 0;
        const auto run = [](const void* job, int64_t begin, int64_t end) {
            column_sum_tasks(*static_cast<const ColumnSums<E>*>(job), begin, end);
        };
        return {tasks, g.rows * g.columns >= 65536, run, &job};
    }

    [[nodiscard]] AC_INLINE wide<E> at(int64_t j) const {
        wide<E> sum = job.sums[j];
        for (int64_t i = 1; i < chunks; ++i) sum += job.sums[i * g.columns + j];
        return sum;
    }
};

}  // namespace
}  // namespace autocalc::simd::AC_ISA
