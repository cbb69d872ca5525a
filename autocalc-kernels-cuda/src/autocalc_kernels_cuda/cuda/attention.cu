// SPDX-License-Identifier: MIT
//
// What attention does with its scores [B, H, S, T], one block for each row: mask,
// softmax, and the gradient of both.
#include "common.cuh"

struct Mask {
    const void* at;
    i64 batch, head, query, key;  // strides, in elements
    int kind;                       // 0 none, 1 booleans, 2 numbers
};

struct Place {
    i64 batch, head, query;
};

__device__ inline Place place_of(i64 row, i64 heads, i64 queries) {
    return {row / (heads * queries), row / queries % heads, row % queries};
}

// A score with its mask; minus infinity where nothing may be attended to.
template <class T>
__device__ double masked(double score, const Mask& mask, const Place& p, i64 key,
                         i64 last) {
    if (key > last) return -Limits<double>::infinity();
    if (mask.kind == 0) return score;
    const i64 at = p.batch * mask.batch + p.head * mask.head + p.query * mask.query +
                     key * mask.key;
    if (mask.kind == 1) {
        return static_cast<const bool*>(mask.at)[at] ? score : -Limits<double>::infinity();
    }
    return score + static_cast<const T*>(mask.at)[at];
}

// s becomes the weights; `first` is the first row's number, for its mask.
template <class T>
__global__ void attention_weights(T* s, T* lse, const void* mask_at, i64 mask_batch,
                                  i64 mask_head, i64 mask_query, i64 mask_key,
                                  int mask_kind, i64 first, i64 heads,
                                  i64 queries, i64 keys, i64 shift, bool causal) {
    const Mask mask{mask_at, mask_batch, mask_head, mask_query, mask_key, mask_kind};
    const Place p = place_of(first + blockIdx.x, heads, queries);
    const i64 last = causal ? p.query + shift : keys;
    T* row = s + blockIdx.x * keys;
    double top = -Limits<double>::infinity(), total = 0;
    for (i64 i = threadIdx.x; i < keys; i += BLOCK) {
        top = larger<double>(masked<T>(row[i], mask, p, i, last), top);
    }
    top = block_max(top);
    if (top == -Limits<double>::infinity()) top = 0;
    for (i64 i = threadIdx.x; i < keys; i += BLOCK) {
        total += exp(masked<T>(row[i], mask, p, i, last) - top);
    }
    total = block_sum(total);
    const double inverse = total == 0 ? 1.0 : 1 / total;
    for (i64 i = threadIdx.x; i < keys; i += BLOCK) {
        row[i] = exp(masked<T>(row[i], mask, p, i, last) - top) * inverse;
    }
    if (threadIdx.x == 0 && lse != nullptr) {
        lse[first + blockIdx.x] = top + log(total);
    }
}

// s becomes the weights again, from the logarithms of their sums.
template <class T>
__global__ void attention_again(T* s, const T* lse, const void* mask_at,
                                i64 mask_batch, i64 mask_head, i64 mask_query,
                                i64 mask_key, int mask_kind, i64 first, i64 heads,
                                i64 queries, i64 keys, i64 shift, bool causal) {
    const Mask mask{mask_at, mask_batch, mask_head, mask_query, mask_key, mask_kind};
    const Place p = place_of(first + blockIdx.x, heads, queries);
    const i64 last = causal ? p.query + shift : keys;
    T* row = s + blockIdx.x * keys;
    double top = lse[first + blockIdx.x];
    if (top == -Limits<double>::infinity()) top = 0;
    for (i64 i = threadIdx.x; i < keys; i += BLOCK) {
        row[i] = exp(masked<T>(row[i], mask, p, i, last) - top);
    }
}

// dp becomes weights * (dp - delta), delta = sum(g * out) of the row.
template <class T>
__global__ void attention_slopes(T* dp, const T* weights, const double* delta,
                                 i64 keys) {
    const i64 start = blockIdx.x * keys;
    const double less = delta[blockIdx.x];
    for (i64 i = threadIdx.x; i < keys; i += BLOCK) {
        dp[start + i] = weights[start + i] * (dp[start + i] - less);
    }
}
