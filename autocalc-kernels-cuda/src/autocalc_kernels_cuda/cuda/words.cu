// SPDX-License-Identifier: MIT
// Words of the stream of a seed, as numbers of 64 bits: what references ask for.
#include "common.cuh"

__global__ void words(u64 *out, u64 seed, u64 start, i64 count) {
  const i64 at = (i64)blockIdx.x * BLOCK + threadIdx.x;
  if (at < count) out[at] = philox_word(seed, start + at);
}
