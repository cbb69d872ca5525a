// SPDX-License-Identifier: MIT
// What kernels share: constants, reductions in a fixed order, errors, random words.
//
// NVRTC compiles this without any header of the host.
#pragma once

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;

// Threads of a block, for kernels that leave the choice to us.
constexpr int BLOCK = 256;
constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// ---------------------------------------------------------------- numbers

template <typename T> struct Limits;

template <> struct Limits<float> {
  static __device__ float infinity() { return __int_as_float(0x7f800000); }
  static __device__ float nan() { return __int_as_float(0x7fc00000); }
};

template <> struct Limits<double> {
  static __device__ double infinity() {
    return __longlong_as_double(0x7ff0000000000000LL);
  }
  static __device__ double nan() { return __longlong_as_double(0x7ff8000000000000LL); }
};

// The larger and the smaller of two; NaN wins, which fmax would drop.
template <typename T> __device__ __forceinline__ T larger(T a, T b) {
  return (a > b || a != a) ? a : b;
}

template <typename T> __device__ __forceinline__ T smaller(T a, T b) {
  return (a < b || a != a) ? a : b;
}

// ---------------------------------------------------------------- reductions

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};

struct Largest {
  template <typename T> __device__ T operator()(T a, T b) const { return larger(a, b); }
};

struct Smallest {
  template <typename T> __device__ T operator()(T a, T b) const {
    return smaller(a, b);
  }
};

// All lanes get the result.  The order is that of a fixed tree, whatever runs when.
template <typename T, typename Op>
__device__ __forceinline__ T warp_reduce(T value, Op op) {
  for (int offset = WARP / 2; offset > 0; offset /= 2)
    value = op(value, __shfl_xor_sync(ALL_LANES, value, offset));
  return value;
}

// All threads of the block get the result.  blockDim.x is a multiple of 32, at most
// 1024; every thread calls it.  `identity` fills what a short block leaves free.  The
// barrier at the end lets the next call use the same memory.
template <typename T, typename Op>
__device__ __forceinline__ T block_reduce(T value, Op op, T identity) {
  __shared__ T partial[WARP];
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int warps = blockDim.x / WARP;
  value = warp_reduce(value, op);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = warp_reduce(lane < warps ? partial[lane] : identity, op);
  __syncthreads();
  return value;
}

template <typename T> __device__ __forceinline__ T block_sum(T value) {
  return block_reduce(value, Sum(), T(0));
}

template <typename T> __device__ __forceinline__ T block_max(T value) {
  return block_reduce(value, Largest(), -Limits<T>::infinity());
}

// ---------------------------------------------------------------- errors

// The first error of a value that a kernel found, since the host last looked.
// 0 in `kernel` says that there is none.
struct ErrorRecord {
  u64 kernel;  // the number of the kernel's name, from 1
  i64 operand; // the number of the operand's name
  i64 index;   // of the element, in row order
  i64 value;   // what it is
};

// Keep this error, unless another is kept already.
__device__ __forceinline__ void report_error(ErrorRecord *record, u64 kernel,
                                             i64 operand, i64 index, i64 value) {
  if (atomicCAS(&record->kernel, 0ull, kernel) == 0ull) {
    record->operand = operand;
    record->index = index;
    record->value = value;
  }
}

// ---------------------------------------------------------------- random words

// Philox4x32-10 of Salmon, Moraes, Dror and Shaw (2011): the four words of block
// `counter` of the stream of `seed`, as autocalc's philox_blocks gives them.
__device__ __forceinline__ uint4 philox(u64 seed, u64 counter) {
  u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
  u32 c0 = (u32)counter, c1 = (u32)(counter >> 32), c2 = 0, c3 = 0;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const u32 high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const u32 high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return make_uint4(c0, c1, c2, c3);
}

// Word `index` of the stream.
__device__ __forceinline__ u32 philox_word(u64 seed, u64 index) {
  const uint4 block = philox(seed, index / 4);
  const u32 words[4] = {block.x, block.y, block.z, block.w};
  return words[index % 4];
}
