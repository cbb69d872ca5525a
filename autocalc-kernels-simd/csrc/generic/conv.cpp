// SPDX-License-Identifier: MIT
//
// conv and conv_dx. The input gradient is a convolution too: of g with the weights
// transposed. For a stride of s its elements fall into s * s classes by their place
// (y + padding) % s, (x + padding) % s; each class sees its own taps, at stride 1. So
// both are passes of one loop, conv a single one.
#include "conv_depthwise.hpp"
#include "conv_pointwise.hpp"
#include "conv_strided.hpp"
#include "conv_strided_dx.hpp"
#include "conv_tile.hpp"
#include "conv_windows.hpp"
#include "families.hpp"
#include "product_pack.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t enough_tasks = 16;
constexpr int64_t fewest_rows = 16;  // channels of a task, where tasks are few

enum { slot_planes = 0, slot_weights = 1, slot_distances = 2, slot_passes = 3 };

// Results in rows [row_begin, row_end) and columns [column_begin, column_end) of the
// planes go to out[row_to + row_step * row][column_to + column_step * column].
template <class T>
struct Pass {
    int64_t taps;  // all of them: of every channel
    const int64_t* distances;
    const T* weights;  // of group 0
    int64_t row_begin, row_end, column_begin, column_end;
    int64_t row_to, row_step, column_to, column_step;
};

template <class T>
struct ConvJob {
    Windows windows;
    Axis from_y, from_x;  // of what is read: bounds, and phases if there are any
    Images<const T> from;
    Images<T> to;
    int64_t ins, outs;  // channels of a group that are read and written
    Planes planes;      // `top` is that of row 0
    const Pass<T>* passes;
    int64_t pass_count;
    int64_t rows;  // of all passes: 0 to rows
    int64_t band;  // rows of a task
    int64_t bands, blocks;
    int64_t vectors, height;  // of a tile, at most
    int64_t group_weights;
    int64_t square;  // depthwise with code of its own: rows and columns of taps, or 0
    bool turned;     // the last tap reads the first element
    const T* start;  // of every output channel: the bias
    bool accumulate;
    ac_context* context;
    int failed;
};

// ---- results

template <class T>
AC_INLINE void put(T* to, int64_t step, const T* from, int64_t count, bool add) {
    if (step != 1) {
        for (int64_t i = 0; i < count; ++i)
            to[i * step] = add ? to[i * step] + from[i] : from[i];
        return;
    }
    constexpr int lanes = vec<T>::lanes;
    for (int64_t i = 0; i < count; i += lanes) {
        const int64_t n = smaller<int64_t>(lanes, count - i);
        vec<T> x = load(from + i);
        if (add) x = x + load_last(to + i, n);
        store_last(to + i, x, n);
    }
}

// A tile's sums, without what lies between the rows of the output. `at` counts from the
// first column of row `row`.
template <class T>
void put_tile(const ConvJob<T>& job, const Pass<T>& pass, T* to, int64_t row,
              int64_t at, const T* sums, int64_t height, int64_t width,
              int64_t columns) {
    row += at / job.planes.width;
    int64_t column = at % job.planes.width;
    for (int64_t i = 0; i < columns;) {
        if (column < pass.column_begin) {  // a panel may begin there
            i += pass.column_begin - column;
            column = pass.column_begin;
            continue;
        }
        if (column >= pass.column_end) {
            i += job.planes.width - column + pass.column_begin;
            column = pass.column_begin;
            ++row;
            continue;
        }
        const int64_t n = smaller(columns - i, pass.column_end - column);
        T* line = to + (pass.row_to + pass.row_step * row) * job.to.row +
                  (pass.column_to + pass.column_step * column) * job.to.column;
        for (int64_t r = 0; r < height; ++r) {
            put(line + r * job.to.channel, pass.column_step * job.to.column,
                sums + r * width + i, n, job.accumulate);
        }
        i += n;
        column += n;
    }
}

// ---- tasks

struct Task {
    int64_t image, group, block, band;
};

template <class T>
void run_square(const ConvJob<T>& job, const Pass<T>& pass, const Task& task,
                const T* first, int64_t begin, int64_t end) {
    T taps[depthwise_most * depthwise_most];
    const T* weights = pass.weights + task.group * job.group_weights;
    for (int64_t k = 0; k < pass.taps; ++k)
        taps[job.turned ? pass.taps - 1 - k : k] = weights[k];
    T* to = job.to.data + task.image * job.to.image + task.group * job.to.channel;
    run_depthwise<T>(
        job.square,
        {first, job.planes.width, taps, job.start[task.group],
         to + (pass.row_to + begin) * job.to.row + pass.column_to + pass.column_begin,
         job.to.row, end - begin, pass.column_end - pass.column_begin, job.accumulate});
}

template <class T>
void run_pass(const ConvJob<T>& job, const Pass<T>& pass, const Task& task,
              const T* planes) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t top = task.band * job.band;
    const int64_t begin = larger(top, pass.row_begin);
    const int64_t end = smaller(top + job.band, pass.row_end);
    if (begin >= end || pass.column_begin >= pass.column_end) return;
    const T* first = planes + (begin - top) * job.planes.width + pass.column_begin;
    if (job.square != 0) {
        run_square(job, pass, task, first, begin, end);
        return;
    }
    const int64_t count =
        (end - begin - 1) * job.planes.width + pass.column_end - pass.column_begin;
    const Panels<T> panels(count, job.vectors);
    const int64_t tiles = ceil_div(job.outs, job.height);
    const Cuts cuts(job.outs, tiles);
    const Shares blocks(tiles, job.blocks);
    const int64_t channel0 = task.group * job.outs;
    T* to = job.to.data + task.image * job.to.image + channel0 * job.to.channel;
    const T* weights = pass.weights + task.group * job.group_weights;
    alignas(64) T sums[conv_rows * tile_vectors * lanes];
    for (int64_t p = 0; p < panels.count; ++p) {
        const Panel panel = panels.at(p);
        for (int64_t i = blocks.at(task.block); i < blocks.at(task.block + 1); ++i) {
            const int64_t row = cuts.at(i);
            const TapTile<T> tile = {
                pass.taps,      weights + row * pass.taps,  first + panel.begin,
                pass.distances, job.start + channel0 + row, sums};
            multiply_taps(panel.width / lanes, cuts.size(i), tile);
            put_tile(job, pass, to + row * job.to.channel, begin,
                     pass.column_begin + panel.begin, sums, cuts.size(i), panel.width,
                     panel.columns);
        }
    }
}

template <class T>
void run_conv_tasks(void* arg, int64_t begin, int64_t end) {
    ConvJob<T>& job = *static_cast<ConvJob<T>*>(arg);
    const int64_t slack = 2 * tile_vectors * vec<T>::lanes;
    T* planes = scratch_for<T>(job.context, slot_planes,
                               job.ins * job.planes.channel() + slack);
    if (planes == nullptr) {
        __atomic_store_n(&job.failed, 1, __ATOMIC_RELAXED);
        return;
    }
    for (int64_t t = begin; t < end; ++t) {
        Task task;
        task.band = t % job.bands;
        task.block = t / job.bands % job.blocks;
        task.group = t / job.bands / job.blocks % job.windows.groups;
        task.image = t / job.bands / job.blocks / job.windows.groups;
        Planes part = job.planes;
        part.top += task.band * job.band * part.step_y;
        Images<const T> image = job.from;
        image.data += task.image * image.image + task.group * job.ins * image.channel;
        copy_planes(part, job.from_y, job.from_x, job.ins, image, planes);
        for (int64_t p = 0; p < job.pass_count; ++p)
            run_pass(job, job.passes[p], task, planes);
    }
}

// Rows and columns of taps if a channel reads one, at stride 1, or 0.
template <class T>
int64_t square_of(const ConvJob<T>& job) {
    const Axis &y = job.windows.y, &x = job.windows.x;
    const bool plain = y.stride * y.dilation * x.stride * x.dilation == 1;
    const bool known = y.kernel == x.kernel && (y.kernel == 3 || y.kernel == 5);
    const bool single = job.ins == 1 && job.outs == 1 && job.to.column == 1;
    return plain && known && single ? y.kernel : 0;
}

// How many rows a task takes: its planes fit half of L2, and there are enough tasks.
template <class T>
void choose_tasks(ConvJob<T>& job, int64_t reach) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t images = job.windows.batch * job.windows.groups;
    const int64_t line =
        larger<int64_t>(1, bytes_of<T>(job.ins * job.planes.slots_y *
                                       job.planes.slots_x * job.planes.width));
    const int64_t fitting = larger<int64_t>(1, l2_bytes() / 2 / line - reach);
    const int64_t full = ceil_div(tile_vectors * lanes, job.planes.width);
    const int64_t even = ceil_div(job.rows, ceil_div(enough_tasks, images));
    job.band = smaller(smaller(job.rows, fitting), larger(full, even));
    job.bands = ceil_div(job.rows, job.band);
    job.band = ceil_div(job.rows, job.bands);
    job.planes.height = job.band + reach;
    const int64_t columns = job.band * job.planes.width;
    job.vectors = smaller<int64_t>(tile_vectors, ceil_div(columns, lanes));
    job.height = rows_for(static_cast<int>(job.vectors));
    const int64_t most = larger<int64_t>(1, job.outs / fewest_rows);
    job.blocks = smaller(most, ceil_div(enough_tasks / 2, images * job.bands));
}

template <class T>
bool run_conv(ConvJob<T>& job, int64_t taps) {
    const int64_t tasks =
        job.windows.batch * job.windows.groups * job.blocks * job.bands;
    const int64_t work = job.windows.batch * job.windows.groups * job.outs * taps *
                         job.rows * job.planes.width;
    if (work < serial_work || tasks < 2) {
        run_conv_tasks<T>(&job, 0, tasks);
    } else {
        job.context->parallel_for(job.context, tasks, run_conv_tasks<T>, &job);
    }
    return job.failed == 0;
}

// ---- weights

// Where w[output channel][input channel][row][column] lies.
template <class T>
struct Filters {
    const T* data;
    int64_t out, in, row, column;
};

template <class T>
Filters<T> filters_of(const ac_array* array) {
    const Images<const T> images = images_of<const T>(array);
    return {images.data, images.image, images.channel, images.row, images.column};
}

// Packs a group's weights for tiles of rows, [tile][tap][row of the tile]; `row` is the
// step from one row's weight to the next one's.
template <class T>
AC_INLINE void pack_tap(const ConvJob<T>& job, int64_t taps, int64_t tap, const T* w,
                        int64_t row, T* out) {
    const int64_t tiles = ceil_div(job.outs, job.height);
    const Cuts cuts(job.outs, tiles);
    for (int64_t t = 0; t < tiles; ++t) {
        const int64_t begin = cuts.at(t), height = cuts.size(t);
        T* to = out + begin * taps + tap * height;
        for (int64_t r = 0; r < height; ++r) to[r] = w[(begin + r) * row];
    }
}

// The bias of every channel, or zeros, one behind the other.
template <class T>
void copy_start(const ac_array* bias, int64_t count, T* out) {
    const int64_t step = bias == nullptr ? 0 : stride_of<T>(bias, 0);
    for (int64_t i = 0; i < count; ++i)
        out[i] = bias == nullptr ? T(0) : data<T>(bias)[i * step];
}

// Whether a product for each image does it. Its bias would be one for each row, which
// products do not have.
template <class T>
bool by_product(const Windows& w, const Images<const T>& from, const Images<T>& to,
                const ac_array* bias) {
    return is_pointwise(w) && bias == nullptr && to.column == 1 &&
           pixels_in_line(from, w.y, w.x.in) && pixels_in_line(to, w.y, w.x.in);
}

// ---- conv

enum { conv_out, conv_x, conv_weight, conv_bias };

template <class T>
bool conv_typed(const ac_call* call, ac_context* context) {
    const ac_array* x = operand(call, conv_x);
    const ac_array* weight = operand(call, conv_weight);
    const ac_array* out = operand(call, conv_out);
    ConvJob<T> job;
    job.windows = windows_of(call, 0, x, out, weight->shape + 2, weight->shape[1]);
    const Windows& w = job.windows;
    job.from_y = w.y;
    job.from_x = w.x;
    job.from = images_of<const T>(x);
    job.to = images_of<T>(out);
    if (by_product(w, job.from, job.to, operand(call, conv_bias))) {
        const Images<const T> a = images_of<const T>(weight);
        Product<T> p = image_product(w, w.outs, w.ins, job.from, job.to);
        p.a = a.data;
        p.a_row = a.image;
        p.a_col = a.channel;
        return multiply(p, context);
    }
    if (is_strided<T>(w)) {
        StridedJob<T> strided = {};
        strided.windows = w;
        strided.from = job.from;
        strided.weight = images_of<const T>(weight);
        strided.to = job.to;
        strided.context = context;
        return run_strided(strided, operand(call, conv_bias));
    }
    job.ins = w.ins;
    job.outs = w.outs;
    job.rows = w.y.out;
    job.planes = planes_of(w);
    job.accumulate = false;
    job.context = context;
    job.failed = 0;
    job.square = square_of(job);
    job.turned = false;
    choose_tasks(job, w.y.last_shift());

    const int64_t taps = w.ins * w.taps();
    job.group_weights = w.outs * taps;
    T* packed =
        scratch_for<T>(context, slot_weights, w.groups * (job.group_weights + w.outs));
    int64_t* distances = scratch_for<int64_t>(context, slot_distances, taps);
    if (packed == nullptr || distances == nullptr) return false;
    T* start = packed + w.groups * job.group_weights;
    copy_start<T>(operand(call, conv_bias), w.groups * w.outs, start);
    job.start = start;
    const Filters<T> filters = filters_of<T>(weight);
    find_distances(w, job.planes, w.ins, distances);
    int64_t tap = 0;
    for (int64_t c = 0; c < w.ins; ++c) {
        for (int64_t i = 0; i < w.y.kernel; ++i) {
            for (int64_t j = 0; j < w.x.kernel; ++j, ++tap) {
                const T* from = filters.data + c * filters.in + i * filters.row +
                                j * filters.column;
                for (int64_t g = 0; g < w.groups; ++g) {
                    pack_tap(job, taps, tap, from + g * w.outs * filters.out,
                             filters.out, packed + g * job.group_weights);
                }
            }
        }
    }
    const Pass<T> pass = {taps, distances, packed, 0, w.y.out, 0, w.x.out, 0, 1, 0, 1};
    job.passes = &pass;
    job.pass_count = 1;
    return run_conv(job, taps);
}

// ---- conv_dx

enum { dx_out, dx_g, dx_weight, dx_bias };
enum { dx_sizes, dx_stride, dx_padding, dx_dilation, dx_groups, dx_accumulate };

// Packs the taps of a class; answers their count.
template <class T>
int64_t pack_class(const ConvJob<T>& job, const Filters<T>& filters, int64_t ry,
                   int64_t rx, int64_t taps, int64_t* distances, T* packed) {
    const Windows& w = job.windows;
    int64_t tap = 0;
    for (int64_t o = 0; o < w.outs; ++o) {
        for (int64_t i = 0; i < w.y.kernel; ++i) {
            if (w.y.phase(i) != ry) continue;
            for (int64_t j = 0; j < w.x.kernel; ++j) {
                if (w.x.phase(j) != rx) continue;
                if (packed != nullptr) {
                    distances[tap] =
                        o * job.planes.channel() +
                        (w.y.last_shift() - w.y.shift(i)) * job.planes.width +
                        w.x.last_shift() - w.x.shift(j);
                    for (int64_t g = 0; g < w.groups; ++g) {
                        const T* from = filters.data + (g * w.outs + o) * filters.out +
                                        i * filters.row + j * filters.column;
                        pack_tap(job, taps, tap, from, filters.in,
                                 packed + g * job.group_weights);
                    }
                }
                ++tap;
            }
        }
    }
    return tap;
}

template <class T>
bool dx_typed(const ac_call* call, ac_context* context) {
    const ac_array* g = operand(call, dx_g);
    const ac_array* weight = operand(call, dx_weight);
    const ac_array* out = operand(call, dx_out);
    ConvJob<T> job;
    job.windows =
        windows_of(call, dx_stride, out, g, weight->shape + 2, weight->shape[1]);
    const Windows& w = job.windows;
    const Axis plain_y = {w.y.out, 0, 1, 1, 0, 1};
    const Axis plain_x = {w.x.out, 0, 1, 1, 0, 1};
    job.from_y = plain_y;
    job.from_x = plain_x;
    job.from = images_of<const T>(g);
    job.to = images_of<T>(out);
    job.accumulate = (int_attribute(call, dx_accumulate) & 1) != 0;
    if (by_product(w, job.from, job.to, operand(call, dx_bias))) {
        const Images<const T> a = images_of<const T>(weight);
        Product<T> p = image_product(w, w.ins, w.outs, job.from, job.to);
        p.a = a.data;
        p.a_row = a.channel;
        p.a_col = a.image;
        p.beta = job.accumulate ? T(1) : T(0);
        return multiply(p, context);
    }
    if (is_strided_dx(w)) {
        StridedDxJob<T> strided = {};
        strided.windows = w;
        strided.from = job.from;
        strided.weight = images_of<const T>(weight);
        strided.to = job.to;
        strided.accumulate = job.accumulate;
        strided.context = context;
        return run_strided_dx(strided, operand(call, dx_bias));
    }
    job.ins = w.outs;
    job.outs = w.ins;
    const int64_t first_y = first_of(w.y), first_x = first_of(w.x);
    const int64_t columns = end_of(w.x) - first_x;
    job.rows = end_of(w.y) - first_y;
    job.planes = {0,
                  columns + w.x.last_shift(),
                  first_y - w.y.last_shift(),
                  first_x - w.x.last_shift(),
                  1,
                  1,
                  1,
                  1};
    job.context = context;
    job.failed = 0;
    job.square = square_of(job);
    job.turned = true;
    choose_tasks(job, w.y.last_shift());

    const int64_t taps = w.outs * w.taps();
    job.group_weights = w.ins * taps;
    T* packed =
        scratch_for<T>(context, slot_weights, w.groups * (job.group_weights + w.ins));
    int64_t* distances = scratch_for<int64_t>(context, slot_distances, taps);
    Pass<T>* passes = static_cast<Pass<T>*>(context->scratch(
        context, slot_passes,
        static_cast<size_t>(w.y.stride * w.x.stride) * sizeof(Pass<T>)));
    if (packed == nullptr || distances == nullptr || passes == nullptr) return false;
    T* start = packed + w.groups * job.group_weights;
    copy_start<T>(operand(call, dx_bias), w.groups * w.ins, start);
    job.start = start;
    const Filters<T> filters = filters_of<T>(weight);
    int64_t done = 0;
    job.pass_count = 0;
    for (int64_t ry = 0; ry < w.y.stride; ++ry) {
        for (int64_t rx = 0; rx < w.x.stride; ++rx) {
            const Lattice y = lattice(w.y, ry), x = lattice(w.x, rx);
            const int64_t count =
                pack_class<T>(job, filters, ry, rx, 0, nullptr, nullptr);
            T* weights = packed + w.ins * done;
            pack_class(job, filters, ry, rx, count, distances + done, weights);
            passes[job.pass_count++] = {count,           distances + done,
                                        weights,         y.begin - first_y,
                                        y.end - first_y, x.begin - first_x,
                                        x.end - first_x, y.from + w.y.stride * first_y,
                                        w.y.stride,      x.from + w.x.stride * first_x,
                                        w.x.stride};
            done += count;
        }
    }
    job.passes = passes;
    return run_conv(job, taps);
}

// ---- the kernels

const char* conv_supports(const ac_call* call) { return dims_supported(call, conv_x); }
const char* dx_supports(const ac_call* call) { return dims_supported(call, dx_g); }

void conv(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, conv_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32 ? conv_typed<float>(call, context)
                                             : conv_typed<double>(call, context);
    if (!ok) no_memory(status);
}

void conv_dx(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, dx_out);
    if (element_count(*out) == 0) return;
    const bool ok = out->dtype == AC_FLOAT32 ? dx_typed<float>(call, context)
                                             : dx_typed<double>(call, context);
    if (!ok) no_memory(status);
}

double work_of(const ac_array* results, const ac_array* weight) {
    double taps = 1;
    for (int d = 1; d < weight->ndim; ++d)
        taps *= static_cast<double>(weight->shape[d]);
    return 2.0 * static_cast<double>(element_count(*results)) * taps * ns_per_flop;
}
double conv_work(const ac_call* call) {
    return work_of(operand(call, conv_out), operand(call, conv_weight));
}
double dx_work(const ac_call* call) {
    return work_of(operand(call, dx_g), operand(call, dx_weight));
}

const ac_kernel_entry entries[] = {
    {"conv", "out ; x weight bias? ; stride:ints padding:ints dilation:ints groups:int",
     conv, conv_supports, conv_work, 0, float_dtypes, 0},
    {"conv_dx",
     "dx ; g weight bias? ; sizes:ints stride:ints padding:ints dilation:ints "
     "groups:int accumulate:int",
     conv_dx, dx_supports, dx_work, 0, float_dtypes, 0},
};

}  // namespace

AC_DEFINE_FAMILY(conv, entries);

}  // namespace autocalc::simd::AC_ISA
