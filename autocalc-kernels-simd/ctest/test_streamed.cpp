// SPDX-License-Identifier: MIT
//
// Results that are written past the caches, at sizes that need no such thing.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "common/streamed.hpp"

using namespace autocalc::simd::AC_ISA;

namespace {

constexpr int guard = -7;

template <class T>
void twice_plus(void* const* operands, int64_t n, const void* parameters) {
    const T more = *static_cast<const T*>(parameters);
    for (int64_t i = 0; i < n; ++i)
        static_cast<T*>(operands[0])[i] =
            T(2) * static_cast<const T*>(operands[1])[i] + more;
}

// A nest of two operands alike, the first of them aligned.
template <class T>
Nest nest_of(T* out, T* in, int64_t n) {
    Nest nest = {};
    nest.dims = 1;
    nest.operands = 2;
    nest.total = nest.size[0] = n;
    for (int k = 0; k < 2; ++k) {
        nest.item[k] = nest.stride[k][0] = int64_t{sizeof(T)};
        nest.dense[k] = true;
    }
    nest.data[0] = reinterpret_cast<char*>(out);
    nest.data[1] = reinterpret_cast<char*>(in);
    return nest;
}

template <class T>
T* aligned(std::vector<T>& room) {
    auto* p = reinterpret_cast<char*>(room.data());
    const auto past = reinterpret_cast<std::uintptr_t>(p) % line_bytes;
    return reinterpret_cast<T*>(p + (line_bytes - static_cast<int64_t>(past)));
}

}  // namespace

TEST_CASE_TEMPLATE("a streamed run writes its elements and no others", T, float, double,
                   uint8_t) {
    constexpr int64_t line = line_bytes / int64_t{sizeof(T)};
    for (const int64_t begin : {int64_t{0}, line, 70 * line}) {
        for (const int64_t n : {1, 15, 16, 64, 1000, 1024, 5000}) {
            CAPTURE(begin);
            CAPTURE(n);
            const auto size = static_cast<std::size_t>(begin + n + 3 * line);
            std::vector<T> in(size), room(size, T(guard));
            T* out = aligned(room);
            for (int64_t i = 0; i < begin + n; ++i)
                in[static_cast<std::size_t>(i)] = T(i % 91);
            const T more = 3;
            const Nest nest = nest_of(out, in.data(), begin + n + line);
            run_streamed(nest, begin, begin + n, twice_plus<T>, &more);
            for (int64_t i = 0; i < begin + n + line; ++i) {
                const bool inside = i >= begin && i < begin + n;
                CHECK(out[i] == (inside ? T(2 * (i % 91) + 3) : T(guard)));
            }
        }
    }
}

TEST_CASE("only results of their own memory, aligned and dense, are streamed") {
    const int64_t from = streamed_from();
    if (from == INT64_MAX) return;  // on this CPU nothing is
    alignas(line_bytes) float out[16] = {}, in[16] = {};
    const int64_t enough = from / int64_t{sizeof(float)};
    CHECK(is_streamed(nest_of(out, in, enough)));
    CHECK_FALSE(is_streamed(nest_of(out, in, enough - 1)));
    CHECK_FALSE(is_streamed(nest_of(out, out, enough)));
    CHECK_FALSE(is_streamed(nest_of(out + 1, in, enough)));
    Nest strided = nest_of(out, in, enough);
    strided.dense[1] = false;
    CHECK_FALSE(is_streamed(strided));
}
