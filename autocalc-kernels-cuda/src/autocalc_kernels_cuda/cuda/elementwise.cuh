// SPDX-License-Identifier: MIT
// One element of up to four inputs at a time: what is computed is a parameter.
//
// An operator is a class with `run(a, b, ..., p)`, p its attributes as doubles.  Numbers
// on the host come by value, where the pointer is null.
#pragma once
#include "common.cuh"

constexpr int MAX_INPUTS = 4;
constexpr int MAX_DIMS = 8;
constexpr int EACH = 4; // elements of a thread of `flat`

struct None {};
template <typename T> constexpr bool given = true;
template <> constexpr bool given<None> = false;

// The fields' order and sizes are those of `_elementwise.py`.
struct Operands {
  void *out;
  const void *in[MAX_INPUTS];
  u64 value[MAX_INPUTS];
  double p[4];
  i64 size;
};

struct Flat {
  Operands of;
  i64 step[MAX_INPUTS]; // 0: one number for all elements
};

struct Strided {
  Operands of;
  i64 dims;
  i64 shape[MAX_DIMS];
  i64 strides[1 + MAX_INPUTS][MAX_DIMS]; // of the output first, in elements
};

template <typename T>
__device__ __forceinline__ T element(const Operands &of, int input, i64 at) {
  const void *in = of.in[input];
  if (in) return static_cast<const T *>(in)[at];
  return *reinterpret_cast<const T *>(&of.value[input]);
}

// Numbers become integers of few bits by way of 64, as on a CPU.
template <typename O, typename T> __device__ __forceinline__ O convert(T value) {
  if constexpr (sizeof(O) < 4 && (sizeof(T) == 4 || sizeof(T) == 8) &&
                T(0.5) != T(0) && O(0.5) == O(0))
    return (O)(i64)value;
  else
    return (O)value;
}

template <> __device__ __forceinline__ bool convert<bool, float>(float value) {
  return value != 0.0f;
}

template <> __device__ __forceinline__ bool convert<bool, double>(double value) {
  return value != 0.0;
}

template <typename Op, typename O, typename A, typename B, typename C, typename D>
__device__ __forceinline__ O applied(const Operands &of, i64 a, i64 b, i64 c, i64 d) {
  const A first = element<A>(of, 0, a);
  if constexpr (!given<B>) {
    return convert<O>(Op::run(first, of.p));
  } else {
    const B second = element<B>(of, 1, b);
    if constexpr (!given<C>) {
      return convert<O>(Op::run(first, second, of.p));
    } else {
      const C third = element<C>(of, 2, c);
      if constexpr (!given<D>)
        return convert<O>(Op::run(first, second, third, of.p));
      else
        return convert<O>(Op::run(first, second, third, element<D>(of, 3, d), of.p));
    }
  }
}

// All arrays have one order without gaps, or are one number.
template <typename Op, typename O, typename A, typename B = None, typename C = None,
          typename D = None>
__global__ void __launch_bounds__(BLOCK) flat(const __grid_constant__ Flat f) {
  const i64 start = (i64)blockIdx.x * (BLOCK * EACH) + threadIdx.x;
  O results[EACH];
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const i64 at = start + i * BLOCK;
    if (at < f.of.size)
      results[i] = applied<Op, O, A, B, C, D>(f.of, at * f.step[0], at * f.step[1],
                                              at * f.step[2], at * f.step[3]);
  }
#pragma unroll
  for (int i = 0; i < EACH; ++i) {
    const i64 at = start + i * BLOCK;
    if (at < f.of.size) static_cast<O *>(f.of.out)[at] = results[i];
  }
}

// Any strides.  Places are counted in `Index`: 32 bits where they suffice, since 64-bit
// divisions take several times as long.
template <typename Index, typename Op, typename O, typename A, typename B = None,
          typename C = None, typename D = None>
__global__ void __launch_bounds__(BLOCK) strided(const __grid_constant__ Strided s) {
  const i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x;
  if (at >= s.of.size) return;
  Index rest = (Index)at;
  i64 place[1 + MAX_INPUTS] = {0, 0, 0, 0, 0};
  for (int dim = (int)s.dims - 1; dim >= 0; --dim) {
    const Index size = (Index)s.shape[dim];
    const Index next = rest / size;
    const i64 along = (i64)(rest - next * size);
#pragma unroll
    for (int operand = 0; operand <= MAX_INPUTS; ++operand)
      place[operand] += along * s.strides[operand][dim];
    rest = next;
  }
  static_cast<O *>(s.of.out)[place[0]] =
      applied<Op, O, A, B, C, D>(s.of, place[1], place[2], place[3], place[4]);
}
