// SPDX-License-Identifier: MIT
//
// Convolutions and their input gradients, by the algorithms that costs decide between.
#include "conv_operands.hpp"

//
#include "conv/conv.cpp"

namespace autocalc::calibrate {
namespace {

ConvCall<float> call_of(ConvOperands& operands, bool turned, bool last) {
    const auto in = operands.images(last), out = operands.results(last);
    return {operands.windows(),
            turned,
            false,
            read_only(turned ? out : in),
            read_only(operands.filters()),
            turned ? in : out,
            nullptr,
            runtime::kernel_context()};
}

Way way_of(const char* name, const ConvCall<float>& call, Algorithm algorithm,
           std::function<double()> estimate) {
    return {name, [call, algorithm] { convolve(call, algorithm); },
            std::move(estimate)};
}

void compare_algorithms(ConvOperands& operands, bool turned, bool last) {
    const ConvCall<float> call = call_of(operands, turned, last);
    const Windows& w = call.windows;
    const bool strided = turned ? is_strided_dx(w) : is_strided<float>(w);
    const double passes = turned ? patch_dx : patch_forward;
    const Algorithm by_patches = last ? Algorithm::nhwc_patches : Algorithm::patches;
    const Algorithm other = last      ? Algorithm::nhwc
                            : strided ? Algorithm::strided
                                      : Algorithm::planes;
    const auto other_cost = [w, turned, last, strided] {
        if (last) return nhwc_cost<float>(w);
        return strided ? strided_cost<float>(w, turned) : planes_cost<float>(w);
    };
    const Algorithm taken = choose_algorithm(call);
    const std::string family =
        std::string(turned ? "conv_dx" : "conv") + (last ? "_nhwc" : "");
    compare(family.c_str(), operands.shape.text(),
            {way_of("patches", call, by_patches,
                    [w, last, passes] {
                        return last ? nhwc_patches_cost<float>(w, passes)
                                    : patches_cost<float>(w, passes);
                    }),
             way_of(last      ? "nhwc"
                    : strided ? "strided"
                              : "planes",
                    call, other, other_cost)},
            taken == by_patches ? 0
            : taken == other    ? 1
                                : -1);
}

constexpr Shape shapes[] = {
    {1, 64, 64, 56, 3, 1},   {8, 32, 32, 28, 3, 1},   {1, 128, 128, 28, 3, 1},
    {4, 128, 128, 14, 3, 1}, {1, 256, 256, 14, 3, 1}, {2, 256, 256, 7, 3, 1},
    {1, 512, 512, 7, 3, 1},  {8, 512, 512, 4, 3, 1},  {32, 64, 64, 14, 3, 1},
    {1, 64, 128, 56, 3, 2},  {8, 64, 128, 28, 3, 2},  {1, 128, 256, 28, 3, 2},
    {4, 128, 256, 14, 3, 2}, {1, 256, 512, 14, 3, 2}, {2, 256, 512, 7, 3, 2},
    {1, 512, 1024, 7, 3, 2}, {16, 256, 256, 8, 3, 2}, {1, 32, 64, 112, 3, 2},
    {2, 128, 128, 56, 3, 2}, {1, 256, 256, 28, 3, 2}, {8, 128, 256, 8, 3, 2},
    {32, 64, 128, 14, 3, 2}, {1, 128, 512, 14, 3, 1}, {16, 128, 128, 7, 3, 1},
    {4, 256, 256, 8, 3, 1},  {2, 384, 384, 13, 3, 1}, {4, 64, 96, 27, 5, 1},
    {1, 64, 64, 14, 5, 1},   {4, 96, 192, 14, 5, 2},  {2, 1024, 512, 4, 3, 1}};

// Blocks of strided windows that stay in L1.
void measure_blocks() {
    for (const Shape& shape : shapes) {
        if (shape.stride == 1) continue;
        ConvOperands operands(shape);
        for (const bool turned : {false, true}) {
            const ConvCall<float> call = call_of(operands, turned, false);
            const auto run = [&] { convolve(call, Algorithm::strided); };
            const std::string text = shape.text() + (turned ? ",dx" : "");
            try_sizes("strided_results", Costs::strided_results, text,
                      {4096, 8192, 16384, 32768}, run);
            try_sizes("strided_weights", Costs::strided_weights, text,
                      {0, 24576, 65536, 200000}, run);
        }
    }
}

}  // namespace

void measure_conv() {
    for (const bool last : {false, true}) {
        for (const Shape& shape : shapes) {
            ConvOperands operands(shape);
            for (const bool turned : {false, true})
                compare_algorithms(operands, turned, last);
        }
    }
    measure_blocks();
}

std::function<void()> conv_in_planes_of(const Shape& shape) {
    return [operands = std::make_shared<ConvOperands>(shape)] {
        convolve(call_of(*operands, false, false), Algorithm::planes);
    };
}

}  // namespace autocalc::calibrate
