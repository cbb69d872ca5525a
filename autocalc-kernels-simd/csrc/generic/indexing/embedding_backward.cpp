// SPDX-License-Identifier: MIT
//
// embedding_backward: dweight[indices[j]] += g[j] from 0, for j in order.
//
// The rows of g that belong to one row of dweight are chained; threads share out these
// chains, so that each such row is summed in the L1 cache. Adding the rows of g as they
// come would move dweight through the caches once for each.
#include "common/families.hpp"
#include "indexing/indexed.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The rows of g for one row of dweight.
struct Chain {
    int64_t row, first, last, count;
};
// chain_of[row] needs no first values: what it holds counts only if that chain exists
// and is the row's (P. Briggs, L. Torczon, "An Efficient Representation for Sparse
// Sets", 1993). A table may have many more rows than there are indices.
struct Chains {
    Chain* list;
    int64_t *chain_of, *next;  // of a row of dweight; after a row of g
    int64_t count, longest;

    bool reserve(ac_context* context, int64_t rows, int64_t indices) {
        list = scratch_of<Chain>(context, 0, indices + 1);
        chain_of = scratch_of<int64_t>(context, 1, rows + indices + 1);
        if (list == nullptr || chain_of == nullptr) return false;
        next = chain_of + rows;
        count = longest = 0;
        return true;
    }
    void add(int64_t row, int64_t j) {
        int64_t at = chain_of[row];
        if (at < 0 || at >= count || list[at].row != row) {
            at = chain_of[row] = count++;
            list[at] = {row, j, j, 0};
        }
        Chain& chain = list[at];
        next[chain.last] = j;
        chain.last = j;
        longest = larger(longest, ++chain.count);
    }
};

// Ends at the first index that is out of range.
void chain_rows(Chains& chains, const ac_array& indices, int64_t skipped,
                IndexReader reader) {
    const int64_t count = element_count(indices);
    ac_array line = indices;
    if (is_contiguous(indices)) {
        line.ndim = 1;
        line.shape[0] = count;
        line.strides[0] = 8;
    }
    IndexWalk walk(&line);
    for (int64_t j = 0; j < count; ++j, walk.next()) {
        int64_t row;
        if (!reader.read(walk.here, row)) return;
        if (row != skipped) chains.add(row, j);
    }
}

template <class T>
AC_INLINE void sum_chain(const Chain& chain, const int64_t* next, char* out,
                         int64_t out_stride, const char* g, int64_t g_row, int64_t n) {
    int64_t j = chain.first;
    for (int64_t left = chain.count; left > 0; --left, j = next[j]) {
        const char* from = g + j * g_row;
        if (out_stride == item_size<T>) {
            Add<T>::run(out, from, n);
            continue;
        }
        for (int64_t i = 0; i < n; ++i) {
            Add<T>::one(out + i * out_stride, from + i * item_size<T>);
        }
    }
}

// Columns for a task: all of them, unless one row of dweight has more than a thread's
// share of the work.
inline int64_t columns_for(const ac_context* context, const Chains& chains,
                           int64_t count, int64_t width) {
    constexpr int64_t most = 2048;  // 8 KiB of floats, which stay in the L1 cache
    const int64_t threads = tasks_for(context, 1, 1);
    if (chains.longest * threads <= count) return smaller(width, most);
    const int64_t share = round_up(ceil_div(width, threads), least_columns_of_task);
    return smaller(share, most);
}

template <class T>
void sum_chains(ac_context* context, const Chains& chains, const ac_array& dweight,
                const char* g, int64_t count) {
    const int64_t width = dweight.shape[1], step = dweight.strides[1];
    if (width == 0) return;
    const int64_t chunk = columns_for(context, chains, count, width);
    const int64_t chunks = ceil_div(width, chunk);
    parallel(context, chains.count * chunks, count * width >= 16384,
             [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; ++task) {
                     const Chain& chain = chains.list[task / chunks];
                     const int64_t column = task % chunks * chunk;
                     char* out = data<char>(&dweight) + chain.row * dweight.strides[0];
                     sum_chain<T>(chain, chains.next, out + column * step, step,
                                  g + column * item_size<T>, width * item_size<T>,
                                  smaller(chunk, width - column));
                 }
             });
}

void zero_run(void* const* operands, int64_t n, const void* item) {
    memset(operands[0], 0, static_cast<size_t>(n * *static_cast<const int64_t*>(item)));
}

void embedding_backward_kernel(const ac_call* call, ac_context* context,
                               ac_status* status) {
    const ac_array &dweight = *operand(call, 0), &g = *operand(call, 1);
    const ac_array& indices = *operand(call, 2);
    const int64_t count = element_count(indices), item = size_of(dweight.dtype);
    done(status);
    Chains chains;
    if (!chains.reserve(context, dweight.shape[0], count)) return no_memory(status);
    CheckedIndices checked(&indices, dweight.shape[0], 2, status);
    chain_rows(chains, indices, int_attribute(call, 0), checked.reader());
    if (!checked.report()) return;
    ac_array rows = g;
    if (!is_contiguous(g)) {
        const int64_t bytes = element_count(g) * item;
        rows.data = context->scratch(context, 2, static_cast<size_t>(bytes) + 8);
        if (rows.data == nullptr) return no_memory(status);
        int64_t stride = item;
        for (int d = g.ndim - 1; d >= 0; --d) {
            rows.strides[d] = stride;
            stride *= g.shape[d];
        }
        copy_all(context, rows, g);
    }
    const ac_array* out = &dweight;
    elementwise(context, &out, 1, zero_run, &item, Cost::cheap);
    if (dweight.dtype == AC_FLOAT32) {
        sum_chains<float>(context, chains, dweight, data<char>(&rows), count);
    } else {
        sum_chains<double>(context, chains, dweight, data<char>(&rows), count);
    }
}

const ac_kernel_entry entries[] = {
    {"embedding_backward", "dweight ; g indices ; padding_idx:int",
     embedding_backward_kernel, nullptr, nullptr, 0.3, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(embedding_backward, entries);
}  // namespace autocalc::simd::AC_ISA
