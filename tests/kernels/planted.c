/* SPDX-License-Identifier: MIT
 *
 * Faults of C kernels, for the conformance kit to find: relu, and one fault in each. */
#include <string.h>
#include <unistd.h>

#include "autocalc_kernel.h"

enum { MOST = 1 << 20 };

static int64_t size_of(const ac_array* a) {
    int64_t size = 1;
    for (int d = 0; d < a->ndim; ++d) size *= a->shape[d];
    return size;
}

/* The element `i` of an array, counted in row-major order. */
static char* element(const ac_array* a, int64_t i) {
    char* data = (char*)a->data;
    for (int d = a->ndim - 1; d >= 0; --d) {
        data += i % a->shape[d] * a->strides[d];
        i /= a->shape[d];
    }
    return data;
}

static float positive(float x) { return x <= 0.0f ? 0.0f : x; }

void right(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = call->operands[0].arrays, *a = call->operands[1].arrays;
    (void)context, (void)status;
    for (int64_t i = 0, n = size_of(out); i < n; ++i)
        *(float*)element(out, i) = positive(*(const float*)element(a, i));
}

/* Two threads share the scratch memory; in the pause they meet on a busy machine. */
void static_scratch(const ac_call* call, ac_context* context, ac_status* status) {
    static float scratch[MOST];
    const ac_array *out = call->operands[0].arrays, *a = call->operands[1].arrays;
    const int64_t n = size_of(out);
    (void)context, (void)status;
    for (int64_t i = 0; i < n; ++i) scratch[i] = positive(*(const float*)element(a, i));
    usleep(100);
    for (int64_t i = 0; i < n; ++i) memcpy(element(out, i), &scratch[i], sizeof(float));
}

/* Offsets are counted in 32 bits. */
void short_offsets(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = call->operands[0].arrays, *a = call->operands[1].arrays;
    (void)context, (void)status;
    for (int64_t i = 0, n = size_of(out); i < n; ++i) {
        const int32_t from = (int32_t)(element(a, i) - (char*)a->data);
        *(float*)element(out, i) = positive(*(const float*)((char*)a->data + from));
    }
}

/* The last vector of eight is read whole. */
void whole_vectors(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* a = call->operands[1].arrays;
    volatile float sink = 0;
    int dense = 1;
    right(call, context, status);
    for (int d = a->ndim - 1, step = sizeof(float); d >= 0; step *= a->shape[d--])
        dense = dense && a->strides[d] == step;
    for (int64_t i = 0, n = size_of(a); dense && i < (n + 7) / 8 * 8; ++i)
        sink += ((const float*)a->data)[i];
}
