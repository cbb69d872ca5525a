// SPDX-License-Identifier: MIT
// GELU and its slope.
//
// That by erf is computed in the numbers' own format: the errors of erff and expf that
// CUDA documents leave 1.1 eps |x| of the 2 eps |x| that the budget allows, and 2.4 eps
// of the 4 eps of the slope.  That by tanh would come too near its budget, so it is
// computed in float64.
#pragma once

__device__ __forceinline__ float erf_of(float x) { return erff(x); }
__device__ __forceinline__ double erf_of(double x) { return erf(x); }
__device__ __forceinline__ float exp_of(float x) { return expf(x); }
__device__ __forceinline__ double exp_of(double x) { return exp(x); }

constexpr double ROOT_HALF = 0.70710678118654752440;
constexpr double PEAK = 0.39894228040143267794; // 1 / sqrt(2 pi)
constexpr double ROOT = 0.79788456080286535588; // sqrt(2 / pi)
constexpr double CUBIC = 0.044715;

template <typename T> __device__ __forceinline__ T gelu(T x) {
  return T(0.5) * x * (T(1) + erf_of(x * T(ROOT_HALF)));
}

template <typename T> __device__ __forceinline__ T gelu_slope(T x) {
  const T below = T(0.5) * (T(1) + erf_of(x * T(ROOT_HALF)));
  return below + x * (T(PEAK) * exp_of(T(-0.5) * x * x));
}

__device__ __forceinline__ double gelu_tanh(double x) {
  return 0.5 * x * (1 + tanh(ROOT * (x + CUBIC * x * x * x)));
}
