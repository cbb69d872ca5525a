// SPDX-License-Identifier: MIT
//
// batch_norm_backward and batch_norm_activation_backward, in which of g passes what the
// activation lets through. The first look at a channel sums g and g (x - mean), the
// second, if dx is wanted, writes dx = s (g - sum(g) / N - (x - mean) rstd dweight / N)
// with s = weight rstd. Where the variance leaves the range of its format, x - mean is
// times a power of two, unit, and so is what it is made of.
#include "common/families.hpp"
#include "elementwise/post_ops.hpp"
#include "norm/scaled_channels.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum {
    slot_sums = 0,
    slot_scales = 1,
    slot_g = 2,
    slot_x = 3,
    slot_y = 4,
    slot_dx = 5,
    slot_dother = 6,
    slot_rstds = 7
};

template <class T>
struct Backward {
    // y is the result, or what was added before the activation where that tells the
    // gradient; all of 16 bits where `dtype` has them.
    int dtype;
    const T *g, *x, *y;
    T *dx, *dother;  // null where not wanted; dother is what passes of g
    T* sums;         // [chunk][g, g (x - mean)][channel]
    T* scales;       // [-mean, of g, of x - mean, of 1, scale, bias, unit][channel]
    double* rstds;   // of unit x
    PerChannel<T> mean, var, weight, bias;
    const ac_array *dweight, *dbias;
    int64_t accumulate;
    double eps;
    PostOp activation;
    PostOpParams<T> lines;

    [[nodiscard]] AC_INLINE Arrays<T, 4> images(T* out) const {
        return {{out, const_cast<T*>(g), const_cast<T*>(x), const_cast<T*>(y)}};
    }
    // The same for a block.
    [[nodiscard]] AC_INLINE Backward at(T* const (&block)[4], T* dx_,
                                        T* dother_) const {
        Backward part = *this;
        part.g = block[1], part.x = block[2], part.y = block[3];
        part.dx = dx_, part.dother = dother_;
        return part;
    }
};

// The gradient of the activation at i; `far` is x - mean, `scale` and `bias` the
// channel's.
template <PostOp what, class T, class Lanes>
AC_INLINE vec<T> passed_at(const Backward<T>& job, int64_t i, const Lanes& some,
                           vec<T> far, vec<T> scale, vec<T> bias) {
    const vec<T> g = some.get(job.g + i);
    if constexpr (what == PostOp::none) return g;
    if constexpr (needs_output(what)) {
        return gradient_of<what, T>(g, some.get(job.y + i), job.lines);
    }
    vec<T> z = fma(far, scale, bias);
    if (job.y != nullptr) z = z + some.get(job.y + i);
    return some.only(gradient_of<what, T>(g, z, job.lines));
}

template <PostOp what, class T, bool bundle>
void look(const Backward<T>& job, const Chunk<T, bundle>& chunk, const T* of,
          int64_t channels, Sums<T>* of_g, Sums<T>* of_gemm) {
    chunk.planes([&](int64_t c, auto from) {
        const vec<T> less = numbers_of(chunk, of, c);
        const vec<T> scale = numbers_of(chunk, of + 4 * channels, c);
        const vec<T> bias = numbers_of(chunk, of + 5 * channels, c);
        const vec<T> unit = numbers_of(chunk, of + 6 * channels, c);
        Sums<T> sum = chunk.resume(of_g[c], from),
                product = chunk.resume(of_gemm[c], from);
        chunk.along(from, [&](auto turn, int64_t i, auto some) {
            constexpr int t = decltype(turn)::value;
            const vec<T> far = some.only(fma(some.get(job.x + i), unit, less));
            const vec<T> g = passed_at<what, T>(job, i, some, far, scale, bias);
            if (job.dother != nullptr) some.put(job.dother + i, g);
            chunk.template ask<0>(job.g + i);
            chunk.template ask<0>(job.x + i);
            if (what != PostOp::none) chunk.template ask<0>(job.y + i);
            sum.part[t] = sum.part[t] + g;
            product.part[t] = fma(g, far, product.part[t]);
        });
        chunk.add(of_g[c], sum, from);
        chunk.add(of_gemm[c], product, from);
    });
}

template <class T, bool bundle>
void look_at(const Backward<T>& job, const Chunk<T, bundle>& chunk, const T* of,
             int64_t channels, T* sums, T* products) {
    Sums<T> of_g[most_of_unit<T, bundle>], of_gemm[most_of_unit<T, bundle>];
    clear(of_g, chunk.channels);
    clear(of_gemm, chunk.channels);
    each_block<1>(
        chunk, job.dtype, job.images(job.dother), [&](const auto& block, auto& at) {
            const Backward<T> part = job.at(at, nullptr, at[0]);
            with_post_op(job.activation, [&](auto what) {
                look<decltype(what)::value>(part, block, of, channels, of_g, of_gemm);
            });
        });
    for (int64_t c = 0; c < chunk.channels; ++c) {
        put_numbers(chunk, sums, c, chunk.join(of_g[c]));
        put_numbers(chunk, products, c, chunk.join(of_gemm[c]));
    }
}

// The sums of the `n` channels from number `c` on.
template <class T, bool bundle>
void combine(const Backward<T>& job, const Cutting<T, bundle>& cut, int64_t c,
             int64_t n, LongSum* sums, LongSum* products) {
    const int64_t channels = cut.x.channels;
    for (int64_t i = 0; i < n; ++i) sums[i] = products[i] = LongSum{};
    for (int64_t k = 0; k < cut.chunks; ++k) {
        const T* at = job.sums + 2 * k * channels + c;
        for (int64_t i = 0; i < n; ++i) {
            sums[i].add(at[i]);
            products[i].add(at[channels + i]);
        }
    }
}

template <class T, bool bundle>
void finish_backward(const Backward<T>& job, const Cutting<T, bundle>& cut,
                     int64_t begin, int64_t end) {
    const int64_t channels = cut.x.channels;
    const auto values = static_cast<double>(cut.x.values());
    LongSum sums[combined_channels], products[combined_channels];
    for (int64_t c = begin; c < end; ++c) {
        const int64_t i = (c - begin) % combined_channels;
        if (i == 0)
            combine(job, cut, c, smaller(combined_channels, end - c), sums, products);
        const double sum = sums[i].total(), product = products[i].total();
        const double rstd = job.rstds[c];
        T* of = job.scales + c;
        const double dweight = product * rstd;
        const double scale = job.weight[c] * rstd * of[6 * channels];
        put_channel<T>(job.dweight, c, dweight, (job.accumulate & 2) != 0);
        put_channel<T>(job.dbias, c, sum, (job.accumulate & 4) != 0);
        of[channels] = static_cast<T>(scale);
        of[2 * channels] = static_cast<T>(-scale * rstd * dweight / values);
        of[3 * channels] = static_cast<T>(-scale * sum / values);
    }
}

// `of` are the chunk's mean with a minus, and what g, x - mean and 1 are multiplied by.
template <PostOp what, class T, bool bundle>
void distribute(const Backward<T>& job, const Chunk<T, bundle>& chunk, const T* of,
                int64_t channels) {
    chunk.planes([&](int64_t c, auto from) {
        const vec<T> less = numbers_of(chunk, of, c);
        const vec<T> of_g = numbers_of(chunk, of + channels, c);
        const vec<T> of_x = numbers_of(chunk, of + 2 * channels, c);
        const vec<T> of_1 = numbers_of(chunk, of + 3 * channels, c);
        const vec<T> scale = numbers_of(chunk, of + 4 * channels, c);
        const vec<T> bias = numbers_of(chunk, of + 5 * channels, c);
        const vec<T> unit = numbers_of(chunk, of + 6 * channels, c);
        chunk.along(from, [&](auto, int64_t i, auto some) {
            chunk.template ask<1>(job.dx + i);
            const vec<T> far = fma(some.get(job.x + i), unit, less);
            const vec<T> g = passed_at<what, T>(job, i, some, far, scale, bias);
            some.put(job.dx + i, fma(g, of_g, fma(far, of_x, of_1)));
        });
    });
}

template <class T, bool bundle>
void backward(ac_context* context, const Backward<T>& job, const Channels& x) {
    const Cutting<T, bundle> cut(x, context->num_threads);
    const int64_t channels = x.channels;
    for (int64_t c = 0; c < channels; ++c) {
        const double rstd = inverse_deviation(job.var[c], job.eps);
        const Scaled by =
            scaled_by(job.x, job.dtype, x, c, job.mean[c], job.var[c], rstd, job.eps);
        T* of = job.scales + c;
        job.rstds[c] = by.rstd;
        of[0] = static_cast<T>(-by.mean);
        of[4 * channels] = static_cast<T>(by.rstd * job.weight[c]);
        of[5 * channels] = job.bias[c];
        of[6 * channels] = static_cast<T>(by.unit);
    }
    // Where what passes is an output too, the second look reads that, unless it is
    // rounded.
    Backward<T> again = job;
    if (job.dother != nullptr && !is_half(job.dtype)) {
        again.g = job.dother;
        again.activation = PostOp::none;
    }
    const auto first = [&](int64_t unit, int64_t k) {
        const Chunk<T, bundle> chunk = cut.chunk(unit, k);
        const T* of = job.scales + cut.channel(unit);
        T* sums = job.sums + 2 * k * channels + cut.channel(unit);
        look_at(job, chunk, of, channels, sums, sums + channels);
    };
    const auto finish = [&](int64_t begin, int64_t end) {
        finish_backward(job, cut, begin, end);
    };
    const auto second = [&](int64_t unit, int64_t k) {
        if (job.dx == nullptr) return;
        const T* of = job.scales + cut.channel(unit);
        each_block<1>(cut.chunk(unit, k), job.dtype, again.images(job.dx),
                      [&](const auto& block, auto& at) {
                          const Backward<T> part = again.at(at, at[0], nullptr);
                          with_post_op(again.activation, [&](auto what) {
                              distribute<decltype(what)::value>(part, block, of,
                                                                channels);
                          });
                      });
    };
    two_looks(context, cut, first, finish, second);
}

template <class T, bool activation>
void backward_floats(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr int inputs = activation ? 4 : 3,
                  statistics = inputs + (activation ? 4 : 2);
    const ac_array *dx = operand(call, 0), *g = operand(call, inputs),
                   *x = operand(call, inputs + 1), *dother = nullptr, *y = nullptr,
                   *bias = nullptr;
    PostOp what = PostOp::none;
    PostOpParams<T> lines = {T(0), T(0)};
    if constexpr (activation) {
        what = static_cast<PostOp>(int_attribute(call, 1));
        lines = {T(float_attribute(call, 2)), T(float_attribute(call, 3))};
        dother = operand(call, 3);
        y = operand(call, needs_output(what) ? inputs + 2 : inputs + 3);
        bias = operand(call, statistics + 3);
    }
    const bool last = lie_last({g, x, y, dx, dother});
    const Channels channels(*x, last);
    Backward<T> job = {x->dtype,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       {operand(call, statistics), T(0)},
                       {operand(call, statistics + 1), T(0)},
                       {operand(call, statistics + 2), T(1)},
                       {bias, T(0)},
                       operand(call, 1),
                       operand(call, 2),
                       int_attribute(call, activation ? 4 : 1),
                       float_attribute(call, 0),
                       what,
                       lines};
    job.sums =
        channel_scratch<T>(context, slot_sums, channels, 2 * most_chunks<T>(channels));
    job.scales = channel_scratch<T>(context, slot_scales, channels, 7);
    job.rstds = channel_scratch<double>(context, slot_rstds, channels, 1);
    if (job.sums == nullptr || job.scales == nullptr || job.rstds == nullptr ||
        !whole_images(context, slot_g, g, job.g, last) ||
        !whole_images(context, slot_x, x, job.x, last) ||
        !whole_images(context, slot_y, y, job.y, last) ||
        !whole_images(context, slot_dx, dx, job.dx, last) ||
        !whole_images(context, slot_dother, dother, job.dother, last)) {
        return no_memory(status);
    }
    done(status);
    if (channels.bundled()) {
        backward<T, true>(context, job, channels);
    } else {
        backward<T, false>(context, job, channels);
    }
    put_images(dx, job.dx);
    put_images(dother, job.dother);
}

template <bool activation>
void batch_norm_backward(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, activation ? 5 : 4)->dtype == AC_FLOAT64) {
        backward_floats<double, activation>(call, context, status);
    } else {
        backward_floats<float, activation>(call, context, status);
    }
}

template <bool activation>
const char* supports(const ac_call* call) {
    constexpr int in = activation ? 4 : 3;
    return refusal_of_images(
        {operand(call, 0), operand(call, in), operand(call, in + 1),
         activation ? operand(call, 3) : nullptr,
         activation ? operand(call, in + 2) : nullptr,
         activation ? operand(call, in + 3) : nullptr},
        call);
}

const ac_kernel_entry entries[] = {
    {"batch_norm_backward",
     "dx? dweight? dbias? ; g x mean var weight? ; eps:float accumulate:int",
     batch_norm_backward<false>, supports<false>, nullptr, 0.8, floating_dtypes,
     nullptr},
    {"batch_norm_activation_backward",
     "dx? dweight? dbias? dother? ; g x out? other? mean var weight? bias? ; eps:float "
     "activation:none,relu,hardtanh,leaky_relu,hardswish,silu alpha:float beta:float "
     "accumulate:int",
     batch_norm_backward<true>, supports<true>, nullptr, 1.0, floating_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(batch_norm_backward, entries);
}  // namespace autocalc::simd::AC_ISA
