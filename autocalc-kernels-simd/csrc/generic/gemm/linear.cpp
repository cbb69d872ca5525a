// SPDX-License-Identifier: MIT
//
// linear and linear_backward: the leading dims of x are rows of one matrix product.
#include "common/families.hpp"
#include "common/operands.hpp"
#include "gemm/gemm.hpp"
#include "microkernel.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// An array [..., columns] as a matrix; the leading dims are one if they are evenly
// spaced as a whole.
template <class T>
struct Rows {
    T* data;
    int64_t rows, columns;
    int64_t row, column;  // strides
};

template <class T>
bool view_as_rows(const ac_array* array, Rows<T>& view) {
    view = {data_of<T>(array), 1, dim_of(array, -1), 0, stride_of<T>(array, -1)};
    const bool empty = element_count(*array) == 0;  // strides then mean nothing
    for (int d = array->ndim - 2; d >= 0; --d) {
        const int64_t size = array->shape[d];
        const int64_t stride = stride_of<T>(array, d);
        if (size == 1) continue;
        if (view.rows == 1 || empty) {
            view.row = stride;
        } else if (stride != view.row * view.rows) {
            return false;
        }
        view.rows *= size;
    }
    if (view.rows == 1) view.row = view.columns;
    return true;
}

// As above; an input whose leading dims do not merge is copied into scratch, and, of
// those that must be `dense`, one whose columns are not contiguous.
template <class T>
bool rows_of(const ac_array* array, Rows<T>& view, ac_context* context, int slot,
             bool dense = false) {
    const bool merged = view_as_rows(array, view);
    if (merged && (!dense || view.column == 1 || view.columns == 1)) return true;
    const int64_t count = element_count(*array);
    const int64_t columns = dim_of(array, -1);
    T* copy = static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(count) * sizeof(T)));
    if (copy == nullptr) return false;
    for (int64_t i = 0; i < count / columns; ++i) {
        const T* from = data_of<T>(array);
        int64_t left = i;
        for (int d = array->ndim - 2; d >= 0; --d) {
            from += left % array->shape[d] * stride_of<T>(array, d);
            left /= array->shape[d];
        }
        for (int64_t j = 0; j < columns; ++j)
            copy[i * columns + j] = from[j * view.column];
    }
    view = {copy, count / columns, columns, columns, 1};
    return true;
}

template <class T>
Gemm<T> product_of(const Rows<T>& a, const Rows<T>& b, const Rows<T>& c,
                   bool accumulate) {
    Gemm<T> p;
    p.m = c.rows;
    p.n = c.columns;
    p.k = a.columns;
    p.a = a.data;
    p.a_row = a.row;
    p.a_col = a.column;
    p.b = b.data;
    p.b_row = b.row;
    p.b_col = b.column;
    p.c = c.data;
    p.c_row = c.row;
    p.bias = nullptr;
    p.pre = nullptr;
    p.pre_row = 0;
    p.alpha = 1;
    p.beta = accumulate ? T(1) : T(0);
    p.activation = Activation::none;
    p.batch_dims = 0;
    return p;
}

template <class T>
Rows<T> transposed(const Rows<T>& a) {
    return {a.data, a.columns, a.rows, a.column, a.row};
}

enum {
    scratch_g = 3,
    scratch_x = 4,
    scratch_bias = 2,
    scratch_sums = 5,
    scratch_mask = 7
};

// ---- linear

enum { out_at, pre_at, x_at, weight_at, bias_at };

template <class T>
bool linear_typed(const ac_call* call, ac_context* context) {
    Rows<T> out, pre, x, weight, bias;
    if (!view_as_rows(operand(call, out_at), out)) return false;
    if (!rows_of(operand(call, x_at), x, context, scratch_x)) return false;
    if (!view_as_rows(operand(call, weight_at), weight)) return false;
    Gemm<T> p = product_of(x, transposed(weight), out, false);
    if (operand(call, pre_at) != nullptr) {
        if (!view_as_rows(operand(call, pre_at), pre)) return false;
        p.pre = pre.data;
        p.pre_row = pre.row;
    }
    if (operand(call, bias_at) != nullptr) {
        view_as_rows(operand(call, bias_at), bias);
        p.bias = bias.data;
        if (bias.column != 1 && bias.columns > 1) {
            T* copy = static_cast<T*>(context->scratch(
                context, scratch_bias, static_cast<size_t>(p.n) * sizeof(T)));
            if (copy == nullptr) return false;
            for (int64_t j = 0; j < p.n; ++j) copy[j] = bias.data[j * bias.column];
            p.bias = copy;
        }
    }
    p.activation = static_cast<Activation>(int_attribute(call, 0));
    return multiply(p, context);
}

void linear(const ac_call* call, ac_context* context, ac_status* status) {
    const bool ok = operand(call, out_at)->dtype == AC_FLOAT32
                        ? linear_typed<float>(call, context)
                        : linear_typed<double>(call, context);
    if (!ok) no_memory(status);
}

double linear_work(const ac_call* call) {
    const ac_array* weight = operand(call, weight_at);
    const ac_array* x = operand(call, x_at);
    return 2.0 * static_cast<double>(element_count(*x)) *
           static_cast<double>(dim_of(weight, 0)) * ns_per_flop;
}

// ---- sums over the rows of g

// Rows are summed in chunks of a fixed length; the chunks' sums are added in order.
constexpr int64_t chunk_rows = 512;

template <class T>
struct ColumnSums {
    const Rows<T>* g;
    T* sums;  // [chunks][columns]
    int64_t column_tasks;
};

// Four sums of each column take turns, so that additions need not wait for each other.
constexpr int sums_together = 4;

// Sums `rows` rows of `vectors` registers; only the last one may be partly used.
template <class T, int vectors>
AC_NOINLINE void sum_strip(const T* g, int64_t rows, int64_t row, int64_t columns,
                           T* out) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t last = columns - (vectors - 1) * lanes;
    vec<T> sum[sums_together][vectors];
#pragma GCC unroll 4
    for (int r = 0; r < sums_together; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) sum[r][v] = zero<T>();
    }
    for (int64_t i = 0; i < rows; i += sums_together) {
#pragma GCC unroll 4
        for (int r = 0; r < sums_together; ++r) {
            if (i + r < rows) {
                const T* p = g + (i + r) * row;
#pragma GCC unroll 4
                for (int v = 0; v + 1 < vectors; ++v)
                    sum[r][v] = sum[r][v] + load(p + v * lanes);
                const T* end = p + (vectors - 1) * lanes;
                sum[r][vectors - 1] =
                    sum[r][vectors - 1] +
                    (last == lanes ? load(end) : load_first(end, last));
            }
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
        store_first(out + v * lanes, (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]),
                    v + 1 < vectors ? lanes : last);
    }
}

// As many lines of a row at once as there are registers for: with one, whose next line
// is a row away, 1024 x 384 took 85 instead of 66 us on one thread.
template <class T>
void sum_columns(const T* g, int64_t rows, int64_t row, int64_t columns, T* out) {
    constexpr int64_t strip = tile_vectors * vec<T>::lanes;
    int64_t j = 0;
    for (; j + strip <= columns; j += strip)
        sum_strip<T, tile_vectors>(g + j, rows, row, strip, out + j);
    for (; j < columns; j += vec<T>::lanes)
        sum_strip<T, 1>(g + j, rows, row, smaller<int64_t>(vec<T>::lanes, columns - j),
                        out + j);
}

template <class T>
void sum_any(const T* g, int64_t rows, int64_t row, int64_t columns, int64_t column,
             T* out) {
    for (int64_t j = 0; j < columns; ++j) {
        T sum = 0;
        for (int64_t i = 0; i < rows; ++i) sum += g[i * row + j * column];
        out[j] = sum;
    }
}

constexpr int64_t columns_per_task = 256;

template <class T>
void column_sum_tasks(const ColumnSums<T>& job, int64_t begin, int64_t end) {
    const Rows<T>& g = *job.g;
    for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / job.column_tasks * chunk_rows;
        const int64_t j = t % job.column_tasks * columns_per_task;
        const int64_t rows = smaller(chunk_rows, g.rows - i);
        const int64_t columns = smaller(columns_per_task, g.columns - j);
        const T* from = g.data + i * g.row + j * g.column;
        T* out = job.sums + t / job.column_tasks * g.columns + j;
        if (g.column == 1) {
            sum_columns(from, rows, g.row, columns, out);
        } else {
            sum_any(from, rows, g.row, columns, g.column, out);
        }
    }
}

template <class T>
struct BiasGradient {
    Rows<T> g;
    T* out;  // or null
    bool accumulate;
    int64_t chunks;
    ColumnSums<T> job;

    bool prepare(ac_context* context) {
        if (out == nullptr) return true;
        chunks = larger<int64_t>(1, ceil_div(g.rows, chunk_rows));
        T* sums = static_cast<T*>(
            context->scratch(context, scratch_sums,
                             static_cast<size_t>(chunks * g.columns) * sizeof(T)));
        job = {&g, sums, ceil_div(g.columns, columns_per_task)};
        return sums != nullptr;
    }

    [[nodiscard]] Aside aside() const {
        const int64_t tasks = out == nullptr ? 0 : chunks * job.column_tasks;
        const auto run = [](const void* job, int64_t begin, int64_t end) {
            column_sum_tasks(*static_cast<const ColumnSums<T>*>(job), begin, end);
        };
        return {tasks, g.rows * g.columns >= 65536, run, &job};
    }

    void finish() const {
        for (int64_t j = 0; out != nullptr && j < g.columns; ++j) {
            T sum = job.sums[j];
            for (int64_t i = 1; i < chunks; ++i) sum += job.sums[i * g.columns + j];
            out[j] = accumulate ? out[j] + sum : sum;
        }
    }
};

// ---- linear_backward

enum { dx_at, dweight_at, dbias_at, g_at, bx_at, bweight_at };

// With `masked`, dx is 0 where x is 0 or less.
template <class T, bool masked>
bool linear_backward_typed(const ac_call* call, ac_context* context) {
    const int64_t accumulate = int_attribute(call, 0);
    Rows<T> g, x, weight, dx, dweight, mask;
    if (!rows_of(operand(call, g_at), g, context, scratch_g)) return false;
    const bool want_dx = operand(call, dx_at) != nullptr;
    const bool want_dweight = operand(call, dweight_at) != nullptr;
    Gemm<T> for_dx, for_dweight;
    if (want_dx) {
        if (!view_as_rows(operand(call, dx_at), dx)) return false;
        if (!view_as_rows(operand(call, bweight_at), weight)) return false;
        for_dx = product_of(g, weight, dx, accumulate & 1);
        if (masked) {
            if (!rows_of(operand(call, bx_at), mask, context, scratch_mask, true))
                return false;
            for_dx.mask = mask.data;
            for_dx.mask_row = mask.row;
        }
    }
    if (want_dweight) {
        if (!rows_of(operand(call, bx_at), x, context, scratch_x)) return false;
        if (!view_as_rows(operand(call, dweight_at), dweight)) return false;
        for_dweight = product_of(transposed(g), x, dweight, accumulate & 2);
    }
    BiasGradient<T> dbias = {
        g, data_of<T>(operand(call, dbias_at)), (accumulate & 4) != 0, 0, {}};
    if (!dbias.prepare(context)) return false;
    const Aside aside = dbias.aside();
    if (want_dx && want_dweight) {
        if (!multiply(for_dx, for_dweight, aside, context)) return false;
    } else {
        if (want_dx && !multiply(for_dx, context)) return false;
        if (want_dweight && !multiply(for_dweight, context)) return false;
        run_apart(aside, context);
    }
    dbias.finish();
    return true;
}

template <bool masked>
void linear_backward(const ac_call* call, ac_context* context, ac_status* status) {
    const bool ok = operand(call, g_at)->dtype == AC_FLOAT32
                        ? linear_backward_typed<float, masked>(call, context)
                        : linear_backward_typed<double, masked>(call, context);
    if (!ok) no_memory(status);
}

double linear_backward_work(const ac_call* call) {
    const ac_array* dweight = operand(call, dweight_at);
    const ac_array* dx = operand(call, dx_at);
    const ac_array* g = operand(call, g_at);
    double flops = static_cast<double>(element_count(*g));
    if (dx != nullptr)
        flops += 2.0 * static_cast<double>(element_count(*g) * dim_of(dx, -1));
    if (dweight != nullptr)
        flops += 2.0 * static_cast<double>(element_count(*g) * dim_of(dweight, -1));
    return flops * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"linear", "out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
     linear, nullptr, linear_work, 0, float_dtypes, nullptr},
    {"linear_backward", "dx? dweight? dbias? ; g x? weight? ; accumulate:int",
     linear_backward<false>, nullptr, linear_backward_work, 0, float_dtypes, nullptr},
    {"linear_relu_backward", "da? dweight? dbias? ; g x weight ; accumulate:int",
     linear_backward<true>, nullptr, linear_backward_work, 0, float_dtypes, nullptr},
};

}  // namespace

AC_DEFINE_FAMILY(linear, entries);

}  // namespace autocalc::simd::AC_ISA
