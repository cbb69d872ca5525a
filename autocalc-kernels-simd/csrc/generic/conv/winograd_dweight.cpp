// SPDX-License-Identifier: MIT
//
// conv_dweight by Winograd's transforms, for 3 x 3 windows at stride 1: with V the
// transformed tiles of x, as conv has them, and Z the transformed tiles of g, each of
// the 36 (or 16) places has a product
//
//     M[channel][output] = sum over tiles of V[tile][channel] Z[tile][output]
//
// over all images, and only M is transformed back: 36 multiplications for each tile and
// pair of channels where the direct sum takes 144 (or 16 of 36).
//
// A task has a part of the tiles and a block of the channels of x, and adds its
// products up batch by batch of tiles. Parts follow from the shape and are added in
// their order: the same bits for any number of threads.
#include "common/families.hpp"
#include "conv/dbias.hpp"
#include "conv/winograd_plan.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_data = 0, slot_gradients = 1, slot_pixels = 2, slot_sums = 3 };
enum { out_dweight, out_dbias, in_g, in_x };
enum { at_kernel, at_stride, at_padding, at_dilation, at_groups, at_accumulate };

constexpr int64_t wino_parts = 8;         // of tiles, times blocks of channels
constexpr int64_t wino_block = 64;        // channels of x in a task, ...
constexpr int64_t wino_least_block = 16;  // ... or fewer, where threads are many
// The tiles of a batch. All sums of a task are read and written once for each batch: 32
// tiles take 1.03 of the time of 64, 16 tiles 1.25 to 1.6, 128 tiles 0.97 to 1.04.
constexpr int64_t wino_batch = wino_most_tiles;

struct GradientJob {
    Windows windows;
    Images<const float> x, g;
    int64_t places;
    Segments segments;  // its tasks are batches of tiles here
    int64_t parts, blocks;
    int64_t data_row, data_step;          // of V
    int64_t gradient_row, gradient_step;  // of Z
    int64_t sum_step;                     // of M, [place][ins][whole registers]
    float* sums;                          // [part][group]
    ac_context* context;

    [[nodiscard]] AC_INLINE int64_t wide() const {
        return round_up(windows.outs, vec<float>::lanes);
    }
};

// ---- a task

struct GradientTask {
    int64_t group, channel, channels;  // of x
    float *data, *gradients, *pixels, *sums;
};

// The tiles of a batch; answers how many.
template <int out>
int64_t read_batch(const GradientJob& job, const GradientTask& task, int64_t batch) {
    const Windows& w = job.windows;
    const Cuts cuts = job.segments.of_task();
    const int64_t first = cuts.at(batch), last = cuts.at(batch + 1);
    Images<const float> x = job.x, g = job.g;
    x.data += (task.group * w.ins + task.channel) * x.channel;
    g.data += task.group * w.outs * g.channel;
    read_tiles<typename Wino<out>::Data>(
        job.segments, first, last, x, elements_of<out>(w.y, w.x), task.channels,
        task.pixels, task.data, job.data_row, job.data_step);
    read_tiles<typename Wino<out>::Gradients>(
        job.segments, first, last, g, results_of<out>(w.y, w.x), w.outs, task.pixels,
        task.gradients, job.gradient_row, job.gradient_step);
    int64_t tiles = 0;
    for (int64_t i = first; i < last; ++i) tiles += job.segments.at(i).tiles();
    return tiles;
}

// Asks for the sums that a tile adds to: with many channels they come from L3, and have
// all of the tile's steps to arrive (without: 1.02 to 1.06 times as long).
AC_INLINE void fetch_sums(const Tile<float>& tile, int64_t rows) {
    constexpr int64_t line = 64 / item_size<float>;
    for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < tile.columns; j += line)
            __builtin_prefetch(tile.c + i * tile.c_row + j);
    }
}

// M[place][channel][output channel] (+)= V^T Z
void multiply_batch(const GradientJob& job, const GradientTask& task, int64_t tiles,
                    bool add) {
    constexpr int64_t lanes = vec<float>::lanes;
    const Panels<float> panels(job.windows.outs, tile_vectors);
    Tile<float> tile = {};
    tile.k = tiles;
    tile.a_row = 1;
    tile.a_col = job.data_row;
    tile.b_row = job.gradient_row;
    tile.c_row = job.wide();
    tile.alpha = 1;
    tile.beta = add ? 1 : 0;
    for (int64_t place = 0; place < job.places; ++place) {
        const float* data = task.data + place * job.data_step;
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            const int64_t vectors = panel.width / lanes;
            const int64_t blocks = ceil_div(task.channels, tile_rows[vectors]);
            const Cuts cuts(task.channels, blocks);
            tile.columns = panel.width;
            tile.b = task.gradients + place * job.gradient_step + panel.begin;
            for (int64_t i = 0; i < blocks; ++i) {
                tile.a = data + cuts.at(i);
                tile.c = task.sums + place * job.sum_step + cuts.at(i) * tile.c_row +
                         panel.begin;
                if (add) fetch_sums(tile, cuts.size(i));
                multiply_tile(tile, vectors, Order::column_major, cuts.size(i));
            }
        }
    }
}

template <int out>
bool run_gradient_tasks(GradientJob& job, int64_t begin, int64_t end) {
    const Windows& w = job.windows;
    const Segments& segments = job.segments;
    const int64_t pixels =
        tile_scratch(elements_of<out>(w.y, w.x), segments, larger(w.ins, w.outs));
    GradientTask task;
    task.data = scratch_of<float>(job.context, slot_data, job.places * job.data_step);
    task.gradients =
        scratch_of<float>(job.context, slot_gradients, job.places * job.gradient_step);
    task.pixels = scratch_of<float>(job.context, slot_pixels, pixels);
    if (task.data == nullptr || task.gradients == nullptr || task.pixels == nullptr)
        return false;
    const Phase phase(job.context, AC_PHASE_PACK);
    const Cuts channels(w.ins, job.blocks), batches(segments.tasks, job.parts);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t block = t % job.blocks, part = t / job.blocks / w.groups;
        task.group = t / job.blocks % w.groups;
        task.channel = channels.at(block);
        task.channels = channels.size(block);
        task.sums = job.sums +
                    (part * w.groups + task.group) * job.places * job.sum_step +
                    task.channel * job.wide();
        const int64_t first = batches.at(part), last = batches.at(part + 1);
        for (int64_t batch = first; batch < last; ++batch) {
            phase.next(AC_PHASE_PACK);
            const int64_t tiles = read_batch<out>(job, task, batch);
            phase.next(AC_PHASE_COMPUTE);
            multiply_batch(job, task, tiles, batch > first);
        }
    }
    return true;
}

// ---- the result

// Taps [3 x 3][lanes] of `n` output channels to dweight[o][channel].
void write_taps(const float* taps, int64_t n, const Images<float>& to, float* out,
                bool accumulate) {
    constexpr int lanes = vec<float>::lanes;
    for (int64_t i = 0; i < n; ++i, out += to.image) {
        for (int64_t k = 0; k < wino_taps; ++k) {
            float* place = out + k / wino_kernel * to.row + k % wino_kernel * to.column;
            const float value = taps[k * lanes + i];
            *place = accumulate ? *place + value : value;
        }
    }
}

// Channels `begin` to `end` of x, counted through the groups.
template <int out>
void transform_parts(const GradientJob& job, const Images<float>& to, bool accumulate,
                     int64_t begin, int64_t end) {
    constexpr int lanes = vec<float>::lanes;
    const Windows& w = job.windows;
    const int64_t part_step = w.groups * job.places * job.sum_step;
    alignas(64) float total[Wino<out>::places * lanes];
    alignas(64) float taps[wino_taps * lanes];
    for (int64_t t = begin; t < end; ++t) {
        const int64_t group = t / w.ins, c = t % w.ins;
        for (int64_t o = 0; o < w.outs; o += lanes) {
            const float* sums =
                job.sums + group * job.places * job.sum_step + c * job.wide() + o;
            for (int64_t place = 0; place < job.places; ++place) {
                vec<float> sum = load(sums + place * job.sum_step);
                for (int64_t part = 1; part < job.parts; ++part)
                    sum = sum + load(sums + part * part_step + place * job.sum_step);
                store(total + place * lanes, sum);
            }
            transform<typename Wino<out>::Weights>(
                Registers{total, Wino<out>::in * lanes, lanes}, Places<3>{taps, lanes});
            write_taps(taps, smaller<int64_t>(lanes, w.outs - o), to,
                       to.data + (group * w.outs + o) * to.image + c * to.channel,
                       accumulate);
        }
    }
}

// ---- the kernel

// Blocks of channels, and parts of so many batches of tiles.
AC_INLINE int64_t gradient_blocks(const Windows& w) {
    return ceil_div(w.ins, wino_block);
}
AC_INLINE int64_t gradient_parts(const Windows& w, int64_t batches) {
    return smaller(batches, ceil_div(wino_parts, gradient_blocks(w) * w.groups));
}

// Channels have sums of their own: more threads may have more blocks of them, though
// each transforms the gradients again.
AC_INLINE int64_t threads_blocks(const GradientJob& job) {
    const Windows& w = job.windows;
    const int64_t wanted = ceil_div(tasks_for(job.context, 1, 1), job.parts * w.groups);
    const int64_t most = ceil_div(w.ins, wino_least_block);
    return larger(gradient_blocks(w), smaller(wanted, most));
}

template <int out>
bool sum_tiles(GradientJob& job, const Images<float>& to, bool accumulate) {
    const Windows& w = job.windows;
    job.places = Wino<out>::places;
    job.segments = segments_of(w.batch, w.y.out, w.x.out, out, wino_batch);
    job.parts = gradient_parts(w, job.segments.tasks);
    job.blocks = threads_blocks(job);
    job.data_row = wino_row(ceil_div(w.ins, job.blocks));
    job.gradient_row = wino_row(job.wide());
    const int64_t most = job.segments.most_tiles();
    job.data_step = wino_step(most, job.data_row);
    job.gradient_step = wino_step(most, job.gradient_row);
    job.sum_step = wino_step(w.ins, job.wide());
    const int64_t sums = job.parts * w.groups * job.places * job.sum_step;
    job.sums = scratch_of<float>(job.context, slot_sums, sums);
    if (job.sums == nullptr) return false;
    const int64_t tasks = job.parts * w.groups * job.blocks;
    const int64_t work = job.segments.count() * most * w.groups * w.ins * job.wide();
    if (!try_parallel(job.context, tasks, work >= serial_work / 8,
                      [&](int64_t begin, int64_t end) {
                          return run_gradient_tasks<out>(job, begin, end);
                      }))
        return false;
    parallel(job.context, w.groups * w.ins, sums > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_EPILOGUE);
                 transform_parts<out>(job, to, accumulate, begin, end);
             });
    return true;
}

Windows windows_of_gradient(const ac_call* call) {
    const ac_array* dweight = operand(call, out_dweight);
    return windows_of(call, at_stride, operand(call, in_x), operand(call, in_g),
                      dweight->shape + 2, dweight->shape[1]);
}

template <int out>
double gradient_cost(const Windows& w) {
    constexpr int64_t lanes = vec<float>::lanes;
    const int64_t tiles = wino_tiles<out>(w.batch, w.y, w.x);
    const int64_t outs = ceil_div(w.outs, lanes);
    const int64_t registers = ceil_div(w.ins, lanes) + outs * gradient_blocks(w);
    const int64_t batches =
        segments_of(w.batch, w.y.out, w.x.out, out, wino_batch).tasks;
    // Each batch adds to the sums, which then go back.
    return wino_cost<out>(tiles, wino_steps(w.ins, w.outs), tiles * registers) +
           wino_matrices_cost<out>(w.ins, w.outs, gradient_parts(w, batches),
                                   batches + 1);
}
// Results of a tile, as `cheapest` has them, where the direct sum costs `plain`.
int tile_of(const Windows& w, double plain) {
    return cheapest(gradient_cost<4>(w), gradient_cost<2>(w), plain);
}

// Where the cheaper other algorithm is patches, or the direct sum. With filters that
// caches do not hold, products of patches are slower than their estimate: 47 ms for 512
// x 512 filters and 8 images of 7 x 7 where tiles take 37 (one thread of a Zen 3).
constexpr double patches_beside_tiles = 1.25;
int call_tile(const ac_call* call) {
    const Windows w = windows_of_gradient(call);
    const double plain = plain_cost(w, wino_steps(w.ins, w.outs));
    const ac_array dweight = laid_out(operand(call, out_dweight));
    const bool nhwc = images_of<const float>(operand(call, in_g)).channel == 1;
    const double patches =
        usable_patches_cost<float>(w, images_of<float>(&dweight), nhwc, patch_forward);
    return tile_of(w, smaller(plain, patches_beside_tiles * patches));
}

void wino_dweight(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* dweight = operand(call, out_dweight);
    const ac_array* dbias = operand(call, out_dbias);
    const int64_t accumulate = int_attribute(call, at_accumulate);
    GradientJob job = {};
    job.windows = windows_of_gradient(call);
    job.x = images_of<const float>(operand(call, in_x));
    job.g = images_of<const float>(operand(call, in_g));
    job.context = context;
    if (dbias != nullptr)
        sum_bias(job.windows, job.g, dbias, (accumulate & 2) != 0, context);
    const Images<float> to = images_of<float>(dweight);
    const bool add = (accumulate & 1) != 0,
               two = tile_of(job.windows, __builtin_inf()) == 2;
    if (!(two ? sum_tiles<2>(job, to, add) : sum_tiles<4>(job, to, add)))
        no_memory(status);
}

// ---- which convolutions

const char* dweight_supports(const ac_call* call) {
    if (operand(call, in_x)->ndim != 4) return "convolutions of two dimensions only";
    const Windows w = windows_of_gradient(call);
    const char* reason = wino_refuses(w);
    if (reason != nullptr) return reason;
    if (w.batch * w.y.out * w.x.out * w.groups * w.ins * w.outs == 0)
        return "there are no windows";
    return wino_answer(call_tile(call));
}
const char* dweight_describe(const ac_call* call) {
    return wino_words(call_tile(call));
}

double dweight_work(const ac_call* call) {
    return 2.0 *
           static_cast<double>(element_count(*operand(call, in_g)) *
                               operand(call, out_dweight)->shape[1]) *
           static_cast<double>(wino_taps) * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"conv_dweight",
     "dweight dbias? ; g x ; kernel:ints stride:ints padding:ints dilation:ints "
     "groups:int accumulate:int",
     wino_dweight, dweight_supports, dweight_work, 0, 1u << AC_FLOAT32,
     dweight_describe},
};

}  // namespace

AC_DEFINE_FAMILY(winograd_dweight, entries);

}  // namespace autocalc::simd::AC_ISA
