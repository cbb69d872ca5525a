// SPDX-License-Identifier: MIT
//
// The vector type of one instruction set: what generic code takes for granted.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "elementwise/vector_math.hpp"

using namespace autocalc::simd::AC_ISA;

namespace {

template <class T>
struct Lanes {
    T at[vec<T>::lanes];
    explicit Lanes(vec<T> v) { store(at, v); }
};
template <class T>
T lane0(vec<T> v) {
    return Lanes<T>(v).at[0];
}

}  // namespace

TEST_CASE_TEMPLATE("parts of a register", T, float, double, int32_t, int64_t) {
    constexpr int lanes = vec<T>::lanes;
    T from[lanes + 2];
    for (int i = 0; i < lanes + 2; ++i) from[i] = T(i + 1);
    for (int n = 0; n <= lanes; ++n) {
        T to[lanes + 2];
        for (T& x : to) x = T(-7);
        const vec<T> v = load_first(from + 1, n);
        const Lanes<T> whole(v);
        store_first(to + 1, v, n);
        for (int i = 0; i < lanes; ++i) CHECK(whole.at[i] == (i < n ? T(i + 2) : T(0)));
        for (int i = -1; i <= lanes; ++i)
            CHECK(to[i + 1] == (i >= 0 && i < n ? T(i + 2) : T(-7)));
    }
}

TEST_CASE_TEMPLATE("numbers are compared, also with NaN", T, float, double) {
    const vec<T> one = set1<T>(1);
    const vec<T> two = set1<T>(2);
    const vec<T> bad = set1<T>(T(NAN));
    CHECK(lane0(min(one, two)) == 1);
    CHECK(lane0(max(one, two)) == 2);
    // The second operand if either is NaN ...
    CHECK(lane0(min(bad, one)) == 1);
    CHECK(std::isnan(lane0(min(one, bad))));
    CHECK(lane0(max(bad, one)) == 1);
    CHECK(std::isnan(lane0(max(one, bad))));
    // ... and NaN.
    for (const vec<T> x :
         {minimum(bad, one), minimum(one, bad), maximum(bad, one), maximum(one, bad)}) {
        CHECK(std::isnan(lane0(x)));
    }
    CHECK_FALSE(any(eq(bad, bad)));
    CHECK(all(ne(bad, bad)));
    CHECK_FALSE(any(lt(bad, one)));
    CHECK(all(is_nan(bad)));
    CHECK_FALSE(any(is_nan(one)));
    CHECK(all(le(one, one)));
    CHECK_FALSE(any(gt(one, two)));
    CHECK(all(ge(two, one)));
}

TEST_CASE_TEMPLATE("masks", T, float, double) {
    constexpr int lanes = vec<T>::lanes;
    const uint32_t every = (1u << lanes) - 1;
    for (int n = 0; n <= lanes; ++n) {
        const mask<T> m = first<T>(n);
        const uint32_t bits_of_n = (1u << n) - 1;
        CHECK(lane_bits(m) == bits_of_n);
        CHECK(lane_bits(~m) == (every ^ bits_of_n));
        CHECK(lane_bits(m & first<T>(1)) == (bits_of_n & 1));
        CHECK(lane_bits(m | first<T>(1)) == (bits_of_n | 1));
        CHECK(lane_bits(m ^ first<T>(lanes)) == (every ^ bits_of_n));
        CHECK(any(m) == (n > 0));
        CHECK(all(m) == (n == lanes));
        const Lanes<T> chosen(select(m, set1<T>(3), set1<T>(5)));
        const Lanes<T> kept(keep(m, set1<T>(3)));
        for (int i = 0; i < lanes; ++i) {
            CHECK(chosen.at[i] == (i < n ? 3 : 5));
            CHECK(kept.at[i] == (i < n ? 3 : 0));
        }
    }
}

TEST_CASE_TEMPLATE("rounding", T, float, double) {
    for (const T x : {T(0.5), T(1.5), T(-0.5), T(-2.5), T(2.3), T(-2.7), T(0), T(1e30),
                      T(-1e30), T(4194304.5), T(8388607.5)}) {
        CAPTURE(x);
        const vec<T> v = set1<T>(x);
        CHECK(lane0(round_even(v)) == std::nearbyint(x));
        CHECK(lane0(floor(v)) == std::floor(x));
        CHECK(lane0(ceil(v)) == std::ceil(x));
        CHECK(lane0(trunc(v)) == std::trunc(x));
    }
}

TEST_CASE_TEMPLATE("conversions", T, float, double) {
    const Lanes<int_of<T>> index(lane_index<T>());
    for (int i = 0; i < vec<T>::lanes; ++i) CHECK(index.at[i] == i);
    for (const int x : {0, 1, -1, 1234567, -16777215}) {
        CHECK(lane0(to_int(set1<T>(T(x)))) == x);
        CHECK(lane0(to_float(set1<int_of<T>>(x))) == T(x));
    }
    CHECK(lane0(to_int(set1<T>(T(2.5)))) == 2);
    CHECK(lane0(to_int(set1<T>(T(-3.5)))) == -4);
}

TEST_CASE("floats as two halves of doubles") {
    constexpr int half = vec<double>::lanes;
    float from[2 * half];
    for (int i = 0; i < 2 * half; ++i) from[i] = 0.5f + static_cast<float>(i);
    const f32 v = load(from);
    const Lanes<double> low(low_double(v));
    const Lanes<double> high(high_double(v));
    const Lanes<float> again(narrow(low_double(v), high_double(v)));
    for (int i = 0; i < half; ++i) {
        CHECK(low.at[i] == from[i]);
        CHECK(high.at[i] == from[half + i]);
    }
    for (int i = 0; i < 2 * half; ++i) CHECK(again.at[i] == from[i]);
}

TEST_CASE_TEMPLATE("powers of two", T, float, double) {
    const int range = sizeof(T) == 4 ? 252 : 2044;
    for (int n = -range; n <= range; ++n) {
        CAPTURE(n);
        CHECK(lane0(scale2_any(set1<T>(T(1.625)), set1<T>(T(n)))) ==
              std::ldexp(T(1.625), n));
    }
    const int least = sizeof(T) == 4 ? -126 : -1022;
    for (int n = least; n <= 1 - least; ++n) {
        CAPTURE(n);
        CHECK(lane0(scale2_normal(set1<T>(1), set1<T>(T(n)))) == std::ldexp(T(1), n));
    }
    if (!has_scale) CHECK(lane0(scale2_normal(set1<T>(1), set1<T>(T(least - 1)))) == 0);
}

TEST_CASE_TEMPLATE("signs", T, float, double) {
    for (const T x : {T(2), T(-2), T(0), T(-0.0), T(INFINITY), T(-INFINITY)}) {
        const vec<T> v = set1<T>(x);
        CHECK(lane0(abs(v)) == std::fabs(x));
        CHECK_FALSE(std::signbit(lane0(abs(v))));
        CHECK(std::signbit(lane0(-v)) != std::signbit(x));
        CHECK(std::signbit(lane0(copysign(set1<T>(3), v))) == std::signbit(x));
        CHECK(lane0(copysign(set1<T>(-3), v)) == std::copysign(T(3), x));
    }
}

TEST_CASE_TEMPLATE("products and sums", T, float, double) {
    const vec<T> three = set1<T>(3);
    const vec<T> five = set1<T>(5);
    const vec<T> seven = set1<T>(7);
    CHECK(lane0(fma(three, five, seven)) == 22);
    CHECK(lane0(fnma(three, five, seven)) == -8);
    CHECK(lane0(seven / five) == T(7) / T(5));
    CHECK(lane0(sqrt(seven)) == std::sqrt(T(7)));
    // 1 + 2^-n squared less 1 + 2^(1 - n) is 2^-2n, if it rounds once.
    const T small = sizeof(T) == 4 ? T(0x1p-13) : T(0x1p-30);
    const vec<T> x = set1<T>(1 + small);
    CHECK(lane0(fma(x, x, set1<T>(-1 - 2 * small))) == (has_fma ? small * small : 0));
}

TEST_CASE("integers") {
    const i32 a = set1<int32_t>(-123456789);
    CHECK(lane0(a * set1<int32_t>(1000003)) ==
          static_cast<int32_t>(-123456789LL * 1000003LL));
    CHECK(lane0(shift_right<4>(a)) ==
          static_cast<int32_t>(static_cast<uint32_t>(-123456789) >> 4));
    CHECK(lane0(shift_right_signed<4>(a)) == -123456789 / 16 - 1);
    CHECK(lane0(shift_left<4>(set1<int32_t>(5))) == 80);
    CHECK(lane0(andnot(set1<int32_t>(6), set1<int32_t>(12))) == 8);
    CHECK(lane0(multiply_low(set1<int64_t>(-1), set1<int64_t>(0xfffffffeLL))) ==
          static_cast<int64_t>(0xffffffffULL * 0xfffffffeULL));
    CHECK(lane0(shift_right<60>(set1<int64_t>(-1))) == 15);
    CHECK(all(gt(set1<int64_t>(int64_t{1} << 40), set1<int64_t>(3))));
    CHECK_FALSE(any(gt(set1<int64_t>(-1), set1<int64_t>(0))));
    CHECK_FALSE(any(eq(set1<int64_t>(1), set1<int64_t>((int64_t{1} << 32) + 1))));
}

TEST_CASE("pairs are interleaved") {
    constexpr int lanes = vec<int64_t>::lanes;
    uint32_t out[4 * lanes];
    const i64 index = lane_index<double>() + set1<int64_t>(int64_t{7} << 32);
    store_pairs(out, index, index + set1<int64_t>(100));
    for (int i = 0; i < lanes; ++i) {
        CHECK(out[4 * i] == i);
        CHECK(out[4 * i + 1] == 7);
        CHECK(out[4 * i + 2] == 100 + i);
        CHECK(out[4 * i + 3] == 7);
    }
    int64_t first[lanes];
    store(first, load_pairs(out));
    CHECK(first[0] == int64_t{7} << 32);
    CHECK(first[1] == (int64_t{7} << 32) + 100);
}

TEST_CASE_TEMPLATE("every second element", T, float, double) {
    constexpr int lanes = vec<T>::lanes;
    T a[2 * lanes], out[lanes];
    for (int i = 0; i < 2 * lanes; ++i) a[i] = T(i);
    store(out, even(load(a), load(a + lanes)));
    for (int i = 0; i < lanes; ++i) CHECK(out[i] == T(2 * i));
}

TEST_CASE_TEMPLATE("elements in turn", T, float, double) {
    constexpr int lanes = vec<T>::lanes;
    T a[lanes], b[lanes], out[2 * lanes];
    for (int i = 0; i < lanes; ++i) {
        a[i] = T(i);
        b[i] = T(100 + i);
    }
    store(out, zip_low(load(a), load(b)));
    store(out + lanes, zip_high(load(a), load(b)));
    for (int i = 0; i < lanes; ++i) {
        CHECK(out[2 * i] == T(i));
        CHECK(out[2 * i + 1] == T(100 + i));
    }
}

TEST_CASE_TEMPLATE("reductions", T, float, double) {
    constexpr int lanes = vec<T>::lanes;
    T a[lanes];
    for (int i = 0; i < lanes; ++i) a[i] = T((i * 7) % lanes + 1);
    const vec<T> v = load(a);
    CHECK(reduce_add(v) == T(lanes * (lanes + 1) / 2));
    CHECK(reduce_max(v) == T(lanes));
    CHECK(reduce_min(v) == T(1));
}

TEST_CASE_TEMPLATE("booleans", T, float, double) {
    constexpr int lanes = vec<T>::lanes;
    uint8_t from[lanes];
    uint8_t to[lanes + 1];
    for (int i = 0; i < lanes; ++i) from[i] = i % 3 == 0;
    for (int n = 0; n <= lanes; ++n) {
        for (uint8_t& x : to) x = 9;
        store_bools_first(to, load_bools_first<T>(from, n), n);
        for (int i = 0; i <= lanes; ++i) CHECK(to[i] == (i < n ? from[i] : 9));
    }
    store_bools(to, load_bools<T>(from));
    for (int i = 0; i < lanes; ++i) CHECK(to[i] == from[i]);
    CHECK(to[lanes] == 9);
}
