// SPDX-License-Identifier: MIT
//
// bfloat16 and float16 in registers: read, computed with as floats, rounded once.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "common/halves.hpp"
#include "doctest/doctest.h"

using namespace autocalc::simd::AC_ISA;

namespace {

constexpr int lanes = f32::lanes;

template <class E>
float value_of(uint16_t bits) {
    const E x = {bits};
    float all[lanes];
    store(all, load_wide_first(&x, 1));
    return all[0];
}

template <class E>
uint16_t rounded(float x) {
    E all[lanes];
    for (E& one : all) one = {0xabcd};
    store_narrow_first(all, set1<float>(x), 1);
    for (int i = 1; i < lanes; ++i) REQUIRE(all[i].bits == 0xabcd);
    return all[0].bits;
}

// The value of a float16 by its definition.
float defined(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float sign = bits >> 15 ? -1.0f : 1.0f;
    if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
    return exponent == 0
               ? sign * std::ldexp(static_cast<float>(fraction), -24)
               : sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

// The least number that is not rounded to 0: one instruction knows none below 2^-126.
template <class E>
constexpr uint16_t least = 0;
#ifdef AC_ROUNDS_TO_BFLOAT16
template <>
constexpr uint16_t least<BFloat16> = 0x0080;
#endif

// All numbers, and between neighbours: a little below the middle, the middle, above.
template <class E>
void check_rounding(uint16_t infinity) {
    for (uint32_t i = 0; i < least<E>; ++i) {
        const float x = value_of<E>(static_cast<uint16_t>(i));
        REQUIRE(rounded<E>(x) == 0);
        REQUIRE(rounded<E>(-x) == 0x8000);
    }
    for (uint32_t i = least<E>; i < infinity; ++i) {
        const auto low = static_cast<uint16_t>(i), high = static_cast<uint16_t>(i + 1);
        const float below = value_of<E>(low);
        REQUIRE(rounded<E>(below) == low);
        REQUIRE(rounded<E>(-below) == (low | 0x8000));
        if (high == infinity) break;
        const float above = value_of<E>(high);
        const float middle = below + (above - below) / 2;
        REQUIRE(rounded<E>(middle) == (low & 1 ? high : low));
        REQUIRE(rounded<E>(std::nextafterf(middle, INFINITY)) == high);
        REQUIRE(rounded<E>(std::nextafterf(middle, 0.0f)) == low);
    }
    REQUIRE(rounded<E>(INFINITY) == infinity);
    REQUIRE(rounded<E>(-INFINITY) == (infinity | 0x8000));
    REQUIRE(std::isnan(value_of<E>(rounded<E>(NAN))));
}

}  // namespace

TEST_CASE("a bfloat16 is the upper half of a float") {
    for (uint32_t i = 0; i < 0x10000; ++i) {
        const float x = value_of<BFloat16>(static_cast<uint16_t>(i));
        uint32_t bits = 0;
        std::memcpy(&bits, &x, sizeof bits);
        REQUIRE(bits == i << 16);
    }
}

TEST_CASE("a float16 has the value of its definition") {
    for (uint32_t i = 0; i < 0x10000; ++i) {
        const auto bits = static_cast<uint16_t>(i);
        const float x = value_of<Float16>(bits), expected = defined(bits);
        if (std::isnan(expected)) {
            REQUIRE(std::isnan(x));
        } else {
            REQUIRE(x == expected);
            REQUIRE(std::signbit(x) == std::signbit(expected));
        }
    }
}

TEST_CASE("floats are rounded to the nearest, ties to even") {
    check_rounding<BFloat16>(0x7f80);
    check_rounding<Float16>(0x7c00);
    CHECK(rounded<Float16>(65519.996f) == 0x7bff);
    CHECK(rounded<Float16>(65520.0f) == 0x7c00);
    CHECK(rounded<BFloat16>(3.3961776e38f) == 0x7f80);
}

TEST_CASE("registers are read and written whole and in part") {
    std::vector<BFloat16> from(3 * lanes), to(3 * lanes);
    for (int n = 0; n <= lanes; ++n) {
        for (int i = 0; i < 3 * lanes; ++i) {
            from[i] = {static_cast<uint16_t>(0x3f80 + i)};
            to[i] = {1};
        }
        store_narrow_first(&to[lanes], load_wide_first(&from[1], n), n);
        for (int i = 0; i < 3 * lanes; ++i) {
            const bool written = lanes <= i && i < lanes + n;
            REQUIRE(to[i].bits == (written ? from[1 + i - lanes].bits : 1));
        }
        store_narrow(&to[0], load_wide(&from[2]));
        for (int i = 0; i < lanes; ++i) REQUIRE(to[i].bits == from[2 + i].bits);
    }
}
