// SPDX-License-Identifier: MIT
//
// A convolution's gradients of weights, by the algorithms that costs decide between.
#include "conv_operands.hpp"

//
#include "conv/conv_dweight.cpp"

namespace autocalc::calibrate {
namespace {

DweightCall<float> call_of(ConvOperands& operands, bool last) {
    return {operands.windows(),
            read_only(operands.images(last)),
            read_only(operands.results(last)),
            operands.filters(),
            false,
            runtime::kernel_context()};
}

void compare_algorithms(ConvOperands& operands, bool last) {
    const DweightCall<float> call = call_of(operands, last);
    const Windows w = call.windows;
    const Windows lines = last ? w : with_long_lines(w, call.x, call.g);
    const Algorithm by_patches = last ? Algorithm::nhwc_patches : Algorithm::patches;
    const Algorithm other = last ? Algorithm::nhwc : Algorithm::planes;
    const Algorithm taken = choose_algorithm(call);
    const auto run = [&call](Algorithm algorithm) {
        return [&call, algorithm] { sum_by(algorithm, call); };
    };
    compare(last ? "dweight_nhwc" : "dweight", operands.shape.text(),
            {{"patches", run(by_patches),
              [&] {
                  return last ? nhwc_patches_cost<float>(lines, patch_forward)
                              : patches_cost<float>(lines, patch_forward);
              }},
             {last ? "nhwc" : "planes", run(other),
              [&] {
                  return dweight_cost<float>(
                      w, smaller(w.batch, most_parts),
                      last ? Costs::nhwc_dweight_share : Costs::dweight_share);
              }}},
            taken == by_patches ? 0
            : taken == other    ? 1
                                : -1);
}

constexpr Shape shapes[] = {
    {8, 32, 32, 28, 3, 1},   {4, 64, 64, 28, 3, 1},   {4, 128, 128, 14, 3, 1},
    {2, 256, 256, 14, 3, 1}, {2, 256, 256, 7, 3, 1},  {8, 256, 256, 7, 3, 1},
    {2, 512, 512, 7, 3, 1},  {8, 512, 512, 4, 3, 1},  {32, 64, 64, 14, 3, 1},
    {8, 64, 128, 28, 3, 2},  {4, 128, 256, 14, 3, 2}, {2, 256, 512, 14, 3, 2},
    {4, 512, 512, 7, 3, 2},  {16, 256, 256, 8, 3, 2}, {16, 128, 128, 7, 3, 1},
    {4, 256, 256, 8, 3, 1},  {2, 384, 384, 13, 3, 1}, {8, 128, 256, 8, 3, 2},
    {2, 128, 128, 56, 3, 2}, {4, 64, 64, 14, 5, 1}};

}  // namespace

void measure_dweight() {
    for (const bool last : {false, true}) {
        for (const Shape& shape : shapes) {
            ConvOperands operands(shape);
            compare_algorithms(operands, last);
        }
    }
}

}  // namespace autocalc::calibrate
