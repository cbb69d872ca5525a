// SPDX-License-Identifier: MIT
//
// Rows of a table, and sums into them in the order of the indices.
#include "common.cuh"

template <class T>
__global__ void embedding(T* out, const T* weight, const i64* indices, i64 rows,
                          i64 size, ErrorRecord* record, u64 check) {
    i64 row = indices[blockIdx.x];
    if (row < 0 || row >= rows) {
        if (threadIdx.x == 0) report_error(record, check, 0, blockIdx.x, row);
        row = 0;
    }
    if (rows == 0) return;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        out[blockIdx.x * size + i] = weight[row * size + i];
    }
}

// `order` sorts the indices, equal ones as they came: the block of the first of a run
// of equal indices adds the whole run.
template <class T>
__global__ void embedding_backward(T* dweight, const T* g, const i64* indices,
                                   const i64* order, i64 count, i64 rows,
                                   i64 size, i64 padding, ErrorRecord* record,
                                   u64 check) {
    const i64 begin = blockIdx.x, row = indices[order[begin]];
    if (row < 0 || row >= rows) {
        if (threadIdx.x == 0) report_error(record, check, 0, order[begin], row);
        return;
    }
    if (row == padding || (begin > 0 && indices[order[begin - 1]] == row)) return;
    for (i64 i = threadIdx.x; i < size; i += BLOCK) {
        T total = 0;
        for (i64 at = begin; at < count && indices[order[at]] == row; ++at) {
            total += g[order[at] * size + i];
        }
        dweight[row * size + i] = total;
    }
}
