// SPDX-License-Identifier: MIT
//
// Cross-entropy of logits against labels, one block a row; `kept` holds how many rows
// count, by which the mean divides.
#include "common.cuh"

template <class T>
__global__ void cross_entropy(double* loss, T* grad, const T* logits,
                              const i64* target, const i64* kept, i64 classes,
                              i64 ignored, double smoothing, ErrorRecord* record,
                              u64 check) {
    const i64 row = blockIdx.x, start = row * classes;
    i64 label = target[row];
    const bool counts = label != ignored;
    if (counts && (label < 0 || label >= classes)) {
        if (threadIdx.x == 0) report_error(record, check, 0, row, label);
        label = 0;
    }
    if (!counts) {
        if (threadIdx.x == 0) loss[row] = 0;
        if (grad == nullptr) return;
        for (i64 i = threadIdx.x; i < classes; i += BLOCK) grad[start + i] = 0;
        return;
    }
    double top = -Limits<double>::infinity(), total = 0, sum = 0;
    for (i64 i = threadIdx.x; i < classes; i += BLOCK) {
        top = larger<double>(logits[start + i], top);
    }
    top = block_max(top);
    for (i64 i = threadIdx.x; i < classes; i += BLOCK) {
        total += exp(logits[start + i] - top);
        sum += logits[start + i] - top;
    }
    total = block_sum(total);
    const double log_total = log(total), even = smoothing / classes;
    if (smoothing != 0) sum = block_sum(sum);
    if (threadIdx.x == 0) {
        double found = (1 - smoothing) * (log_total - (logits[start + label] - top));
        if (smoothing != 0) found += even * (classes * log_total - sum);
        loss[row] = found;
    }
    if (grad == nullptr) return;
    const double share = kept == nullptr ? 1.0 : 1.0 / *kept;
    for (i64 i = threadIdx.x; i < classes; i += BLOCK) {
        const double q = (i == label ? 1 - smoothing : 0.0) + even;
        grad[start + i] = (exp(logits[start + i] - top) / total - q) * share;
    }
}
