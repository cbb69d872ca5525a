/* SPDX-License-Identifier: MIT
 *
 * The kernels, in C without Python.  A kernel reads the inputs of a call and writes its
 * outputs.  It keeps no state between calls.
 */
#include <math.h>

#include "autocalc_kernel.h"

/* Rows per task of rms_norm.  Tasks are counted from the shape alone, so results do not
 * depend on the number of threads; 64 rows of 1,000 floats take some 30 microseconds,
 * well above the 2 to 5 that it costs to hand a task to a thread. */
#define ROWS_PER_TASK 64

/* ---- arrays: strides are in bytes and may be 0; a 0-d array is a row of one element -
 */

static int64_t row_length(const ac_array* a) {
    return a->ndim == 0 ? 1 : a->shape[a->ndim - 1];
}

static int64_t row_stride(const ac_array* a) {
    return a->ndim == 0 ? 0 : a->strides[a->ndim - 1];
}

static int64_t row_count(const ac_array* a) {
    int64_t count = 1;
    for (int d = 0; d < a->ndim - 1; ++d) count *= a->shape[d];
    return count;
}

/* The first element of row `i`, counted in row-major order over all leading dims. */
static char* row_of(const ac_array* a, int64_t i) {
    char* data = (char*)a->data;
    for (int d = a->ndim - 2; d >= 0; --d) {
        data += i % a->shape[d] * a->strides[d];
        i /= a->shape[d];
    }
    return data;
}

/* Operands have the order of the signature, outputs first.  In these two kernels, no
 * operand is a list (`*` in the signature). */
static const ac_array* operand(const ac_call* call, int i) {
    return call->operands[i].arrays;
}

/* ---- relu: "~ out ; a" --------------------------------------------------------------
 *
 * The `~` marks an elementwise kernel: inputs are expanded to the output's shape. */

static void relu(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = operand(call, 0), *a = operand(call, 1);
    const int64_t rows = row_count(out), n = row_length(out);
    const int64_t to = row_stride(out), from = row_stride(a);
    (void)context;
    (void)status; /* AC_DONE is the initial value */
    for (int64_t i = 0; i < rows; ++i) {
        char *y = row_of(out, i), *x = row_of(a, i);
        for (int64_t j = 0; j < n; ++j) {
            const float value = *(const float*)(x + j * from);
            *(float*)(y + j * to) = value <= 0.0f ? 0.0f : value; /* NaN stays */
        }
    }
}

/* ---- rms_norm: "out rstd? ; x weight? ; eps:float" ----------------------------------
 *
 * rstd = 1 / sqrt(mean(x**2) + eps), out = x * rstd * weight over the last dimension.
 * The sum is in double: with float32, the error budget needs pairwise summation. */

static void rms_norm_rows(void* arg, int64_t begin, int64_t end) {
    const ac_call* call = (const ac_call*)arg;
    const ac_array *out = operand(call, 0), *rstd = operand(call, 1);
    const ac_array *x = operand(call, 2), *weight = operand(call, 3);
    const double eps = call->attributes[0].v.f;
    const int64_t n = row_length(x), rows = row_count(x);
    const int64_t last = end * ROWS_PER_TASK < rows ? end * ROWS_PER_TASK : rows;
    for (int64_t i = begin * ROWS_PER_TASK; i < last; ++i) {
        const char* from = row_of(x, i);
        char* to = row_of(out, i);
        double squares = 0.0;
        for (int64_t j = 0; j < n; ++j) {
            const double value = *(const float*)(from + j * row_stride(x));
            squares += value * value;
        }
        const double scale = 1.0 / sqrt(squares / (double)n + eps);
        for (int64_t j = 0; j < n; ++j) {
            double value = *(const float*)(from + j * row_stride(x)) * scale;
            if (weight->present) { /* absent operands have present == 0 */
                value *= *(const float*)((char*)weight->data + j * row_stride(weight));
            }
            *(float*)(to + j * row_stride(out)) = (float)value;
        }
        if (rstd->present) *(float*)row_of(rstd, i) = (float)scale;
    }
}

static void rms_norm(const ac_call* call, ac_context* context, ac_status* status) {
    const int64_t rows = row_count(operand(call, 2));
    const int64_t tasks = (rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    (void)status;
    context->parallel_for(context, tasks, rms_norm_rows, (void*)call);
}

/* ---- the table ----------------------------------------------------------------------
 *
 * `dtypes` are the dtypes of the first operand that the kernel supports.  Calls with
 * other dtypes run on another kernel set.  `ns_per_element` estimates the time, and long
 * calls release Python's lock.
 */

static const ac_kernel_entry entries[] = {
    {.name = "relu",
     .signature = "~ out ; a",
     .function = relu,
     .ns_per_element = 0.3,
     .dtypes = 1u << AC_FLOAT32},
    {.name = "rms_norm",
     .signature = "out rstd? ; x weight? ; eps:float",
     .function = rms_norm,
     .ns_per_element = 0.5,
     .dtypes = 1u << AC_FLOAT32},
};

const ac_kernel_table example_kernels = {
    .size = sizeof(ac_kernel_table),
    .api = AC_KERNEL_API_VERSION,
    .name = "example",
    .entries = entries,
    .count = sizeof entries / sizeof entries[0],
};
