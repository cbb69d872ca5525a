// SPDX-License-Identifier: MIT
//
// Convolutions of many filters and few windows, by a matrix of patches: column p holds
// what window p reads of every channel, [ins * taps, windows of some images], and the
// filters multiply it without a copy of them (im2col; Chellapilla, Puri, Simard: High
// performance convolutional neural networks for document processing, 2006).
//
// Other algorithms bring the filters into an order of their own first. That is little
// compared with many windows; but 512 filters of 512 channels and 3 x 3 taps took 20 ms
// for one image of 7 x 7, whose products take 7 (one thread of a busy Zen 3). Patches
// cost some cycles for each of their elements instead, which `outs` multiply-adds pay
// for.
#pragma once

#include "conv/call.hpp"
#include "conv/costs.hpp"
#include "conv/pointwise.hpp"
#include "conv/windows.hpp"
#include "gemm/gemm.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Slots that products leave free.
enum { patches_slot = 2, patch_pixels_slot = 3 };
constexpr int64_t patch_columns = 512;              // of the images that go together
constexpr int64_t most_patches = int64_t{4} << 20;  // elements

// Images whose patches are adjacent.
struct PatchBlock {
    int64_t first, images;
};

// How the images are cut. Follows from the shape alone.
struct PatchBlocks {
    int64_t rows, windows;  // of a matrix; of an image
    int64_t batch, together;
    explicit PatchBlocks(const Windows& w)
        : rows(w.ins * w.taps()),
          windows(w.y.out * w.x.out),
          batch(w.batch),
          together(smaller(batch, larger<int64_t>(1, patch_columns / windows))) {}
    [[nodiscard]] AC_INLINE int64_t columns() const { return together * windows; }
    [[nodiscard]] AC_INLINE PatchBlock at(int64_t first) const {
        return {first, smaller(together, batch - first)};
    }
};

// Whether a filter's elements follow each other.
template <class T>
AC_INLINE bool filters_in_line(const Images<T>& weight, const Windows& w) {
    return weight.column == 1 && (w.y.kernel == 1 || weight.row == w.x.kernel) &&
           (w.ins == 1 || weight.channel == w.taps());
}

// Windows of one element whose pixels are contiguous are one long line.
template <class T>
Windows with_long_lines(const Windows& w, const Images<const T>& x,
                        const Images<const T>& g) {
    if (!is_pointwise(w) || !pixels_in_line(x, w.y, w.x.in) ||
        !pixels_in_line(g, w.y, w.x.in))
        return w;
    Windows long_lines = w;
    long_lines.x.in = long_lines.x.out = w.y.in * w.x.in;
    long_lines.y.in = long_lines.y.out = 1;
    return long_lines;
}

// Rows of patches of channels c0 to c1, `row` elements apart.
template <class T>
void gather_patches(const Windows& w, const Images<const T>& from,
                    const PatchBlock& block, int64_t c0, int64_t c1, T* patches,
                    int64_t row) {
    for (int64_t j = 0; j < w.x.kernel; ++j) {
        const LineCut cut(w.x.in, j * w.x.dilation - w.x.padding, w.x.stride, w.x.out);
        for (int64_t c = c0; c < c1; ++c) {
            for (int64_t i = 0; i < w.y.kernel; ++i) {
                T* to = patches + (c * w.taps() + i * w.x.kernel + j) * row;
                for (int64_t n = block.first; n < block.first + block.images; ++n) {
                    const T* image = from.data + n * from.image + c * from.channel;
                    for (int64_t y = 0; y < w.y.out; ++y, to += w.x.out) {
                        const int64_t at =
                            y * w.y.stride + i * w.y.dilation - w.y.padding;
                        if (at < 0 || at >= w.y.in) {
                            clear_run(to, w.x.out);
                        } else {
                            copy_line(image + at * from.row, from.column, cut, to);
                        }
                    }
                }
            }
        }
    }
}

// The patches of a block, shared by the threads.
template <class T>
void write_patches(const Windows& w, const Images<const T>& from,
                   const PatchBlock& block, T* patches, ac_context* context) {
    const int64_t row = block.images * w.y.out * w.x.out;
    parallel(context, w.ins, w.ins * w.taps() * row > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 gather_patches(w, from, block, begin, end, patches, row);
             });
}

// A matrix [channels, windows of a block] and the distance of its rows.
template <class T>
struct PixelMatrix {
    const T* data;
    int64_t row;
};

// The results or gradients of a block's windows as a matrix: in place, if that is one,
// else copied into `room`.
template <class T>
PixelMatrix<T> pixel_matrix(const Windows& w, const Images<const T>& g,
                            const PatchBlock& block, T* room, ac_context* context) {
    if (block.images == 1 && g.column == 1 && (w.y.out == 1 || g.row == w.x.out))
        return {g.data + block.first * g.image, g.channel};
    const int64_t windows = w.y.out * w.x.out, row = block.images * windows;
    parallel(context, w.outs, w.outs * row > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_PACK);
                 for (int64_t o = begin; o < end; ++o) {
                     T* to = room + o * row;
                     for (int64_t n = 0; n < block.images; ++n) {
                         const T* line =
                             g.data + (block.first + n) * g.image + o * g.channel;
                         for (int64_t y = 0; y < w.y.out; ++y, to += w.x.out)
                             copy_run(line + y * g.row, g.column, w.x.out, to);
                     }
                 }
             });
    return {room, row};
}

// to[i * step] = from[i], or += from[i].
template <class T>
AC_INLINE void put_run(const T* from, int64_t count, T* to, int64_t step, bool add) {
    constexpr int lanes = vec<T>::lanes;
    int64_t i = 0;
    if (step == 1) {
        for (; i + lanes <= count; i += lanes)
            store(to + i, add ? load(to + i) + load(from + i) : load(from + i));
        if (i == count) return;
        const vec<T> rest = load_first(from + i, count - i);
        store_first(to + i, add ? load_first(to + i, count - i) + rest : rest,
                    count - i);
        return;
    }
    for (; i < count; ++i) to[i * step] = add ? to[i * step] + from[i] : from[i];
}

// ---- forward

template <class T>
void scatter_results(const ConvCall<T>& call, const PatchBlock& block, const T* results,
                     int64_t begin, int64_t end) {
    const Windows& w = call.windows;
    for (int64_t o = begin; o < end; ++o) {
        const T* from = results + o * block.images * w.y.out * w.x.out;
        for (int64_t n = block.first; n < block.first + block.images; ++n) {
            T* image = call.to.data + n * call.to.image + o * call.to.channel;
            for (int64_t y = 0; y < w.y.out; ++y, from += w.x.out) {
                put_run(from, w.x.out, image + y * call.to.row, call.to.column,
                        call.accumulate);
            }
        }
    }
}

// The filters, and a matrix of `columns` columns that they multiply or make.
template <class T>
Gemm<T> filter_product(const ConvCall<T>& call, int64_t columns) {
    Gemm<T> p = {};
    p.n = columns;
    p.a = call.weight.data;
    p.alpha = 1;
    p.activation = Activation::none;
    p.batch_dims = 1;
    p.batch[0] = 1;
    p.b_col = 1;
    return p;
}

template <class T>
bool conv_by_patches(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const PatchBlocks blocks(w);
    const Images<T>& to = call.to;
    const bool in_place = blocks.together == 1 && to.column == 1 &&
                          (w.y.out == 1 || to.row == w.x.out) && !call.accumulate;
    T* patches =
        scratch_of<T>(call.context, patches_slot, blocks.rows * blocks.columns());
    T* results = in_place ? nullptr
                          : scratch_of<T>(call.context, patch_pixels_slot,
                                          w.outs * blocks.columns());
    if (patches == nullptr || (results == nullptr && !in_place)) return false;
    for (int64_t n = 0; n < w.batch; n += blocks.together) {
        const PatchBlock block = blocks.at(n);
        write_patches(w, call.from, block, patches, call.context);
        Gemm<T> p = filter_product(call, block.images * blocks.windows);
        p.m = w.outs;
        p.k = blocks.rows;
        p.a_row = call.weight.image;
        p.a_col = 1;
        p.b = patches;
        p.b_row = p.n;
        p.c = in_place ? to.data + n * to.image : results;
        p.c_row = in_place ? to.channel : p.n;
        const bool ok = call.bias == nullptr
                            ? multiply(p, call.context)
                            : multiply_onto_bias(p, call.bias, call.context);
        if (!ok) return false;
        if (in_place) continue;
        parallel(call.context, w.outs, w.outs * p.n > serial_work,
                 [&](int64_t begin, int64_t end) {
                     const Phase phase(call.context, AC_PHASE_EPILOGUE);
                     scatter_results(call, block, results, begin, end);
                 });
    }
    return true;
}

// ---- the input gradient

// Adds patches to the channels c0 to c1 of a block's images, to the bias at their first
// addition.
template <class T>
void add_patches(const ConvCall<T>& call, const PatchBlock& block, const T* patches,
                 int64_t c0, int64_t c1) {
    const Windows& w = call.windows;
    const int64_t windows = w.y.out * w.x.out, row = block.images * windows;
    const int64_t bias_step = call.bias == nullptr ? 0 : stride_of<T>(call.bias, 0);
    for (int64_t c = c0; c < c1; ++c) {
        const T start = call.bias == nullptr ? T(0) : data<T>(call.bias)[c * bias_step];
        for (int64_t n = 0; n < block.images; ++n) {
            T* image =
                call.to.data + (block.first + n) * call.to.image + c * call.to.channel;
            for (int64_t y = 0; y < w.y.in; ++y) {
                T* line = image + y * call.to.row;
                for (int64_t x = 0; x < w.x.in; ++x, line += call.to.column)
                    *line = call.accumulate ? *line + start : start;
            }
            for (int64_t tap = 0; tap < w.taps(); ++tap) {
                const int64_t i = tap / w.x.kernel, j = tap % w.x.kernel;
                const LineCut cut(w.x.in, j * w.x.dilation - w.x.padding, w.x.stride,
                                  w.x.out);
                const T* from =
                    patches + (c * w.taps() + tap) * row + n * windows + cut.begin;
                for (int64_t y = 0; y < w.y.out; ++y, from += w.x.out) {
                    const int64_t at = y * w.y.stride + i * w.y.dilation - w.y.padding;
                    if (at < 0 || at >= w.y.in) continue;
                    put_run(from, cut.end - cut.begin,
                            image + at * call.to.row +
                                (cut.first + cut.begin * cut.step) * call.to.column,
                            cut.step * call.to.column, true);
                }
            }
        }
    }
}

template <class T>
bool dx_by_patches(const ConvCall<T>& call) {
    const Windows& w = call.windows;
    const PatchBlocks blocks(w);
    T* patches =
        scratch_of<T>(call.context, patches_slot, blocks.rows * blocks.columns());
    T* room = scratch_of<T>(call.context, patch_pixels_slot, w.outs * blocks.columns());
    if (patches == nullptr || room == nullptr) return false;
    for (int64_t n = 0; n < w.batch; n += blocks.together) {
        const PatchBlock block = blocks.at(n);
        const PixelMatrix<T> g = pixel_matrix(w, call.from, block, room, call.context);
        Gemm<T> p = filter_product(call, block.images * blocks.windows);
        p.m = blocks.rows;
        p.k = w.outs;
        p.a_row = 1;
        p.a_col = call.weight.image;
        p.b = g.data;
        p.b_row = g.row;
        p.c = patches;
        p.c_row = p.n;
        if (!multiply(p, call.context)) return false;
        parallel(call.context, w.ins, blocks.rows * p.n > serial_work,
                 [&](int64_t begin, int64_t end) {
                     const Phase phase(call.context, AC_PHASE_EPILOGUE);
                     add_patches(call, block, patches, begin, end);
                 });
    }
    return true;
}

// ---- the weight gradient

template <class T>
bool dweight_by_patches(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const PatchBlocks blocks(w);
    T* patches =
        scratch_of<T>(call.context, patches_slot, blocks.rows * blocks.columns());
    T* room = scratch_of<T>(call.context, patch_pixels_slot, w.outs * blocks.columns());
    if (patches == nullptr || room == nullptr) return false;
    for (int64_t n = 0; n < w.batch; n += blocks.together) {
        const PatchBlock block = blocks.at(n);
        write_patches(w, call.x, block, patches, call.context);
        const PixelMatrix<T> g = pixel_matrix(w, call.g, block, room, call.context);
        Gemm<T> p = {};
        p.m = w.outs;
        p.n = blocks.rows;
        p.k = block.images * blocks.windows;
        p.a = g.data;
        p.a_row = g.row;
        p.a_col = 1;
        p.b = patches;
        p.b_row = 1;
        p.b_col = p.k;
        p.c = call.to.data;
        p.c_row = call.to.image;
        p.alpha = 1;
        p.beta = n > 0 || call.accumulate ? T(1) : T(0);
        p.activation = Activation::none;
        if (!multiply(p, call.context)) return false;
    }
    return true;
}

// ---- which convolutions

// Whether patches can be used at all: one group, filters in line, images that are no
// single long task.
template <class T>
bool fits_patches(const Windows& w, const Images<T>& weight) {
    const PatchBlocks blocks(w);
    return w.groups == 1 && filters_in_line(weight, w) && w.batch > 0 &&
           blocks.windows > 0 && blocks.rows > 0 && w.outs > 0 &&
           blocks.rows * blocks.columns() <= most_patches;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
