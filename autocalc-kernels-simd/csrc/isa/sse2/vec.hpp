// SPDX-License-Identifier: MIT
//
// The vector type on SSE2, the baseline of x86-64. Names: ../README.md.
#pragma once

#include <emmintrin.h>

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr bool has_fma = false;

template <>
struct vec<float> {
    __m128 v;
    static constexpr int lanes = 4;
};
template <>
struct vec<double> {
    __m128d v;
    static constexpr int lanes = 2;
};
template <>
struct vec<int32_t> {
    __m128i v;
    static constexpr int lanes = 4;
};
template <>
struct vec<int64_t> {
    __m128i v;
    static constexpr int lanes = 2;
};
using f32 = vec<float>;
using f64 = vec<double>;
using i32 = vec<int32_t>;
using i64 = vec<int64_t>;

// All bits of a lane are set, or none.
template <>
struct lane_mask<4> {
    __m128i m;
};
template <>
struct lane_mask<8> {
    __m128i m;
};
using m32 = lane_mask<4>;
using m64 = lane_mask<8>;

// ---- masks
template <class T>
AC_INLINE mask<T> first(int64_t n);
template <>
AC_INLINE m32 first<float>(int64_t n) {
    return {_mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(n)),
                            _mm_setr_epi32(0, 1, 2, 3))};
}
template <>
AC_INLINE m64 first<double>(int64_t n) {
    return {_mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(n)),
                            _mm_setr_epi32(0, 0, 1, 1))};
}
template <>
AC_INLINE m32 first<int32_t>(int64_t n) {
    return first<float>(n);
}
template <>
AC_INLINE m64 first<int64_t>(int64_t n) {
    return first<double>(n);
}
AC_INLINE m32 operator&(m32 a, m32 b) { return {_mm_and_si128(a.m, b.m)}; }
AC_INLINE m32 operator|(m32 a, m32 b) { return {_mm_or_si128(a.m, b.m)}; }
AC_INLINE m32 operator^(m32 a, m32 b) { return {_mm_xor_si128(a.m, b.m)}; }
AC_INLINE m32 operator~(m32 a) { return {_mm_xor_si128(a.m, _mm_set1_epi32(-1))}; }
AC_INLINE m64 operator&(m64 a, m64 b) { return {_mm_and_si128(a.m, b.m)}; }
AC_INLINE m64 operator|(m64 a, m64 b) { return {_mm_or_si128(a.m, b.m)}; }
AC_INLINE m64 operator^(m64 a, m64 b) { return {_mm_xor_si128(a.m, b.m)}; }
AC_INLINE m64 operator~(m64 a) { return {_mm_xor_si128(a.m, _mm_set1_epi32(-1))}; }
AC_INLINE bool any(m32 a) { return _mm_movemask_epi8(a.m) != 0; }
AC_INLINE bool any(m64 a) { return _mm_movemask_epi8(a.m) != 0; }
AC_INLINE bool all(m32 a) { return _mm_movemask_epi8(a.m) == 0xffff; }
AC_INLINE bool all(m64 a) { return _mm_movemask_epi8(a.m) == 0xffff; }
AC_INLINE uint32_t lane_bits(m32 a) {
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(a.m)));
}
AC_INLINE uint32_t lane_bits(m64 a) {
    return static_cast<uint32_t>(_mm_movemask_pd(_mm_castsi128_pd(a.m)));
}

// ---- making, loading, storing
template <class T>
AC_INLINE vec<T> set1(T x);
template <>
AC_INLINE f32 set1<float>(float x) {
    return {_mm_set1_ps(x)};
}
template <>
AC_INLINE f64 set1<double>(double x) {
    return {_mm_set1_pd(x)};
}
template <>
AC_INLINE i32 set1<int32_t>(int32_t x) {
    return {_mm_set1_epi32(x)};
}
template <>
AC_INLINE i64 set1<int64_t>(int64_t x) {
    return {_mm_set1_epi64x(x)};
}
template <class T>
AC_INLINE vec<T> zero() {
    return set1<T>(0);
}
template <class T>
AC_INLINE ints<T> lane_index();
template <>
AC_INLINE i32 lane_index<float>() {
    return {_mm_setr_epi32(0, 1, 2, 3)};
}
template <>
AC_INLINE i64 lane_index<double>() {
    return {_mm_set_epi64x(1, 0)};
}
AC_INLINE const __m128i* as128(const void* p) { return static_cast<const __m128i*>(p); }
AC_INLINE __m128i* as128(void* p) { return static_cast<__m128i*>(p); }
AC_INLINE f32 load(const float* p) { return {_mm_loadu_ps(p)}; }
AC_INLINE f64 load(const double* p) { return {_mm_loadu_pd(p)}; }
AC_INLINE i32 load(const int32_t* p) { return {_mm_loadu_si128(as128(p))}; }
AC_INLINE i64 load(const int64_t* p) { return {_mm_loadu_si128(as128(p))}; }
AC_INLINE void store(float* p, f32 a) { _mm_storeu_ps(p, a.v); }
AC_INLINE void store(double* p, f64 a) { _mm_storeu_pd(p, a.v); }
AC_INLINE void store(int32_t* p, i32 a) { _mm_storeu_si128(as128(p), a.v); }
AC_INLINE void store(int64_t* p, i64 a) { _mm_storeu_si128(as128(p), a.v); }
AC_INLINE f32 load_first(const float* p, int64_t n) {
    switch (n) {
        case 0:
            return {_mm_setzero_ps()};
        case 1:
            return {_mm_set_ss(load_bits<float>(p))};
        case 2:
            return {_mm_castsi128_ps(_mm_loadl_epi64(as128(p)))};
        case 3:
            return {_mm_movelh_ps(_mm_castsi128_ps(_mm_loadl_epi64(as128(p))),
                                  _mm_set_ss(load_bits<float>(p + 2)))};
        default:
            return load(p);
    }
}
AC_INLINE f64 load_first(const double* p, int64_t n) {
    switch (n) {
        case 0:
            return {_mm_setzero_pd()};
        case 1:
            return {_mm_set_sd(load_bits<double>(p))};
        default:
            return load(p);
    }
}
AC_INLINE i32 load_first(const int32_t* p, int64_t n) {
    return {_mm_castps_si128(load_first(reinterpret_cast<const float*>(p), n).v)};
}
AC_INLINE i64 load_first(const int64_t* p, int64_t n) {
    return {_mm_castpd_si128(load_first(reinterpret_cast<const double*>(p), n).v)};
}
AC_INLINE void store_first(float* p, f32 a, int64_t n) {
    switch (n) {
        case 0:
            return;
        case 1:
            store_bits(p, _mm_cvtss_f32(a.v));
            return;
        case 2:
            _mm_storel_epi64(as128(p), _mm_castps_si128(a.v));
            return;
        case 3:
            _mm_storel_epi64(as128(p), _mm_castps_si128(a.v));
            store_bits(p + 2, _mm_cvtss_f32(_mm_movehl_ps(a.v, a.v)));
            return;
        default:
            store(p, a);
            return;
    }
}
AC_INLINE void store_first(double* p, f64 a, int64_t n) {
    switch (n) {
        case 0:
            return;
        case 1:
            store_bits(p, _mm_cvtsd_f64(a.v));
            return;
        default:
            store(p, a);
            return;
    }
}
AC_INLINE void store_first(int32_t* p, i32 a, int64_t n) {
    store_first(reinterpret_cast<float*>(p), f32{_mm_castsi128_ps(a.v)}, n);
}
AC_INLINE void store_first(int64_t* p, i64 a, int64_t n) {
    store_first(reinterpret_cast<double*>(p), f64{_mm_castsi128_pd(a.v)}, n);
}

// Elements 0, 2, 4 ... of a followed by b.
AC_INLINE f32 even(f32 a, f32 b) {
    return {_mm_shuffle_ps(a.v, b.v, 0x88)};  // a0 a2 b0 b2
}
AC_INLINE f64 even(f64 a, f64 b) { return {_mm_unpacklo_pd(a.v, b.v)}; }

// The first halves of a and b, element by element in turn, and the second ones.
AC_INLINE f32 zip_low(f32 a, f32 b) { return {_mm_unpacklo_ps(a.v, b.v)}; }
AC_INLINE f32 zip_high(f32 a, f32 b) { return {_mm_unpackhi_ps(a.v, b.v)}; }
AC_INLINE f64 zip_low(f64 a, f64 b) { return {_mm_unpacklo_pd(a.v, b.v)}; }
AC_INLINE f64 zip_high(f64 a, f64 b) { return {_mm_unpackhi_pd(a.v, b.v)}; }

// Pairs of words, the first of each in the low half.
AC_INLINE i64 load_pairs(const uint32_t* p) { return {_mm_loadu_si128(as128(p))}; }
// Pair 2i becomes a[i], pair 2i + 1 b[i].
AC_INLINE void store_pairs(uint32_t* out, i64 a, i64 b) {
    _mm_storeu_si128(as128(out), _mm_unpacklo_epi64(a.v, b.v));
    _mm_storeu_si128(as128(out + 4), _mm_unpackhi_epi64(a.v, b.v));
}

// ---- arithmetic
AC_INLINE f32 operator+(f32 a, f32 b) { return {_mm_add_ps(a.v, b.v)}; }
AC_INLINE f64 operator+(f64 a, f64 b) { return {_mm_add_pd(a.v, b.v)}; }
AC_INLINE i32 operator+(i32 a, i32 b) { return {_mm_add_epi32(a.v, b.v)}; }
AC_INLINE i64 operator+(i64 a, i64 b) { return {_mm_add_epi64(a.v, b.v)}; }
AC_INLINE f32 operator-(f32 a, f32 b) { return {_mm_sub_ps(a.v, b.v)}; }
AC_INLINE f64 operator-(f64 a, f64 b) { return {_mm_sub_pd(a.v, b.v)}; }
AC_INLINE i32 operator-(i32 a, i32 b) { return {_mm_sub_epi32(a.v, b.v)}; }
AC_INLINE i64 operator-(i64 a, i64 b) { return {_mm_sub_epi64(a.v, b.v)}; }
AC_INLINE f32 operator*(f32 a, f32 b) { return {_mm_mul_ps(a.v, b.v)}; }
AC_INLINE f64 operator*(f64 a, f64 b) { return {_mm_mul_pd(a.v, b.v)}; }
// Even and odd lanes as 64-bit products, of which the low halves are put together
// again; SSE2 has no product of 32-bit lanes.
//     even    lo0 hi0 lo2 hi2  ->  lo0 lo2      odd    lo1 hi1 lo3 hi3  ->  lo1 lo3
//     interleaved    lo0 lo1 lo2 lo3
AC_INLINE i32 operator*(i32 a, i32 b) {
    const __m128i even = _mm_mul_epu32(a.v, b.v);
    const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(a.v, 32), _mm_srli_epi64(b.v, 32));
    return {_mm_unpacklo_epi32(_mm_shuffle_epi32(even, _MM_SHUFFLE(0, 0, 2, 0)),
                               _mm_shuffle_epi32(odd, _MM_SHUFFLE(0, 0, 2, 0)))};
}
// The full product of the low, unsigned halves of each lane.
AC_INLINE i64 multiply_low(i64 a, i64 b) { return {_mm_mul_epu32(a.v, b.v)}; }
AC_INLINE f32 operator/(f32 a, f32 b) { return {_mm_div_ps(a.v, b.v)}; }
AC_INLINE f64 operator/(f64 a, f64 b) { return {_mm_div_pd(a.v, b.v)}; }
AC_INLINE f32 fma(f32 a, f32 b, f32 c) { return a * b + c; }
AC_INLINE f64 fma(f64 a, f64 b, f64 c) { return a * b + c; }
AC_INLINE f32 fnma(f32 a, f32 b, f32 c) { return c - a * b; }
AC_INLINE f64 fnma(f64 a, f64 b, f64 c) { return c - a * b; }
AC_INLINE f32 sqrt(f32 a) { return {_mm_sqrt_ps(a.v)}; }
AC_INLINE f64 sqrt(f64 a) { return {_mm_sqrt_pd(a.v)}; }
AC_INLINE f32 sqrt_by_fma(f32 a) { return sqrt(a); }
AC_INLINE f64 sqrt_by_fma(f64 a) { return sqrt(a); }
AC_INLINE f32 min(f32 a, f32 b) { return {_mm_min_ps(a.v, b.v)}; }
AC_INLINE f64 min(f64 a, f64 b) { return {_mm_min_pd(a.v, b.v)}; }
AC_INLINE f32 max(f32 a, f32 b) { return {_mm_max_ps(a.v, b.v)}; }
AC_INLINE f64 max(f64 a, f64 b) { return {_mm_max_pd(a.v, b.v)}; }

// ---- comparisons, selection
#define AC_COMPARE(name, op)                                \
    AC_INLINE m32 name(f32 a, f32 b) {                      \
        return {_mm_castps_si128(_mm_##op##_ps(a.v, b.v))}; \
    }                                                       \
    AC_INLINE m64 name(f64 a, f64 b) {                      \
        return {_mm_castpd_si128(_mm_##op##_pd(a.v, b.v))}; \
    }
AC_COMPARE(eq, cmpeq)
AC_COMPARE(ne, cmpneq)
AC_COMPARE(lt, cmplt)
AC_COMPARE(le, cmple)
AC_COMPARE(gt, cmpgt)
AC_COMPARE(ge, cmpge)
AC_COMPARE(unordered, cmpunord)
#undef AC_COMPARE
AC_INLINE m32 eq(i32 a, i32 b) { return {_mm_cmpeq_epi32(a.v, b.v)}; }
// Equal where both halves are: each half meets the other one of its lane.
AC_INLINE m64 eq(i64 a, i64 b) {
    const __m128i halves = _mm_cmpeq_epi32(a.v, b.v);
    return {_mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)))};
}
AC_INLINE m32 gt(i32 a, i32 b) { return {_mm_cmpgt_epi32(a.v, b.v)}; }
// The high halves decide; if they are equal, the borrow of b - a does. The sign of the
// high half is then spread over its lane: 1 1 3 3.
AC_INLINE m64 gt(i64 a, i64 b) {
    const __m128i equal =
        _mm_and_si128(_mm_cmpeq_epi32(a.v, b.v), _mm_sub_epi64(b.v, a.v));
    const __m128i high = _mm_or_si128(equal, _mm_cmpgt_epi32(a.v, b.v));
    return {_mm_shuffle_epi32(_mm_srai_epi32(high, 31), _MM_SHUFFLE(3, 3, 1, 1))};
}
AC_INLINE m32 is_nan(f32 a) { return unordered(a, a); }
AC_INLINE m64 is_nan(f64 a) { return unordered(a, a); }
AC_INLINE __m128i select_bits(__m128i m, __m128i a, __m128i b) {
    return _mm_or_si128(_mm_and_si128(m, a), _mm_andnot_si128(m, b));
}
AC_INLINE i32 select(m32 m, i32 a, i32 b) { return {select_bits(m.m, a.v, b.v)}; }
AC_INLINE i64 select(m64 m, i64 a, i64 b) { return {select_bits(m.m, a.v, b.v)}; }
AC_INLINE f32 select(m32 m, f32 a, f32 b) {
    return {_mm_castsi128_ps(
        select_bits(m.m, _mm_castps_si128(a.v), _mm_castps_si128(b.v)))};
}
AC_INLINE f64 select(m64 m, f64 a, f64 b) {
    return {_mm_castsi128_pd(
        select_bits(m.m, _mm_castpd_si128(a.v), _mm_castpd_si128(b.v)))};
}
AC_INLINE f32 keep(m32 m, f32 a) { return {_mm_and_ps(_mm_castsi128_ps(m.m), a.v)}; }
AC_INLINE f64 keep(m64 m, f64 a) { return {_mm_and_pd(_mm_castsi128_pd(m.m), a.v)}; }
AC_INLINE i32 keep(m32 m, i32 a) { return {_mm_and_si128(m.m, a.v)}; }
AC_INLINE i64 keep(m64 m, i64 a) { return {_mm_and_si128(m.m, a.v)}; }
AC_INLINE f32 minimum(f32 a, f32 b) { return select(is_nan(a), a, min(a, b)); }
AC_INLINE f64 minimum(f64 a, f64 b) { return select(is_nan(a), a, min(a, b)); }
AC_INLINE f32 maximum(f32 a, f32 b) { return select(is_nan(a), a, max(a, b)); }
AC_INLINE f64 maximum(f64 a, f64 b) { return select(is_nan(a), a, max(a, b)); }

// ---- masks as bytes
template <class T>
AC_INLINE mask<T> load_bools(const uint8_t* p);
template <>
AC_INLINE m32 load_bools<float>(const uint8_t* p) {
    return {
        _mm_cmpgt_epi32(_mm_setr_epi32(p[0], p[1], p[2], p[3]), _mm_setzero_si128())};
}
template <>
AC_INLINE m64 load_bools<double>(const uint8_t* p) {
    return {
        _mm_cmpgt_epi32(_mm_setr_epi32(p[0], p[0], p[1], p[1]), _mm_setzero_si128())};
}
template <class T>
AC_INLINE mask<T> load_bools_first(const uint8_t* p, int64_t n) {
    uint8_t bytes[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; ++i) bytes[i] = p[i];
    return load_bools<T>(bytes);
}
AC_INLINE void store_bools(uint8_t* p, m32 m) {
    const __m128i words = _mm_packs_epi32(m.m, m.m);
    const __m128i bytes =
        _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
    const int32_t four = _mm_cvtsi128_si32(bytes);
    memcpy(p, &four, sizeof four);
}
AC_INLINE void store_bools(uint8_t* p, m64 m) {
    const int lanes = _mm_movemask_pd(_mm_castsi128_pd(m.m));
    p[0] = static_cast<uint8_t>(lanes & 1);
    p[1] = static_cast<uint8_t>(lanes >> 1);
}
template <int LaneBytes>
AC_INLINE void store_bools_first(uint8_t* p, lane_mask<LaneBytes> m, int64_t n) {
    uint8_t bytes[4];
    store_bools(bytes, m);
    for (int64_t i = 0; i < n; ++i) p[i] = bytes[i];
}

// ---- bits
AC_INLINE i32 bits(f32 a) { return {_mm_castps_si128(a.v)}; }
AC_INLINE i64 bits(f64 a) { return {_mm_castpd_si128(a.v)}; }
AC_INLINE f32 floats(i32 a) { return {_mm_castsi128_ps(a.v)}; }
AC_INLINE f64 floats(i64 a) { return {_mm_castsi128_pd(a.v)}; }
AC_INLINE i32 operator&(i32 a, i32 b) { return {_mm_and_si128(a.v, b.v)}; }
AC_INLINE i64 operator&(i64 a, i64 b) { return {_mm_and_si128(a.v, b.v)}; }
AC_INLINE i32 operator|(i32 a, i32 b) { return {_mm_or_si128(a.v, b.v)}; }
AC_INLINE i64 operator|(i64 a, i64 b) { return {_mm_or_si128(a.v, b.v)}; }
AC_INLINE i32 operator^(i32 a, i32 b) { return {_mm_xor_si128(a.v, b.v)}; }
AC_INLINE i64 operator^(i64 a, i64 b) { return {_mm_xor_si128(a.v, b.v)}; }
AC_INLINE i32 andnot(i32 a, i32 b) { return {_mm_andnot_si128(a.v, b.v)}; }
AC_INLINE i64 andnot(i64 a, i64 b) { return {_mm_andnot_si128(a.v, b.v)}; }
template <int n>
AC_INLINE i32 shift_left(i32 a) {
    return {_mm_slli_epi32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_left(i64 a) {
    return {_mm_slli_epi64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right(i32 a) {
    return {_mm_srli_epi32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_right(i64 a) {
    return {_mm_srli_epi64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right_signed(i32 a) {
    return {_mm_srai_epi32(a.v, n)};
}
AC_INLINE i32 operator-(i32 a) { return zero<int32_t>() - a; }
AC_INLINE f32 abs(f32 a) { return {_mm_andnot_ps(_mm_set1_ps(-0.0f), a.v)}; }
AC_INLINE f64 abs(f64 a) { return {_mm_andnot_pd(_mm_set1_pd(-0.0), a.v)}; }
AC_INLINE f32 operator-(f32 a) { return {_mm_xor_ps(a.v, _mm_set1_ps(-0.0f))}; }
AC_INLINE f64 operator-(f64 a) { return {_mm_xor_pd(a.v, _mm_set1_pd(-0.0))}; }
AC_INLINE f32 copysign(f32 a, f32 b) {
    const __m128 sign = _mm_set1_ps(-0.0f);
    return {_mm_or_ps(_mm_andnot_ps(sign, a.v), _mm_and_ps(sign, b.v))};
}
AC_INLINE f64 copysign(f64 a, f64 b) {
    const __m128d sign = _mm_set1_pd(-0.0);
    return {_mm_or_pd(_mm_andnot_pd(sign, a.v), _mm_and_pd(sign, b.v))};
}

// ---- rounding, conversions, powers of two
// Adding 1.5 * 2^23 (2^52) leaves the rounded value in the low bits of the significand.
AC_INLINE i32 to_int(f32 a) { return {_mm_cvtps_epi32(a.v)}; }
AC_INLINE f32 to_float(i32 a) { return {_mm_cvtepi32_ps(a.v)}; }
AC_INLINE i64 to_int(f64 a) {
    const f64 magic = set1<double>(6755399441055744.0);
    return bits(a + magic) - bits(magic);
}
AC_INLINE f64 to_float(i64 a) {
    const f64 magic = set1<double>(6755399441055744.0);
    return floats(a + bits(magic)) - magic;
}
// From 2^23 (2^52) on every number is an integer, and so are infinities and NaN for us.
AC_INLINE f32 round_even(f32 a) {
    const f32 magic = copysign(set1<float>(8388608.0f), a);
    return select(lt(abs(a), set1<float>(8388608.0f)), copysign((a + magic) - magic, a),
                  a);
}
AC_INLINE f64 round_even(f64 a) {
    const f64 magic = copysign(set1<double>(4503599627370496.0), a);
    return select(lt(abs(a), set1<double>(4503599627370496.0)),
                  copysign((a + magic) - magic, a), a);
}
template <class T>
AC_INLINE vec<T> floor(vec<T> a) {
    const vec<T> near = round_even(a);
    return copysign(near - keep(gt(near, a), set1<T>(1)), a);
}
template <class T>
AC_INLINE vec<T> ceil(vec<T> a) {
    const vec<T> near = round_even(a);
    return copysign(near + keep(lt(near, a), set1<T>(1)), a);
}
template <class T>
AC_INLINE vec<T> trunc(vec<T> a) {
    return copysign(floor(abs(a)), a);
}

// ---- between float and double
AC_INLINE f64 low_double(f32 a) { return {_mm_cvtps_pd(a.v)}; }
AC_INLINE f64 high_double(f32 a) { return {_mm_cvtps_pd(_mm_movehl_ps(a.v, a.v))}; }
AC_INLINE f32 narrow(f64 low, f64 high) {
    return {_mm_movelh_ps(_mm_cvtpd_ps(low.v), _mm_cvtpd_ps(high.v))};
}
constexpr bool has_scale = false;
constexpr bool has_flush = false;
constexpr bool has_exponent = false;

// ---- numbers of 16 bits, each in a lane of 32
AC_INLINE i32 load_halves(const uint16_t* p) {
    return {_mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)),
                               _mm_setzero_si128())};
}
AC_INLINE i32 load_halves_first(const uint16_t* p, int64_t n) {
    uint16_t all[4] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = p[i];
    return load_halves(all);
}
AC_INLINE void store_halves(uint16_t* p, i32 a) {  // packing saturates signed numbers
    const __m128i signs = _mm_srai_epi32(_mm_slli_epi32(a.v, 16), 16);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi32(signs, signs));
}
AC_INLINE void store_halves_first(uint16_t* p, i32 a, int64_t n) {
    uint16_t all[4];
    store_halves(all, a);
    for (int64_t i = 0; i < n; ++i) p[i] = all[i];
}
// The magnitude's bits are those of a float that is 2^112 times too small, also of a
// subnormal number; infinities and NaN get a float's largest exponent.
AC_INLINE f32 from_float16(i32 a) {
    const i32 magnitude = shift_left<13>(a & set1<int32_t>(0x7fff));
    const i32 scaled = bits(floats(magnitude) * set1<float>(0x1p112f));
    const i32 special = magnitude | set1<int32_t>(0x7f800000);
    const m32 finite = gt(set1<int32_t>(0x7c00 << 13), magnitude);
    return floats(select(finite, scaled, special) |
                  shift_left<16>(a & set1<int32_t>(0x8000)));
}
// From 2^-14 on the exponent is made smaller and the bits that are lost are rounded;
// 65520 and more become infinity. Below, 1/2 is added, whose last bit is that of a
// subnormal float16.
AC_INLINE i32 to_float16(f32 a) {
    const i32 b = bits(abs(a)), last = shift_right<13>(b) & set1<int32_t>(1);
    const i32 normal = shift_right<13>(b + last + set1<int32_t>(0xfff - (112 << 23)));
    const f32 half = set1<float>(0.5f);
    const i32 small = bits(abs(a) + half) - bits(half);
    const i32 infinite = set1<int32_t>(0x7c00);
    i32 found = select(gt(set1<int32_t>(0x38800000), b), small, normal);
    found = select(gt(b, set1<int32_t>(0x477fefff)), infinite, found);
    found = select(is_nan(a), set1<int32_t>(0x7e00), found);
    return found | shift_right<16>(bits(a) & set1<int32_t>(INT32_MIN));
}

// ---- reductions: halves, then neighbours
//     0 1 2 3  ->  02 13 . .  ->  the sum, in lane 0
AC_INLINE float reduce_add(f32 a) {
    const __m128 x = _mm_add_ps(a.v, _mm_movehl_ps(a.v, a.v));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}
AC_INLINE float reduce_max(f32 a) {
    const __m128 x = _mm_max_ps(a.v, _mm_movehl_ps(a.v, a.v));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
}
AC_INLINE float reduce_min(f32 a) {
    const __m128 x = _mm_min_ps(a.v, _mm_movehl_ps(a.v, a.v));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_shuffle_ps(x, x, 1)));
}
AC_INLINE double reduce_add(f64 a) {
    return _mm_cvtsd_f64(_mm_add_sd(a.v, _mm_unpackhi_pd(a.v, a.v)));
}
AC_INLINE double reduce_max(f64 a) {
    return _mm_cvtsd_f64(_mm_max_sd(a.v, _mm_unpackhi_pd(a.v, a.v)));
}
AC_INLINE double reduce_min(f64 a) {
    return _mm_cvtsd_f64(_mm_min_sd(a.v, _mm_unpackhi_pd(a.v, a.v)));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
