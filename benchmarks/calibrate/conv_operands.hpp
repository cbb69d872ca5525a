// SPDX-License-Identifier: MIT
//
// Images, filters and results of a convolution in the layouts that its algorithms need.
#pragma once

#include "conv/windows.hpp"
#include "timing.hpp"

namespace autocalc::calibrate {
namespace {

struct ConvOperands {
    Shape shape;
    std::vector<float> x, weight, y;
    explicit ConvOperands(const Shape& s)
        : shape(s),
          x(numbers(s.batch * s.ins * s.size * s.size)),
          weight(numbers(s.outs * s.ins * s.kernel * s.kernel)),
          y(numbers(s.batch * s.outs * s.results() * s.results())) {}

    [[nodiscard]] Windows windows() const {
        const Shape& s = shape;
        const Axis axis = {s.size, s.results(), s.kernel, s.stride, s.padding(), 1};
        return {axis, axis, s.batch, 1, s.ins, s.outs};
    }
    // With channels apart, or side by side.
    [[nodiscard]] Images<float> images(bool last) {
        return lying(x.data(), shape.ins, shape.size, last);
    }
    [[nodiscard]] Images<float> results(bool last) {
        return lying(y.data(), shape.outs, shape.results(), last);
    }
    [[nodiscard]] Images<float> filters() {
        const std::int64_t k = shape.kernel;
        return {weight.data(), shape.ins * k * k, k * k, k, 1};
    }

  private:
    static Images<float> lying(float* data, std::int64_t channels, std::int64_t size,
                               bool last) {
        if (last) return {data, size * size * channels, 1, size * channels, channels};
        return {data, size * size * channels, size * size, size, 1};
    }
};

}  // namespace
}  // namespace autocalc::calibrate
