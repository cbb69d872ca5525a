// SPDX-License-Identifier: MIT
//
// The one exported function of AMX's library: the matrix products in float32 that are
// worth splitting.
#include "common/families.hpp"
#include "common/operands.hpp"
#include "split.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr const char* too_small =
    "too small: to split it in bfloat16 parts takes longer than it saves";

// ---- whether a call has a product that is worth splitting; leading dims are rows

AC_INLINE int64_t rows_of(const ac_array* array) {
    const int64_t columns = dim_of(array, -1);
    return columns == 0 ? 0 : element_count(*array) / columns;
}

const char* gemm_supports(const ac_call* call) {
    const ac_array *out = operand(call, 0), *a = operand(call, 2),
                   *b = operand(call, 3);
    if (b->ndim != 2) return "b is a batch of matrices";
    return worth_splitting(rows_of(out), dim_of(out, -1), dim_of(a, -1)) ? nullptr
                                                                         : too_small;
}

const char* linear_supports(const ac_call* call) {
    const ac_array *out = operand(call, 0), *x = operand(call, 2);
    return worth_splitting(rows_of(out), dim_of(out, -1), dim_of(x, -1)) ? nullptr
                                                                         : too_small;
}

const char* linear_backward_supports(const ac_call* call) {
    const ac_array *dx = operand(call, 0), *dweight = operand(call, 1);
    const ac_array* g = operand(call, 3);
    const int64_t rows = rows_of(g), outs = dim_of(g, -1);
    const bool split =
        (dx != nullptr && worth_splitting(rows, dim_of(dx, -1), outs)) ||
        (dweight != nullptr && worth_splitting(outs, dim_of(dweight, -1), rows));
    return split ? nullptr : too_small;
}

// The gradients of both weights are one product over all steps and rows.
const char* lstm_backward_supports(const ac_call* call) {
    const ac_array *x = operand(call, 8), *w_hh = operand(call, 10);
    const int64_t features = dim_of(x, 2) + dim_of(w_hh, 1);
    const bool split = operand(call, 1) != nullptr && operand(call, 2) != nullptr &&
                       worth_splitting(dim_of(w_hh, 0), features, rows_of(x));
    return split ? nullptr : too_small;
}

ac_kernel_entry entries[] = {
    {"gemm", nullptr, nullptr, gemm_supports, nullptr, 0, 0, nullptr},
    {"linear", nullptr, nullptr, linear_supports, nullptr, 0, 0, nullptr},
    {"linear_backward", nullptr, nullptr, linear_backward_supports, nullptr, 0, 0,
     nullptr},
    {"linear_relu_backward", nullptr, nullptr, linear_backward_supports, nullptr, 0, 0,
     nullptr},
    {"lstm_backward", nullptr, nullptr, lstm_backward_supports, nullptr, 0, 0, nullptr},
};

ac_kernel_table table = {sizeof(ac_kernel_table),
                         AC_KERNEL_API_VERSION,
                         "split-amx",
                         entries,
                         sizeof(entries) / sizeof(entries[0]),
                         nullptr};

// Takes all but `supports` from the family's kernel of this name.
void complete(ac_kernel_entry& entry) {
    const Family* const families[] = {&gemm_family, &linear_family, &lstm_family};
    for (const Family* family : families) {
        for (int64_t i = 0; i < family->count; ++i) {
            const ac_kernel_entry& known = family->entries[i];
            if (strcmp(entry.name, known.name) != 0) continue;
            const ac_supports_fn supports = entry.supports;
            entry = known;
            entry.supports = supports;
            entry.dtypes = 1u << AC_FLOAT32;
        }
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA

// A caller holds the interpreter lock, and a second run writes the same bytes.
extern "C" __attribute__((visibility("default"))) const ac_kernel_table*
autocalc_kernels_amx(void) {
    using namespace autocalc::simd::AC_ISA;
    for (ac_kernel_entry& entry : entries) complete(entry);
    return &table;
}
