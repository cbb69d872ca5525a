// SPDX-License-Identifier: MIT
//
// The vector type of one instruction set: what generic code takes for granted.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "check.hpp"
#include "product_pack.hpp"
#include "tile.hpp"
#include "vec.hpp"

using namespace autocalc::simd::AC_ISA;

#define AC_QUOTE2(a) #a
#define AC_QUOTE(a) AC_QUOTE2(a)

namespace {

bool cpu_lacks_it() {
    __builtin_cpu_init();
    const char isa[] = AC_QUOTE(AC_ISA);
    if (isa[0] == 's') return false;
    if (isa[3] == '2') {
        return !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma");
    }
    return !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
           !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl");
}

// Before any test: exits with success where the code cannot run.
const bool skipped = [] {
    if (cpu_lacks_it()) {
        std::puts("skipped: this CPU lacks " AC_QUOTE(AC_ISA));
        std::exit(0);
    }
    return false;
}();

template <class T>
void check_partial_access() {
    constexpr int lanes = vec<T>::lanes;
    T from[lanes + 2];
    for (int i = 0; i < lanes + 2; ++i) from[i] = T(i + 1);
    for (int n = 0; n <= lanes; ++n) {
        T to[lanes + 2];
        for (T& x : to) x = T(-7);
        const vec<T> v = load_first(from + 1, n);
        T whole[lanes];
        store(whole, v);
        store_first(to + 1, v, n);
        for (int i = 0; i < lanes; ++i) CHECK(whole[i] == (i < n ? T(i + 2) : T(0)));
        for (int i = -1; i <= lanes; ++i) {
            CHECK(to[i + 1] == (i >= 0 && i < n ? T(i + 2) : T(-7)));
        }
    }
}

template <class T>
void check_transpose() {
    constexpr int lanes = vec<T>::lanes;
    vec<T> rows[lanes];
    T a[lanes];
    for (int i = 0; i < lanes; ++i) {
        for (int j = 0; j < lanes; ++j) a[j] = T(i * 100 + j);
        rows[i] = load(a);
    }
    transpose(rows);
    for (int i = 0; i < lanes; ++i) {
        store(a, rows[i]);
        for (int j = 0; j < lanes; ++j) CHECK(a[j] == T(j * 100 + i));
    }
}

template <class T>
void check_order_with_nan() {
    const T nan = T(NAN);
    T out[vec<T>::lanes];
    const auto first_of = [&out](vec<T> v) {
        store(out, v);
        return out[0];
    };
    const vec<T> one = set1<T>(1);
    const vec<T> two = set1<T>(2);
    const vec<T> bad = set1<T>(nan);
    CHECK(first_of(min(one, two)) == 1 && first_of(max(one, two)) == 2);
    CHECK(first_of(min(bad, one)) == 1 && std::isnan(first_of(min(one, bad))));
    CHECK(first_of(max(bad, one)) == 1 && std::isnan(first_of(max(one, bad))));
    CHECK(std::isnan(first_of(minimum(bad, one))) &&
          std::isnan(first_of(minimum(one, bad))));
    CHECK(std::isnan(first_of(maximum(bad, one))) &&
          std::isnan(first_of(maximum(one, bad))));
    CHECK(!any(eq(bad, bad)) && all(ne(bad, bad)) && !any(lt(bad, one)) &&
          all(is_nan(bad)));
    CHECK(any(le(one, one)) && !any(gt(one, two)) && all(ge(two, one)));
}

template <class T>
void check_rounding() {
    T out[vec<T>::lanes];
    for (const T x : {T(0.5), T(1.5), T(-0.5), T(-2.5), T(2.3), T(-2.7), T(0), T(1e30),
                      T(-1e30), T(4194304.5), T(8388607.5)}) {
        const vec<T> v = set1<T>(x);
        store(out, round_even(v));
        CHECK(out[0] == std::nearbyint(x));
        store(out, floor(v));
        CHECK(out[0] == std::floor(x));
        store(out, ceil(v));
        CHECK(out[0] == std::ceil(x));
        store(out, trunc(v));
        CHECK(out[0] == std::trunc(x));
    }
}

template <class T>
void check_scale2() {
    T out[vec<T>::lanes];
    const int range = sizeof(T) == 4 ? 160 : 1100;
    for (int n = -range; n <= range; n += 3) {
        store(out, scale2(set1<T>(T(1.625)), set1<T>(T(n))));
        CHECK(out[0] == std::ldexp(T(1.625), n));
    }
}

template <class T>
void check_reductions() {
    constexpr int lanes = vec<T>::lanes;
    T a[lanes];
    for (int i = 0; i < lanes; ++i) a[i] = T((i * 7) % lanes + 1);
    const vec<T> v = load(a);
    CHECK(reduce_add(v) == T(lanes * (lanes + 1) / 2));
    CHECK(reduce_max(v) == T(lanes) && reduce_min(v) == T(1));
}

template <class T>
void check_bools() {
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

// Panels of b, from all three kinds of strides, hold the same numbers and zeros.
template <class T>
void check_packing() {
    constexpr int64_t k = 37;
    constexpr int64_t n = 3 * vec<T>::lanes + 1;
    static T rows[k * n];
    static T columns[n * k];
    static T spread[k * 2 * n * 3];
    static T packed[3][k * (n + vec<T>::lanes)];
    for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            const T x = T(i * 1000 + j);
            rows[i * n + j] = columns[j * k + i] = spread[i * 2 * n * 3 + j * 3] = x;
        }
    }
    const Panels<T> panels(n, 2);
    CHECK(panels.count == 2);
    pack_rows(k, panels, 0, rows, n, packed[0]);
    for (int64_t t = 0; t < panels.count; ++t) {
        const Panel panel = panels.at(t);
        pack_panel(k, panel, columns, 1, k, packed[1]);
        pack_panel(k, panel, spread, 2 * n * 3, 3, packed[2]);
        for (int64_t i = 0; i < k; ++i) {
            for (int64_t j = 0; j < panel.width; ++j) {
                const T want = j < panel.columns ? T(i * 1000 + panel.begin + j) : T(0);
                const int64_t at = panel.begin * k + i * panel.width + j;
                CHECK(packed[0][at] == want && packed[1][at] == want &&
                      packed[2][at] == want);
            }
        }
    }
}

}  // namespace

TEST(parts_of_a_register) {
    check_partial_access<float>();
    check_partial_access<double>();
    check_partial_access<int32_t>();
    check_partial_access<int64_t>();
}
TEST(transposes) {
    check_transpose<float>();
    check_transpose<double>();
}
TEST(order_with_nan) {
    check_order_with_nan<float>();
    check_order_with_nan<double>();
}
TEST(rounding) {
    check_rounding<float>();
    check_rounding<double>();
}
TEST(powers_of_two) {
    check_scale2<float>();
    check_scale2<double>();
}
TEST(reductions) {
    check_reductions<float>();
    check_reductions<double>();
}
TEST(bools) {
    check_bools<float>();
    check_bools<double>();
}
TEST(packing) {
    check_packing<float>();
    check_packing<double>();
}
