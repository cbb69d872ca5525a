// SPDX-License-Identifier: MIT
//
// The matrix product of bfloat16 or float16 operands, summed in float32:
//
//     c = act(alpha * a @ b + bias + beta * c),   a: [m, k]   b: [k, n]   c: [m, n]
//
// c and pre are of the operands' type or float32; what is of 16 bits is rounded once.
#pragma once

#include "common/halves.hpp"
#include "gemm/gemm.hpp"
#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {

#ifdef AC_FLOAT_PRODUCTS_ALONE
constexpr bool takes_halves = false;
#else
constexpr bool takes_halves = true;
#endif
// A set that multiplies pairs of bfloat16 has nothing for float16.
constexpr bool takes_float16 = takes_halves && !multiplies_pairs;

// A matrix that is contiguous along its rows, of 16-bit elements or of floats: one of
// both pointers is null, both if there is no matrix.
template <class E>
struct Mixed {
    E* half = nullptr;
    float* whole = nullptr;
    int64_t row = 0;

    [[nodiscard]] AC_INLINE bool any() const {
        return half != nullptr || whole != nullptr;
    }
    [[nodiscard]] AC_INLINE Mixed at(int64_t i, int64_t j) const {
        const int64_t offset = i * row + j;
        return {half == nullptr ? nullptr : half + offset,
                whole == nullptr ? nullptr : whole + offset, row};
    }
    [[nodiscard]] AC_INLINE f32 get(int64_t offset, int64_t n) const {
        if (n == f32::lanes)
            return half != nullptr ? load_wide(half + offset) : load(whole + offset);
        return half != nullptr ? load_wide_first(half + offset, n)
                               : load_first(whole + offset, n);
    }
    AC_INLINE void put(int64_t offset, f32 x, int64_t n) const {
        if (half == nullptr) {
            if (n == f32::lanes) return store(whole + offset, x);
            return store_first(whole + offset, x, n);
        }
        if (n == f32::lanes) return store_narrow(half + offset, x);
        store_narrow_first(half + offset, x, n);
    }
};

template <class E>
struct HalfGemm {
    int64_t m, n, k;
    const E* a;
    int64_t a_row, a_col;
    const E* b;
    int64_t b_row, b_col;
    Mixed<E> c;
    Mixed<E> pre;       // the value before the activation, if wanted
    Mixed<E> mask;      // c is 0 where this is 0 or less, if there is one
    const E* bias;      // n elements, or null
    float alpha, beta;  // c is not read if beta is 0
    Activation activation;
    int batch_dims;
    int64_t batch[AC_MAX_DIMS];
    int64_t a_step[AC_MAX_DIMS], b_step[AC_MAX_DIMS], c_step[AC_MAX_DIMS];
    int64_t pre_step[AC_MAX_DIMS];
};

// False if there is no memory for packing.
bool multiply(const HalfGemm<BFloat16>& product, ac_context* context);
bool multiply(const HalfGemm<Float16>& product, ac_context* context);

// The kernels `gemm`, `linear` and its backward ones on these operands.
void half_gemm(const ac_call* call, ac_context* context, ac_status* status);
void half_linear(const ac_call* call, ac_context* context, ac_status* status);
void half_linear_backward(const ac_call* call, ac_context* context, ac_status* status);
void half_linear_relu_backward(const ac_call* call, ac_context* context,
                               ac_status* status);

// Whether all operands that are present are of one 16-bit type: those from `first` on,
// while outputs, which come before, may be floats.
const char* half_refusal(const ac_call* call, int first);

}  // namespace autocalc::simd::AC_ISA
