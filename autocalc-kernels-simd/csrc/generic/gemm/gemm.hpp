// SPDX-License-Identifier: MIT
//
// The matrix product that gemm, linear and linear_backward share:
//
//     c = act(alpha * a @ b + bias + beta * c),   a: [m, k]   b: [k, n]   c: [m, n]
//
// for every index of the batch dims. Strides count elements; c and pre are contiguous
// along n.
#pragma once

#include "autocalc_kernel.h"
#include "common/call.hpp"
#include "common/phase.hpp"
#include "common/post_ops.hpp"

namespace autocalc::simd::AC_ISA {

enum class Activation {
    none,
    relu,
    gelu,
    gelu_tanh
};  // in the order of the signature's words

template <class T>
struct Gemm {
    int64_t m, n, k;
    const T* a;
    int64_t a_row, a_col;
    const T* b;
    int64_t b_row, b_col;
    T* c;
    int64_t c_row;
    const T* bias;  // n elements, or null
    T* pre;         // the value before the activation, or null
    int64_t pre_row;
    T alpha, beta;  // c is not read if beta is 0
    Activation activation;
    int batch_dims;
    int64_t batch[AC_MAX_DIMS];
    int64_t a_step[AC_MAX_DIMS], b_step[AC_MAX_DIMS], c_step[AC_MAX_DIMS];
    int64_t pre_step[AC_MAX_DIMS];
    // c is 0 where this array, in c's layout, is 0 or less; null: everywhere c.
    const T* mask = nullptr;
    int64_t mask_row = 0;
    // Applied last; only without batch dimensions.
    Epilogue<T> epilogue = {};
};

// False if there is no memory for packing.
bool multiply(const Gemm<float>& product, ac_context* context);
bool multiply(const Gemm<double>& product, ac_context* context);

// Work that runs with two products.
struct Aside {
    int64_t tasks;
    bool worthwhile;  // to run it by itself on more than one thread
    void (*run)(const void* job, int64_t begin, int64_t end);
    const void* job;
};

inline void run_apart(const Aside& aside, ac_context* context) {
    parallel(context, aside.tasks, aside.worthwhile, [&](int64_t begin, int64_t end) {
        const Phase phase(context, AC_PHASE_EPILOGUE);
        aside.run(aside.job, begin, end);
    });
}

// Both products and what runs aside; neither reads what another writes.
bool multiply(const Gemm<float>& first, const Gemm<float>& second, const Aside& aside,
              ac_context* context);
bool multiply(const Gemm<double>& first, const Gemm<double>& second, const Aside& aside,
              ac_context* context);

// ---- one tile of a product, for kernels with loops of their own

// The layout of the rows of a tile in memory: each runs along k (a_col is 1), or the
// elements of a step are neighbours (a_row is 1).
enum class Order { row_major, column_major };

template <class T>
struct Tile {
    int64_t k;
    const T* a;
    int64_t a_row, a_col;
    // Rows of several runs of k elements: how far it is from the end of one to the
    // beginning of the next. None: one run.
    int64_t runs;
    const int64_t* gaps;
    // What to bring nearer meanwhile, or null: of as many rows as the tile has,
    // next_row apart, as many elements as each has steps.
    const T* next;
    int64_t next_row;
    const T* b;  // rows of `vectors` full registers
    int64_t b_row;
    int64_t b_ahead;  // how far ahead of b to ask for memory, or 0
    T* packed;        // where a packing tile puts b
    T* c;
    int64_t c_row;
    int64_t columns;  // of c; only the last register may be partly used
    const T* bias;
    T* pre;
    int64_t pre_row;
    T alpha, beta;
    bool clamped;  // to [low, high]
    T low, high;
};

// `rows` rows of at most tile_rows[vectors].
void multiply_tile(const Tile<float>& tile, int64_t vectors, Order a_order,
                   int64_t rows);
void multiply_tile(const Tile<double>& tile, int64_t vectors, Order a_order,
                   int64_t rows);

}  // namespace autocalc::simd::AC_ISA
