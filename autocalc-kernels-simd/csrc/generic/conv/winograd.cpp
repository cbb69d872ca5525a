// SPDX-License-Identifier: MIT
//
// conv and conv_dx by Winograd's transforms, for 3 x 3 windows at stride 1. The input
// gradient is the same convolution, of g, with the taps turned round and the channels
// exchanged.
//
// A task transforms its tiles to V[place][tile][channel], multiplies each of the 36 (or
// 16) places with the transformed weights U[place][channel][output channel], a panel of
// output channels at a time, and transforms the products back while they are in L2.
#include "common/families.hpp"
#include "conv/winograd_filters.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { slot_data = 0, slot_products = 1, slot_pixels = 2, slot_weights = 3 };

// ---- a task

struct WinoTask {
    int64_t group, first, last;  // segments
    int64_t tiles;
    float *data, *products, *pixels;
};

template <int out>
void read_data(const WinoJob& job, const WinoTask& task) {
    Images<const float> from = job.from;
    from.data += task.group * job.ins * from.channel;
    read_tiles<typename Wino<out>::Data>(
        job.segments, task.first, task.last, from, elements_of<out>(job.y, job.x),
        job.ins, task.pixels, task.data, job.data_row, job.data_step);
}

// M[place][tile][panel] = V[place][tile][channel] U[place][channel][panel], of
// `channels` channels from `first` on; those after the first add to M.
void multiply_places(const WinoJob& job, const WinoTask& task, const Panel& panel,
                     const float* weights, int64_t step, int64_t first,
                     int64_t channels) {
    const int64_t vectors = panel.width / vec<float>::lanes;
    const int64_t blocks = ceil_div(task.tiles, tile_rows[vectors]);
    const Cuts cuts(task.tiles, blocks);
    Tile<float> tile = {};
    tile.k = channels;
    tile.beta = first > 0 ? 1.0F : 0.0F;
    tile.a_row = job.data_row;
    tile.a_col = 1;
    tile.b_row = panel.width;
    tile.c_row = panel.width;
    tile.columns = panel.width;
    tile.alpha = 1;
    for (int64_t place = 0; place < job.places; ++place) {
        tile.b = weights + place * channels * panel.width;
        const float* data = task.data + place * job.data_step + first;
        for (int64_t i = 0; i < blocks; ++i) {
            tile.a = data + cuts.at(i) * job.data_row;
            tile.c = task.products + place * step + cuts.at(i) * panel.width;
            multiply_tile(tile, vectors, Order::row_major, cuts.size(i));
        }
    }
}

// The part of a channels-last image that takes a tile's results: the pixels inside of
// it, and `count` channels.
struct Results {
    float* at;
    int64_t row, column, rows, columns, count;
    vec<float> start;
    bool add;
    AC_INLINE void operator()(int y, int x, vec<float> v) const {
        if (y >= rows || x >= columns) return;
        float* place = at + y * row + x * column;
        v = v + start;
        if (count == vec<float>::lanes) {
            store(place, add ? v + load(place) : v);
        } else {
            store_first(place, add ? v + load_first(place, count) : v, count);
        }
    }
};

template <int out>
void write_last(const WinoJob& job, const WinoTask& task, const Panel& panel,
                int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    using Line = typename Wino<out>::Results;
    const Images<float>& to = job.to;
    const float* starts = job.start + task.group * job.wide() + panel.begin;
    const float* tile = task.products;
    for (int64_t i = task.first; i < task.last; ++i) {
        const Segment s = job.segments.at(i);
        float* image =
            to.data + s.image * to.image + task.group * job.outs + panel.begin;
        for (int64_t y = out * s.y; y < out * (s.y + s.rows); y += out) {
            for (int64_t x = out * s.x; x < out * (s.x + s.columns); x += out) {
                Results results = {image + y * to.row + x * to.column,
                                   to.row,
                                   to.column,
                                   smaller<int64_t>(out, job.y.out - y),
                                   smaller<int64_t>(out, job.x.out - x),
                                   lanes,
                                   {},
                                   job.accumulate};
                for (int64_t o = 0; o < panel.width; o += lanes) {
                    results.start = load(starts + o);
                    results.count = smaller<int64_t>(lanes, job.outs - panel.begin - o);
                    transform<Line>(Registers{tile + o, Wino<out>::in * step, step},
                                    results);
                    results.at += lanes;
                }
                tile += panel.width;
            }
        }
    }
}

template <int out>
void write_tiles(const WinoJob& job, const WinoTask& task, const Panel& panel,
                 int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    if (job.to.channel == 1) return write_last<out>(job, task, panel, step);
    const auto tiling = results_of<out>(job.y, job.x);
    const float* from = task.products;
    for (int64_t i = task.first; i < task.last; ++i) {
        const Segment s = job.segments.at(i);
        const Pixels<float> pixels = tiling.pixels(s, task.pixels);
        for (int64_t o = 0; o < panel.width; o += lanes) {
            const int64_t channel = panel.begin + o;
            const vec<float> start =
                load(job.start + task.group * job.wide() + channel);
            const float* tile = from + o;
            for (int64_t y = 0; y < s.rows; ++y) {
                float* line = pixels.data + out * y * pixels.line();
                for (int64_t x = 0; x < s.columns; ++x, tile += panel.width) {
                    float* to = line + out * lanes * x;
                    transform<typename Wino<out>::Results>(
                        Registers{tile, Wino<out>::in * step, step},
                        [&](int r, int c, vec<float> v) AC_INLINE_LAMBDA {
                            store(to + r * pixels.line() + c * lanes, v + start);
                        });
                }
            }
            Images<float> image = job.to;
            image.data += s.image * image.image +
                          (task.group * job.outs + channel) * image.channel;
            scatter_pixels(image, smaller<int64_t>(lanes, job.outs - channel), pixels,
                           job.accumulate);
        }
        from += s.tiles() * panel.width;
    }
}

template <int out>
bool run_wino_tasks(WinoJob& job, int64_t begin, int64_t end) {
    const Segments& segments = job.segments;
    const Panels<float> panels(job.outs, job.vectors);
    const int64_t width = panels.at(0).width;
    const int64_t pixels =
        tile_scratch(elements_of<out>(job.y, job.x), segments, job.ins);
    const int64_t most = segments.most_tiles();
    WinoTask task;
    task.data = scratch_of<float>(job.context, slot_data, job.places * job.data_step);
    task.products = scratch_of<float>(job.context, slot_products,
                                      job.places * wino_step(most, width));
    task.pixels = scratch_of<float>(job.context, slot_pixels, pixels);
    if (task.data == nullptr || task.products == nullptr || task.pixels == nullptr)
        return false;
    const Phase phase(job.context, AC_PHASE_PACK);
    const Cuts cuts = segments.of_task();
    for (int64_t t = begin; t < end; ++t) {
        phase.next(AC_PHASE_PACK);
        task.group = t % job.groups;
        task.first = cuts.at(t / job.groups);
        task.last = cuts.at(t / job.groups + 1);
        task.tiles = 0;
        for (int64_t i = task.first; i < task.last; ++i)
            task.tiles += segments.at(i).tiles();
        // V of the task's tiles, all channels: half of L2, read by every panel below.
        read_data<out>(job, task);
        const float* weights = job.weights + task.group * job.group_weights();
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            const int64_t step = wino_step(most, panel.width);
            phase.next(AC_PHASE_COMPUTE);
            multiply_places(job, task, panel,
                            weights + job.places * job.ins * panel.begin, step, 0,
                            job.ins);
            phase.next(AC_PHASE_EPILOGUE);
            write_tiles<out>(job, task, panel, step);
        }
    }
    return true;
}

// ---- few tiles: a task is a panel, and transforms its own weights

// Registers of channels `begin` to `end`, counted through the groups, of all tiles.
template <int out>
bool read_all_data(const WinoJob& job, float* data, int64_t begin, int64_t end) {
    constexpr int64_t lanes = vec<float>::lanes;
    const auto tiling = elements_of<out>(job.y, job.x);
    const int64_t registers = ceil_div(job.ins, lanes);
    float* pixels = scratch_of<float>(job.context, slot_pixels,
                                      tile_scratch(tiling, job.segments, job.ins));
    if (pixels == nullptr) return false;
    const Phase phase(job.context, AC_PHASE_PACK);
    for (int64_t t = begin; t < end;) {
        const int64_t group = t / registers, r0 = t % registers;
        const int64_t r1 = smaller(registers, r0 + end - t), first = r0 * lanes;
        Images<const float> from = job.from;
        from.data += (group * job.ins + first) * from.channel;
        read_tiles<typename Wino<out>::Data>(
            job.segments, 0, job.segments.count(), from, tiling,
            smaller(job.ins, r1 * lanes) - first, pixels,
            data + group * job.places * job.data_step + first, job.data_row,
            job.data_step);
        t += r1 - r0;
    }
    return true;
}

// Channels whose transformed weights of a panel take a quarter of L2.
AC_INLINE int64_t channels_at_once(const WinoJob& job, int64_t width) {
    constexpr int64_t fewest = 16;
    return larger(fewest, l2_bytes() / 4 / bytes_of<float>(job.places * width));
}

// Panels `begin` to `end`, counted through the groups.
template <int out>
bool run_panels(const WinoJob& job, float* data, int64_t begin, int64_t end) {
    const Panels<float> panels(job.outs, job.vectors);
    const int64_t width = panels.at(0).width;
    const int64_t blocks = ceil_div(job.ins, channels_at_once(job, width));
    const Cuts cuts(job.ins, blocks);
    float* weights =
        scratch_of<float>(job.context, slot_weights, job.places * cuts.size(0) * width);
    WinoTask task = {};
    task.last = job.segments.count();
    task.tiles = wino_tiles<out>(job.segments.batch, job.y, job.x);
    task.products = scratch_of<float>(job.context, slot_products,
                                      job.places * wino_step(task.tiles, width));
    task.pixels = scratch_of<float>(
        job.context, slot_pixels,
        tile_scratch(results_of<out>(job.y, job.x), job.segments, width));
    if (weights == nullptr || task.products == nullptr || task.pixels == nullptr)
        return false;
    const Phase phase(job.context, AC_PHASE_PACK);
    for (int64_t t = begin; t < end; ++t) {
        task.group = t / panels.count;
        task.data = data + task.group * job.places * job.data_step;
        const Panel panel = panels.at(t % panels.count);
        const int64_t step = wino_step(task.tiles, panel.width);
        for (int64_t i = 0; i < blocks; ++i) {
            const int64_t channels = cuts.size(i);
            phase.next(AC_PHASE_PACK);
            transform_panel<out>(job, task.group, panel, cuts.at(i), cuts.at(i + 1),
                                 weights, channels * panel.width);
            phase.next(AC_PHASE_COMPUTE);
            multiply_places(job, task, panel, weights, step, cuts.at(i), channels);
        }
        phase.next(AC_PHASE_EPILOGUE);
        write_tiles<out>(job, task, panel, step);
    }
    return true;
}

// ---- a call

// A panel's products are a quarter of L2, together with half of L2 for the tiles.
int64_t panel_vectors(int64_t places, int64_t tiles, int64_t outs) {
    constexpr int64_t lanes = vec<float>::lanes;
    const int64_t fitting = l2_bytes() / 4 / bytes_of<float>(places * tiles * lanes);
    return larger<int64_t>(1, smaller<int64_t>(smaller<int64_t>(tile_vectors, fitting),
                                               ceil_div(outs, lanes)));
}

template <int out>
bool run_by_panels(WinoJob& job, const ac_array* bias) {
    job.segments =
        segments_of(job.segments.batch, job.y.out, job.x.out, out, wino_few_tiles);
    const int64_t tiles = wino_tiles<out>(job.segments.batch, job.y, job.x);
    job.data_step = wino_step(tiles, job.data_row);
    job.vectors = panel_vectors(job.places, tiles, job.outs);
    const int64_t all = job.groups * job.places * job.data_step;
    float* data =
        scratch_of<float>(job.context, slot_data, all + job.groups * job.wide());
    if (data == nullptr) return false;
    job.start = data + all;
    copy_bias(bias, job.groups, job.outs, job.wide(), job.start);
    const int64_t registers = ceil_div(job.ins, vec<float>::lanes);
    if (!try_parallel(job.context, job.groups * registers, all > serial_work,
                      [&](int64_t begin, int64_t end) {
                          return read_all_data<out>(job, data, begin, end);
                      }))
        return false;
    const int64_t panels = job.groups * Panels<float>(job.outs, job.vectors).count;
    const int64_t work = job.groups * job.group_weights() * (tiles + wino_weight_work);
    return try_parallel(job.context, panels, work >= serial_work,
                        [&](int64_t begin, int64_t end) {
                            return run_panels<out>(job, data, begin, end);
                        });
}

template <int out>
bool run_by_segments(WinoJob& job, const ac_array* bias) {
    job.segments = segments_of(job.segments.batch, job.y.out, job.x.out, out,
                               tiles_for(job.data_row, job.places));
    const int64_t most = job.segments.most_tiles();
    job.data_step = wino_step(most, job.data_row);
    job.vectors = panel_vectors(job.places, most, job.outs);
    const int64_t all = job.groups * job.group_weights();
    job.weights =
        scratch_of<float>(job.context, slot_weights, all + job.groups * job.wide());
    if (job.weights == nullptr) return false;
    job.start = job.weights + all;
    copy_bias(bias, job.groups, job.outs, job.wide(), job.start);
    const int64_t tasks = job.segments.tasks * job.groups;
    const int64_t work =
        job.segments.count() * job.groups * most * job.ins * job.wide();
    parallel(job.context, job.groups * job.ins, all > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_PACK);
                 transform_weights<out>(job, begin, end);
             });
    return try_parallel(job.context, tasks, work >= serial_work / 8,
                        [&](int64_t begin, int64_t end) {
                            return run_wino_tasks<out>(job, begin, end);
                        });
}

template <int out>
bool run_winograd(WinoJob& job, const ac_array* bias) {
    job.places = Wino<out>::places;
    job.data_row = wino_row(job.ins);
    return are_few_tiles<out>(job.segments.batch, job.y, job.x)
               ? run_by_panels<out>(job, bias)
               : run_by_segments<out>(job, bias);
}

WinoJob wino_job(const ac_array* from, const ac_array* to, ac_context* context) {
    WinoJob job = {};
    job.from = images_of<const float>(from);
    job.to = images_of<float>(to);
    job.segments.batch = from->shape[0];
    job.context = context;
    return job;
}

// A convolution by tiles, between channels of a group on either side.
template <int out>
double tiles_cost(int64_t batch, int64_t ins, int64_t outs, const Axis& y,
                  const Axis& x) {
    constexpr int64_t lanes = vec<float>::lanes;
    const int64_t registers = ceil_div(ins, lanes) + ceil_div(outs, lanes);
    const int64_t tiles = wino_tiles<out>(batch, y, x);
    const double filter =
        out == 4 ? Costs::winograd_filter_4 : Costs::winograd_filter_2;
    const double weights = are_few_tiles<out>(batch, y, x)
                               ? filter * static_cast<double>(ins * outs)
                               : wino_matrices_cost<out>(ins, outs, 1, 2);
    return wino_cost<out>(tiles, wino_steps(ins, outs), tiles * registers) + weights;
}

// Results of a tile, as `cheapest` has them, where the direct sum costs `plain`.
int tile_of(int64_t batch, int64_t ins, int64_t outs, const Axis& y, const Axis& x,
            double plain) {
    return cheapest(tiles_cost<4>(batch, ins, outs, y, x),
                    tiles_cost<2>(batch, ins, outs, y, x), plain);
}

void run_tiles(WinoJob& job, const ac_array* bias, ac_status* status) {
    constexpr double whatever = __builtin_inf();
    const bool two =
        tile_of(job.segments.batch, job.ins, job.outs, job.y, job.x, whatever) == 2;
    if (!(two ? run_winograd<2>(job, bias) : run_winograd<4>(job, bias)))
        no_memory(status);
}

enum { conv_out, conv_x, conv_weight, conv_bias };

Windows conv_windows(const ac_call* call) {
    const ac_array* weight = operand(call, conv_weight);
    return windows_of(call, 0, operand(call, conv_x), operand(call, conv_out),
                      weight->shape + 2, weight->shape[1]);
}

void wino_conv(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* x = operand(call, conv_x);
    const ac_array* weight = operand(call, conv_weight);
    const ac_array* out = operand(call, conv_out);
    if (element_count(*out) == 0) return;
    const Windows w = conv_windows(call);
    WinoJob job = wino_job(x, out, context);
    job.y = w.y;
    job.x = w.x;
    job.groups = w.groups;
    job.ins = w.ins;
    job.outs = w.outs;
    const Images<const float> taps = images_of<const float>(weight);
    job.taps = {taps.data, w.outs * taps.image, taps.image, taps.channel,
                taps.row,  taps.column,         false};
    run_tiles(job, operand(call, conv_bias), status);
}

enum { dx_out, dx_g, dx_weight, dx_bias };
enum { dx_sizes, dx_stride, dx_padding, dx_dilation, dx_groups, dx_accumulate };

// The windows of g along a dimension.
AC_INLINE Axis turned(const Axis& axis) {
    return {axis.out, axis.in, wino_kernel, 1, wino_kernel - 1 - axis.padding, 1};
}

Windows dx_windows(const ac_call* call) {
    const ac_array* weight = operand(call, dx_weight);
    return windows_of(call, dx_stride, operand(call, dx_out), operand(call, dx_g),
                      weight->shape + 2, weight->shape[1]);
}

void wino_dx(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* g = operand(call, dx_g);
    const ac_array* weight = operand(call, dx_weight);
    const ac_array* out = operand(call, dx_out);
    if (element_count(*out) == 0) return;
    const Windows w = dx_windows(call);
    WinoJob job = wino_job(g, out, context);
    job.y = turned(w.y);
    job.x = turned(w.x);
    job.groups = w.groups;
    job.ins = w.outs;
    job.outs = w.ins;
    job.accumulate = (int_attribute(call, dx_accumulate) & 1) != 0;
    const Images<const float> taps = images_of<const float>(weight);
    job.taps = {taps.data, w.outs * taps.image, taps.channel, taps.image,
                taps.row,  taps.column,         true};
    run_tiles(job, operand(call, dx_bias), status);
}

// ---- which convolutions

// The cheaper other algorithm: patches, or the direct sum.
double other_cost(const Windows& w, const Images<const float>& from,
                  const Images<const float>& weight, double steps, double passes) {
    const double plain = plain_cost(w, steps);
    return smaller(plain,
                   usable_patches_cost<float>(w, weight, from.channel == 1, passes));
}

int conv_tile(const ac_call* call) {
    const Windows w = conv_windows(call);
    const double other = other_cost(w, images_of<const float>(operand(call, conv_x)),
                                    images_of<const float>(operand(call, conv_weight)),
                                    wino_steps(w.ins, w.outs), patch_forward);
    return tile_of(w.batch, w.ins, w.outs, w.y, w.x, other);
}
const char* conv_supports(const ac_call* call) {
    if (operand(call, conv_x)->ndim != 4) return "convolutions of two dimensions only";
    const char* reason = wino_refuses(conv_windows(call));
    return reason != nullptr ? reason : wino_answer(conv_tile(call));
}
const char* conv_describe(const ac_call* call) { return wino_words(conv_tile(call)); }

int dx_tile(const ac_call* call) {
    const Windows w = dx_windows(call);
    const double other = other_cost(w, images_of<const float>(operand(call, dx_g)),
                                    images_of<const float>(operand(call, dx_weight)),
                                    wino_steps(w.outs, w.ins), patch_dx);
    return tile_of(w.batch, w.outs, w.ins, turned(w.y), turned(w.x), other);
}
const char* dx_supports(const ac_call* call) {
    if (operand(call, dx_g)->ndim != 4) return "convolutions of two dimensions only";
    const Windows w = dx_windows(call);
    const char* reason = wino_refuses(w);
    if (reason != nullptr) return reason;
    if (w.y.padding >= wino_kernel || w.x.padding >= wino_kernel)
        return "the padding is wider than the windows";
    return wino_answer(dx_tile(call));
}
const char* dx_describe(const ac_call* call) { return wino_words(dx_tile(call)); }

double work_of(const ac_array* results, const ac_array* weight) {
    return 2.0 * static_cast<double>(element_count(*results) * weight->shape[1]) *
           static_cast<double>(wino_taps) * ns_per_flop;
}
double conv_work(const ac_call* call) {
    return work_of(operand(call, conv_out), operand(call, conv_weight));
}
double dx_work(const ac_call* call) {
    return work_of(operand(call, dx_g), operand(call, dx_weight));
}

const ac_kernel_entry entries[] = {
    {"conv", "out ; x weight bias? ; stride:ints padding:ints dilation:ints groups:int",
     wino_conv, conv_supports, conv_work, 0, 1u << AC_FLOAT32, conv_describe},
    {"conv_dx",
     "dx ; g weight bias? ; sizes:ints stride:ints padding:ints dilation:ints "
     "groups:int accumulate:int",
     wino_dx, dx_supports, dx_work, 0, 1u << AC_FLOAT32, dx_describe},
};

}  // namespace

AC_DEFINE_FAMILY(winograd, entries);

}  // namespace autocalc::simd::AC_ISA
