// SPDX-License-Identifier: MIT
//
// What kernels were before: an index taken apart for each element, a call of the
// mathematical library for each value, a loop for each dimension. One thread.
#include <cmath>

// O-2: out[i] = a[...] + b[...], where the place in each operand is worked out from the
// element's number by a division for each dimension.
extern "C" void ablation_add(int dims, const long* shape, const long* strides_a,
                             const long* strides_b, long count, const float* a,
                             const float* b, float* out) {
    for (long i = 0; i < count; ++i) {
        long rest = i, at_a = 0, at_b = 0;
        for (int d = dims - 1; d >= 0; --d) {
            const long index = rest % shape[d];
            rest /= shape[d];
            at_a += index * strides_a[d];
            at_b += index * strides_b[d];
        }
        out[i] = a[at_a] + b[at_b];
    }
}

// O-10: 1 / (1 + exp(-a)).
extern "C" void ablation_sigmoid(long count, const float* a, float* out) {
    for (long i = 0; i < count; ++i) out[i] = 1.0f / (1.0f + std::exp(-a[i]));
}

// O-3: what each element of g [n, outs, height, width] adds to the 3 x 3 elements of dx
// [n, ins, height, width] around it.
extern "C" void ablation_conv_dx(long n, long ins, long outs, long height, long width,
                                 const float* g, const float* weight, float* dx) {
    const long plane = height * width;
    for (long i = 0; i < n * ins * plane; ++i) dx[i] = 0;
    for (long b = 0; b < n; ++b)
        for (long o = 0; o < outs; ++o)
            for (long c = 0; c < ins; ++c)
                for (long y = 0; y < height; ++y)
                    for (long x = 0; x < width; ++x)
                        for (long p = 0; p < 3; ++p)
                            for (long q = 0; q < 3; ++q) {
                                const long v = y + p - 1, u = x + q - 1;
                                if (v < 0 || v >= height || u < 0 || u >= width)
                                    continue;
                                dx[(b * ins + c) * plane + v * width + u] +=
                                    g[(b * outs + o) * plane + y * width + x] *
                                    weight[((o * ins + c) * 3 + p) * 3 + q];
                            }
}
