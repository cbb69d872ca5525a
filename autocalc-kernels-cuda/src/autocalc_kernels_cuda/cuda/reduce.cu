// SPDX-License-Identifier: MIT
// Reductions over any dimensions, in an order that depends on shapes alone.
//
// An operator has a type `Acc` of what is collected, `identity()`, `lift(value, index)`,
// `combine(a, b)` and `finish(acc, divisor)`.  Where few outputs have many terms, the
// terms are split among blocks: each leaves one `Acc`, and `finish_splits` puts them
// together.
#include "common.cuh"

constexpr int MAX_DIMS = 8;

// The fields' order and sizes are those of `_reduce.py`.
struct Reduction {
  const void *in;
  void *out;
  void *partial; // [splits, outputs] of Acc
  i64 outputs;
  i64 count; // terms of each output
  i64 splits;
  i64 kept_dims;
  i64 reduced_dims;
  i64 accumulate; // whether the output is added into
  double divisor;
  i64 kept_shape[MAX_DIMS];
  i64 kept_strides[MAX_DIMS]; // in elements
  i64 reduced_shape[MAX_DIMS];
  i64 reduced_strides[MAX_DIMS];
};

__device__ __forceinline__ i64 offset_of(i64 at, i64 dims, const i64 *shape,
                                         const i64 *strides) {
  if (dims == 1) return at * strides[0];
  i64 offset = 0;
  u64 rest = (u64)at;
  for (int dim = (int)dims - 1; dim >= 0; --dim) {
    const u64 size = (u64)shape[dim];
    u64 next;
    if (rest >> 32 == 0 && size >> 32 == 0) // 64-bit divisions take far longer
      next = (u32)rest / (u32)size;
    else
      next = rest / size;
    offset += (i64)(rest - next * size) * strides[dim];
    rest = next;
  }
  return offset;
}

// ------------------------------------------------------------ operators

template <typename T> struct Lowest;
template <> struct Lowest<float> {
  static __device__ float value() { return -Limits<float>::infinity(); }
};
template <> struct Lowest<double> {
  static __device__ double value() { return -Limits<double>::infinity(); }
};
template <> struct Lowest<signed char> {
  static __device__ signed char value() { return -128; }
};
template <> struct Lowest<short> {
  static __device__ short value() { return -32768; }
};
template <> struct Lowest<int> {
  static __device__ int value() { return -2147483647 - 1; }
};
template <> struct Lowest<i64> {
  static __device__ i64 value() { return -9223372036854775807LL - 1; }
};
template <> struct Lowest<unsigned char> {
  static __device__ unsigned char value() { return 0; }
};
template <> struct Lowest<bool> {
  static __device__ bool value() { return false; }
};

template <typename T> struct Highest {
  static __device__ T value() { return (T)~Lowest<T>::value(); }
};
template <> struct Highest<float> {
  static __device__ float value() { return Limits<float>::infinity(); }
};
template <> struct Highest<double> {
  static __device__ double value() { return Limits<double>::infinity(); }
};
template <> struct Highest<bool> {
  static __device__ bool value() { return true; }
};

// Sums and products of floats are taken in float64, of integers in 64 bits.
template <typename T> struct Wider {
  typedef i64 type;
};
template <> struct Wider<float> {
  typedef double type;
};
template <> struct Wider<double> {
  typedef double type;
};

template <typename T> struct Total {
  typedef typename Wider<T>::type Acc;
  static constexpr bool adds = true;
  static __device__ Acc identity() { return Acc(0); }
  static __device__ Acc lift(T value, i64) { return (Acc)value; }
  static __device__ Acc combine(Acc a, Acc b) { return a + b; }
  static __device__ Acc finish(Acc a, double) { return a; }
};

template <typename T> struct Mean : Total<T> {
  static __device__ double finish(double a, double divisor) { return a / divisor; }
};

template <typename T> struct Factors {
  typedef typename Wider<T>::type Acc;
  static constexpr bool adds = false;
  static __device__ Acc identity() { return Acc(1); }
  static __device__ Acc lift(T value, i64) { return (Acc)value; }
  static __device__ Acc combine(Acc a, Acc b) { return a * b; }
  static __device__ Acc finish(Acc a, double) { return a; }
};

template <typename T> struct Max {
  typedef T Acc;
  static constexpr bool adds = false;
  static __device__ T identity() { return Lowest<T>::value(); }
  static __device__ T lift(T value, i64) { return value; }
  static __device__ T combine(T a, T b) { return larger(a, b); }
  static __device__ T finish(T a, double) { return a; }
};

template <typename T> struct Min {
  typedef T Acc;
  static constexpr bool adds = false;
  static __device__ T identity() { return Highest<T>::value(); }
  static __device__ T lift(T value, i64) { return value; }
  static __device__ T combine(T a, T b) { return smaller(a, b); }
  static __device__ T finish(T a, double) { return a; }
};

// A value and its index, -1 for none.
template <typename T> struct Found {
  T value;
  i64 index;
};

template <typename T> struct Argmax {
  typedef Found<T> Acc;
  static constexpr bool adds = false;
  static __device__ Acc identity() { return Acc{T(0), -1}; }
  static __device__ Acc lift(T value, i64 index) { return Acc{value, index}; }
  // The larger; NaN is the largest, and of equals the first is taken.
  static __device__ Acc combine(Acc a, Acc b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (!a_nan && a.value != b.value) return a.value > b.value ? a : b;
    return a.index < b.index ? a : b;
  }
  static __device__ i64 finish(Acc a, double) { return a.index; }
};

// ------------------------------------------------------------ lanes

template <typename T> __device__ __forceinline__ T from_lane(T value, int mask) {
  if constexpr (sizeof(T) < 4)
    return (T)__shfl_xor_sync(ALL_LANES, (int)value, mask);
  else
    return __shfl_xor_sync(ALL_LANES, value, mask);
}

template <typename T>
__device__ __forceinline__ Found<T> from_lane(Found<T> found, int mask) {
  return Found<T>{from_lane(found.value, mask), from_lane(found.index, mask)};
}

template <typename Op>
__device__ __forceinline__ typename Op::Acc over_lanes(typename Op::Acc acc) {
  for (int mask = WARP / 2; mask > 0; mask /= 2)
    acc = Op::combine(acc, from_lane(acc, mask));
  return acc;
}

template <typename Op, typename O>
__device__ __forceinline__ void leave(const Reduction &r, i64 output,
                                      typename Op::Acc acc) {
  typedef typename Op::Acc Acc;
  if (r.splits > 1) {
    static_cast<Acc *>(r.partial)[blockIdx.y * r.outputs + output] = acc;
    return;
  }
  O *out = static_cast<O *>(r.out) + output;
  if constexpr (Op::adds)
    *out = (O)(r.accumulate ? Op::finish(acc, r.divisor) + (Acc)*out
                            : Op::finish(acc, r.divisor));
  else
    *out = (O)Op::finish(acc, r.divisor);
}

// Every `step`th term of the block's share, from the term `first` of it on.
template <typename Op, typename I>
__device__ __forceinline__ typename Op::Acc collected(const Reduction &r, const I *in,
                                                      int first, int step) {
  typename Op::Acc acc = Op::identity();
  const i64 share = (r.count + r.splits - 1) / r.splits;
  const i64 begin = (i64)blockIdx.y * share;
  const i64 end = begin + share < r.count ? begin + share : r.count;
  if (r.reduced_dims == 1) {
    const i64 stride = r.reduced_strides[0];
#pragma unroll 4
    for (i64 i = begin + first; i < end; i += step)
      acc = Op::combine(acc, Op::lift(in[i * stride], i));
  } else {
#pragma unroll 1
    for (i64 i = begin + first; i < end; i += step) {
      const i64 at = offset_of(i, r.reduced_dims, r.reduced_shape, r.reduced_strides);
      acc = Op::combine(acc, Op::lift(in[at], i));
    }
  }
  return acc;
}

// ------------------------------------------------------------ kernels

// Adjacent terms: the X threads of a row collect those of one output, so
// that they read neighbours.  X is 32 or 256; the block has X by 256 / X threads.
template <typename Op, typename I, typename O, int X>
__global__ void __launch_bounds__(BLOCK) rows(const __grid_constant__ Reduction r) {
  typedef typename Op::Acc Acc;
  const i64 output = (i64)blockIdx.x * (BLOCK / X) + threadIdx.y;
  Acc acc = Op::identity();
  if (output < r.outputs) {
    const I *in = static_cast<const I *>(r.in) +
                  offset_of(output, r.kept_dims, r.kept_shape, r.kept_strides);
    acc = collected<Op>(r, in, threadIdx.x, X);
  }
  acc = over_lanes<Op>(acc);
  if constexpr (X > WARP) {
    __shared__ __align__(16) char memory[sizeof(Acc) * (X / WARP)];
    Acc *warps = reinterpret_cast<Acc *>(memory);
    const int lane = threadIdx.x % WARP;
    if (lane == 0) warps[threadIdx.x / WARP] = acc;
    __syncthreads();
    if (threadIdx.x < WARP)
      acc = over_lanes<Op>(lane < X / WARP ? warps[lane] : Op::identity());
  }
  if (threadIdx.x == 0 && output < r.outputs) leave<Op, O>(r, output, acc);
}

// Outputs whose terms are adjacent: 32 threads read neighbouring outputs' terms,
// and 8 rows of them share the terms of each.
template <typename Op, typename I, typename O>
__global__ void __launch_bounds__(BLOCK) columns(const __grid_constant__ Reduction r) {
  typedef typename Op::Acc Acc;
  constexpr int Y = BLOCK / WARP;
  __shared__ __align__(16) char memory[sizeof(Acc) * Y * WARP];
  Acc *shares = reinterpret_cast<Acc *>(memory);
  const i64 output = (i64)blockIdx.x * WARP + threadIdx.x;
  Acc acc = Op::identity();
  if (output < r.outputs) {
    const I *in = static_cast<const I *>(r.in) +
                  offset_of(output, r.kept_dims, r.kept_shape, r.kept_strides);
    acc = collected<Op>(r, in, threadIdx.y, Y);
  }
  shares[threadIdx.y * WARP + threadIdx.x] = acc;
  __syncthreads();
  if (threadIdx.y == 0 && output < r.outputs) {
    for (int y = 1; y < Y; ++y)
      acc = Op::combine(acc, shares[y * WARP + threadIdx.x]);
    leave<Op, O>(r, output, acc);
  }
}

template <typename Op, typename O>
__global__ void __launch_bounds__(BLOCK)
    finish_splits(const __grid_constant__ Reduction r) {
  typedef typename Op::Acc Acc;
  const i64 output = (i64)blockIdx.x * BLOCK + threadIdx.x;
  if (output >= r.outputs) return;
  const Acc *partial = static_cast<const Acc *>(r.partial);
  Acc acc = Op::identity();
  for (i64 split = 0; split < r.splits; ++split)
    acc = Op::combine(acc, partial[split * r.outputs + output]);
  Reduction whole = r;
  whole.splits = 1;
  leave<Op, O>(whole, output, acc);
}
