// SPDX-License-Identifier: MIT
//
// Steps of optimizers for a list of parameters in one launch: blockIdx.y is the
// parameter, whose arrays and sizes are in `table`, a row of `width` numbers each.
#include "common.cuh"

template <class T>
__device__ T* array_of(const i64* table, int width, int which) {
    return reinterpret_cast<T*>(table[blockIdx.y * width + which]);
}

// Decoupled weight decay by Loshchilov and Hutter, 2019; Adam by Kingma and Ba, 2015.
template <class T>
__global__ void adamw(const i64* table, double step_size, double root, double shrink,
                      double beta1, double beta2, double eps, double decay,
                      bool decoupled, bool maximize) {
    T* p = array_of<T>(table, 5, 0);
    T* m = array_of<T>(table, 5, 1);
    T* v = array_of<T>(table, 5, 2);
    const T* g = array_of<T>(table, 5, 3);
    const i64 size = table[blockIdx.y * 5 + 4];
    for (i64 i = blockIdx.x * BLOCK + threadIdx.x; i < size;
         i += i64(gridDim.x) * BLOCK) {
        double gradient = maximize ? -double(g[i]) : double(g[i]);
        double value = p[i];
        if (decoupled) {
            value *= shrink;
        } else {
            gradient += decay * value;
        }
        const double first = m[i] + (1 - beta1) * (gradient - m[i]);
        const double second = beta2 * v[i] + (1 - beta2) * (gradient * gradient);
        m[i] = first;
        v[i] = second;
        p[i] = value - step_size * (first / (sqrt(second) / root + eps));
    }
}

template <class T>
__global__ void sgd(const i64* table, double rate, bool first, double momentum,
                    double dampening, double decay, bool nesterov, bool maximize) {
    T* p = array_of<T>(table, 4, 0);
    T* b = array_of<T>(table, 4, 1);  // null without momentum
    const T* g = array_of<T>(table, 4, 2);
    const i64 size = table[blockIdx.y * 4 + 3];
    for (i64 i = blockIdx.x * BLOCK + threadIdx.x; i < size;
         i += i64(gridDim.x) * BLOCK) {
        double gradient = maximize ? -double(g[i]) : double(g[i]);
        gradient += decay * p[i];
        if (b != nullptr) {
            const double buffer =
                first ? gradient : momentum * b[i] + (1 - dampening) * gradient;
            b[i] = buffer;
            gradient = nesterov ? gradient + momentum * buffer : buffer;
        }
        p[i] -= rate * gradient;
    }
}
