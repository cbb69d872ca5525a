// SPDX-License-Identifier: MIT
//
// Random numbers as functions of (seed, offset): element i of a result takes the words
// that stand at its place of the Philox stream, whichever thread makes it.
#include "families.hpp"
#include "philox.hpp"
#include "reduce.hpp"
#include "vector_math.hpp"

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
    return uint64_t(words[2 * i]) << 32 | words[2 * i + 1];
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
            for (int64_t i = 0; i < n; ++i) {
                to[i] =
                    static_cast<int64_t>(bits > 32 ? word_pair(words, i) >> (64 - bits)
                                                   : words[i] >> (32 - bits));
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

// cos(2 pi u): the angle needs more bits than a float has.
AC_INLINE f64 cos_turn(f64 u) {
    return trig_reduced<false>(u * set1<double>(6.283185307179586), 1);
}
AC_INLINE f32 cos_turn(f32 u) {
    const f64 turn = set1<double>(6.283185307179586);
    return narrow(trig_reduced<true>(low_double(u) * turn, 1),
                  trig_reduced<true>(high_double(u) * turn, 1));
}

template <class T>
void normal_floats(const ac_call* call, ac_context* context, ac_status* status) {
    using Unit = UnitBits<T>;
    const Stream stream = stream_of(call, 1);
    const T mean_ = T(float_attribute(call, 0)), std_ = T(float_attribute(call, 1));
    fill_random<T>(
        context, status, *operand(call, 0), [=](T* to, int64_t begin, int64_t n) {
            constexpr int64_t lanes = vec<T>::lanes;
            uint32_t room[philox_room(2 * chunk * Unit::words)];
            const uint32_t* words = stream.words(begin, n, 2 * Unit::words, room);
            const vec<T> mean = set1<T>(mean_), std = set1<T>(std_);
            for (int64_t i = 0; i < n; i += lanes) {
                const int64_t count = smaller(lanes, n - i);
                T radii[lanes] = {}, turns[lanes] = {};
                for (int64_t j = 0; j < count; ++j) {
                    radii[j] = Unit::unit(words, 2 * (i + j)) + Unit::step;
                    turns[j] = Unit::unit(words, 2 * (i + j) + 1);
                }
                const vec<T> radius = sqrt(set1<T>(-2) * log(load(radii)));
                const vec<T> wave = radius * cos_turn(load(turns));
                store_first(to + i, fma(wave, std, mean), count);
            }
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
     nullptr, 0.4, seed_dtype, 0},
    {"uniform", "out ; seed offset ; low:float high:float", uniform_kernel, nullptr,
     nullptr, 0.5, seed_dtype, 0},
    {"normal", "out ; seed offset ; mean:float std:float", normal_kernel, nullptr,
     nullptr, 2.5, seed_dtype, 0},
    {"dropout", "out mask ; a seed offset ; p:float", dropout_kernel, nullptr, nullptr,
     0.6, float_dtypes, 0},
    {"dropout_backward", "out ; g mask ; p:float", dropout_backward_kernel, nullptr,
     nullptr, 0.2, float_dtypes, 0},
};

}  // namespace
AC_DEFINE_FAMILY(random, entries);
}  // namespace autocalc::simd::AC_ISA
