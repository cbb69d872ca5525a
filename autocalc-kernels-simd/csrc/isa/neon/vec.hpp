// SPDX-License-Identifier: MIT
//
// The vector type on NEON, as every AArch64 has it. Names: ../README.md.
#pragma once

#include <arm_neon.h>

#include "common/base.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr bool has_fma = true;

template <>
struct vec<float> {
    float32x4_t v;
    static constexpr int lanes = 4;
};
template <>
struct vec<double> {
    float64x2_t v;
    static constexpr int lanes = 2;
};
template <>
struct vec<int32_t> {
    int32x4_t v;
    static constexpr int lanes = 4;
};
template <>
struct vec<int64_t> {
    int64x2_t v;
    static constexpr int lanes = 2;
};
using f32 = vec<float>;
using f64 = vec<double>;
using i32 = vec<int32_t>;
using i64 = vec<int64_t>;

// All bits of a lane are set, or none.
template <>
struct lane_mask<4> {
    uint32x4_t m;
};
template <>
struct lane_mask<8> {
    uint64x2_t m;
};
using m32 = lane_mask<4>;
using m64 = lane_mask<8>;

// ---- masks
template <class T>
AC_INLINE mask<T> first(int64_t n);
template <>
AC_INLINE m32 first<float>(int64_t n) {
    const int32x4_t index = {0, 1, 2, 3};
    return {vcgtq_s32(vdupq_n_s32(static_cast<int32_t>(n)), index)};
}
template <>
AC_INLINE m64 first<double>(int64_t n) {
    const int64x2_t index = {0, 1};
    return {vcgtq_s64(vdupq_n_s64(n), index)};
}
template <>
AC_INLINE m32 first<int32_t>(int64_t n) {
    return first<float>(n);
}
template <>
AC_INLINE m64 first<int64_t>(int64_t n) {
    return first<double>(n);
}
AC_INLINE m32 operator&(m32 a, m32 b) { return {vandq_u32(a.m, b.m)}; }
AC_INLINE m64 operator&(m64 a, m64 b) { return {vandq_u64(a.m, b.m)}; }
AC_INLINE m32 operator|(m32 a, m32 b) { return {vorrq_u32(a.m, b.m)}; }
AC_INLINE m64 operator|(m64 a, m64 b) { return {vorrq_u64(a.m, b.m)}; }
AC_INLINE m32 operator^(m32 a, m32 b) { return {veorq_u32(a.m, b.m)}; }
AC_INLINE m64 operator^(m64 a, m64 b) { return {veorq_u64(a.m, b.m)}; }
AC_INLINE m32 operator~(m32 a) { return {vmvnq_u32(a.m)}; }
AC_INLINE m64 operator~(m64 a) {
    return {vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(a.m)))};
}
AC_INLINE bool any(m32 a) { return vmaxvq_u32(a.m) != 0; }
AC_INLINE bool any(m64 a) { return vmaxvq_u32(vreinterpretq_u32_u64(a.m)) != 0; }
AC_INLINE bool all(m32 a) { return vminvq_u32(a.m) != 0; }
AC_INLINE bool all(m64 a) { return vminvq_u32(vreinterpretq_u32_u64(a.m)) != 0; }
AC_INLINE uint32_t lane_bits(m32 a) {
    const uint32x4_t bit = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(a.m, bit));
}
AC_INLINE uint32_t lane_bits(m64 a) {
    const uint64x2_t bit = {1, 2};
    return static_cast<uint32_t>(vaddvq_u64(vandq_u64(a.m, bit)));
}

// ---- making, loading, storing
template <class T>
AC_INLINE vec<T> set1(T x);
template <>
AC_INLINE f32 set1<float>(float x) {
    return {vdupq_n_f32(x)};
}
template <>
AC_INLINE f64 set1<double>(double x) {
    return {vdupq_n_f64(x)};
}
template <>
AC_INLINE i32 set1<int32_t>(int32_t x) {
    return {vdupq_n_s32(x)};
}
template <>
AC_INLINE i64 set1<int64_t>(int64_t x) {
    return {vdupq_n_s64(x)};
}
template <class T>
AC_INLINE vec<T> zero() {
    return set1<T>(0);
}
template <class T>
AC_INLINE ints<T> lane_index();
template <>
AC_INLINE i32 lane_index<float>() {
    const int32x4_t index = {0, 1, 2, 3};
    return {index};
}
template <>
AC_INLINE i64 lane_index<double>() {
    const int64x2_t index = {0, 1};
    return {index};
}
AC_INLINE f32 load(const float* p) { return {vld1q_f32(p)}; }
AC_INLINE f64 load(const double* p) { return {vld1q_f64(p)}; }
AC_INLINE i32 load(const int32_t* p) { return {vld1q_s32(p)}; }
AC_INLINE i64 load(const int64_t* p) { return {vld1q_s64(p)}; }
AC_INLINE void store(float* p, f32 a) { vst1q_f32(p, a.v); }
AC_INLINE void store(double* p, f64 a) { vst1q_f64(p, a.v); }
AC_INLINE void store(int32_t* p, i32 a) { vst1q_s32(p, a.v); }
AC_INLINE void store(int64_t* p, i64 a) { vst1q_s64(p, a.v); }
AC_INLINE i32 load_first(const int32_t* p, int64_t n) {
    const int32x2_t none = vdup_n_s32(0);
    switch (n) {
        case 0:
            return {vcombine_s32(none, none)};
        case 1:
            return {vcombine_s32(vld1_lane_s32(p, none, 0), none)};
        case 2:
            return {vcombine_s32(vld1_s32(p), none)};
        case 3:
            return {vcombine_s32(vld1_s32(p), vld1_lane_s32(p + 2, none, 0))};
        default:
            return load(p);
    }
}
AC_INLINE i64 load_first(const int64_t* p, int64_t n) {
    const int64x1_t none = vdup_n_s64(0);
    switch (n) {
        case 0:
            return {vcombine_s64(none, none)};
        case 1:
            return {vcombine_s64(vld1_s64(p), none)};
        default:
            return load(p);
    }
}
AC_INLINE f32 load_first(const float* p, int64_t n) {
    const float32x2_t none = vdup_n_f32(0);
    switch (n) {
        case 0:
            return {vcombine_f32(none, none)};
        case 1:
            return {vcombine_f32(vld1_lane_f32(p, none, 0), none)};
        case 2:
            return {vcombine_f32(vld1_f32(p), none)};
        case 3:
            return {vcombine_f32(vld1_f32(p), vld1_lane_f32(p + 2, none, 0))};
        default:
            return load(p);
    }
}
AC_INLINE f64 load_first(const double* p, int64_t n) {
    const float64x1_t none = vdup_n_f64(0);
    switch (n) {
        case 0:
            return {vcombine_f64(none, none)};
        case 1:
            return {vcombine_f64(vld1_f64(p), none)};
        default:
            return load(p);
    }
}
AC_INLINE void store_first(int32_t* p, i32 a, int64_t n) {
    switch (n) {
        case 0:
            return;
        case 1:
            vst1q_lane_s32(p, a.v, 0);
            return;
        case 2:
            vst1_s32(p, vget_low_s32(a.v));
            return;
        case 3:
            vst1_s32(p, vget_low_s32(a.v));
            vst1q_lane_s32(p + 2, a.v, 2);
            return;
        default:
            store(p, a);
            return;
    }
}
AC_INLINE void store_first(int64_t* p, i64 a, int64_t n) {
    switch (n) {
        case 0:
            return;
        case 1:
            vst1q_lane_s64(p, a.v, 0);
            return;
        default:
            store(p, a);
            return;
    }
}
AC_INLINE void store_first(float* p, f32 a, int64_t n) {
    switch (n) {
        case 0:
            return;
        case 1:
            vst1q_lane_f32(p, a.v, 0);
            return;
        case 2:
            vst1_f32(p, vget_low_f32(a.v));
            return;
        case 3:
            vst1_f32(p, vget_low_f32(a.v));
            vst1q_lane_f32(p + 2, a.v, 2);
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
            vst1q_lane_f64(p, a.v, 0);
            return;
        default:
            store(p, a);
            return;
    }
}

// Elements 0, 2, 4 ... of a followed by b.
AC_INLINE f32 even(f32 a, f32 b) { return {vuzp1q_f32(a.v, b.v)}; }
AC_INLINE f64 even(f64 a, f64 b) { return {vuzp1q_f64(a.v, b.v)}; }

// The first halves of a and b, element by element in turn, and the second ones.
AC_INLINE f32 zip_low(f32 a, f32 b) { return {vzip1q_f32(a.v, b.v)}; }
AC_INLINE f32 zip_high(f32 a, f32 b) { return {vzip2q_f32(a.v, b.v)}; }
AC_INLINE f64 zip_low(f64 a, f64 b) { return {vzip1q_f64(a.v, b.v)}; }
AC_INLINE f64 zip_high(f64 a, f64 b) { return {vzip2q_f64(a.v, b.v)}; }

// Pairs of words, the first of each in the low half.
AC_INLINE i64 load_pairs(const uint32_t* p) {
    return {vreinterpretq_s64_u32(vld1q_u32(p))};
}
// Pair 2i becomes a[i], pair 2i + 1 b[i].
AC_INLINE void store_pairs(uint32_t* out, i64 a, i64 b) {
    vst1q_u32(out, vreinterpretq_u32_s64(vzip1q_s64(a.v, b.v)));
    vst1q_u32(out + 4, vreinterpretq_u32_s64(vzip2q_s64(a.v, b.v)));
}

// ---- arithmetic
AC_INLINE f32 operator+(f32 a, f32 b) { return {vaddq_f32(a.v, b.v)}; }
AC_INLINE f64 operator+(f64 a, f64 b) { return {vaddq_f64(a.v, b.v)}; }
AC_INLINE i32 operator+(i32 a, i32 b) { return {vaddq_s32(a.v, b.v)}; }
AC_INLINE i64 operator+(i64 a, i64 b) { return {vaddq_s64(a.v, b.v)}; }
AC_INLINE f32 operator-(f32 a, f32 b) { return {vsubq_f32(a.v, b.v)}; }
AC_INLINE f64 operator-(f64 a, f64 b) { return {vsubq_f64(a.v, b.v)}; }
AC_INLINE i32 operator-(i32 a, i32 b) { return {vsubq_s32(a.v, b.v)}; }
AC_INLINE i64 operator-(i64 a, i64 b) { return {vsubq_s64(a.v, b.v)}; }
AC_INLINE f32 operator*(f32 a, f32 b) { return {vmulq_f32(a.v, b.v)}; }
AC_INLINE f64 operator*(f64 a, f64 b) { return {vmulq_f64(a.v, b.v)}; }
AC_INLINE i32 operator*(i32 a, i32 b) { return {vmulq_s32(a.v, b.v)}; }
// The full product of the low, unsigned halves of each lane.
AC_INLINE i64 multiply_low(i64 a, i64 b) {
    return {vreinterpretq_s64_u64(vmull_u32(vmovn_u64(vreinterpretq_u64_s64(a.v)),
                                            vmovn_u64(vreinterpretq_u64_s64(b.v))))};
}
AC_INLINE f32 operator/(f32 a, f32 b) { return {vdivq_f32(a.v, b.v)}; }
AC_INLINE f64 operator/(f64 a, f64 b) { return {vdivq_f64(a.v, b.v)}; }
AC_INLINE f32 fma(f32 a, f32 b, f32 c) { return {vfmaq_f32(c.v, a.v, b.v)}; }
AC_INLINE f64 fma(f64 a, f64 b, f64 c) { return {vfmaq_f64(c.v, a.v, b.v)}; }
AC_INLINE f32 fnma(f32 a, f32 b, f32 c) { return {vfmsq_f32(c.v, a.v, b.v)}; }
AC_INLINE f64 fnma(f64 a, f64 b, f64 c) { return {vfmsq_f64(c.v, a.v, b.v)}; }
AC_INLINE f32 sqrt(f32 a) { return {vsqrtq_f32(a.v)}; }
AC_INLINE f64 sqrt(f64 a) { return {vsqrtq_f64(a.v)}; }
AC_INLINE f32 sqrt_by_fma(f32 a) { return sqrt(a); }
AC_INLINE f64 sqrt_by_fma(f64 a) { return sqrt(a); }
// The instructions of these names answer NaN if either is; ours, the second operand.
AC_INLINE f32 min(f32 a, f32 b) { return {vbslq_f32(vcltq_f32(a.v, b.v), a.v, b.v)}; }
AC_INLINE f64 min(f64 a, f64 b) { return {vbslq_f64(vcltq_f64(a.v, b.v), a.v, b.v)}; }
AC_INLINE f32 max(f32 a, f32 b) { return {vbslq_f32(vcgtq_f32(a.v, b.v), a.v, b.v)}; }
AC_INLINE f64 max(f64 a, f64 b) { return {vbslq_f64(vcgtq_f64(a.v, b.v), a.v, b.v)}; }
AC_INLINE f32 minimum(f32 a, f32 b) { return {vminq_f32(a.v, b.v)}; }
AC_INLINE f64 minimum(f64 a, f64 b) { return {vminq_f64(a.v, b.v)}; }
AC_INLINE f32 maximum(f32 a, f32 b) { return {vmaxq_f32(a.v, b.v)}; }
AC_INLINE f64 maximum(f64 a, f64 b) { return {vmaxq_f64(a.v, b.v)}; }

// ---- comparisons, selection
#define AC_COMPARE(name, op)                                              \
    AC_INLINE m32 name(f32 a, f32 b) { return {v##op##q_f32(a.v, b.v)}; } \
    AC_INLINE m64 name(f64 a, f64 b) { return {v##op##q_f64(a.v, b.v)}; }
AC_COMPARE(eq, ceq)
AC_COMPARE(lt, clt)
AC_COMPARE(le, cle)
AC_COMPARE(gt, cgt)
AC_COMPARE(ge, cge)
#undef AC_COMPARE
AC_INLINE m32 ne(f32 a, f32 b) { return ~eq(a, b); }
AC_INLINE m64 ne(f64 a, f64 b) { return ~eq(a, b); }
AC_INLINE m32 eq(i32 a, i32 b) { return {vceqq_s32(a.v, b.v)}; }
AC_INLINE m64 eq(i64 a, i64 b) { return {vceqq_s64(a.v, b.v)}; }
AC_INLINE m32 gt(i32 a, i32 b) { return {vcgtq_s32(a.v, b.v)}; }
AC_INLINE m64 gt(i64 a, i64 b) { return {vcgtq_s64(a.v, b.v)}; }
AC_INLINE m32 is_nan(f32 a) { return ne(a, a); }
AC_INLINE m64 is_nan(f64 a) { return ne(a, a); }
AC_INLINE f32 select(m32 m, f32 a, f32 b) { return {vbslq_f32(m.m, a.v, b.v)}; }
AC_INLINE f64 select(m64 m, f64 a, f64 b) { return {vbslq_f64(m.m, a.v, b.v)}; }
AC_INLINE i32 select(m32 m, i32 a, i32 b) { return {vbslq_s32(m.m, a.v, b.v)}; }
AC_INLINE i64 select(m64 m, i64 a, i64 b) { return {vbslq_s64(m.m, a.v, b.v)}; }

// ---- bits
AC_INLINE i32 bits(f32 a) { return {vreinterpretq_s32_f32(a.v)}; }
AC_INLINE i64 bits(f64 a) { return {vreinterpretq_s64_f64(a.v)}; }
AC_INLINE f32 floats(i32 a) { return {vreinterpretq_f32_s32(a.v)}; }
AC_INLINE f64 floats(i64 a) { return {vreinterpretq_f64_s64(a.v)}; }
AC_INLINE i32 operator&(i32 a, i32 b) { return {vandq_s32(a.v, b.v)}; }
AC_INLINE i64 operator&(i64 a, i64 b) { return {vandq_s64(a.v, b.v)}; }
AC_INLINE i32 operator|(i32 a, i32 b) { return {vorrq_s32(a.v, b.v)}; }
AC_INLINE i64 operator|(i64 a, i64 b) { return {vorrq_s64(a.v, b.v)}; }
AC_INLINE i32 operator^(i32 a, i32 b) { return {veorq_s32(a.v, b.v)}; }
AC_INLINE i64 operator^(i64 a, i64 b) { return {veorq_s64(a.v, b.v)}; }
AC_INLINE i32 andnot(i32 a, i32 b) { return {vbicq_s32(b.v, a.v)}; }
AC_INLINE i64 andnot(i64 a, i64 b) { return {vbicq_s64(b.v, a.v)}; }
AC_INLINE i32 keep(m32 m, i32 a) { return i32{vreinterpretq_s32_u32(m.m)} & a; }
AC_INLINE i64 keep(m64 m, i64 a) { return i64{vreinterpretq_s64_u64(m.m)} & a; }
AC_INLINE f32 keep(m32 m, f32 a) { return floats(keep(m, bits(a))); }
AC_INLINE f64 keep(m64 m, f64 a) { return floats(keep(m, bits(a))); }
template <int n>
AC_INLINE i32 shift_left(i32 a) {
    return {vshlq_n_s32(a.v, n)};
}
template <int n>
AC_INLINE i64 shift_left(i64 a) {
    return {vshlq_n_s64(a.v, n)};
}
template <int n>
AC_INLINE i32 shift_right(i32 a) {
    return {vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(a.v), n))};
}
template <int n>
AC_INLINE i64 shift_right(i64 a) {
    return {vreinterpretq_s64_u64(vshrq_n_u64(vreinterpretq_u64_s64(a.v), n))};
}
template <int n>
AC_INLINE i32 shift_right_signed(i32 a) {
    return {vshrq_n_s32(a.v, n)};
}
AC_INLINE i32 operator-(i32 a) { return {vnegq_s32(a.v)}; }
AC_INLINE f32 operator-(f32 a) { return {vnegq_f32(a.v)}; }
AC_INLINE f64 operator-(f64 a) { return {vnegq_f64(a.v)}; }
AC_INLINE f32 abs(f32 a) { return {vabsq_f32(a.v)}; }
AC_INLINE f64 abs(f64 a) { return {vabsq_f64(a.v)}; }
AC_INLINE f32 copysign(f32 a, f32 b) {
    return {vbslq_f32(vdupq_n_u32(uint32_t{1} << 31), b.v, a.v)};
}
AC_INLINE f64 copysign(f64 a, f64 b) {
    return {vbslq_f64(vdupq_n_u64(uint64_t{1} << 63), b.v, a.v)};
}

// ---- masks as bytes
template <class T>
AC_INLINE mask<T> load_bools(const uint8_t* p);
template <>
AC_INLINE m32 load_bools<float>(const uint8_t* p) {
    uint32_t four;
    memcpy(&four, p, sizeof four);
    const uint16x8_t wide = vmovl_u8(vcreate_u8(four));
    const uint32x4_t words = vmovl_u16(vget_low_u16(wide));
    return {vtstq_u32(words, words)};
}
template <>
AC_INLINE m64 load_bools<double>(const uint8_t* p) {
    const uint64x2_t words = {p[0], p[1]};
    return {vtstq_u64(words, words)};
}
template <class T>
AC_INLINE mask<T> load_bools_first(const uint8_t* p, int64_t n) {
    uint8_t bytes[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; ++i) bytes[i] = p[i];
    return load_bools<T>(bytes);
}
// Narrowed twice, a lane of ones leaves a byte of ones.
AC_INLINE void store_bools(uint8_t* p, m32 m) {
    const uint16x4_t halves = vmovn_u32(m.m);
    const uint8x8_t bytes =
        vand_u8(vmovn_u16(vcombine_u16(halves, halves)), vdup_n_u8(1));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(bytes), 0);
    memcpy(p, &four, sizeof four);
}
AC_INLINE void store_bools(uint8_t* p, m64 m) {
    p[0] = static_cast<uint8_t>(vgetq_lane_u64(m.m, 0) & 1);
    p[1] = static_cast<uint8_t>(vgetq_lane_u64(m.m, 1) & 1);
}
template <int LaneBytes>
AC_INLINE void store_bools_first(uint8_t* p, lane_mask<LaneBytes> m, int64_t n) {
    uint8_t bytes[4];
    store_bools(bytes, m);
    for (int64_t i = 0; i < n; ++i) p[i] = bytes[i];
}

// ---- rounding, conversions, powers of two
AC_INLINE f32 round_even(f32 a) { return {vrndnq_f32(a.v)}; }
AC_INLINE f64 round_even(f64 a) { return {vrndnq_f64(a.v)}; }
AC_INLINE f32 floor(f32 a) { return {vrndmq_f32(a.v)}; }
AC_INLINE f64 floor(f64 a) { return {vrndmq_f64(a.v)}; }
AC_INLINE f32 ceil(f32 a) { return {vrndpq_f32(a.v)}; }
AC_INLINE f64 ceil(f64 a) { return {vrndpq_f64(a.v)}; }
AC_INLINE f32 trunc(f32 a) { return {vrndq_f32(a.v)}; }
AC_INLINE f64 trunc(f64 a) { return {vrndq_f64(a.v)}; }
AC_INLINE i32 to_int(f32 a) { return {vcvtnq_s32_f32(a.v)}; }
AC_INLINE i64 to_int(f64 a) { return {vcvtnq_s64_f64(a.v)}; }
AC_INLINE f32 to_float(i32 a) { return {vcvtq_f32_s32(a.v)}; }
AC_INLINE f64 to_float(i64 a) { return {vcvtq_f64_s64(a.v)}; }

// ---- between float and double
AC_INLINE f64 low_double(f32 a) { return {vcvt_f64_f32(vget_low_f32(a.v))}; }
AC_INLINE f64 high_double(f32 a) { return {vcvt_high_f64_f32(a.v)}; }
AC_INLINE f32 narrow(f64 low, f64 high) {
    return {vcvt_high_f32_f64(vcvt_f32_f64(low.v), high.v)};
}
constexpr bool has_scale = false;
constexpr bool has_flush = false;
constexpr bool has_exponent = false;

// ---- numbers of 16 bits, each in a lane of 32
AC_INLINE i32 load_halves(const uint16_t* p) {
    return {vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p)))};
}
AC_INLINE i32 load_halves_first(const uint16_t* p, int64_t n) {
    uint16_t all[4] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = p[i];
    return load_halves(all);
}
AC_INLINE uint16x4_t packed_halves(i32 a) {
    return vmovn_u32(vreinterpretq_u32_s32(a.v));
}
AC_INLINE void store_halves(uint16_t* p, i32 a) { vst1_u16(p, packed_halves(a)); }
AC_INLINE void store_halves_first(uint16_t* p, i32 a, int64_t n) {
    uint16_t all[4];
    store_halves(all, a);
    for (int64_t i = 0; i < n; ++i) p[i] = all[i];
}
AC_INLINE f32 from_float16(i32 a) {
    return {vcvt_f32_f16(vreinterpret_f16_u16(packed_halves(a)))};
}
AC_INLINE i32 to_float16(f32 a) {
    return {vreinterpretq_s32_u32(vmovl_u16(vreinterpret_u16_f16(vcvt_f16_f32(a.v))))};
}

// ---- reductions: neighbours, then halves
AC_INLINE float reduce_add(f32 a) { return vaddvq_f32(a.v); }
AC_INLINE float reduce_max(f32 a) { return vmaxvq_f32(a.v); }
AC_INLINE float reduce_min(f32 a) { return vminvq_f32(a.v); }
AC_INLINE double reduce_add(f64 a) { return vaddvq_f64(a.v); }
AC_INLINE double reduce_max(f64 a) { return vmaxvq_f64(a.v); }
AC_INLINE double reduce_min(f64 a) { return vminvq_f64(a.v); }

}  // namespace
}  // namespace autocalc::simd::AC_ISA
