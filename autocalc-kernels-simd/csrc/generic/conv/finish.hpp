// SPDX-License-Identifier: MIT
//
// What follows a convolution on its way to memory: out = f(out + other), on pieces that
// have just been written. The array that is added has the result's layout.
#pragma once

#include "conv/windows.hpp"
#include "elementwise/post_ops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Pieces that begin `at` elements after the first one of the result.
template <class T>
AC_INLINE void finish_at(const Epilogue<T>& finish, const Images<T>& to, int64_t at,
                         int64_t rows, int64_t columns, int64_t row) {
    finish_rows(finish, rows, columns, to.data + at, row,
                finish.other == nullptr ? nullptr : finish.other + at, row);
}

// Line `y` of an image, `channels` neighbours from number `c` on of each pixel.
template <class T>
AC_INLINE void finish_pixels(const Epilogue<T>& finish, const Images<T>& to,
                             int64_t image, int64_t y, int64_t columns, int64_t c,
                             int64_t channels) {
    finish_at(finish, to, image * to.image + y * to.row + c, columns, channels,
              to.column);
}

// Images of which no piece has been finished: line by line of a plane, or of pixels.
template <class T>
void finish_images(const Epilogue<T>& finish, const Windows& w, const Images<T>& to,
                   ac_context* context) {
    const int64_t channels = w.groups * w.outs, lines = w.y.out, columns = w.x.out;
    const bool nhwc = to.channel == 1 && channels > 1;
    const int64_t each = nhwc ? lines : channels * lines;
    parallel(
        context, w.batch * each, w.batch * channels * lines * columns > serial_work,
        [&](int64_t begin, int64_t end) {
            const Phase phase(context, AC_PHASE_EPILOGUE);
            for (int64_t t = begin; t < end; ++t) {
                const int64_t image = t / each, y = t % lines;
                if (nhwc) {
                    finish_pixels(finish, to, image, y, columns, 0, channels);
                    continue;
                }
                const int64_t c = t % each / lines;
                finish_at(finish, to, image * to.image + c * to.channel + y * to.row, 1,
                          columns, 0);
            }
        });
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
