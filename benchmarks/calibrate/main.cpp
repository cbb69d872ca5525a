// SPDX-License-Identifier: MIT
//
// Prints the costs that are built in, then what this machine takes:
//
//     calibrate ROUNDS
//
//     cost NAME VALUE
//     way ...   size ...   (timing.hpp)
#include <cstdlib>

#include "timing.hpp"

int main(int count, char** words) {
    using namespace autocalc::calibrate;
    if (count != 2 || (rounds = std::atoi(words[1])) < 1) {
        std::fprintf(stderr, "usage: calibrate ROUNDS\n");
        return 2;
    }
    autocalc::runtime::set_num_threads(1);
    for (const Linear& cost : linear_costs())
        std::printf("cost %s %.6g\n", cost.name, cost.built_in);
#define AC_PRINT(name) \
    std::printf("cost %s %lld\n", #name, static_cast<long long>(BuiltIn::name));
    AC_SIZES(AC_PRINT)
#undef AC_PRINT
    measure_gemm();
    measure_conv();
    measure_dweight();
    measure_winograd();
    return 0;
}
