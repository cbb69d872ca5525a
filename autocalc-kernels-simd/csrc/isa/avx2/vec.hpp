// SPDX-License-Identifier: MIT
//
// The vector type on AVX2 with FMA. Names: ../README.md.
#pragma once

#include <immintrin.h>

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr bool has_fma = true;

template <>
struct vec<float> {
    __m256 v;
    static constexpr int lanes = 8;
};
template <>
struct vec<double> {
    __m256d v;
    static constexpr int lanes = 4;
};
template <>
struct vec<int32_t> {
    __m256i v;
    static constexpr int lanes = 8;
};
template <>
struct vec<int64_t> {
    __m256i v;
    static constexpr int lanes = 4;
};
using f32 = vec<float>;
using f64 = vec<double>;
using i32 = vec<int32_t>;
using i64 = vec<int64_t>;

// All bits of a lane are set, or none.
template <>
struct lane_mask<4> {
    __m256i m;
};
template <>
struct lane_mask<8> {
    __m256i m;
};
using m32 = lane_mask<4>;
using m64 = lane_mask<8>;

// ---- masks
template <class T>
AC_INLINE mask<T> first(int64_t n);
template <>
AC_INLINE m32 first<float>(int64_t n) {
    return {_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                               _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))};
}
template <>
AC_INLINE m64 first<double>(int64_t n) {
    return {_mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))};
}
template <>
AC_INLINE m32 first<int32_t>(int64_t n) {
    return first<float>(n);
}
template <>
AC_INLINE m64 first<int64_t>(int64_t n) {
    return first<double>(n);
}
AC_INLINE m32 operator&(m32 a, m32 b) { return {_mm256_and_si256(a.m, b.m)}; }
AC_INLINE m32 operator|(m32 a, m32 b) { return {_mm256_or_si256(a.m, b.m)}; }
AC_INLINE m32 operator^(m32 a, m32 b) { return {_mm256_xor_si256(a.m, b.m)}; }
AC_INLINE m32 operator~(m32 a) {
    return {_mm256_xor_si256(a.m, _mm256_set1_epi32(-1))};
}
AC_INLINE m64 operator&(m64 a, m64 b) { return {_mm256_and_si256(a.m, b.m)}; }
AC_INLINE m64 operator|(m64 a, m64 b) { return {_mm256_or_si256(a.m, b.m)}; }
AC_INLINE m64 operator^(m64 a, m64 b) { return {_mm256_xor_si256(a.m, b.m)}; }
AC_INLINE m64 operator~(m64 a) {
    return {_mm256_xor_si256(a.m, _mm256_set1_epi32(-1))};
}
AC_INLINE bool any(m32 a) { return _mm256_movemask_ps(_mm256_castsi256_ps(a.m)) != 0; }
AC_INLINE bool any(m64 a) { return _mm256_movemask_pd(_mm256_castsi256_pd(a.m)) != 0; }
AC_INLINE bool all(m32 a) {
    return _mm256_movemask_ps(_mm256_castsi256_ps(a.m)) == 0xff;
}
AC_INLINE bool all(m64 a) {
    return _mm256_movemask_pd(_mm256_castsi256_pd(a.m)) == 0xf;
}
AC_INLINE uint32_t lane_bits(m32 a) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(a.m)));
}
AC_INLINE uint32_t lane_bits(m64 a) {
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(a.m)));
}

// ---- making, loading, storing
template <class T>
AC_INLINE vec<T> set1(T x);
template <>
AC_INLINE f32 set1<float>(float x) {
    return {_mm256_set1_ps(x)};
}
template <>
AC_INLINE f64 set1<double>(double x) {
    return {_mm256_set1_pd(x)};
}
template <>
AC_INLINE i32 set1<int32_t>(int32_t x) {
    return {_mm256_set1_epi32(x)};
}
template <>
AC_INLINE i64 set1<int64_t>(int64_t x) {
    return {_mm256_set1_epi64x(x)};
}
template <class T>
AC_INLINE vec<T> zero() {
    return set1<T>(0);
}
template <class T>
AC_INLINE ints<T> lane_index();
template <>
AC_INLINE i32 lane_index<float>() {
    return {_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)};
}
template <>
AC_INLINE i64 lane_index<double>() {
    return {_mm256_setr_epi64x(0, 1, 2, 3)};
}
AC_INLINE const __m256i* as256(const void* p) { return static_cast<const __m256i*>(p); }
AC_INLINE __m256i* as256(void* p) { return static_cast<__m256i*>(p); }
AC_INLINE f32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
AC_INLINE f64 load(const double* p) { return {_mm256_loadu_pd(p)}; }
AC_INLINE i32 load(const int32_t* p) { return {_mm256_loadu_si256(as256(p))}; }
AC_INLINE i64 load(const int64_t* p) { return {_mm256_loadu_si256(as256(p))}; }
AC_INLINE void store(float* p, f32 a) { _mm256_storeu_ps(p, a.v); }
AC_INLINE void store(double* p, f64 a) { _mm256_storeu_pd(p, a.v); }
AC_INLINE void store(int32_t* p, i32 a) { _mm256_storeu_si256(as256(p), a.v); }
AC_INLINE void store(int64_t* p, i64 a) { _mm256_storeu_si256(as256(p), a.v); }
AC_INLINE f32 load_first(const float* p, int64_t n) {
    return {_mm256_maskload_ps(p, first<float>(n).m)};
}
AC_INLINE f64 load_first(const double* p, int64_t n) {
    return {_mm256_maskload_pd(p, first<double>(n).m)};
}
AC_INLINE i32 load_first(const int32_t* p, int64_t n) {
    return {_mm256_maskload_epi32(p, first<float>(n).m)};
}
AC_INLINE i64 load_first(const int64_t* p, int64_t n) {
    return {_mm256_maskload_epi64(reinterpret_cast<const long long*>(p),
                                  first<double>(n).m)};
}
// In halves: a masked store takes 12 cycles on Zen 1 to 3, and one or two on others
// (uops.info), while n, mostly the same for a whole loop, is easily predicted.
AC_INLINE void store_first(float* p, f32 a, int64_t n) {
    if (n <= 0) return;
    if (n >= 8) return _mm256_storeu_ps(p, a.v);
    __m128 x = _mm256_castps256_ps128(a.v);
    if ((n & 4) != 0) {
        _mm_storeu_ps(p, x);
        x = _mm256_extractf128_ps(a.v, 1);
        p += 4;
    }
    if ((n & 2) != 0) {
        _mm_storel_pi(reinterpret_cast<__m64*>(p), x);
        x = _mm_movehl_ps(x, x);
        p += 2;
    }
    if ((n & 1) != 0) _mm_store_ss(p, x);
}
AC_INLINE void store_first(double* p, f64 a, int64_t n) {
    if (n <= 0) return;
    if (n >= 4) return _mm256_storeu_pd(p, a.v);
    __m128d x = _mm256_castpd256_pd128(a.v);
    if ((n & 2) != 0) {
        _mm_storeu_pd(p, x);
        x = _mm256_extractf128_pd(a.v, 1);
        p += 2;
    }
    if ((n & 1) != 0) _mm_store_sd(p, x);
}
AC_INLINE void store_first(int32_t* p, i32 a, int64_t n) {
    _mm256_maskstore_epi32(p, first<float>(n).m, a.v);
}
AC_INLINE void store_first(int64_t* p, i64 a, int64_t n) {
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(p), first<double>(n).m, a.v);
}

// Elements 0, 2, 4 ... of a followed by b.
AC_INLINE f64 even(f64 a, f64 b) {
    const __m256d pairs = _mm256_unpacklo_pd(a.v, b.v);  // a0 b0 a2 b2
    return {_mm256_permute4x64_pd(pairs, 0xd8)};         // a0 a2 b0 b2
}
AC_INLINE f32 even(f32 a, f32 b) {
    const __m256 pairs = _mm256_shuffle_ps(a.v, b.v, 0x88);  // a0 a2 b0 b2 a4 a6 b4 b6
    // a0 a2 a4 a6 b0 b2 b4 b6: the pairs 0 2 1 3
    return {_mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(pairs), 0xd8))};
}

// The first halves of a and b, element by element in turn, and the second ones.
AC_INLINE f32 zip_low(f32 a, f32 b) {
    return {_mm256_permute2f128_ps(_mm256_unpacklo_ps(a.v, b.v),  // 0 1 | 4 5
                                   _mm256_unpackhi_ps(a.v, b.v),  // 2 3 | 6 7
                                   0x20)};
}
AC_INLINE f32 zip_high(f32 a, f32 b) {
    return {_mm256_permute2f128_ps(_mm256_unpacklo_ps(a.v, b.v),
                                   _mm256_unpackhi_ps(a.v, b.v), 0x31)};
}
AC_INLINE f64 zip_low(f64 a, f64 b) {
    return {_mm256_permute2f128_pd(_mm256_unpacklo_pd(a.v, b.v),  // 0 | 2
                                   _mm256_unpackhi_pd(a.v, b.v),  // 1 | 3
                                   0x20)};
}
AC_INLINE f64 zip_high(f64 a, f64 b) {
    return {_mm256_permute2f128_pd(_mm256_unpacklo_pd(a.v, b.v),
                                   _mm256_unpackhi_pd(a.v, b.v), 0x31)};
}

// Pairs of words, the first of each in the low half.
AC_INLINE i64 load_pairs(const uint32_t* p) { return {_mm256_loadu_si256(as256(p))}; }
// Pair 2i becomes a[i], pair 2i + 1 b[i].
AC_INLINE void store_pairs(uint32_t* out, i64 a, i64 b) {
    const __m256i even = _mm256_unpacklo_epi64(a.v, b.v);  // a0 b0 a2 b2
    const __m256i odd = _mm256_unpackhi_epi64(a.v, b.v);   // a1 b1 a3 b3
    // a0 b0 a1 b1, then a2 b2 a3 b3
    _mm256_storeu_si256(as256(out), _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_storeu_si256(as256(out + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

// ---- arithmetic
AC_INLINE f32 operator+(f32 a, f32 b) { return {_mm256_add_ps(a.v, b.v)}; }
AC_INLINE f64 operator+(f64 a, f64 b) { return {_mm256_add_pd(a.v, b.v)}; }
AC_INLINE i32 operator+(i32 a, i32 b) { return {_mm256_add_epi32(a.v, b.v)}; }
AC_INLINE i64 operator+(i64 a, i64 b) { return {_mm256_add_epi64(a.v, b.v)}; }
AC_INLINE f32 operator-(f32 a, f32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
AC_INLINE f64 operator-(f64 a, f64 b) { return {_mm256_sub_pd(a.v, b.v)}; }
AC_INLINE i32 operator-(i32 a, i32 b) { return {_mm256_sub_epi32(a.v, b.v)}; }
AC_INLINE i64 operator-(i64 a, i64 b) { return {_mm256_sub_epi64(a.v, b.v)}; }
AC_INLINE f32 operator*(f32 a, f32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
AC_INLINE f64 operator*(f64 a, f64 b) { return {_mm256_mul_pd(a.v, b.v)}; }
AC_INLINE i32 operator*(i32 a, i32 b) { return {_mm256_mullo_epi32(a.v, b.v)}; }
// The full product of the low, unsigned halves of each lane.
AC_INLINE i64 multiply_low(i64 a, i64 b) { return {_mm256_mul_epu32(a.v, b.v)}; }
AC_INLINE f32 operator/(f32 a, f32 b) { return {_mm256_div_ps(a.v, b.v)}; }
AC_INLINE f64 operator/(f64 a, f64 b) { return {_mm256_div_pd(a.v, b.v)}; }
AC_INLINE f32 fma(f32 a, f32 b, f32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
AC_INLINE f64 fma(f64 a, f64 b, f64 c) { return {_mm256_fmadd_pd(a.v, b.v, c.v)}; }
AC_INLINE f32 fnma(f32 a, f32 b, f32 c) { return {_mm256_fnmadd_ps(a.v, b.v, c.v)}; }
AC_INLINE f64 fnma(f64 a, f64 b, f64 c) { return {_mm256_fnmadd_pd(a.v, b.v, c.v)}; }
AC_INLINE f32 sqrt(f32 a) { return {_mm256_sqrt_ps(a.v)}; }
AC_INLINE f64 sqrt(f64 a) { return {_mm256_sqrt_pd(a.v)}; }
AC_INLINE f32 sqrt_by_fma(f32 a) { return sqrt(a); }
AC_INLINE f64 sqrt_by_fma(f64 a) { return sqrt(a); }
AC_INLINE f32 min(f32 a, f32 b) { return {_mm256_min_ps(a.v, b.v)}; }
AC_INLINE f64 min(f64 a, f64 b) { return {_mm256_min_pd(a.v, b.v)}; }
AC_INLINE f32 max(f32 a, f32 b) { return {_mm256_max_ps(a.v, b.v)}; }
AC_INLINE f64 max(f64 a, f64 b) { return {_mm256_max_pd(a.v, b.v)}; }

// ---- comparisons, selection
#define AC_COMPARE(name, code)                                       \
    AC_INLINE m32 name(f32 a, f32 b) {                               \
        return {_mm256_castps_si256(_mm256_cmp_ps(a.v, b.v, code))}; \
    }                                                                \
    AC_INLINE m64 name(f64 a, f64 b) {                               \
        return {_mm256_castpd_si256(_mm256_cmp_pd(a.v, b.v, code))}; \
    }
AC_COMPARE(eq, _CMP_EQ_OQ)
AC_COMPARE(ne, _CMP_NEQ_UQ)
AC_COMPARE(lt, _CMP_LT_OQ)
AC_COMPARE(le, _CMP_LE_OQ)
AC_COMPARE(gt, _CMP_GT_OQ)
AC_COMPARE(ge, _CMP_GE_OQ)
AC_COMPARE(unordered, _CMP_UNORD_Q)
#undef AC_COMPARE
AC_INLINE m32 eq(i32 a, i32 b) { return {_mm256_cmpeq_epi32(a.v, b.v)}; }
AC_INLINE m64 eq(i64 a, i64 b) { return {_mm256_cmpeq_epi64(a.v, b.v)}; }
AC_INLINE m32 gt(i32 a, i32 b) { return {_mm256_cmpgt_epi32(a.v, b.v)}; }
AC_INLINE m64 gt(i64 a, i64 b) { return {_mm256_cmpgt_epi64(a.v, b.v)}; }
AC_INLINE m32 is_nan(f32 a) { return unordered(a, a); }
AC_INLINE m64 is_nan(f64 a) { return unordered(a, a); }
AC_INLINE f32 select(m32 m, f32 a, f32 b) {
    return {_mm256_blendv_ps(b.v, a.v, _mm256_castsi256_ps(m.m))};
}
AC_INLINE f64 select(m64 m, f64 a, f64 b) {
    return {_mm256_blendv_pd(b.v, a.v, _mm256_castsi256_pd(m.m))};
}
AC_INLINE i32 select(m32 m, i32 a, i32 b) {
    return {_mm256_blendv_epi8(b.v, a.v, m.m)};
}
AC_INLINE i64 select(m64 m, i64 a, i64 b) {
    return {_mm256_blendv_epi8(b.v, a.v, m.m)};
}
AC_INLINE f32 keep(m32 m, f32 a) {
    return {_mm256_and_ps(_mm256_castsi256_ps(m.m), a.v)};
}
AC_INLINE f64 keep(m64 m, f64 a) {
    return {_mm256_and_pd(_mm256_castsi256_pd(m.m), a.v)};
}
AC_INLINE i32 keep(m32 m, i32 a) { return {_mm256_and_si256(m.m, a.v)}; }
AC_INLINE i64 keep(m64 m, i64 a) { return {_mm256_and_si256(m.m, a.v)}; }
AC_INLINE f32 minimum(f32 a, f32 b) { return select(is_nan(a), a, min(a, b)); }
AC_INLINE f64 minimum(f64 a, f64 b) { return select(is_nan(a), a, min(a, b)); }
AC_INLINE f32 maximum(f32 a, f32 b) { return select(is_nan(a), a, max(a, b)); }
AC_INLINE f64 maximum(f64 a, f64 b) { return select(is_nan(a), a, max(a, b)); }

// ---- masks as bytes
template <class T>
AC_INLINE mask<T> load_bools(const uint8_t* p);
template <>
AC_INLINE m32 load_bools<float>(const uint8_t* p) {
    const __m256i wide =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_cmpgt_epi32(wide, _mm256_setzero_si256())};
}
template <>
AC_INLINE m64 load_bools<double>(const uint8_t* p) {
    int32_t four;
    memcpy(&four, p, sizeof four);
    const __m256i wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four));
    return {_mm256_cmpgt_epi64(wide, _mm256_setzero_si256())};
}
template <class T>
AC_INLINE mask<T> load_bools_first(const uint8_t* p, int64_t n) {
    uint8_t bytes[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int64_t i = 0; i < n; ++i) bytes[i] = p[i];
    return load_bools<T>(bytes);
}
// Lanes 0..3 and 4..7 are 32 bits of ones; packing twice leaves a byte of each.
AC_INLINE void store_bools(uint8_t* p, m32 m) {
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(m.m), _mm256_extracti128_si256(m.m, 1));
    const __m128i bytes =
        _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), bytes);
}
AC_INLINE void store_bools(uint8_t* p, m64 m) {
    const __m128i pairs =
        _mm_packs_epi32(_mm256_castsi256_si128(m.m), _mm256_extracti128_si256(m.m, 1));
    const __m128i words = _mm_packs_epi32(pairs, pairs);
    const __m128i bytes =
        _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
    const int32_t four = _mm_cvtsi128_si32(bytes);
    memcpy(p, &four, sizeof four);
}
template <int LaneBytes>
AC_INLINE void store_bools_first(uint8_t* p, lane_mask<LaneBytes> m, int64_t n) {
    uint8_t bytes[8];
    store_bools(bytes, m);
    for (int64_t i = 0; i < n; ++i) p[i] = bytes[i];
}

// ---- bits
AC_INLINE i32 bits(f32 a) { return {_mm256_castps_si256(a.v)}; }
AC_INLINE i64 bits(f64 a) { return {_mm256_castpd_si256(a.v)}; }
AC_INLINE f32 floats(i32 a) { return {_mm256_castsi256_ps(a.v)}; }
AC_INLINE f64 floats(i64 a) { return {_mm256_castsi256_pd(a.v)}; }
AC_INLINE i32 operator&(i32 a, i32 b) { return {_mm256_and_si256(a.v, b.v)}; }
AC_INLINE i64 operator&(i64 a, i64 b) { return {_mm256_and_si256(a.v, b.v)}; }
AC_INLINE i32 operator|(i32 a, i32 b) { return {_mm256_or_si256(a.v, b.v)}; }
AC_INLINE i64 operator|(i64 a, i64 b) { return {_mm256_or_si256(a.v, b.v)}; }
AC_INLINE i32 operator^(i32 a, i32 b) { return {_mm256_xor_si256(a.v, b.v)}; }
AC_INLINE i64 operator^(i64 a, i64 b) { return {_mm256_xor_si256(a.v, b.v)}; }
AC_INLINE i32 andnot(i32 a, i32 b) { return {_mm256_andnot_si256(a.v, b.v)}; }
AC_INLINE i64 andnot(i64 a, i64 b) { return {_mm256_andnot_si256(a.v, b.v)}; }
template <int n>
AC_INLINE i32 shift_left(i32 a) {
    return {_mm256_slli_epi32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_left(i64 a) {
    return {_mm256_slli_epi64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right(i32 a) {
    return {_mm256_srli_epi32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_right(i64 a) {
    return {_mm256_srli_epi64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right_signed(i32 a) {
    return {_mm256_srai_epi32(a.v, n)};
}
AC_INLINE i32 operator-(i32 a) { return zero<int32_t>() - a; }
AC_INLINE f32 abs(f32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
AC_INLINE f64 abs(f64 a) { return {_mm256_andnot_pd(_mm256_set1_pd(-0.0), a.v)}; }
AC_INLINE f32 operator-(f32 a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
AC_INLINE f64 operator-(f64 a) { return {_mm256_xor_pd(a.v, _mm256_set1_pd(-0.0))}; }
AC_INLINE f32 copysign(f32 a, f32 b) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return {_mm256_or_ps(_mm256_andnot_ps(sign, a.v), _mm256_and_ps(sign, b.v))};
}
AC_INLINE f64 copysign(f64 a, f64 b) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_or_pd(_mm256_andnot_pd(sign, a.v), _mm256_and_pd(sign, b.v))};
}

// ---- rounding, conversions, powers of two
constexpr int ac_nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
constexpr int ac_down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
constexpr int ac_up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
constexpr int ac_to_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
AC_INLINE f32 round_even(f32 a) { return {_mm256_round_ps(a.v, ac_nearest)}; }
AC_INLINE f64 round_even(f64 a) { return {_mm256_round_pd(a.v, ac_nearest)}; }
AC_INLINE f32 floor(f32 a) { return {_mm256_round_ps(a.v, ac_down)}; }
AC_INLINE f64 floor(f64 a) { return {_mm256_round_pd(a.v, ac_down)}; }
AC_INLINE f32 ceil(f32 a) { return {_mm256_round_ps(a.v, ac_up)}; }
AC_INLINE f64 ceil(f64 a) { return {_mm256_round_pd(a.v, ac_up)}; }
AC_INLINE f32 trunc(f32 a) { return {_mm256_round_ps(a.v, ac_to_zero)}; }
AC_INLINE f64 trunc(f64 a) { return {_mm256_round_pd(a.v, ac_to_zero)}; }
AC_INLINE i32 to_int(f32 a) { return {_mm256_cvtps_epi32(a.v)}; }
AC_INLINE f32 to_float(i32 a) { return {_mm256_cvtepi32_ps(a.v)}; }
// 1.5 * 2^52: adding it leaves the rounded value in the low bits of the significand.
AC_INLINE i64 to_int(f64 a) {
    const f64 magic = set1<double>(6755399441055744.0);
    return bits(a + magic) - bits(magic);
}
AC_INLINE f64 to_float(i64 a) {
    const f64 magic = set1<double>(6755399441055744.0);
    return floats(a + bits(magic)) - magic;
}

// ---- between float and double
AC_INLINE f64 low_double(f32 a) {
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(a.v))};
}
AC_INLINE f64 high_double(f32 a) {
    return {_mm256_cvtps_pd(_mm256_extractf128_ps(a.v, 1))};
}
AC_INLINE f32 narrow(f64 low, f64 high) {
    return {_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low.v)),
                                 _mm256_cvtpd_ps(high.v), 1)};
}
constexpr bool has_scale = false;
constexpr bool has_flush = false;
constexpr bool has_exponent = false;

// ---- numbers of 16 bits, each in a lane of 32
AC_INLINE i32 load_halves(const uint16_t* p) {
    return {
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
AC_INLINE i32 load_halves_first(const uint16_t* p, int64_t n) {
    uint16_t all[8] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = p[i];
    return load_halves(all);
}
// The lanes' lower halves; none saturates, as they are 0 to 65535.
AC_INLINE __m128i packed_halves(i32 a) {
    return _mm_packus_epi32(_mm256_castsi256_si128(a.v),
                            _mm256_extracti128_si256(a.v, 1));
}
AC_INLINE void store_halves(uint16_t* p, i32 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), packed_halves(a));
}
AC_INLINE void store_halves_first(uint16_t* p, i32 a, int64_t n) {
    uint16_t all[8];
    store_halves(all, a);
    for (int64_t i = 0; i < n; ++i) p[i] = all[i];
}
AC_INLINE f32 from_float16(i32 a) { return {_mm256_cvtph_ps(packed_halves(a))}; }
AC_INLINE i32 to_float16(f32 a) {
    return {_mm256_cvtepu16_epi32(
        _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))};
}

// ---- reductions: halves, quarters, neighbours
//     0 1 2 3 | 4 5 6 7  ->  04 15 26 37  ->  0426 1537  ->  the sum, in lane 0
AC_INLINE float reduce_add(f32 a) {
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
AC_INLINE float reduce_max(f32 a) {
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}
AC_INLINE float reduce_min(f32 a) {
    __m128 x = _mm_min_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_movehdup_ps(x)));
}
AC_INLINE double reduce_add(f64 a) {
    const __m128d x =
        _mm_add_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)));
}
AC_INLINE double reduce_max(f64 a) {
    const __m128d x =
        _mm_max_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(x, _mm_unpackhi_pd(x, x)));
}
AC_INLINE double reduce_min(f64 a) {
    const __m128d x =
        _mm_min_pd(_mm256_castpd256_pd128(a.v), _mm256_extractf128_pd(a.v, 1));
    return _mm_cvtsd_f64(_mm_min_sd(x, _mm_unpackhi_pd(x, x)));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
