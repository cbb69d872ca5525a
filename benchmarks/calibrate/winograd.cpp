// SPDX-License-Identifier: MIT
//
// Convolutions by Winograd's transforms of either size, and the direct sum.
#include "conv_operands.hpp"

//
#include "conv/winograd.cpp"

namespace autocalc::calibrate {
namespace {

WinoJob job_of(ConvOperands& operands) {
    const Windows w = operands.windows();
    const Images<float> taps = operands.filters();
    WinoJob job = {};
    job.from = read_only(operands.images(false));
    job.to = operands.results(false);
    job.segments.batch = w.batch;
    job.context = runtime::kernel_context();
    job.y = job.x = w.x;
    job.groups = 1;
    job.ins = w.ins;
    job.outs = w.outs;
    job.taps = {taps.data, w.outs * taps.image, taps.image, taps.channel,
                taps.row,  taps.column,         false};
    return job;
}

template <int out>
Way tiles(const char* name, ConvOperands& operands) {
    const Windows w = operands.windows();
    return {name,
            [&operands] {
                WinoJob job = job_of(operands);
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
        ConvOperands operands(shape);
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
