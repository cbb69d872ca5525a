// SPDX-License-Identifier: MIT
//
// The one exported function of an instruction set's library: its kernel tables.
#include <utility>

#include "common/families.hpp"
#include "elementwise/in_floats.hpp"
#include "families.inc"

#define AC_PASTE2(a, b) a##b
#define AC_PASTE(a, b) AC_PASTE2(a, b)
#define AC_QUOTE2(a) #a
#define AC_QUOTE(a) AC_QUOTE2(a)

namespace autocalc::simd::AC_ISA {

AC_FAMILIES(AC_DECLARE_FAMILY)
AC_WINOGRAD_FAMILIES(AC_DECLARE_FAMILY)
AC_CHAIN_FAMILIES(AC_DECLARE_FAMILY)

namespace {

constexpr int64_t max_entries = 256;
ac_kernel_entry all_entries[max_entries];
constexpr int64_t max_winograd = 8;
ac_kernel_entry winograd_entries[max_winograd];

constexpr int64_t max_chains = 8;
ac_kernel_entry chain_entries[max_chains];

// Of elementwise kernels; no kernel of AutoCalc's table.
ac_kernel_table chains = {sizeof(ac_kernel_table),
                          AC_KERNEL_API_VERSION,
                          "chain-" AC_QUOTE(AC_ISA),
                          chain_entries,
                          0,
                          nullptr};
// Convolutions by Winograd, which have an error budget of their own.
ac_kernel_table winograd = {sizeof(ac_kernel_table),
                            AC_KERNEL_API_VERSION,
                            "winograd-" AC_QUOTE(AC_ISA),
                            winograd_entries,
                            0,
                            &chains};
ac_kernel_table table = {sizeof(ac_kernel_table),
                         AC_KERNEL_API_VERSION,
                         "simd-" AC_QUOTE(AC_ISA),
                         all_entries,
                         0,
                         &winograd};

#define AC_LIST_FAMILY(name) &name##_family,
const Family* const families[] = {AC_FAMILIES(AC_LIST_FAMILY) nullptr};
const Family* const winograd_families[] = {
    AC_WINOGRAD_FAMILIES(AC_LIST_FAMILY) nullptr};
const Family* const chain_families[] = {AC_CHAIN_FAMILIES(AC_LIST_FAMILY) nullptr};
#undef AC_LIST_FAMILY

int64_t collect(const Family* const* f, ac_kernel_entry* entries, int64_t most) {
    int64_t count = 0;
    for (; *f != nullptr; ++f) {
        for (int64_t i = 0; i < (*f)->count && count < most; ++i) {
            entries[count++] = (*f)->entries[i];
        }
    }
    return count;
}

// ---- elementwise kernels, which take 16-bit operands as floats

constexpr int most_elementwise = 128;
ac_kernel_entry elementwise_entries[most_elementwise];

template <int place>
void run_elementwise(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_kernel_entry& entry = elementwise_entries[place];
    if (!holds_halves(call)) return entry.function(call, context, status);
    call_in_floats(entry, call, context, status);
}

// Of a kernel of one output and floats that answers what it would run. Remainders
// report numbers, and `where` chooses elements whatever they are.
bool runs_in_floats(const ac_kernel_entry& entry) {
    constexpr const char* others[] = {"fmod", "remainder", "floor_divide"};
    for (const char* other : others)
        if (strcmp(entry.name, other) == 0) return false;
    return entry.signature[0] == '~' && entry.supports == nullptr &&
           (entry.dtypes >> AC_FLOAT32 & 1u) != 0;
}

template <int... places>
void add_halves(ac_kernel_entry* entries, int64_t count,
                std::integer_sequence<int, places...>) {
    constexpr ac_kernel_fn functions[] = {run_elementwise<places>...};
    int used = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (used == most_elementwise || !runs_in_floats(entries[i])) continue;
        elementwise_entries[used] = entries[i];
        entries[i].function = functions[used++];
        entries[i].supports = refusal_in_floats;
        entries[i].dtypes |= half_dtypes;
    }
}

}  // namespace

const ac_kernel_entry* kernel_at(int64_t index) {
    return 0 <= index && index < table.count ? &all_entries[index] : nullptr;
}

}  // namespace autocalc::simd::AC_ISA

extern "C" __attribute__((visibility("default"))) const ac_kernel_table* AC_PASTE(
    autocalc_kernels_, AC_ISA)(void) {
    using namespace autocalc::simd::AC_ISA;
    if (table.count == 0) {  // once: other threads may be running them
        const int64_t count = collect(families, all_entries, max_entries);
        add_halves(all_entries, count,
                   std::make_integer_sequence<int, most_elementwise>());
        table.count = count;
    }
    winograd.count = collect(winograd_families, winograd_entries, max_winograd);
    chains.count = collect(chain_families, chain_entries, max_chains);
    return &table;
}
