// SPDX-License-Identifier: MIT
//
// Chunks of channels in memory: of floats as they are; of 16 bits in blocks that the L1
// cache holds, which are widened before loops go over them and rounded after that. So
// loops are those of float32, and each element crosses memory once with its 16 bits.
#pragma once

#include "norm/channels.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t block_elements = 1024;
constexpr int most_images = 4;
static_assert(bundles_bytes / item_size<float> * bundle_rows <= block_elements);

// Arrays of one shape and dtype, null where absent.
template <class T, int count>
struct Arrays {
    T* at[count];
};

// The blocks of a chunk of arrays of 16 bits, one after another.
struct Blocks {
    Extent block;
    void* at[most_images];  // where its elements are

    // Begins with the first of `count` arrays, of which those are outputs whose bits
    // `outputs` has; false where there is none.
    AC_NOINLINE bool begin(const Extent& chunk, bool bundles, int of, uint32_t outputs,
                           void* const* arrays, int count) {
        whole = chunk;
        bundle = bundles;
        dtype = of;
        written = outputs;
        images = count;
        for (int k = 0; k < count; ++k) array[k] = static_cast<char*>(arrays[k]);
        block = {};
        column = 0;
        for (int k = 0; k < count; ++k) at[k] = array[k] == nullptr ? nullptr : room[k];
        return enter();
    }
    // Rounds what was written to the block, and goes on to the next one.
    AC_NOINLINE bool next() {
        each_run([&](int k, char* from, float* wide, int64_t n) {
            if (written >> k & 1) narrow_any(dtype, wide, n, from);
        });
        return enter();
    }

  private:
    char* array[most_images];
    Extent whole;
    bool bundle;
    int dtype, images;
    uint32_t written;
    int64_t column;  // of a plane that is longer than a block
    int64_t place;   // of the block in memory
    alignas(64) float room[most_images][block_elements];

    AC_INLINE bool enter() {
        if (!(bundle ? next_rows() : next_planes())) return false;
        each_run([&](int k, char* from, float* wide, int64_t n) {
            if (!(written >> k & 1)) widen_any(dtype, from, n, wide);
        });
        return true;
    }
    AC_INLINE bool next_rows() {
        block.row += block.count;
        if (block.row >= whole.count) return false;
        // Whole turns of the sums where rows are short, as a chunk of floats has them.
        const int64_t fit = block_elements / whole.length / bundle_rows * bundle_rows;
        block.count = smaller(larger(fit, bundle_rows), whole.count - block.row);
        block.length = block.step = whole.length;
        block.channels = whole.channels;
        place = whole.begin + block.row * whole.step;
        return true;
    }
    AC_INLINE bool next_planes() {
        column += block.length;
        if (column >= whole.length) {
            column = 0;
            block.channel += block.channels;
        }
        if (block.channel >= whole.channels) {
            block.channel = 0;
            ++block.row;
        }
        if (block.row >= whole.count || whole.length == 0) return false;
        const int64_t fit = larger<int64_t>(1, block_elements / whole.length);
        block.channels = smaller(fit, whole.channels - block.channel);
        block.length = smaller(block_elements, whole.length - column);
        block.count = 1;
        place = whole.begin + block.row * whole.step + block.channel * whole.length +
                column;
        return true;
    }

    // f(array, its elements, the block's floats, how many) for contiguous runs.
    template <class F>
    AC_INLINE void each_run(F&& f) {
        const bool rows = bundle && whole.step != whole.length;
        const int64_t runs = rows ? block.count : 1;
        const int64_t n = block.length * (bundle ? block.count : block.channels) / runs;
        for (int k = 0; k < images; ++k) {
            if (array[k] == nullptr) continue;
            for (int64_t r = 0; r < runs; ++r)
                f(k, array[k] + (place + r * whole.step) * 2, room[k] + r * n, n);
        }
    }
};

// f(block, arrays) for the blocks of a chunk; `arrays` are where its elements are.
template <uint32_t written, class T, bool bundle, int count, class F>
AC_INLINE void each_block(const Chunk<T, bundle>& chunk, int dtype,
                          const Arrays<T, count>& arrays, F&& f) {
    static_assert(count <= most_images);
    Blocks blocks;
    const bool wide = sizeof(T) == 4 && is_half(dtype);
    if (wide) {
        void* all[count];
        for (int k = 0; k < count; ++k) all[k] = arrays.at[k];
        if (!blocks.begin(chunk, bundle, dtype, written, all, count)) return;
    }
    do {
        T* at[count];
        for (int k = 0; k < count; ++k)
            at[k] = wide ? static_cast<T*>(blocks.at[k]) : arrays.at[k];
        const Extent &whole = chunk, &block = wide ? blocks.block : whole;
        f(Chunk<T, bundle>{block}, at);
    } while (wide && blocks.next());
}

// Whether kernels can take images of 16 bits: they are of one dtype, and nothing is a
// double. Numbers of channels are floats, or of 16 bits as well.
template <int count>
AC_INLINE const char* refusal_of_images(const ac_array* const (&images)[count],
                                        const ac_call* call) {
    int dtype = -1;  // not known
    for (const ac_array* image : images) {
        if (image == nullptr || image->dtype < 0) continue;
        if (dtype >= 0 && dtype != image->dtype) return "images of several dtypes";
        dtype = image->dtype;
    }
    return is_half(dtype) ? refusal_in_floats(call) : nullptr;
}

// An element of an array whose dtype is T, or has 16 bits.
template <class T>
AC_INLINE T element_at(const T* array, int dtype, int64_t i) {
    const int64_t item = is_half(dtype) ? 2 : item_size<T>;
    return element_of<T>(reinterpret_cast<const char*>(array) + i * item, dtype);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
