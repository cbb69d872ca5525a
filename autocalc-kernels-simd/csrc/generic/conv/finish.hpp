// SPDX-License-Identifier: MIT
//
// What follows a convolution on its way to memory: out = f(out + other), on pieces that
// have just been written.
#pragma once

#include "conv/windows.hpp"
#include "elementwise/post_ops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct Finish {
    Epilogue<T> of = {};
    Images<const T> other = {};  // without data: nothing is added

    [[nodiscard]] AC_INLINE bool any() const { return of.any(); }
    [[nodiscard]] AC_INLINE const T* other_at(int64_t offset) const {
        return other.data == nullptr ? nullptr : other.data + offset;
    }
};

// Line `y` of an image, `channels` neighbours from number `c` on of each pixel.
template <class T>
AC_INLINE void finish_pixels(const Finish<T>& finish, const Images<T>& to,
                             int64_t image, int64_t y, int64_t columns, int64_t c,
                             int64_t channels) {
    const Images<const T>& other = finish.other;
    finish_rows(finish.of, columns, channels,
                to.data + image * to.image + y * to.row + c, to.column,
                finish.other_at(image * other.image + y * other.row + c), other.column);
}

// Images of which no piece has been finished: line by line of a plane, or of pixels.
template <class T>
void finish_images(const Finish<T>& finish, const Windows& w, const Images<T>& to,
                   ac_context* context) {
    const int64_t channels = w.groups * w.outs, lines = w.y.out, columns = w.x.out;
    const bool nhwc = to.channel == 1 && channels > 1;
    const int64_t each = nhwc ? lines : channels * lines;
    const Images<const T>& other = finish.other;
    parallel(
        context, w.batch * each, w.batch * channels * lines * columns > serial_work,
        [&](int64_t begin, int64_t end) {
            for (int64_t t = begin; t < end; ++t) {
                const int64_t image = t / each, y = t % lines;
                if (nhwc) {
                    finish_pixels(finish, to, image, y, columns, 0, channels);
                    continue;
                }
                const int64_t c = t % each / lines;
                finish_rows(finish.of, 1, columns,
                            to.data + image * to.image + c * to.channel + y * to.row, 0,
                            finish.other_at(image * other.image + c * other.channel +
                                            y * other.row),
                            0);
            }
        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
