// SPDX-License-Identifier: MIT
//
// Layer norm (Ba, Kiros, Hinton, 2016) of contiguous rows, and RMS
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

// Sums over rows, two for each column: of g * h and of g.  A block of 32 x 8 threads has
// 32 columns and one of gridDim.y parts of the rows; `partial` is [parts, 2, size].
template <class T>
__global__ void norm_columns(double* partial, const T* g, const T* x, const T* mean,
                             const T* rstd, i64 rows, i64 size) {
    __shared__ double of_products[8][33], of_g[8][33];
    const i64 column = blockIdx.x * 32 + threadIdx.x;
    const i64 each = (rows + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * each;
    const i64 end = begin + each < rows ? begin + each : rows;
    double products = 0, sum = 0;
    if (column < size) {
        for (i64 row = begin + threadIdx.y; row < end; row += 8) {
            const double middle = mean == nullptr ? 0.0 : double(mean[row]);
            const double part = g[row * size + column];
            products += part * ((x[row * size + column] - middle) * rstd[row]);
            sum += part;
        }
    }
    of_products[threadIdx.y][threadIdx.x] = products;
    of_g[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || column >= size) return;
    for (int i = 1; i < 8; ++i) {
        products += of_products[i][threadIdx.x];
        sum += of_g[i][threadIdx.x];
    }
    partial[(blockIdx.y * 2) * size + column] = products;
    partial[(blockIdx.y * 2 + 1) * size + column] = sum;
}

// The parts together, in their order; either result may be absent, or added into.
template <class T>
__global__ void norm_columns_end(T* dweight, T* dbias, const double* partial, int parts,
                                 i64 size, bool add_weight, bool add_bias) {
    const i64 column = blockIdx.x * i64(BLOCK) + threadIdx.x;
    if (column >= size) return;
    double products = 0, sum = 0;
    for (int i = 0; i < parts; ++i) {
        products += partial[i * 2 * size + column];
        sum += partial[(i * 2 + 1) * size + column];
    }
    if (dweight != nullptr) {
        dweight[column] = products + (add_weight ? double(dweight[column]) : 0.0);
    }
    if (dbias != nullptr) {
        dbias[column] = sum + (add_bias ? double(dbias[column]) : 0.0);
    }
}
