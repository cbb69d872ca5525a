// SPDX-License-Identifier: MIT
//
// The list of kernel families. A family is one file `<folder>/<family>.cpp`, compiled
// once per instruction set, that defines `<family>_family` with AC_DEFINE_FAMILY.
#pragma once

#include "autocalc_kernel.h"

#define AC_FOR_EACH_FAMILY(X) \
    X(arithmetic)             \
    X(transcendental)         \
    X(exponentials)           \
    X(remainders)             \
    X(bits)                   \
    X(signs)                  \
    X(special)                \
    X(series)                 \
    X(activations)            \
    X(copies)                 \
    X(reductions)             \
    X(moments)                \
    X(gemm)                   \
    X(conv)                   \
    X(conv_dweight)           \
    X(linear)                 \
    X(softmax)                \
    X(losses)                 \
    X(sgd_adamw)              \
    X(rmsprop)                \
    X(gather)                 \
    X(adding)                 \
    X(scatter)                \
    X(sorting)                \
    X(row_norms)              \
    X(row_norms_backward)     \
    X(batch_norm)             \
    X(batch_norm_backward)    \
    X(max_pooling)            \
    X(avg_pooling)            \
    X(grid_sample)            \
    X(grad_norm)              \
    X(random)                 \
    X(attention)              \
    X(attention_backward)     \
    X(rotary)                 \
    X(rnn)                    \
    X(lstm)                   \
    X(gru)                    \
    X(adagrad_adadelta_lion)  \
    X(scans)                  \
    X(factorizations)         \
    X(systems)                \
    X(truths)                 \
    X(counts)

// Of the set with Winograd's convolutions, which have an error budget of their own.
#define AC_FOR_EACH_WINOGRAD_FAMILY(X) \
    X(winograd)                        \
    X(winograd_dweight)

namespace autocalc::simd::AC_ISA {

struct Family {
    const ac_kernel_entry* entries;
    int64_t count;
};

#define AC_DECLARE_FAMILY(name) extern const Family name##_family;
AC_FOR_EACH_FAMILY(AC_DECLARE_FAMILY)
AC_FOR_EACH_WINOGRAD_FAMILY(AC_DECLARE_FAMILY)
AC_DECLARE_FAMILY(chain)  // of elementwise kernels; no kernel of AutoCalc's table
#undef AC_DECLARE_FAMILY

// Kernel `index` of the table, null beyond its end.
const ac_kernel_entry* kernel_at(int64_t index);

// `entries` is the family's static array of ac_kernel_entry.
#define AC_DEFINE_FAMILY(name, entries) \
    const Family name##_family = {      \
        entries, static_cast<int64_t>(sizeof(entries) / sizeof((entries)[0]))}

}  // namespace autocalc::simd::AC_ISA
