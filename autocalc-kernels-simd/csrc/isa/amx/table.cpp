// SPDX-License-Identifier: MIT
//
// The one exported function of AMX's library: products of bfloat16, and the products in
// float32 that are worth splitting, into three levels or, where the user allows it,
// into fewer.
#include <utility>

#include "common/families.hpp"
#include "common/operands.hpp"
#include "halves.hpp"
#include "split.hpp"

namespace autocalc::simd::AC_ISA {

AC_DECLARE_FAMILY(gemm)
AC_DECLARE_FAMILY(linear)
AC_DECLARE_FAMILY(lstm)

namespace {

constexpr const char* too_small =
    "too small: to split it in bfloat16 parts takes longer than it saves";

// ---- whether a call has a product that is worth splitting

template <int levels>
const char* gemm_supports(const ac_call* call) {
    const ac_array *out = operand(call, 0), *a = operand(call, 2),
                   *b = operand(call, 3);
    if (b->ndim != 2) return "b is a batch of matrices";
    return worth_splitting(rows_of(out), dim_of(out, -1), dim_of(a, -1), levels)
               ? nullptr
               : too_small;
}

template <int levels>
const char* linear_supports(const ac_call* call) {
    const ac_array *out = operand(call, 0), *x = operand(call, 2);
    return worth_splitting(rows_of(out), dim_of(out, -1), dim_of(x, -1), levels)
               ? nullptr
               : too_small;
}

template <int levels>
const char* linear_backward_supports(const ac_call* call) {
    const ac_array *dx = operand(call, 0), *dweight = operand(call, 1);
    const ac_array* g = operand(call, 3);
    const int64_t rows = rows_of(g), outs = dim_of(g, -1);
    const bool split =
        (dx != nullptr && worth_splitting(rows, dim_of(dx, -1), outs, levels)) ||
        (dweight != nullptr &&
         worth_splitting(outs, dim_of(dweight, -1), rows, levels));
    return split ? nullptr : too_small;
}

// The gradients of both weights are one product over all steps and rows.
template <int levels>
const char* lstm_backward_supports(const ac_call* call) {
    const ac_array *x = operand(call, 8), *w_hh = operand(call, 10);
    const int64_t features = dim_of(x, 2) + dim_of(w_hh, 1);
    const bool split = operand(call, 1) != nullptr && operand(call, 2) != nullptr &&
                       worth_splitting(dim_of(w_hh, 0), features, rows_of(x), levels);
    return split ? nullptr : too_small;
}

// ---- the sets

constexpr int kernels = 5;

template <int levels>
ac_kernel_entry* entries_of() {
    static ac_kernel_entry entries[kernels] = {
        {"gemm", nullptr, nullptr, gemm_supports<levels>, nullptr, 0, 0, nullptr},
        {"linear", nullptr, nullptr, linear_supports<levels>, nullptr, 0, 0, nullptr},
        {"linear_backward", nullptr, nullptr, linear_backward_supports<levels>, nullptr,
         0, 0, nullptr},
        {"linear_relu_backward", nullptr, nullptr, linear_backward_supports<levels>,
         nullptr, 0, 0, nullptr},
        {"lstm_backward", nullptr, nullptr, lstm_backward_supports<levels>, nullptr, 0,
         0, nullptr},
    };
    return entries;
}

// Kernel `index` with so many levels.
template <int levels, int index>
void run_in_levels(const ac_call* call, ac_context* context, ac_status* status) {
    set_levels(levels);
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it is null until `table_of`.
    entries_of<all_levels>()[index].function(call, context, status);
    set_levels(all_levels);
}

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

template <int levels, int... index>
const ac_kernel_table* table_of(const char* name, const ac_kernel_table* next,
                                std::integer_sequence<int, index...>) {
    ac_kernel_entry* entries = entries_of<levels>();
    if (entries[0].signature == nullptr) {  // once: other threads may be running them
        for (int i = 0; i < kernels; ++i) complete(entries[i]);
        if (levels != all_levels)
            ((entries[index].function = run_in_levels<levels, index>), ...);
    }
    static ac_kernel_table table;
    table = {
        sizeof(ac_kernel_table), AC_KERNEL_API_VERSION, name, entries, kernels, next};
    return &table;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA

// A caller holds the interpreter lock, and a second run writes the same bytes.
extern "C" __attribute__((visibility("default"))) const ac_kernel_table*
autocalc_kernels_amx(void) {
    using namespace autocalc::simd::AC_ISA;
    constexpr auto all = std::make_integer_sequence<int, kernels>();
    const ac_kernel_table* one = table_of<1>("bf16-amx", half_table(), all);
    const ac_kernel_table* two = table_of<2>("bf16x2-amx", one, all);
    return table_of<all_levels>("split-amx", two, all);
}
