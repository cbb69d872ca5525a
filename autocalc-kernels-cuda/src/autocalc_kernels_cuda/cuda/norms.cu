// SPDX-License-Identifier: MIT
//
// Layer norm (Ba, Kiros, Hinton, 2016) of rows that lie one behind the other, and RMS
// norm (Zhang, Sennrich, 2019): one block a row.
#include "common.cuh"

// With `other`, the row is x + other, which is written to `sum`.
template <class T>
__global__ void layer_norm(T* out, T* mean, T* rstd, T* sum, const T* x, const T* other,
                           const T* weight, const T* bias, i64 size, double eps) {
    const i64 start = blockIdx.x * size;
    const T* row = x + start;
    if (other != nullptr) {
        for (i64 i = threadIdx.x; i < size; i += BLOCK) {
            sum[start + i] = x[start + i] + other[start + i];
        }
        row = sum + start;  // each thread reads back what it has written
    }
    double total = 0, squares = 0;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) total += row[i];
    const double middle = block_sum(total) / size;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        const double off = row[i] - middle;
        squares += off * off;
    }
    const double scale = 1 / sqrt(block_sum(squares) / size + eps);
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        double value = (row[i] - middle) * scale;
        if (weight != nullptr) value *= weight[i];
        if (bias != nullptr) value += bias[i];
        out[start + i] = value;
    }
    if (threadIdx.x == 0 && mean != nullptr) mean[blockIdx.x] = middle;
    if (threadIdx.x == 0 && rstd != nullptr) rstd[blockIdx.x] = scale;
}

// dx = rstd * (gw - mean(gw) - h * mean(gw * h)), h = (x - mean) * rstd; without a
// `mean`, of RMS norm, whose rows are not centred: rstd * (gw - h * mean(gw * h)).
template <class T>
__global__ void norm_backward(T* dx, const T* g, const T* x, const T* mean,
                              const T* rstd, const T* weight, i64 size, bool add) {
    const i64 start = blockIdx.x * size;
    const double middle = mean == nullptr ? 0.0 : double(mean[blockIdx.x]);
    const double scale = rstd[blockIdx.x];
    double first = 0, second = 0;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        double gw = g[start + i];
        if (weight != nullptr) gw *= weight[i];
        first += gw;
        second += gw * ((x[start + i] - middle) * scale);
    }
    first = mean == nullptr ? 0.0 : block_sum(first) / size;
    second = block_sum(second) / size;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        double gw = g[start + i];
        if (weight != nullptr) gw *= weight[i];
        const double h = (x[start + i] - middle) * scale;
        const double value = scale * (gw - first - h * second);
        dx[start + i] = add ? dx[start + i] + value : value;
    }
}

template <class T>
__global__ void rms_norm(T* out, T* rstd, const T* x, const T* weight, i64 size,
                         double eps) {
    const i64 start = blockIdx.x * size;
    double squares = 0;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        const double value = x[start + i];
        squares += value * value;
    }
    const double scale = 1 / sqrt(block_sum(squares) / size + eps);
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        double value = x[start + i] * scale;
        if (weight != nullptr) value *= weight[i];
        out[start + i] = value;
    }
    if (threadIdx.x == 0 && rstd != nullptr) rstd[blockIdx.x] = scale;
}
