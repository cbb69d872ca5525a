// SPDX-License-Identifier: MIT
// out[place[i]] = op(out[place[i]], source[i]) for each i, in the order of i.
//
// Places come sorted, with where each came from; the sort is stable.  The thread of the
// first of equal places takes all of them: no two threads write one place.
#include "common.cuh"

struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};

template <typename Op, typename T>
__global__ void into_places(T *out, const i64 *sorted, const i64 *order,
                            const T *source, i64 count) {
  const i64 first = (i64)blockIdx.x * BLOCK + threadIdx.x;
  if (first >= count) return;
  const i64 place = sorted[first];
  if (first > 0 && sorted[first - 1] == place) return;
  T value = out[place];
  for (i64 at = first; at < count && sorted[at] == place; ++at)
    value = Op()(value, source[order[at]]);
  out[place] = value;
}
