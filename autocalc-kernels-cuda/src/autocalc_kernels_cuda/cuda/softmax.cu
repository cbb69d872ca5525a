// SPDX-License-Identifier: MIT
//
// Softmax of contiguous rows, one block a row.
#include "common.cuh"

// out = exp(a - max) / sum, or with `logarithm` a - max - log(sum).
template <class T>
__global__ void softmax(T* out, const T* a, i64 size, bool logarithm) {
    const T* from = a + blockIdx.x * size;
    T* to = out + blockIdx.x * size;
    double top = -Limits<double>::infinity(), total = 0;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) top = larger<double>(from[i], top);
    top = block_max(top);
    for (i64 i = threadIdx.x; i < size; i += BLOCK) total += exp(from[i] - top);
    total = block_sum(total);
    const double log_total = log(total);
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        const double shifted = from[i] - top;
        to[i] = logarithm ? shifted - log_total : exp(shifted) / total;
    }
}

// y * (g - sum(g * y)) of softmax, g - exp(y) * sum(g) of its logarithm.
template <class T>
__global__ void softmax_backward(T* out, const T* g, const T* y, i64 size,
                                 bool logarithm) {
    const i64 start = blockIdx.x * size;
    double total = 0;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        const double part = g[start + i];
        total += logarithm ? part : part * y[start + i];
    }
    total = block_sum(total);
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        const double part = g[start + i], result = y[start + i];
        out[start + i] = logarithm ? part - exp(result) * total : result * (part - total);
    }
}
