// SPDX-License-Identifier: MIT
//
// The vector type on AVX-512 (F, BW, DQ, VL). Names: ../README.md.
#pragma once

#include <immintrin.h>

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr bool has_fma = true;

template <>
struct vec<float> {
    __m512 v;
    static constexpr int lanes = 16;
};
template <>
struct vec<double> {
    __m512d v;
    static constexpr int lanes = 8;
};
template <>
struct vec<int32_t> {
    __m512i v;
    static constexpr int lanes = 16;
};
template <>
struct vec<int64_t> {
    __m512i v;
    static constexpr int lanes = 8;
};
using f32 = vec<float>;
using f64 = vec<double>;
using i32 = vec<int32_t>;
using i64 = vec<int64_t>;

template <>
struct lane_mask<4> {
    __mmask16 m;
};
template <>
struct lane_mask<8> {
    __mmask8 m;
};
using m32 = lane_mask<4>;
using m64 = lane_mask<8>;

// ---- masks
template <class T>
AC_INLINE mask<T> first(int64_t n) {
    return {static_cast<decltype(mask<T>::m)>((1u << n) - 1u)};
}
AC_INLINE m32 operator&(m32 a, m32 b) { return {static_cast<__mmask16>(a.m & b.m)}; }
AC_INLINE m32 operator|(m32 a, m32 b) { return {static_cast<__mmask16>(a.m | b.m)}; }
AC_INLINE m32 operator^(m32 a, m32 b) { return {static_cast<__mmask16>(a.m ^ b.m)}; }
AC_INLINE m32 operator~(m32 a) { return {static_cast<__mmask16>(~a.m)}; }
AC_INLINE m64 operator&(m64 a, m64 b) { return {static_cast<__mmask8>(a.m & b.m)}; }
AC_INLINE m64 operator|(m64 a, m64 b) { return {static_cast<__mmask8>(a.m | b.m)}; }
AC_INLINE m64 operator^(m64 a, m64 b) { return {static_cast<__mmask8>(a.m ^ b.m)}; }
AC_INLINE m64 operator~(m64 a) { return {static_cast<__mmask8>(~a.m)}; }
AC_INLINE bool any(m32 a) { return a.m != 0; }
AC_INLINE bool any(m64 a) { return a.m != 0; }
AC_INLINE bool all(m32 a) { return a.m == 0xffff; }
AC_INLINE bool all(m64 a) { return a.m == 0xff; }
AC_INLINE uint32_t lane_bits(m32 a) { return a.m; }
AC_INLINE uint32_t lane_bits(m64 a) { return a.m; }

// ---- making, loading, storing
template <class T>
AC_INLINE vec<T> set1(T x);
template <>
AC_INLINE f32 set1<float>(float x) {
    return {_mm512_set1_ps(x)};
}
template <>
AC_INLINE f64 set1<double>(double x) {
    return {_mm512_set1_pd(x)};
}
template <>
AC_INLINE i32 set1<int32_t>(int32_t x) {
    return {_mm512_set1_epi32(x)};
}
template <>
AC_INLINE i64 set1<int64_t>(int64_t x) {
    return {_mm512_set1_epi64(x)};
}
template <class T>
AC_INLINE vec<T> zero() {
    return set1<T>(0);
}
template <class T>
AC_INLINE ints<T> lane_index();
template <>
AC_INLINE i32 lane_index<float>() {
    return {_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)};
}
template <>
AC_INLINE i64 lane_index<double>() {
    return {_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7)};
}
AC_INLINE f32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
AC_INLINE f64 load(const double* p) { return {_mm512_loadu_pd(p)}; }
AC_INLINE i32 load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
AC_INLINE i64 load(const int64_t* p) { return {_mm512_loadu_si512(p)}; }
AC_INLINE void store(float* p, f32 a) { _mm512_storeu_ps(p, a.v); }
AC_INLINE void store(double* p, f64 a) { _mm512_storeu_pd(p, a.v); }
AC_INLINE void store(int32_t* p, i32 a) { _mm512_storeu_si512(p, a.v); }
AC_INLINE void store(int64_t* p, i64 a) { _mm512_storeu_si512(p, a.v); }
AC_INLINE f32 load_first(const float* p, int64_t n) {
    return {_mm512_maskz_loadu_ps(first<float>(n).m, p)};
}
AC_INLINE f64 load_first(const double* p, int64_t n) {
    return {_mm512_maskz_loadu_pd(first<double>(n).m, p)};
}
AC_INLINE i32 load_first(const int32_t* p, int64_t n) {
    return {_mm512_maskz_loadu_epi32(first<float>(n).m, p)};
}
AC_INLINE i64 load_first(const int64_t* p, int64_t n) {
    return {_mm512_maskz_loadu_epi64(first<double>(n).m, p)};
}
AC_INLINE void store_first(float* p, f32 a, int64_t n) {
    _mm512_mask_storeu_ps(p, first<float>(n).m, a.v);
}
AC_INLINE void store_first(double* p, f64 a, int64_t n) {
    _mm512_mask_storeu_pd(p, first<double>(n).m, a.v);
}
AC_INLINE void store_first(int32_t* p, i32 a, int64_t n) {
    _mm512_mask_storeu_epi32(p, first<float>(n).m, a.v);
}
AC_INLINE void store_first(int64_t* p, i64 a, int64_t n) {
    _mm512_mask_storeu_epi64(p, first<double>(n).m, a.v);
}

// Elements 0, 2, 4 ... of a followed by b.
AC_INLINE f32 even(f32 a, f32 b) {
    const __m512i at =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return {_mm512_permutex2var_ps(a.v, at, b.v)};
}
AC_INLINE f64 even(f64 a, f64 b) {
    const __m512i at = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    return {_mm512_permutex2var_pd(a.v, at, b.v)};
}

// The first halves of a and b, element by element in turn, and the second ones.
AC_INLINE f32 zip_low(f32 a, f32 b) {
    const __m512i at =
        _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return {_mm512_permutex2var_ps(a.v, at, b.v)};
}
AC_INLINE f32 zip_high(f32 a, f32 b) {
    const __m512i at =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return {_mm512_permutex2var_ps(a.v, at, b.v)};
}
AC_INLINE f64 zip_low(f64 a, f64 b) {
    const __m512i at = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    return {_mm512_permutex2var_pd(a.v, at, b.v)};
}
AC_INLINE f64 zip_high(f64 a, f64 b) {
    const __m512i at = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    return {_mm512_permutex2var_pd(a.v, at, b.v)};
}

// Pairs of words, the first of each in the low half.
AC_INLINE i64 load_pairs(const uint32_t* p) { return {_mm512_loadu_si512(p)}; }
// Pair 2i becomes a[i], pair 2i + 1 b[i].
AC_INLINE void store_pairs(uint32_t* out, i64 a, i64 b) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi64(a.v, low, b.v));
    _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(a.v, high, b.v));
}

// ---- arithmetic
AC_INLINE f32 operator+(f32 a, f32 b) { return {_mm512_add_ps(a.v, b.v)}; }
AC_INLINE f64 operator+(f64 a, f64 b) { return {_mm512_add_pd(a.v, b.v)}; }
AC_INLINE i32 operator+(i32 a, i32 b) { return {_mm512_add_epi32(a.v, b.v)}; }
AC_INLINE i64 operator+(i64 a, i64 b) { return {_mm512_add_epi64(a.v, b.v)}; }
AC_INLINE f32 operator-(f32 a, f32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
AC_INLINE f64 operator-(f64 a, f64 b) { return {_mm512_sub_pd(a.v, b.v)}; }
AC_INLINE i32 operator-(i32 a, i32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
AC_INLINE i64 operator-(i64 a, i64 b) { return {_mm512_sub_epi64(a.v, b.v)}; }
AC_INLINE f32 operator*(f32 a, f32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
AC_INLINE f64 operator*(f64 a, f64 b) { return {_mm512_mul_pd(a.v, b.v)}; }
AC_INLINE i32 operator*(i32 a, i32 b) { return {_mm512_mullo_epi32(a.v, b.v)}; }
// The full product of the low, unsigned halves of each lane.
AC_INLINE i64 multiply_low(i64 a, i64 b) { return {_mm512_mul_epu32(a.v, b.v)}; }
AC_INLINE f32 operator/(f32 a, f32 b) { return {_mm512_div_ps(a.v, b.v)}; }
AC_INLINE f64 operator/(f64 a, f64 b) { return {_mm512_div_pd(a.v, b.v)}; }
AC_INLINE f32 fma(f32 a, f32 b, f32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
AC_INLINE f64 fma(f64 a, f64 b, f64 c) { return {_mm512_fmadd_pd(a.v, b.v, c.v)}; }
AC_INLINE f32 fnma(f32 a, f32 b, f32 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
AC_INLINE f64 fnma(f64 a, f64 b, f64 c) { return {_mm512_fnmadd_pd(a.v, b.v, c.v)}; }
AC_INLINE f32 sqrt(f32 a) { return {_mm512_sqrt_ps(a.v)}; }
AC_INLINE f64 sqrt(f64 a) { return {_mm512_sqrt_pd(a.v)}; }
// A root of 16 floats takes 18 cycles, 100,000 of them 20 us. Its reciprocal to 14
// bits, one step for root and half of the reciprocal, and the remainder (P. Markstein,
// IBM J. Res. Dev. 34, 1990) round as correctly, tried for all floats, in 12 us. Where
// the remainder could be subnormal, and for 0, infinity and NaN, there is the
// instruction. Next to many multiply-adds the instruction costs less, since the divider
// works at the same time: by these steps acos takes 1.2 times as long, asinh 1.1.
AC_INLINE f32 sqrt_by_fma(f32 a) {
    const __m512i least = _mm512_set1_epi32(0x0d800000);  // 2^-100
    const __m512i past = _mm512_sub_epi32(_mm512_castps_si512(a.v), least);
    const __m512i usual = _mm512_set1_epi32(0x7f800000 - 0x0d800000);  // to infinity
    if (_mm512_cmplt_epu32_mask(past, usual) != 0xffff) return sqrt(a);
    const __m512 y = _mm512_rsqrt14_ps(a.v), half = _mm512_set1_ps(0.5f);
    const __m512 s = _mm512_mul_ps(a.v, y), h = _mm512_mul_ps(y, half);
    const __m512 e = _mm512_fnmadd_ps(s, h, half);
    const __m512 root = _mm512_fmadd_ps(s, e, s);
    const __m512 rest = _mm512_fnmadd_ps(root, root, a.v);
    return {_mm512_fmadd_ps(rest, _mm512_fmadd_ps(h, e, h), root)};
}
AC_INLINE f64 sqrt_by_fma(f64 a) { return sqrt(a); }
AC_INLINE f32 min(f32 a, f32 b) { return {_mm512_min_ps(a.v, b.v)}; }
AC_INLINE f64 min(f64 a, f64 b) { return {_mm512_min_pd(a.v, b.v)}; }
AC_INLINE f32 max(f32 a, f32 b) { return {_mm512_max_ps(a.v, b.v)}; }
AC_INLINE f64 max(f64 a, f64 b) { return {_mm512_max_pd(a.v, b.v)}; }

// ---- comparisons, selection
#define AC_COMPARE(name, code)                                                        \
    AC_INLINE m32 name(f32 a, f32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, code)}; } \
    AC_INLINE m64 name(f64 a, f64 b) { return {_mm512_cmp_pd_mask(a.v, b.v, code)}; }
AC_COMPARE(eq, _CMP_EQ_OQ)
AC_COMPARE(ne, _CMP_NEQ_UQ)
AC_COMPARE(lt, _CMP_LT_OQ)
AC_COMPARE(le, _CMP_LE_OQ)
AC_COMPARE(gt, _CMP_GT_OQ)
AC_COMPARE(ge, _CMP_GE_OQ)
#undef AC_COMPARE
AC_INLINE m32 eq(i32 a, i32 b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
AC_INLINE m64 eq(i64 a, i64 b) { return {_mm512_cmpeq_epi64_mask(a.v, b.v)}; }
AC_INLINE m32 gt(i32 a, i32 b) { return {_mm512_cmpgt_epi32_mask(a.v, b.v)}; }
AC_INLINE m64 gt(i64 a, i64 b) { return {_mm512_cmpgt_epi64_mask(a.v, b.v)}; }
AC_INLINE m32 is_nan(f32 a) { return {_mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q)}; }
AC_INLINE m64 is_nan(f64 a) { return {_mm512_cmp_pd_mask(a.v, a.v, _CMP_UNORD_Q)}; }
AC_INLINE f32 select(m32 m, f32 a, f32 b) {
    return {_mm512_mask_blend_ps(m.m, b.v, a.v)};
}
AC_INLINE f64 select(m64 m, f64 a, f64 b) {
    return {_mm512_mask_blend_pd(m.m, b.v, a.v)};
}
AC_INLINE i32 select(m32 m, i32 a, i32 b) {
    return {_mm512_mask_blend_epi32(m.m, b.v, a.v)};
}
AC_INLINE i64 select(m64 m, i64 a, i64 b) {
    return {_mm512_mask_blend_epi64(m.m, b.v, a.v)};
}
AC_INLINE f32 keep(m32 m, f32 a) { return {_mm512_maskz_mov_ps(m.m, a.v)}; }
AC_INLINE f64 keep(m64 m, f64 a) { return {_mm512_maskz_mov_pd(m.m, a.v)}; }
AC_INLINE i32 keep(m32 m, i32 a) { return {_mm512_maskz_mov_epi32(m.m, a.v)}; }
AC_INLINE i64 keep(m64 m, i64 a) { return {_mm512_maskz_mov_epi64(m.m, a.v)}; }
AC_INLINE f32 minimum(f32 a, f32 b) { return select(is_nan(a), a, min(a, b)); }
AC_INLINE f64 minimum(f64 a, f64 b) { return select(is_nan(a), a, min(a, b)); }
AC_INLINE f32 maximum(f32 a, f32 b) { return select(is_nan(a), a, max(a, b)); }
AC_INLINE f64 maximum(f64 a, f64 b) { return select(is_nan(a), a, max(a, b)); }

// ---- masks as bytes
template <class T>
AC_INLINE mask<T> load_bools_first(const uint8_t* p, int64_t n) {
    const __m128i bytes = _mm_maskz_loadu_epi8(first<T>(n).m, p);
    return {static_cast<decltype(mask<T>::m)>(_mm_test_epi8_mask(bytes, bytes))};
}
template <class T>
AC_INLINE mask<T> load_bools(const uint8_t* p) {
    return load_bools_first<T>(p, vec<T>::lanes);
}
AC_INLINE void store_bools_first(uint8_t* p, m32 m, int64_t n) {
    _mm_mask_storeu_epi8(p, first<float>(n).m, _mm_maskz_set1_epi8(m.m, 1));
}
AC_INLINE void store_bools_first(uint8_t* p, m64 m, int64_t n) {
    _mm_mask_storeu_epi8(p, first<double>(n).m, _mm_maskz_set1_epi8(m.m, 1));
}
AC_INLINE void store_bools(uint8_t* p, m32 m) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(m.m, 1));
}
AC_INLINE void store_bools(uint8_t* p, m64 m) { store_bools_first(p, m, 8); }

// ---- bits
AC_INLINE i32 bits(f32 a) { return {_mm512_castps_si512(a.v)}; }
AC_INLINE i64 bits(f64 a) { return {_mm512_castpd_si512(a.v)}; }
AC_INLINE f32 floats(i32 a) { return {_mm512_castsi512_ps(a.v)}; }
AC_INLINE f64 floats(i64 a) { return {_mm512_castsi512_pd(a.v)}; }
AC_INLINE i32 operator&(i32 a, i32 b) { return {_mm512_and_si512(a.v, b.v)}; }
AC_INLINE i64 operator&(i64 a, i64 b) { return {_mm512_and_si512(a.v, b.v)}; }
AC_INLINE i32 operator|(i32 a, i32 b) { return {_mm512_or_si512(a.v, b.v)}; }
AC_INLINE i64 operator|(i64 a, i64 b) { return {_mm512_or_si512(a.v, b.v)}; }
AC_INLINE i32 operator^(i32 a, i32 b) { return {_mm512_xor_si512(a.v, b.v)}; }
AC_INLINE i64 operator^(i64 a, i64 b) { return {_mm512_xor_si512(a.v, b.v)}; }
AC_INLINE i32 andnot(i32 a, i32 b) { return {_mm512_andnot_si512(a.v, b.v)}; }
AC_INLINE i64 andnot(i64 a, i64 b) { return {_mm512_andnot_si512(a.v, b.v)}; }
template <int n>
AC_INLINE i32 shift_left(i32 a) {
    return {_mm512_slli_epi32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_left(i64 a) {
    return {_mm512_slli_epi64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right(i32 a) {
    return {_mm512_srli_epi32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_right(i64 a) {
    return {_mm512_srli_epi64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right_signed(i32 a) {
    return {_mm512_srai_epi32(a.v, n)};
}
AC_INLINE i32 operator-(i32 a) { return zero<int32_t>() - a; }
AC_INLINE f32 abs(f32 a) { return {_mm512_abs_ps(a.v)}; }
AC_INLINE f64 abs(f64 a) { return {_mm512_abs_pd(a.v)}; }
AC_INLINE f32 operator-(f32 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
AC_INLINE f64 operator-(f64 a) { return {_mm512_xor_pd(a.v, _mm512_set1_pd(-0.0))}; }
AC_INLINE f32 copysign(f32 a, f32 b) {
    const i32 sign = set1<int32_t>(INT32_MIN);
    return floats(andnot(sign, bits(a)) | (sign & bits(b)));
}
AC_INLINE f64 copysign(f64 a, f64 b) {
    const i64 sign = set1<int64_t>(INT64_MIN);
    return floats(andnot(sign, bits(a)) | (sign & bits(b)));
}

// ---- rounding, conversions, powers of two
constexpr int ac_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr int ac_down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
constexpr int ac_up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
constexpr int ac_to_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
constexpr int ac_smaller_magnitude = 2;  // of two operands, with the first one's sign
AC_INLINE f32 round_even(f32 a) { return {_mm512_roundscale_ps(a.v, ac_nearest)}; }
AC_INLINE f64 round_even(f64 a) { return {_mm512_roundscale_pd(a.v, ac_nearest)}; }
AC_INLINE f32 floor(f32 a) { return {_mm512_roundscale_ps(a.v, ac_down)}; }
AC_INLINE f64 floor(f64 a) { return {_mm512_roundscale_pd(a.v, ac_down)}; }
AC_INLINE f32 ceil(f32 a) { return {_mm512_roundscale_ps(a.v, ac_up)}; }
AC_INLINE f64 ceil(f64 a) { return {_mm512_roundscale_pd(a.v, ac_up)}; }
AC_INLINE f32 trunc(f32 a) { return {_mm512_roundscale_ps(a.v, ac_to_zero)}; }
AC_INLINE f64 trunc(f64 a) { return {_mm512_roundscale_pd(a.v, ac_to_zero)}; }
AC_INLINE i32 to_int(f32 a) { return {_mm512_cvtps_epi32(a.v)}; }
AC_INLINE i64 to_int(f64 a) { return {_mm512_cvtpd_epi64(a.v)}; }
AC_INLINE f32 to_float(i32 a) { return {_mm512_cvtepi32_ps(a.v)}; }
AC_INLINE f64 to_float(i64 a) { return {_mm512_cvtepi64_pd(a.v)}; }
AC_INLINE f32 scale2(f32 a, f32 n) { return {_mm512_scalef_ps(a.v, n.v)}; }
AC_INLINE f64 scale2(f64 a, f64 n) { return {_mm512_scalef_pd(a.v, n.v)}; }

// ---- between float and double, exponents
AC_INLINE f64 low_double(f32 a) {
    return {_mm512_cvtps_pd(_mm512_castps512_ps256(a.v))};
}
AC_INLINE f64 high_double(f32 a) {
    return {_mm512_cvtps_pd(_mm512_extractf32x8_ps(a.v, 1))};
}
AC_INLINE f32 narrow(f64 low, f64 high) {
    return {_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low.v)),
                               _mm512_cvtpd_ps(high.v), 1)};
}
constexpr bool has_scale = true;
constexpr bool has_flush = true;
// 0 of the same sign in place of a subnormal number.
AC_INLINE f32 flush(f32 a) {
    const __mmask16 small = _mm512_fpclass_ps_mask(a.v, 0x20);
    return {_mm512_mask_and_ps(a.v, small, a.v, _mm512_set1_ps(-0.0f))};
}
AC_INLINE f64 flush(f64 a) {
    const __mmask8 small = _mm512_fpclass_pd_mask(a.v, 0x20);
    return {_mm512_mask_and_pd(a.v, small, a.v, _mm512_set1_pd(-0.0))};
}
AC_INLINE f32 limit(f32 a, f32 bound) {
    return {_mm512_range_ps(a.v, bound.v, ac_smaller_magnitude)};
}
AC_INLINE f64 limit(f64 a, f64 bound) {
    return {_mm512_range_pd(a.v, bound.v, ac_smaller_magnitude)};
}
constexpr bool has_exponent = true;
AC_INLINE f32 exponent(f32 a) { return {_mm512_getexp_ps(a.v)}; }
AC_INLINE f64 exponent(f64 a) { return {_mm512_getexp_pd(a.v)}; }
AC_INLINE f32 significand(f32 a) {
    return {_mm512_getmant_ps(a.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src)};
}
AC_INLINE f64 significand(f64 a) {
    return {_mm512_getmant_pd(a.v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src)};
}

// ---- numbers of 16 bits, each in a lane of 32
AC_INLINE i32 load_halves(const uint16_t* p) {
    return {
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
AC_INLINE i32 load_halves_first(const uint16_t* p, int64_t n) {
    return {_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(first<float>(n).m, p))};
}
AC_INLINE void store_halves(uint16_t* p, i32 a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a.v));
}
AC_INLINE void store_halves_first(uint16_t* p, i32 a, int64_t n) {
    _mm256_mask_storeu_epi16(p, first<float>(n).m, _mm512_cvtepi32_epi16(a.v));
}
AC_INLINE f32 from_float16(i32 a) {
    return {_mm512_cvtph_ps(_mm512_cvtepi32_epi16(a.v))};
}
AC_INLINE i32 to_float16(f32 a) {
    return {_mm512_cvtepu16_epi32(_mm512_cvtps_ph(a.v, ac_nearest))};
}

// ---- reductions
AC_INLINE float reduce_add(f32 a) { return _mm512_reduce_add_ps(a.v); }
AC_INLINE double reduce_add(f64 a) { return _mm512_reduce_add_pd(a.v); }
AC_INLINE float reduce_max(f32 a) { return _mm512_reduce_max_ps(a.v); }
AC_INLINE double reduce_max(f64 a) { return _mm512_reduce_max_pd(a.v); }
AC_INLINE float reduce_min(f32 a) { return _mm512_reduce_min_ps(a.v); }
AC_INLINE double reduce_min(f64 a) { return _mm512_reduce_min_pd(a.v); }

}  // namespace
}  // namespace autocalc::simd::AC_ISA
