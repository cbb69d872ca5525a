// SPDX-License-Identifier: MIT
//
// Reductions over any axes.
//
// The order of additions follows from shape and strides alone. Eight vectors are added
// in turn into each of four accumulators, and from there on sums are combined in pairs,
// so that the error grows with log2(n). Long reductions are cut into tiles, whose
// partial results are combined in pairs too, whichever thread made them.
//
// Two orders: along rows, where neighbours in memory are added (a horizontal sum at the
// end), and down columns, where neighbours belong to different outputs.
#pragma once

#include "common/contiguous.hpp"
#include "reduce/operations.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- the plan
//
// PackedCache dimensions stay in the output's order, so that compact results are the
// output's row-major order; neighbours that advance evenly are merged.
struct ReducePlan {
    int kept;
    int64_t kept_size[AC_MAX_DIMS];
    int64_t kept_stride[AC_MAX_DIMS];
    int64_t outputs;
    Nest reduced;  // one operand; `total` elements make one output
    int64_t item;
    int dtype;
    const char* data;
};

AC_INLINE bool is_axis(const int64_t* axes, int64_t count, int64_t dim) {
    for (int64_t i = 0; i < count; ++i) {
        if (axes[i] == dim) return true;
    }
    return false;
}

inline void plan_reduction(ReducePlan& plan, const ac_array& a, const int64_t* axes,
                           int64_t axis_count) {
    plan.kept = 0;
    plan.outputs = 1;
    plan.item = size_of(a.dtype);
    plan.dtype = a.dtype;
    plan.data = static_cast<const char*>(a.data);
    Nest& nest = plan.reduced;
    nest.operands = 1;
    nest.dims = 0;
    nest.total = 1;
    nest.item[0] = plan.item;
    nest.data[0] = static_cast<char*>(a.data);
    for (int d = 0; d < a.ndim; ++d) {
        const int64_t n = a.shape[d], stride = a.strides[d];
        if (is_axis(axes, axis_count, d)) {
            nest.total *= n;
            if (n == 1) continue;
            nest.size[nest.dims] = n;
            nest.stride[0][nest.dims++] = stride;
            continue;
        }
        plan.outputs *= n;
        if (n == 1) continue;
        const int last = plan.kept - 1;
        if (last >= 0 && plan.kept_stride[last] == stride * n) {
            plan.kept_size[last] *= n;
            plan.kept_stride[last] = stride;
        } else {
            plan.kept_size[plan.kept] = n;
            plan.kept_stride[plan.kept++] = stride;
        }
    }
    if (nest.dims == 0) {
        nest.size[0] = nest.total;
        nest.stride[0][0] = plan.item;
        nest.dims = 1;
    }
    sort_dims(nest);
    merge_dims(nest);
    find_dense(nest);
}

// AffinityGuard in bytes of output `index` from the first one's input.
AC_INLINE int64_t kept_offset(const ReducePlan& plan, int64_t index) {
    if (plan.kept == 1) return index * plan.kept_stride[0];
    int64_t offset = 0;
    for (int i = plan.kept - 1; i >= 0; --i) {
        offset += index % plan.kept_size[i] * plan.kept_stride[i];
        index /= plan.kept_size[i];
    }
    return offset;
}

// ---- along rows

// Combines vectors in pairs, as a binary counter carries: level k holds 2^k vectors.
template <class T, class Op>
struct Cascade {
    vec<T> level[40];
    uint64_t count = 0;

    AC_INLINE void push(vec<T> v) {
        int k = 0;
        for (; count >> k & 1; ++k) v = Op::combine(level[k], v);
        level[k] = v;
        ++count;
    }
    [[nodiscard]] AC_INLINE vec<T> total() const {
        if (count == 0) return set1<T>(Op::template identity<T>());
        int k = __builtin_ctzll(count);
        vec<T> v = level[k];
        for (++k; count >> k; ++k) {
            if (count >> k & 1) v = Op::combine(level[k], v);
        }
        return v;
    }
};

template <class T, class Op, class Map>
AC_INLINE vec<T> reduce_tail(const T* p, int64_t n, vec<T> parameter) {
    return select(first<T>(n), Map::apply(load_first(p, n), parameter),
                  set1<T>(Op::template identity<T>()));
}

// 0 < n < 32 vectors of contiguous elements, in two accumulators.
template <class T, class Op, class Map>
AC_INLINE vec<T> reduce_few(const T* p, int64_t n, vec<T> parameter) {
    constexpr int64_t lanes = vec<T>::lanes;
    const auto at = [&](int64_t i) { return Map::apply(load(p + i), parameter); };
    if (n < lanes) return reduce_tail<T, Op, Map>(p, n, parameter);
    vec<T> a = at(0), b = set1<T>(Op::template identity<T>());
    int64_t i = lanes;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        b = Op::combine(b, at(i));
        a = Op::combine(a, at(i + lanes));
    }
    if (i + lanes <= n) {
        b = Op::combine(b, at(i));
        i += lanes;
    }
    if (i < n) a = Op::combine(a, reduce_tail<T, Op, Map>(p + i, n - i, parameter));
    return Op::combine(a, b);
}

// n contiguous elements into the cascade.
template <class T, class Op, class Map>
AC_INLINE void reduce_run(const T* p, int64_t n, vec<T> parameter,
                          Cascade<T, Op>& sums) {
    constexpr int64_t lanes = vec<T>::lanes;
    constexpr int64_t block = 32 * lanes;
    const auto at = [&](int64_t i) { return Map::apply(load(p + i), parameter); };
    int64_t i = 0;
    for (; i + block <= n; i += block) {
        vec<T> a = at(i), b = at(i + lanes), c = at(i + 2 * lanes),
               d = at(i + 3 * lanes);
        for (int64_t j = i + 4 * lanes; j < i + block; j += 4 * lanes) {
            a = Op::combine(a, at(j));
            b = Op::combine(b, at(j + lanes));
            c = Op::combine(c, at(j + 2 * lanes));
            d = Op::combine(d, at(j + 3 * lanes));
        }
        sums.push(Op::combine(Op::combine(a, b), Op::combine(c, d)));
    }
    if (i < n) sums.push(reduce_few<T, Op, Map>(p + i, n - i, parameter));
}

// Elements `begin` to `end` of the nest (whose data[0] is the output's first element).
// Those of 16 bits, as `dtype` says, are widened in the buffer.
template <class T, class Op, class Map>
AC_NOINLINE T reduce_along(const Nest& nest, int64_t begin, int64_t end, T scalar,
                           int dtype = AC_FLOAT32) {
    const vec<T> parameter = set1<T>(scalar);
    Cascade<T, Op> sums;
    const int inner = nest.dims - 1;
    const int64_t stride = nest.stride[0][inner];
    const bool wide = !is_half(dtype);
    const bool contiguous = stride == nest.item[0] && wide;
    if (nest.dims == 1 && contiguous) {  // any length, tiles included
        const T* p = reinterpret_cast<const T*>(nest.data[0]);
        reduce_run<T, Op, Map>(p + begin, end - begin, parameter, sums);
        return Op::across(sums.total());
    }
    alignas(64) char buffer[buffer_elements * sizeof(T)];
    alignas(64) T spare[buffer_elements / 2];  // for as many elements of 16 bits
    Position at;
    start_at(nest, begin, at);
    const bool collect = !contiguous || nest.size[inner] < short_row;
    int64_t filled = 0;
    for (int64_t left = end - begin; left > 0;) {
        int64_t n = smaller(left, nest.size[inner] - at.column);
        const char* from = at.row[0] + at.column * stride;
        if (collect) {
            n = smaller(n, buffer_elements - filled);
            char* to = buffer + filled * item_size<T>;
            if (wide) {
                gather(to, from, sizeof(T), stride, n);
            } else {
                take_elements(from, dtype, stride, n, reinterpret_cast<T*>(to), spare);
            }
            filled += n;
            if (filled == buffer_elements || n == left) {
                reduce_run<T, Op, Map>(reinterpret_cast<const T*>(buffer), filled,
                                       parameter, sums);
                filled = 0;
            }
        } else {
            reduce_run<T, Op, Map>(reinterpret_cast<const T*>(from), n, parameter,
                                   sums);
        }
        left -= n;
        at.column += n;
        if (at.column == nest.size[inner] && left > 0) next_row(nest, at);
    }
    return Op::across(sums.total());
}

// ---- down columns
constexpr int64_t column_tile = 256;  // outputs of a task
constexpr int64_t row_tile = 512;     // input rows of a task
constexpr int64_t row_group = 8;      // rows added in registers
constexpr int64_t groups_per_block = 8;

template <class T, class Op, class Map>
AC_INLINE vec<T> reduce_group(const char* const* rows, int64_t count, int64_t offset,
                              int64_t n, vec<T> parameter) {
    const auto row = [&](int64_t r) {
        const T* p = reinterpret_cast<const T*>(rows[r]) + offset;
        return Map::apply(n == vec<T>::lanes ? load(p) : load_first(p, n), parameter);
    };
    if (count == row_group) {
        const vec<T> a =
            Op::combine(Op::combine(row(0), row(1)), Op::combine(row(2), row(3)));
        const vec<T> b =
            Op::combine(Op::combine(row(4), row(5)), Op::combine(row(6), row(7)));
        return Op::combine(a, b);
    }
    vec<T> a = row(0);
    for (int64_t r = 1; r < count; ++r) a = Op::combine(a, row(r));
    return a;
}

// Adds a group of rows into `sums`, or sets them if it is the `first` group.
template <class T, class Op, class Map>
AC_NOINLINE void reduce_rows(const char* const* rows, int64_t count, int64_t columns,
                             const T* parameters, T* sums, bool is_first) {
    constexpr int64_t lanes = vec<T>::lanes;
    for (int64_t c = 0; c < columns; c += lanes) {
        const int64_t n = smaller(columns - c, lanes);
        vec<T> parameter = zero<T>();
        if constexpr (Map::has_parameter) parameter = load_first(parameters + c, n);
        vec<T> v = zero<T>();
        if (n == lanes) {
            v = reduce_group<T, Op, Map>(rows, count, c, lanes, parameter);
        } else {
            v = reduce_group<T, Op, Map>(rows, count, c, n, parameter);
        }
        store(sums + c, is_first ? v : Op::combine(load(sums + c), v));
    }
}

// Rows `begin` to `end` of `columns` outputs from `offset` bytes on, into out.
template <class T, class Op, class Map>
AC_NOINLINE void reduce_down(const Nest& nest, int64_t offset, int64_t begin,
                             int64_t end, int64_t columns, const T* parameters, T* out,
                             int dtype) {
    alignas(64) T block[column_tile];
    alignas(64) T total[column_tile];
    alignas(64) T widened[row_group][column_tile];
    const int inner = nest.dims - 1;
    Position at;
    start_at(nest, begin, at);
    int64_t groups = 0, blocks = 0;
    for (int64_t r = begin; r < end; r += row_group) {
        const char* rows[row_group];
        const int64_t count = smaller(row_group, end - r);
        for (int64_t i = 0; i < count; ++i) {
            rows[i] = at.row[0] + at.column * nest.stride[0][inner] + offset;
            if (is_half(dtype)) {
                take_elements(rows[i], dtype, nest.item[0], columns, widened[i],
                              nullptr);
                rows[i] = reinterpret_cast<const char*>(widened[i]);
            }
            if (++at.column == nest.size[inner]) next_row(nest, at);
        }
        reduce_rows<T, Op, Map>(rows, count, columns, parameters, block, groups == 0);
        if (++groups < groups_per_block && r + row_group < end) continue;
        for (int64_t c = 0; c < columns; c += vec<T>::lanes) {
            const vec<T> v = load(block + c);
            store(total + c, blocks == 0 ? v : Op::combine(load(total + c), v));
        }
        groups = 0;
        ++blocks;
    }
    memcpy(out, total, static_cast<size_t>(columns) * sizeof(T));
}

// ---- the whole reduction

// Combines columns `begin` to `end` of partial[t][outputs] over t, in pairs, into
// partial[0].
template <class T, class Op>
AC_INLINE void combine_columns(T* partial, int64_t tiles, int64_t outputs,
                               int64_t begin, int64_t end) {
    const int64_t columns = end - begin;
    partial += begin;
    for (; tiles > 1; tiles = (tiles + 1) / 2) {
        for (int64_t t = 0; t < tiles / 2; ++t) {
            T* to = partial + t * outputs;
            const T* a = partial + 2 * t * outputs;
            const T* b = a + outputs;
            for (int64_t i = 0; i < columns; ++i) to[i] = Op::scalar(a[i], b[i]);
        }
        if (tiles % 2) {
            memmove(partial + tiles / 2 * outputs, partial + (tiles - 1) * outputs,
                    static_cast<size_t>(columns) * sizeof(T));
        }
    }
}

constexpr int64_t combined_columns = 64;      // of a task
constexpr int64_t combined_enough = 1 << 16;  // partial results, for several threads

// f(begin, end) over columns of `tiles` partial results each.
template <class F>
AC_INLINE void for_columns(ac_context* context, int64_t tiles, int64_t columns, F&& f) {
    parallel_range(context, columns, combined_columns,
                   tiles * columns >= combined_enough, f);
}

AC_INLINE bool walks_down(const ReducePlan& plan) {
    if (plan.kept == 0 || plan.kept_stride[plan.kept - 1] != plan.item) return false;
    const Nest& nest = plan.reduced;
    const int inner = nest.dims - 1;
    // Both can be contiguous only where one of them repeats: then along the row.
    return nest.stride[0][inner] != plan.item || nest.size[inner] == 1;
}

constexpr int64_t along_tile = 32768;  // elements of one output that a task reduces

// values[o] = reduction of map(x, parameters[o]), in row-major order of the outputs.
// Answers false if memory is exhausted.
template <class T, class Op, class Map>
bool reduce_values(ac_context* context, const ReducePlan& plan, const T* parameters,
                   T* values, bool costly) {
    const int64_t count = plan.reduced.total, outputs = plan.outputs;
    if (outputs == 0) return true;
    if (count == 0) {
        for (int64_t o = 0; o < outputs; ++o) values[o] = Op::template identity<T>();
        return true;
    }
    const bool down = walks_down(plan);
    const int64_t tiles = ceil_div(count, down ? row_tile : along_tile);
    T* partial = values;
    if (tiles > 1) {
        partial = static_cast<T*>(context->scratch(
            context, 0, static_cast<size_t>(tiles * outputs) * sizeof(T)));
        if (partial == nullptr) return false;
    }
    // 16 Ki floats: sums of rows take 2.2 us on one thread, 1.7 on two; 8 Ki 1.3 on
    // both.
    const bool worthwhile = count * outputs >= (costly ? 4096 : 16384);
    if (down) {
        const int64_t columns = plan.kept_size[plan.kept - 1];
        const int64_t across = ceil_div(columns, column_tile);
        const int64_t tasks = tiles * (outputs / columns) * across;
        parallel(context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
            for (int64_t task = begin; task < end; ++task) {
                const int64_t tile = task % tiles;
                const int64_t column = task / tiles % across * column_tile;
                const int64_t first = task / tiles / across * columns + column;
                const int64_t n = smaller(column_tile, columns - column);
                reduce_down<T, Op, Map>(
                    plan.reduced, kept_offset(plan, first), tile * row_tile,
                    smaller((tile + 1) * row_tile, count), n,
                    Map::has_parameter ? parameters + first : nullptr,
                    partial + tile * outputs + first, plan.dtype);
            }
        });
    } else {
        // Short rows are bundled, so that a task has some work.
        const int64_t bundle = tiles > 1 ? 1 : ceil_div(4096, count);
        const int64_t tasks = tiles * ceil_div(outputs, bundle);
        const bool short_rows = plan.reduced.dims == 1 && !is_half(plan.dtype) &&
                                count < 32 * vec<T>::lanes &&
                                (plan.reduced.stride[0][0] == plan.item || count == 1);
        parallel(context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
            Nest nest = plan.reduced;
            for (int64_t task = begin; task < end; ++task) {
                const int64_t tile = task % tiles;
                const int64_t from = task / tiles * bundle;
                const int64_t to = smaller(from + bundle, outputs);
                if (short_rows) {
                    for (int64_t o = from; o < to; ++o) {
                        const char* row = plan.data + kept_offset(plan, o);
                        const vec<T> parameter =
                            set1<T>(Map::has_parameter ? parameters[o] : T(0));
                        values[o] = Op::across(reduce_few<T, Op, Map>(
                            reinterpret_cast<const T*>(row), count, parameter));
                    }
                    continue;
                }
                for (int64_t o = from; o < to; ++o) {
                    nest.data[0] = plan.reduced.data[0] + kept_offset(plan, o);
                    partial[tile * outputs + o] = reduce_along<T, Op, Map>(
                        nest, tile * along_tile,
                        smaller((tile + 1) * along_tile, count),
                        Map::has_parameter ? parameters[o] : T(0), plan.dtype);
                }
            }
        });
    }
    if (tiles > 1) {
        for_columns(context, tiles, outputs, [&](int64_t begin, int64_t end) {
            combine_columns<T, Op>(partial, tiles, outputs, begin, end);
            memcpy(values + begin, partial + begin,
                   static_cast<size_t>(end - begin) * sizeof(T));
        });
    }
    return true;
}

// ---- results

// Copies `values`, in row-major order, into an output of any strides.
template <class T>
void store_results(const T* values, const ac_array& out) {
    if (out.data == values) return;
    if (sizeof(T) == 4 && is_half(out.dtype)) {
        for (int64_t o = 0, n = element_count(out); o < n; ++o) {
            int64_t offset = 0, index = o;
            for (int d = out.ndim - 1; d >= 0; index /= out.shape[d--])
                offset += index % out.shape[d] * out.strides[d];
            set_element<T>(data<char>(&out) + offset, out.dtype, values[o]);
        }
        return;
    }
    ac_array from = out;
    from.data = const_cast<T*>(values);
    int64_t stride = sizeof(T);
    for (int i = out.ndim - 1; i >= 0; --i) {
        from.strides[i] = stride;
        stride *= out.shape[i];
    }
    const ac_array* arrays[2] = {&out, &from};
    Nest nest;
    make_nest(nest, arrays, 2);
    const RunKernel move = [](void* const* operands, int64_t n, const void*) {
        memmove(operands[0], operands[1], static_cast<size_t>(n) * sizeof(T));
    };
    if (nest.total > 0) run_nest(nest, 0, nest.total, move, nullptr);
}

// Where results are made: in the output itself if it is contiguous, else in scratch.
template <class T>
AC_INLINE T* results_of(ac_context* context, const ac_array* out, int64_t count,
                        int slot) {
    if (out != nullptr && is_contiguous(*out) && !is_half(out->dtype))
        return data<T>(out);
    return static_cast<T*>(
        context->scratch(context, slot, static_cast<size_t>(count + 1) * sizeof(T)));
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
