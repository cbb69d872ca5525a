// SPDX-License-Identifier: MIT
//
// Random numbers as functions of (seed, offset): element i of a result takes the words
// at its place of the Philox stream, whichever thread makes it.
#include "common/families.hpp"
#include "elementwise/elementwise.hpp"
#include "elementwise/trigonometry.hpp"
#include "random/philox.hpp"
#include "reduce/reduce.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t chunk = 256;         // elements made at a time
constexpr int64_t random_tile = 1024;  // elements of a task

struct Stream {
    uint64_t seed, offset;

    // Words of elements begin .. begin + n, `each` to an element.
    AC_INLINE const uint32_t* words(int64_t begin, int64_t n, int64_t each,
                                    uint32_t* room) const {
        return philox(seed, offset + static_cast<uint64_t>(begin * each), n * each,
                      room);
    }
};

AC_INLINE Stream stream_of(const ac_call* call, int seed) {
    return {static_cast<uint64_t>(scalar<int64_t>(operand(call, seed))),
            static_cast<uint64_t>(scalar<int64_t>(operand(call, seed + 1)))};
}

// make(out, begin, n) for chunks of a result in row-major order.
template <class T, class Make>
void fill_random(ac_context* context, ac_status* status, const ac_array& out,
                 Make&& make) {
    const int64_t count = element_count(out);
    done(status);
    if (count == 0) return;
    T* values = results_of<T>(context, &out, count, 1);
    if (values == nullptr) return no_memory(status);
    parallel_range(context, count, random_tile, count >= 8192,
                   [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; i += chunk) {
                           make(values + i, i, smaller(chunk, end - i));
                       }
                   });
    store_results(values, out);
}

AC_INLINE uint64_t word_pair(const uint32_t* words, int64_t i) {
    return static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1];
}

void random_bits_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array& out = *operand(call, 0);
    const Stream stream = stream_of(call, 1);
    const int bits = static_cast<int>(int_attribute(call, 0));
    if (out.dtype == AC_INT32) {
        return fill_random<int32_t>(
            context, status, out, [=](int32_t* to, int64_t begin, int64_t n) {
                uint32_t room[philox_room(chunk)];
                const uint32_t* words = stream.words(begin, n, 1, room);
                for (int64_t i = 0; i < n; ++i) {
                    to[i] = static_cast<int32_t>(words[i] >> (32 - bits));
                }
            });
    }
    fill_random<int64_t>(
        context, status, out, [=](int64_t* to, int64_t begin, int64_t n) {
            uint32_t room[philox_room(2 * chunk)];
            const uint32_t* words = stream.words(begin, n, bits > 32 ? 2 : 1, room);
            if (bits > 32) {
                for (int64_t i = 0; i < n; ++i)
                    to[i] = static_cast<int64_t>(word_pair(words, i) >> (64 - bits));
            } else {
                for (int64_t i = 0; i < n; ++i)
                    to[i] = static_cast<int64_t>(words[i] >> (32 - bits));
            }
        });
}

// ---- uniform and normal
template <class T>
struct UnitBits;
template <>
struct UnitBits<float> {
    static constexpr int64_t words = 1;
    static constexpr float step = 5.96046448e-8f;  // 2^-24
    static AC_INLINE float unit(const uint32_t* words, int64_t i) {
        return static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * step;
    }
};
template <>
struct UnitBits<double> {
    static constexpr int64_t words = 2;
    static constexpr double step = 1.1102230246251565e-16;  // 2^-53
    static AC_INLINE double unit(const uint32_t* words, int64_t i) {
        return static_cast<double>(static_cast<int64_t>(word_pair(words, i) >> 11)) *
               step;
    }
};

template <class T>
void uniform_floats(const ac_call* call, ac_context* context, ac_status* status) {
    using Unit = UnitBits<T>;
    const Stream stream = stream_of(call, 1);
    const T low = T(float_attribute(call, 0));
    const T width = T(float_attribute(call, 1) - float_attribute(call, 0));
    fill_random<T>(
        context, status, *operand(call, 0), [=](T* to, int64_t begin, int64_t n) {
            uint32_t room[philox_room(chunk * Unit::words)];
            const uint32_t* words = stream.words(begin, n, Unit::words, room);
            for (int64_t i = 0; i < n; ++i) {
                to[i] = low + width * Unit::unit(words, i);
            }
        });
}

// radius * cos(turn): `radii` and `turns` are uniform numbers times 2^24 or 2^53. The
// angle needs more bits than a float has, so it is a double in either case.
constexpr double turn = 6.283185307179586;

// Doubles: four words to an element, of which pairs are already joined.
AC_INLINE f64 normal_vector(const double* radii, const double* turns) {
    const f64 u = load(radii);
    const f64 angle = load(turns) * set1<double>(turn);
    return sqrt(set1<double>(-2) * log(u)) * trig_reduced<false>(angle, 1);
}

// Floats: the words of an element are adjacent, the first in the low half of 64
// bits.
AC_INLINE f32 normal_vector(const uint32_t* words) {
    constexpr int64_t lanes = vec<int64_t>::lanes;
    const i64 first = load_pairs(words);
    const i64 second = load_pairs(words + 2 * lanes);
    const i64 low = set1<int64_t>(0xffffffff);
    const auto radius = [&](i64 pair) { return to_float(shift_right<8>(pair & low)); };
    const auto angle = [&](i64 pair) {
        return to_float(shift_right<40>(pair)) * set1<double>(turn / 16777216.0);
    };
    const f32 step = set1<float>(UnitBits<float>::step);
    const f32 u = fma(narrow(radius(first), radius(second)), step, step);
    const f32 wave = narrow(trig_reduced<true>(angle(first), 1),
                            trig_reduced<true>(angle(second), 1));
    return sqrt(set1<float>(-2) * log(u)) * wave;
}

AC_INLINE void normal_chunk(float* to, const uint32_t* words, int64_t n, f32 mean,
                            f32 std) {
    for (int64_t i = 0; i < n; i += f32::lanes) {
        const f32 x = fma(normal_vector(words + 2 * i), std, mean);
        store_first(to + i, x, smaller<int64_t>(f32::lanes, n - i));
    }
}

AC_INLINE void normal_chunk(double* to, const uint32_t* words, int64_t n, f64 mean,
                            f64 std) {
    using Unit = UnitBits<double>;
    alignas(64) double radii[chunk], turns[chunk];
    for (int64_t i = 0; i < n; ++i) {
        radii[i] = Unit::unit(words, 2 * i) + Unit::step;
        turns[i] = Unit::unit(words, 2 * i + 1);
    }
    for (int64_t i = n; i < round_up(n, f64::lanes); ++i) radii[i] = turns[i] = 0.5;
    for (int64_t i = 0; i < n; i += f64::lanes) {
        const f64 x = fma(normal_vector(radii + i, turns + i), std, mean);
        store_first(to + i, x, smaller<int64_t>(f64::lanes, n - i));
    }
}

template <class T>
void normal_floats(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr int64_t each = 2 * UnitBits<T>::words;
    const Stream stream = stream_of(call, 1);
    const T mean = T(float_attribute(call, 0)), std = T(float_attribute(call, 1));
    fill_random<T>(context, status, *operand(call, 0),
                   [=](T* to, int64_t begin, int64_t n) {
                       uint32_t room[philox_room(each * chunk)];
                       const uint32_t* words = stream.words(begin, n, each, room);
                       normal_chunk(to, words, n, set1<T>(mean), set1<T>(std));
                   });
}

// ---- dropout
struct DropoutParameters {
    double scale;
};

template <class T>
void dropout_run(void* const* operands, int64_t n, const void* parameters) {
    constexpr int64_t lanes = vec<T>::lanes;
    T* out = static_cast<T*>(operands[0]);
    const T* g = static_cast<const T*>(operands[1]);
    const uint8_t* kept = static_cast<const uint8_t*>(operands[2]);
    const vec<T> scale =
        set1<T>(T(static_cast<const DropoutParameters*>(parameters)->scale));
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        store(out + i, keep(load_bools<T>(kept + i), load(g + i) * scale));
    }
    if (i < n) {
        const int64_t rest = n - i;
        store_first(
            out + i,
            keep(load_bools_first<T>(kept + i, rest), load_first(g + i, rest) * scale),
            rest);
    }
}

AC_INLINE RunKernel dropout_for(int dtype) {
    return dtype == AC_FLOAT32 ? dropout_run<float> : dropout_run<double>;
}
AC_INLINE DropoutParameters dropout_parameters(double p) {
    return {p < 1 ? 1 / (1 - p) : 0.0};
}

void dropout_backward_kernel(const ac_call* call, ac_context* context,
                             ac_status* status) {
    const ac_array* arrays[3] = {operand(call, 0), operand(call, 1), operand(call, 2)};
    const DropoutParameters parameters = dropout_parameters(float_attribute(call, 0));
    elementwise(context, arrays, 3, dropout_for(arrays[0]->dtype), &parameters,
                Cost::cheap);
    done(status);
}

// The mask first, in row-major order; where all arrays are contiguous, the products
// follow while a chunk of it is in the cache.
void dropout_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array &out = *operand(call, 0), &mask = *operand(call, 1);
    const ac_array& a = *operand(call, 2);
    const double p = float_attribute(call, 0);
    const Stream stream = stream_of(call, 3);
    const uint32_t threshold = static_cast<uint32_t>(__builtin_ceil(p * 16777216.0));
    const DropoutParameters parameters = dropout_parameters(p);
    const RunKernel kernel = dropout_for(out.dtype);
    const bool together = is_contiguous(out) && is_contiguous(mask) && is_contiguous(a);
    const int64_t item = size_of(out.dtype);
    fill_random<uint8_t>(context, status, mask,
                         [&](uint8_t* to, int64_t begin, int64_t n) {
                             uint32_t room[philox_room(chunk)];
                             const uint32_t* words = stream.words(begin, n, 1, room);
                             for (int64_t i = 0; i < n; ++i)
                                 to[i] = words[i] >> 8 >= threshold;
                             if (!together) return;
                             void* const run[3] = {data<char>(&out) + begin * item,
                                                   data<char>(&a) + begin * item, to};
                             kernel(run, n, &parameters);
                         });
    if (together || status->code != AC_DONE) return;
    const ac_array* arrays[3] = {&out, &a, &mask};
    elementwise(context, arrays, 3, kernel, &parameters, Cost::cheap);
}

void uniform_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        uniform_floats<float>(call, context, status);
    } else {
        uniform_floats<double>(call, context, status);
    }
}
void normal_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        normal_floats<float>(call, context, status);
    } else {
        normal_floats<double>(call, context, status);
    }
}

constexpr uint32_t seed_dtype = 1u << AC_INT64;

const ac_kernel_entry entries[] = {
    {"random_bits", "out ; seed offset ; bits:int", random_bits_kernel, nullptr,
     nullptr, 0.4, seed_dtype, nullptr},
    {"uniform", "out ; seed offset ; low:float high:float", uniform_kernel, nullptr,
     nullptr, 0.5, seed_dtype, nullptr},
    {"normal", "out ; seed offset ; mean:float std:float", normal_kernel, nullptr,
     nullptr, 2.5, seed_dtype, nullptr},
    {"dropout", "out mask ; a seed offset ; p:float", dropout_kernel, nullptr, nullptr,
     0.6, float_dtypes, nullptr},
    {"dropout_backward", "out ; g mask ; p:float", dropout_backward_kernel, nullptr,
     nullptr, 0.2, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(random, entries);
}  // namespace autocalc::simd::AC_ISA
