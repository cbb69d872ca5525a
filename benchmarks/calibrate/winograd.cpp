// SPDX-License-Identifier: MIT
//
// Convolutions by Winograd's transforms of either size, and the sum as it stands.
#include "timing.hpp"

//
#include "conv/winograd.cpp"

namespace autocalc::calibrate {
namespace {

struct Operands {
    Shape shape;
    std::vector<float> x, weight, y;
    explicit Operands(const Shape& s)
        : shape(s),
          x(numbers(s.batch * s.ins * s.size * s.size)),
          weight(numbers(s.outs * s.ins * wino_taps)),
          y(numbers(s.batch * s.outs * s.size * s.size)) {}

    [[nodiscard]] Windows windows() const {
        const Axis axis = {shape.size, shape.size, wino_kernel, 1, shape.padding(), 1};
        return {axis, axis, shape.batch, 1, shape.ins, shape.outs};
    }
    [[nodiscard]] WinoJob job() {
        const Shape& s = shape;
        const Windows w = windows();
        const std::int64_t plane = s.size * s.size;
        WinoJob job = {};
        job.from = {x.data(), s.ins * plane, plane, s.size, 1};
        job.to = {y.data(), s.outs * plane, plane, s.size, 1};
        job.segments.batch = s.batch;
        job.context = runtime::kernel_context();
        job.y = job.x = w.x;
        job.groups = 1;
        job.ins = s.ins;
        job.outs = s.outs;
        job.taps = {weight.data(),
                    s.outs * s.ins * wino_taps,
                    s.ins * wino_taps,
                    wino_taps,
                    wino_kernel,
                    1,
                    false};
        return job;
    }
};

template <int out>
Way tiles(const char* name, Operands& operands) {
    const Windows w = operands.windows();
    return {name,
            [&operands] {
                WinoJob job = operands.job();
                run_winograd<out>(job, nullptr);
            },
            [w] { return tiles_cost<out>(w.batch, w.ins, w.outs, w.y, w.x); }};
}

constexpr Shape shapes[] = {
    {1, 64, 64, 56, 3, 1},   {8, 32, 32, 28, 3, 1},   {1, 128, 128, 28, 3, 1},
    {4, 128, 128, 14, 3, 1}, {1, 256, 256, 14, 3, 1}, {4, 256, 256, 7, 3, 1},
    {1, 512, 512, 7, 3, 1},  {32, 16, 16, 28, 3, 1},  {16, 64, 64, 14, 3, 1},
    {1, 64, 64, 14, 3, 1},   {16, 256, 256, 8, 3, 1}, {2, 384, 384, 13, 3, 1},
    {16, 128, 128, 7, 3, 1}, {8, 32, 64, 14, 3, 1},   {1, 128, 512, 14, 3, 1},
    {4, 48, 96, 28, 3, 1}};

}  // namespace

void measure_winograd() {
    for (const Shape& shape : shapes) {
        Operands operands(shape);
        const Windows w = operands.windows();
        const double steps = wino_steps(w.ins, w.outs);
        const int chosen =
            tile_of(w.batch, w.ins, w.outs, w.y, w.x, plain_cost(w, steps));
        compare("winograd", shape.text(),
                {tiles<4>("4x4", operands),
                 tiles<2>("2x2", operands),
                 {"plain", conv_in_planes_of(shape),
                  [w, steps] { return plain_cost(w, steps); }}},
                chosen == 4   ? 0
                : chosen == 2 ? 1
                              : 2);
    }
}

}  // namespace autocalc::calibrate
