// SPDX-License-Identifier: MIT
//
// Reading at indices: gather, index_select, embedding.
#include "common/families.hpp"
#include "elementwise/elementwise.hpp"
#include "indexing/indexed.hpp"
#include "indexing/indices.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- reading
//
// out[p] = from[p + index[p] * step] for every position p of the output, where `from`
// and `index` repeat (stride 0) along what they do not have.
struct Reading {
    Nest nest;  // out, index, from
    int64_t step;
    IndexReader indices;
};

template <class Bits>
AC_INLINE void read_row(IndexReader indices, char* out, int64_t out_stride,
                        const char* index, int64_t index_stride, const char* from,
                        int64_t from_stride, int64_t step, int64_t n) {
    if (index_stride == 0) {
        int64_t at;
        if (!indices.read(index, at)) return;
        from += at * step;
        if (from_stride == item_size<Bits> && out_stride == item_size<Bits>) {
            memcpy(out, from, static_cast<size_t>(n) * sizeof(Bits));
            return;
        }
        for (int64_t i = 0; i < n; ++i)
            store_bits(out + i * out_stride, load_bits<Bits>(from + i * from_stride));
        return;
    }
    // Pointers that move on, and no count: what the check costs is saved there.
    for (const char* end = index + n * index_stride; index != end;) {
        int64_t at;
        if (!indices.read(index, at)) return;
        store_bits(out, load_bits<Bits>(from + at * step));
        index += index_stride;
        from += from_stride;
        out += out_stride;
    }
}

// Rows that are one piece of memory each, as those of an embedding are.
AC_INLINE bool reads_rows(const Nest& nest) {
    return nest.dims == 2 && nest.stride[1][1] == 0 &&
           nest.stride[0][1] == nest.item[0] && nest.stride[2][1] == nest.item[0];
}

void read_rows(const Reading& reading, int64_t begin, int64_t end) {
    const Nest& nest = reading.nest;
    const IndexReader indices = reading.indices;
    const int64_t item = nest.item[0], width = nest.size[1];
    Position at;
    start_at(nest, begin, at);
    for (int64_t left = end - begin; left > 0;) {
        const int64_t n = smaller(left, width - at.column), past = at.column * item;
        int64_t place;
        if (!indices.read(at.row[1], place)) return;
        memcpy(at.row[0] + past, at.row[2] + place * reading.step + past,
               static_cast<size_t>(n * item));
        for (int k = 0; k < 3; ++k) at.row[k] += nest.stride[k][0];
        left -= n;
        at.column = 0;
    }
}

template <class Bits>
void read_range(const Reading& reading, int64_t begin, int64_t end) {
    const Nest& nest = reading.nest;
    const IndexReader indices = reading.indices;
    const int inner = nest.dims - 1;
    const int64_t* stride[3] = {nest.stride[0], nest.stride[1], nest.stride[2]};
    Position at;
    start_at(nest, begin, at);
    for (int64_t left = end - begin; left > 0;) {
        const int64_t n = smaller(left, nest.size[inner] - at.column);
        read_row<Bits>(indices, at.row[0] + at.column * stride[0][inner],
                       stride[0][inner], at.row[1] + at.column * stride[1][inner],
                       stride[1][inner], at.row[2] + at.column * stride[2][inner],
                       stride[2][inner], reading.step, n);
        left -= n;
        next_row(nest, at);
    }
}

void read_indexed(ac_context* context, const ac_array& out, const ac_array& index,
                  const ac_array& from, int64_t step, CheckedIndices& checked) {
    const ac_array* arrays[3] = {&out, &index, &from};
    Reading reading;
    reading.step = step;
    reading.indices = checked.reader();
    make_nest(reading.nest, arrays, 3);
    // Where nothing is read, wrong indices are reported all the same.
    if (reading.nest.total == 0 && !checked.fit()) return;
    parallel_range(context, reading.nest.total, 4096, reading.nest.total >= 16384,
                   [&](int64_t begin, int64_t end) {
                       if (reads_rows(reading.nest))
                           return read_rows(reading, begin, end);
                       switch (reading.nest.item[0]) {
                           case 1:
                               return read_range<uint8_t>(reading, begin, end);
                           case 2:
                               return read_range<uint16_t>(reading, begin, end);
                           case 4:
                               return read_range<uint32_t>(reading, begin, end);
                           default:
                               return read_range<uint64_t>(reading, begin, end);
                       }
                   });
    checked.report();
}

void gather_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array &out = *operand(call, 0), &a = *operand(call, 1);
    const ac_array& index = *operand(call, 2);
    const int64_t axis = int_attribute(call, 0);
    done(status);
    const bool one = out.ndim == 0;  // element, whose index is 0
    CheckedIndices checked(&index, one ? 1 : a.shape[axis], 2, status);
    if (one) {
        read_indexed(context, out, index, a, 0, checked);
    } else {
        read_indexed(context, out, index, without_axis(a, out, axis), a.strides[axis],
                     checked);
    }
}

// ---- reading rows by runs
//
// What flips, rolls and pads images takes the elements of a row in runs that rise or
// fall by one. These are found once; then each row is copied run by run, 7 times as
// fast as element by element (16 x 3 x 224 x 224 reversed: 674 to 95 us on two
// threads).
struct IndexRun {
    int64_t to, from, count;
    bool falls;
};
struct IndexRuns {
    IndexRun* runs;
    int64_t count;
};

constexpr int64_t least_elements_of_run = 8;  // on average; else they do not pay

// Answers false where the runs are too short, or an index is out of range.
inline bool find_runs(ac_context* context, const ac_array& index, IndexReader indices,
                      IndexRuns& found) {
    const int64_t n = index.shape[0], most = n / least_elements_of_run;
    const char* at = data<char>(&index);
    found.count = 0;
    found.runs = most == 0 ? nullptr : scratch_of<IndexRun>(context, 0, most);
    if (found.runs == nullptr) return false;
    int64_t before = 0;
    for (int64_t i = 0; i < n; ++i) {
        int64_t place;
        if (!indices.read(at + i * index.strides[0], place)) return false;
        IndexRun* last = found.count > 0 ? found.runs + found.count - 1 : nullptr;
        const int64_t step = place - before;
        before = place;
        if (last != nullptr && (step == 1 || step == -1)) {
            if (last->count == 1) last->falls = step < 0;
            if (last->falls == (step < 0)) {
                ++last->count;
                continue;
            }
        }
        if (found.count == most) return false;
        found.runs[found.count++] = {i, place, 1, false};
    }
    return true;
}

template <class Bits>
AC_INLINE void copy_run(const IndexRun& run, char* out, const char* a) {
    Bits* to = reinterpret_cast<Bits*>(out) + run.to;
    const Bits* from = reinterpret_cast<const Bits*>(a) + run.from;
    const int64_t n = run.count;
    if (!run.falls) {
        memcpy(to, from, static_cast<size_t>(n) * sizeof(Bits));
        return;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
}

template <class Bits>
void copy_rows(ac_context* context, const Nest& rows, const IndexRuns& runs,
               int64_t n) {
    const int64_t tile = larger<int64_t>(1, 4096 / n);
    const auto copy = [&](char* out, const char* a) AC_INLINE_LAMBDA {
        for (int64_t r = 0; r < runs.count; ++r) copy_run<Bits>(runs.runs[r], out, a);
    };
    parallel_range(
        context, rows.total, tile, rows.total * n >= 16384,
        [&](int64_t begin, int64_t end) { each_pair(rows, begin, end, copy); });
}

// Answers false where another way is better, as for few rows.
inline bool select_by_runs(ac_context* context, ac_array out, ac_array a,
                           const ac_array& index, int64_t axis, IndexReader indices) {
    const int64_t item = size_of(a.dtype), n = index.shape[0];
    if (out.strides[axis] != item || a.strides[axis] != item) return false;
    if (element_count(out) < 4 * n) return false;
    IndexRuns runs;
    if (!find_runs(context, index, indices, runs)) return false;
    drop_axis(out, axis);
    drop_axis(a, axis);
    const ac_array* arrays[2] = {&out, &a};
    Nest rows;
    make_nest(rows, arrays, 2);
    switch (item) {
        case 1:
            copy_rows<uint8_t>(context, rows, runs, n);
            break;
        case 2:
            copy_rows<uint16_t>(context, rows, runs, n);
            break;
        case 4:
            copy_rows<uint32_t>(context, rows, runs, n);
            break;
        default:
            copy_rows<uint64_t>(context, rows, runs, n);
    }
    return true;
}

void index_select_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array &out = *operand(call, 0), &a = *operand(call, 1);
    const ac_array& index = *operand(call, 2);
    const int64_t axis = int_attribute(call, 0);
    done(status);
    CheckedIndices checked(&index, a.shape[axis], 2, status);
    if (select_by_runs(context, out, a, index, axis, checked.reader())) return;
    read_indexed(context, out, along_axis(index, out, axis), without_axis(a, out, axis),
                 a.strides[axis], checked);
}

void embedding_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array &out = *operand(call, 0), &weight = *operand(call, 1);
    const ac_array& indices = *operand(call, 2);
    done(status);
    CheckedIndices checked(&indices, weight.shape[0], 2, status);
    const int last = out.ndim - 1;
    ac_array index = out, from = out;
    index.data = indices.data;
    index.dtype = indices.dtype;
    from.data = weight.data;
    for (int d = 0; d < last; ++d) {
        index.strides[d] = indices.strides[d];
        from.strides[d] = 0;
    }
    index.strides[last] = 0;
    from.strides[last] = weight.strides[1];
    read_indexed(context, out, index, from, weight.strides[0], checked);
}

const ac_kernel_entry entries[] = {
    {"gather", "out ; a index ; axis:int", gather_kernel, nullptr, nullptr, 0.6,
     all_dtypes, nullptr},
    {"index_select", "out ; a index ; axis:int", index_select_kernel, nullptr, nullptr,
     0.3, all_dtypes, nullptr},
    {"embedding", "out ; weight indices", embedding_kernel, nullptr, nullptr, 0.2,
     float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(gather, entries);
}  // namespace autocalc::simd::AC_ISA
