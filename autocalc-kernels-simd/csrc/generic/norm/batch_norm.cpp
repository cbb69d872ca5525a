// SPDX-License-Identifier: MIT
//
// batch_norm, alone or with an addition and an activation after it, in training and by
// running statistics, which is one look. In training, of each chunk of a channel the
// mean c of a sample, or of all that L1 holds, and about it the sums r of x - c and q
// of (x - c)^2, which lose little however far from zero the channel is: of n values,
// of which m are the sample, (c - mean)^2 is at most n / m of the variance, and seldom
// more than 1 / m. All chunks together, in double precision (Chan, Golub, LeVeque:
// Algorithms for computing the sample variance, 1983):
//
//     mean = sum(n c + r) / N    var = sum(q + 2 (c - mean) r + n (c - mean)^2) / N
#include "common/families.hpp"
#include "elementwise/post_ops.hpp"
#include "norm/scaled_channels.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_x = 0, slot_out = 1, slot_sums = 2, slot_scales = 3, slot_other = 4 };

template <class T>
struct Forward {
    const T *x, *other;  // of 16 bits where `dtype` has them
    T* out;
    int dtype;
    T* sums;    // [chunk][c, r, q][channel]
    T* scales;  // [mean, scale, bias, unit][channel]
    PerChannel<T> weight, bias;
    const ac_array *mean, *var;
    double eps;
    PostOp activation;
    PostOpParams<T> lines;

    [[nodiscard]] AC_INLINE Arrays<T, 3> images() const {
        return {{out, const_cast<T*>(x), const_cast<T*>(other)}};
    }
};

template <class T, bool bundle>
void measure(const Chunk<T, bundle>& chunk, const Forward<T>& job, T* centers, T* rests,
             T* squares) {
    const Arrays<T, 1> arrays = {{const_cast<T*>(job.x)}};
    Sums<T> of_rest[most_of_unit<T, bundle>], of_square[most_of_unit<T, bundle>];
    clear(of_rest, chunk.channels);
    clear(of_square, chunk.channels);
    for (int64_t i = 0; i < chunk.samples; ++i) {
        each_block<0>(chunk.sample(i), job.dtype, arrays,
                      [&](const auto& sample, auto& at) {
                          const T* x = at[0];
                          sample.planes([&](int64_t c, auto from) {
                              Sums<T> sums = sample.resume(of_rest[c], from);
                              sample.along(from, [&](auto turn, int64_t k, auto some) {
                                  vec<T>& sum = sums.part[decltype(turn)::value];
                                  sum = sum + some.get(x + k);
                                  if (!bundle) sample.template ask<0>(x + k);
                              });
                              sample.add(of_rest[c], sums, from);
                          });
                      });
    }
    const vec<T> count = set1<T>(T(chunk.samples * chunk.sample(0).values()));
    for (int64_t c = 0; c < chunk.channels; ++c) {
        put_numbers(chunk, centers, c, chunk.join(of_rest[c]) / count);
    }
    clear(of_rest, chunk.channels);
    each_block<0>(chunk, job.dtype, arrays, [&](const auto& block, auto& at) {
        const T* x = at[0];
        block.planes([&](int64_t c, auto from) {
            const vec<T> center = numbers_of(chunk, centers, c);
            Sums<T> rest = block.resume(of_rest[c], from),
                    square = block.resume(of_square[c], from);
            block.along(from, [&](auto turn, int64_t i, auto some) {
                constexpr int k = decltype(turn)::value;
                const vec<T> d = some.only(some.get(x + i) - center);
                if (bundle) block.template ask<0>(x + i);
                rest.part[k] = rest.part[k] + d;
                square.part[k] = fma(d, d, square.part[k]);
            });
            block.add(of_rest[c], rest, from);
            block.add(of_square[c], square, from);
        });
    });
    for (int64_t c = 0; c < chunk.channels; ++c) {
        put_numbers(chunk, rests, c, chunk.join(of_rest[c]));
        put_numbers(chunk, squares, c, chunk.join(of_square[c]));
    }
}

// Mean and variance of the `n` channels from number `c` on, 0 and 1 of no values; and
// what the mean lacks as a double, which matters to doubles alone.
template <class T, bool bundle>
void combine(const Forward<T>& job, const Cutting<T, bundle>& cut, int64_t c, int64_t n,
             double* mean, double* lack, double* var) {
    const int64_t channels = cut.x.channels;
    const bool none = cut.x.values() == 0;
    const auto values = static_cast<double>(none ? 1 : cut.x.values());
    LongSum sum[combined_channels], square[combined_channels], rest[combined_channels];
    for (int64_t k = 0; k < cut.chunks; ++k) {
        const T* at = job.sums + 3 * k * channels + c;
        const auto count = static_cast<double>(cut.values(k));
        for (int64_t i = 0; i < n; ++i) {
            const double center = at[i], rest = at[channels + i];
            sum[i].add(center * count);
            // About an infinite center they are NaN.
            if (rest == rest || __builtin_isfinite(center)) sum[i].add(rest);
        }
    }
    for (int64_t i = 0; i < n; ++i) mean[i] = sum[i].total() / values;
    for (int64_t k = 0; k < cut.chunks; ++k) {
        const T* at = job.sums + 3 * k * channels + c;
        const auto count = static_cast<double>(cut.values(k));
        for (int64_t i = 0; i < n; ++i) {
            const double far = at[i] - mean[i];
            square[i].add(at[2 * channels + i]);
            square[i].add(far * (2 * at[channels + i] + far * count));
            if (sizeof(T) == 8) rest[i].add(far * count + at[channels + i]);
        }
    }
    for (int64_t i = 0; i < n; ++i) {
        const double more = sizeof(T) == 8 ? rest[i].total() / values : 0;
        var[i] = none ? 1 : larger(square[i].total() / values - more * more, 0.0);
        const double whole = mean[i] + more;
        lack[i] = (mean[i] - whole) + more;
        if (whole == whole) mean[i] = whole;  // an infinite mean has no rest
    }
}

template <class T, bool bundle>
void finish_forward(const Forward<T>& job, const Cutting<T, bundle>& cut, int64_t begin,
                    int64_t end) {
    const int64_t channels = cut.x.channels;
    double mean[combined_channels] = {}, lack[combined_channels] = {},
           var[combined_channels] = {}, rstd[combined_channels] = {};
    for (int64_t c = begin; c < end; ++c) {
        const int64_t i = (c - begin) % combined_channels;
        if (i == 0) {
            combine(job, cut, c, smaller(combined_channels, end - c), mean, lack, var);
            // Side by side: channel by channel it is a tenth of [128, 768].
            for (int64_t k = 0; k < combined_channels; ++k)
                rstd[k] = inverse_deviation(var[k], job.eps);
        }
        const Scaled by =
            scaled_by(job.x, job.dtype, cut.x, c, mean[i], var[i], rstd[i], job.eps);
        put_channel<T>(job.mean, c, by.mean_of_x, false);
        put_channel<T>(job.var, c, by.var_of_x, false);
        const double scale = by.rstd * job.weight[c];
        T* of = job.scales + c;
        of[0] = static_cast<T>(by.mean);
        of[channels] = static_cast<T>(scale);
        // What the mean loses when it is rounded.
        const double rest = (by.mean - of[0]) + (by.unit == 1 ? lack[i] : 0);
        of[2 * channels] = static_cast<T>(job.bias[c] - rest * scale);
        of[3 * channels] = static_cast<T>(by.unit);
    }
}

// `of` are the chunk's mean, scale and bias, `channels` apart.
template <PostOp what, class T, bool bundle>
void write(const Forward<T>& job, const Chunk<T, bundle>& chunk, const T* of,
           int64_t channels) {
    chunk.planes([&](int64_t c, auto from) {
        const vec<T> mean = numbers_of(chunk, of, c);
        const vec<T> scale = numbers_of(chunk, of + channels, c);
        const vec<T> bias = numbers_of(chunk, of + 2 * channels, c);
        chunk.along(from, [&](auto, int64_t i, auto some) {
            vec<T> y = fma(some.get(job.x + i) - mean, scale, bias);
            if (job.other != nullptr) y = y + some.get(job.other + i);
            chunk.template ask<1>(job.out + i);
            some.put(job.out + i, activated<what, T>(y, job.lines));
        });
    });
}

// The same where x is read times the channels' units.
template <class T, bool bundle>
AC_NOINLINE void write_scaled(const Forward<T>& job, const Chunk<T, bundle>& chunk,
                              const T* of, int64_t channels) {
    chunk.planes([&](int64_t c, auto from) {
        const vec<T> mean = numbers_of(chunk, of, c);
        const vec<T> scale = numbers_of(chunk, of + channels, c);
        const vec<T> bias = numbers_of(chunk, of + 2 * channels, c);
        const vec<T> unit = numbers_of(chunk, of + 3 * channels, c);
        chunk.along(from, [&](auto, int64_t i, auto some) {
            vec<T> y = fma(some.get(job.x + i) * unit - mean, scale, bias);
            if (job.other != nullptr) y = y + some.get(job.other + i);
            with_post_op(job.activation, [&](auto what) {
                y = activated<decltype(what)::value, T>(y, job.lines);
            });
            some.put(job.out + i, y);
        });
    });
}

template <class T, bool bundle>
void write_chunk(const Forward<T>& job, const Cutting<T, bundle>& cut, int64_t unit,
                 int64_t k) {
    const Chunk<T, bundle> chunk = cut.chunk(unit, k);
    const int64_t channels = cut.x.channels;
    const T *of = job.scales + cut.channel(unit), *units = of + 3 * channels;
    const vec<T> one = set1<T>(T(1));
    mask<T> scaled = ne(one, one);
    each_vector<T>(cut.width(unit), [&](int64_t c, auto some) {
        scaled = scaled | ne(some.only(some.get(units + c), one), one);
    });
    each_block<1>(chunk, job.dtype, job.images(), [&](const auto& block, auto& at) {
        Forward<T> part = job;
        part.out = at[0], part.x = at[1], part.other = at[2];
        if (any(scaled)) return write_scaled(part, block, of, channels);
        with_post_op(job.activation, [&](auto what) {
            write<decltype(what)::value>(part, block, of, channels);
        });
    });
}

template <class T, bool bundle>
void forward(ac_context* context, const Forward<T>& job, const Channels& x) {
    const Cutting<T, bundle> cut(x, context->num_threads);
    const int64_t channels = x.channels;
    const auto first = [&](int64_t unit, int64_t k) {
        T* sums = job.sums + 3 * k * channels + cut.channel(unit);
        measure(cut.chunk(unit, k), job, sums, sums + channels, sums + 2 * channels);
    };
    const auto finish = [&](int64_t begin, int64_t end) {
        finish_forward(job, cut, begin, end);
    };
    const auto second = [&](int64_t unit, int64_t k) {
        write_chunk(job, cut, unit, k);
    };
    two_looks(context, cut, first, finish, second);
}

// By running statistics: all that is known of a channel is known before.
template <class T, bool bundle>
void forward_running(ac_context* context, const Forward<T>& job, const Channels& x) {
    const Cutting<T, bundle> cut(x, context->num_threads);
    const int64_t tasks = cut.units * cut.chunks;
    parallel(context, tasks, x.values() * x.channels >= 16384,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_NORMALISE);
                 for (int64_t i = begin; i < end; ++i) {
                     write_chunk(job, cut, i / cut.chunks, i % cut.chunks);
                 }
             });
}

template <class T>
void take_running(const Forward<T>& job, int64_t channels) {
    const PerChannel<T> mean(job.mean, T(0)), var(job.var, T(1));
    for (int64_t c = 0; c < channels; ++c) {
        const double rstd = inverse_deviation(var[c], job.eps);
        job.scales[c] = mean[c];
        job.scales[channels + c] = static_cast<T>(rstd * job.weight[c]);
        job.scales[2 * channels + c] = job.bias[c];
        job.scales[3 * channels + c] = T(1);
    }
}

enum class Form { plain, activation, running };

// The operands of a form, by their places.
struct Places {
    int mean, x, weight, other;
};
constexpr Places places_of(Form form) {
    if (form == Form::running) return {2, 1, 4, 6};
    return {1, 3, 4, form == Form::activation ? 6 : -1};
}

template <class T, Form form>
void batch_norm_floats(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr Places at = places_of(form);
    const ac_array *out = operand(call, 0), *x = operand(call, at.x);
    const ac_array* other = at.other < 0 ? nullptr : operand(call, at.other);
    const bool last = lie_last({out, x, other});
    const Channels channels(*x, last);
    Forward<T> job = {nullptr,
                      nullptr,
                      nullptr,
                      x->dtype,
                      nullptr,
                      nullptr,
                      {operand(call, at.weight), T(1)},
                      {operand(call, at.weight + 1), T(0)},
                      operand(call, at.mean),
                      operand(call, at.mean + 1),
                      float_attribute(call, 0),
                      PostOp::none,
                      {T(0), T(0)}};
    if constexpr (form != Form::plain) {
        job.activation = static_cast<PostOp>(int_attribute(call, 1));
        job.lines = {T(float_attribute(call, 2)), T(float_attribute(call, 3))};
    }
    const int64_t rows = form == Form::running ? 0 : 3 * most_chunks<T>(channels);
    job.sums = channel_scratch<T>(context, slot_sums, channels, rows);
    job.scales = channel_scratch<T>(context, slot_scales, channels, 4);
    if (job.sums == nullptr || job.scales == nullptr ||
        !whole_images(context, slot_x, x, job.x, last) ||
        !whole_images(context, slot_other, other, job.other, last) ||
        !whole_images(context, slot_out, out, job.out, last)) {
        return no_memory(status);
    }
    done(status);
    if constexpr (form == Form::running) {
        take_running(job, channels.channels);
        channels.bundled() ? forward_running<T, true>(context, job, channels)
                           : forward_running<T, false>(context, job, channels);
    } else {
        channels.bundled() ? forward<T, true>(context, job, channels)
                           : forward<T, false>(context, job, channels);
    }
    put_images(out, job.out);
}

template <Form form>
void batch_norm(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT64) {
        batch_norm_floats<double, form>(call, context, status);
    } else {
        batch_norm_floats<float, form>(call, context, status);
    }
}

template <Form form>
const char* supports(const ac_call* call) {
    constexpr Places at = places_of(form);
    return refusal_of_images({operand(call, 0), operand(call, at.x),
                              at.other < 0 ? nullptr : operand(call, at.other)},
                             call);
}

const ac_kernel_entry entries[] = {
    {"batch_norm", "out mean var ; x weight? bias? ; eps:float",
     batch_norm<Form::plain>, supports<Form::plain>, nullptr, 0.5, floating_dtypes,
     nullptr},
    {"batch_norm_activation",
     "out mean var ; x weight? bias? other? ; eps:float "
     "activation:none,relu,hardtanh,leaky_relu,hardswish,silu alpha:float beta:float",
     batch_norm<Form::activation>, supports<Form::activation>, nullptr, 0.6,
     floating_dtypes, nullptr},
    {"batch_norm_running",
     "out ; x mean var weight? bias? other? ; eps:float "
     "activation:none,relu,hardtanh,leaky_relu,hardswish,silu alpha:float beta:float",
     batch_norm<Form::running>, supports<Form::running>, nullptr, 0.3, floating_dtypes,
     nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(batch_norm, entries);
}  // namespace autocalc::simd::AC_ISA
