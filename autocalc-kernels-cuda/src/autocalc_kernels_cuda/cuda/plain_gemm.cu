// SPDX-License-Identifier: MIT
// out = a @ b of float32, by tiles of 32 x 32 in shared memory: the first step beyond
// three loops, to compare cuBLAS with.  No kernel of AutoCalc uses it.
#include "common.cuh"

constexpr int TILE = 32;

// Blocks of 32 x 8 threads; each thread makes 4 elements of a column of the tile.
__global__ void __launch_bounds__(TILE * 8)
    plain_gemm(const float *a, const float *b, float *out, int m, int n, int k) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int first = blockIdx.y * TILE + threadIdx.y;
  float sums[4] = {0, 0, 0, 0};
  for (int start = 0; start < k; start += TILE) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = threadIdx.y + 8 * i;
      const int along = start + threadIdx.x, down = start + row;
      const int line = first + 8 * i;
      left[row][threadIdx.x] =
          line < m && along < k ? a[(i64)line * k + along] : 0.0f;
      right[row][threadIdx.x] =
          down < k && column < n ? b[(i64)down * n + column] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int term = 0; term < TILE; ++term)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[i] += left[threadIdx.y + 8 * i][term] * right[term][threadIdx.x];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int line = first + 8 * i;
    if (line < m && column < n) out[(i64)line * n + column] = sums[i];
  }
}
