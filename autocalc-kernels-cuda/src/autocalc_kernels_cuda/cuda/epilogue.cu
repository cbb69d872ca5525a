// SPDX-License-Identifier: MIT
// What follows a matrix product, in one pass: bias, activation, and the value before it.
#include "common.cuh"
#include "gelu.cuh"

struct Identity {
  template <typename T> static __device__ __forceinline__ T run(T x) { return x; }
};

struct Relu {
  template <typename T> static __device__ __forceinline__ T run(T x) {
    return larger(x, T(0));
  }
};

struct Gelu {
  template <typename T> static __device__ __forceinline__ T run(T x) { return gelu(x); }
};

struct GeluTanh {
  template <typename T> static __device__ __forceinline__ T run(T x) {
    return (T)gelu_tanh((double)x);
  }
};

// out holds the product, row by row of `columns` elements; bias and pre may be null.
template <typename Activation, typename T>
__global__ void __launch_bounds__(BLOCK)
    epilogue(T *out, T *pre, const T *bias, i64 bias_stride, i64 columns, i64 size) {
  const i64 start = (i64)blockIdx.x * (BLOCK * 4) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const i64 at = start + i * BLOCK;
    if (at >= size) return;
    T value = out[at];
    if (bias) {
      const i64 column =
          size >> 32 == 0 ? (i64)((u32)at % (u32)columns) : at % columns;
      value += bias[column * bias_stride];
    }
    if (pre) pre[at] = value;
    out[at] = Activation::run(value);
  }
}

// The gradient of a ReLU whose result was x: 0 where x <= 0.
template <typename T>
__global__ void __launch_bounds__(BLOCK) masked(T *gradient, const T *x, i64 size) {
  const i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x;
  if (at < size && x[at] <= T(0)) gradient[at] = T(0);
}
