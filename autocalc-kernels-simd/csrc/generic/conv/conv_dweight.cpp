// SPDX-License-Identifier: MIT
//
// conv_dweight: the weight gradient is a product whose inner dimension are the windows.
// Its rows are the taps, read from the planes without a copy; its columns the output
// channels, so g is transposed first, a part that fits L2 at a time. The images are cut
// into parts that follow from the shape; each part adds up its own gradient, and the
// parts are added in their order: the same bits for any number of threads.
#include "common/families.hpp"
#include "conv/algorithms.hpp"
#include "conv/dbias.hpp"
#include "conv/depthwise_dweight.hpp"
#include "conv/nhwc_depthwise_dweight.hpp"
#include "conv/nhwc_dweight.hpp"
#include "conv/nhwc_patches.hpp"
#include "conv/patches.hpp"
#include "conv/pixel_rows.hpp"
#include "conv/pixel_sums.hpp"
#include "conv/pointwise.hpp"
#include "conv/register_tile.hpp"
#include "conv/windows.hpp"
#include "gemm/pack.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int64_t most_parts = 8;
constexpr int64_t fewest_channels = 4;  // of x in a task, where images are few

enum { slot_planes = 0, slot_g = 1, slot_sums = 2, slot_distances = 3 };
enum { out_dweight, out_dbias, in_g, in_x };
enum { at_kernel, at_stride, at_padding, at_dilation, at_groups, at_accumulate };

// A call, and how its sums are cut.
template <class T>
struct WeightJob : DweightCall<T> {
    Planes planes;  // `top` is that of row 0
    int64_t band, bands;
    int64_t parts, blocks;  // of the images, of the channels of a group
    bool dots;              // few output channels: along the windows instead
    int64_t row;            // of the sums: output channels, in whole registers
    T* sums;                // [parts][groups][taps of all channels][row]
    const int64_t* distances;
};

// ---- g

// Lines of g as [window][row], zeros in the last columns.
template <class T>
void transpose_g(const WeightJob<T>& job, const T* g, int64_t lines, T* to) {
    constexpr int lanes = vec<T>::lanes;
    const int64_t length = job.windows.x.out, outs = job.windows.outs;
    for (int64_t y = 0; y < lines; ++y) {
        const T* line = g + y * job.g.row;
        T* out = to + y * length * job.row;
        for (int64_t o = 0; o < job.row; o += lanes) {
            const int64_t n = smaller<int64_t>(lanes, outs - o);
            for (int64_t x = 0; x < length; x += lanes) {
                const int64_t count = smaller<int64_t>(lanes, length - x);
                const T* from = line + o * job.g.channel + x * job.g.column;
                T* square = out + x * job.row + o;
                if (job.g.column == 1) {
                    pack_square(count, n, from, job.g.channel, square, job.row);
                    continue;
                }
                for (int64_t i = 0; i < count; ++i) {
                    for (int64_t j = 0; j < lanes; ++j) {
                        square[i * job.row + j] =
                            j < n ? from[i * job.g.column + j * job.g.channel] : T(0);
                    }
                }
            }
        }
    }
}

// Lines of g as [output channel][window].
template <class T>
void gather_g(const WeightJob<T>& job, const T* g, int64_t lines, T* to) {
    const int64_t length = job.windows.x.out;
    for (int64_t o = 0; o < job.windows.outs; ++o) {
        for (int64_t y = 0; y < lines; ++y) {
            copy_run(g + o * job.g.channel + y * job.g.row, job.g.column, length, to);
            to += length;
        }
    }
}

// ---- sums

template <class T>
void add_products(const WeightJob<T>& job, int64_t lines, int64_t taps, const T* planes,
                  const T* g, T* sums) {
    constexpr int lanes = vec<T>::lanes;
    const Panels<T> panels(job.windows.outs, tile_vectors);
    for (int64_t p = 0; p < panels.count; ++p) {
        const Panel panel = panels.at(p);
        const int64_t vectors = panel.width / lanes;
        const int64_t tiles = ceil_div(taps, rows_for(static_cast<int>(vectors)));
        const Cuts cuts(taps, tiles);
        for (int64_t i = 0; i < tiles; ++i) {
            const int64_t first = cuts.at(i);
            const WeightTile<T> tile = {lines,
                                        job.windows.x.out,
                                        job.planes.width,
                                        planes,
                                        job.distances + first,
                                        g + panel.begin,
                                        job.row,
                                        sums + first * job.row + panel.begin,
                                        job.row};
            multiply_weights(vectors, cuts.size(i), tile);
        }
    }
}

template <class T>
void add_dots(const WeightJob<T>& job, int64_t lines, int64_t taps, const T* planes,
              const T* g, T* sums) {
    const int64_t length = job.windows.x.out;
    const Cuts cuts(taps, ceil_div(taps, conv_rows));
    for (int64_t o = 0; o < job.windows.outs; ++o) {
        for (int64_t i = 0; i < ceil_div(taps, conv_rows); ++i) {
            const int64_t first = cuts.at(i);
            const DotLines<T> part = {lines,
                                      length,
                                      job.planes.width,
                                      planes,
                                      job.distances + first,
                                      g + o * lines * length,
                                      length,
                                      sums + first * job.row + o,
                                      job.row};
            multiply_dot_lines(cuts.size(i), part);
        }
    }
}

template <class T>
bool run_weight_tasks(WeightJob<T>& job, int64_t begin, int64_t end) {
    const Windows& w = job.windows;
    const int64_t slack = vec<T>::lanes;
    const Cuts channels(w.ins, job.blocks);
    const Cuts images(w.batch, job.parts);
    T* planes = scratch_of<T>(job.context, slot_planes,
                              channels.size(0) * job.planes.channel() + slack);
    T* g = scratch_of<T>(job.context, slot_g, job.band * w.x.out * job.row);
    if (planes == nullptr || g == nullptr) return false;
    const Phase phase(job.context, AC_PHASE_COMPUTE);
    for (int64_t t = begin; t < end; ++t) {
        const int64_t block = t % job.blocks;
        const int64_t group = t / job.blocks % w.groups;
        const int64_t part = t / job.blocks / w.groups;
        const int64_t c0 = channels.at(block), count = channels.size(block);
        const int64_t taps = count * w.taps();
        T* sums =
            job.sums + ((part * w.groups + group) * w.ins + c0) * w.taps() * job.row;
        memset(sums, 0, static_cast<size_t>(bytes_of<T>(taps * job.row)));
        for (int64_t n = images.at(part); n < images.at(part) + images.size(part);
             ++n) {
            Images<const T> x = job.x;
            x.data += n * x.image + (group * w.ins + c0) * x.channel;
            const T* from =
                job.g.data + n * job.g.image + group * w.outs * job.g.channel;
            for (int64_t band = 0; band < job.bands; ++band) {
                const int64_t top = band * job.band;
                const int64_t lines = smaller(job.band, w.y.out - top);
                Planes here = job.planes;
                here.top += top * here.step_y;
                phase.next(AC_PHASE_PACK);
                copy_planes(here, w.y, w.x, count, x, planes);
                const T* lines_of_g = from + top * job.g.row;
                if (job.dots) {
                    gather_g(job, lines_of_g, lines, g);
                    phase.next(AC_PHASE_COMPUTE);
                    add_dots(job, lines, taps, planes, g, sums);
                } else {
                    transpose_g(job, lines_of_g, lines, g);
                    phase.next(AC_PHASE_COMPUTE);
                    add_products(job, lines, taps, planes, g, sums);
                }
            }
        }
    }
    return true;
}

// ---- the result

// dweight[o][c][i][j] from the sums of all parts.
template <class T>
void add_parts(const WeightJob<T>& job, int64_t begin, int64_t end) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = job.windows;
    const Images<T>& to = job.to;
    const int64_t step = w.groups * w.ins * w.taps() * job.row;
    for (int64_t t = begin; t < end; ++t) {  // a channel of x in its group
        const int64_t group = t / w.ins, c = t % w.ins;
        T* out = to.data + group * w.outs * to.image + c * to.channel;
        const T* sums = job.sums + t * w.taps() * job.row;
        for (int64_t tap = 0; tap < w.taps(); ++tap, sums += job.row) {
            T* place = out + tap / w.x.kernel * to.row + tap % w.x.kernel * to.column;
            for (int64_t o = 0; o < w.outs; o += lanes) {
                const int64_t n = smaller<int64_t>(lanes, w.outs - o);
                vec<T> sum = load_last(sums + o, n);
                for (int64_t part = 1; part < job.parts; ++part)
                    sum = sum + load_last(sums + part * step + o, n);
                T total[lanes];
                store(total, sum);
                for (int64_t k = 0; k < n; ++k, place += to.image)
                    *place = job.accumulate ? *place + total[k] : total[k];
            }
        }
    }
}

// ---- the kernel

// Planes and lines of g together fit half of L2.
template <class T>
void choose_bands(WeightJob<T>& job, int64_t channels) {
    const Windows& w = job.windows;
    const int64_t reach = w.y.last_shift();
    const int64_t line =
        larger<int64_t>(1, bytes_of<T>(channels * job.planes.slots_y *
                                           job.planes.slots_x * job.planes.width +
                                       w.x.out * job.row));
    const int64_t fitting = larger<int64_t>(1, l2_bytes() / 2 / line - reach);
    job.bands = ceil_div(w.y.out, smaller(w.y.out, fitting));
    job.band = ceil_div(w.y.out, job.bands);
    job.planes.height = job.band + reach;
}

template <class T>
bool sum_weights(const DweightCall<T>& call) {
    constexpr int lanes = vec<T>::lanes;
    const Windows& w = call.windows;
    WeightJob<T> job = {};
    static_cast<DweightCall<T>&>(job) = call;
    job.planes = planes_of(w);
    job.dots = 4 * w.outs <= lanes;
    job.row = job.dots ? w.outs : round_up(w.outs, lanes);
    job.parts = larger<int64_t>(1, smaller(w.batch, most_parts));
    const auto blocks = [&](int64_t tasks) {
        const int64_t wanted = ceil_div(tasks, job.parts * w.groups);
        return larger<int64_t>(1, smaller(wanted, w.ins / fewest_channels));
    };
    // The bands, in which sums are made, follow from the shape. Blocks of channels have
    // sums of their own: threads may have more of them.
    choose_bands(job, ceil_div(w.ins, blocks(most_parts)));
    job.blocks = blocks(tasks_for(job.context, most_parts, 1));
    const int64_t channels = ceil_div(w.ins, job.blocks);
    const int64_t count = w.groups * w.ins * w.taps() * job.row;
    T* sums = scratch_of<T>(job.context, slot_sums, job.parts * count);
    int64_t* distances =
        scratch_of<int64_t>(job.context, slot_distances, channels * w.taps());
    if (sums == nullptr || distances == nullptr) return false;
    find_distances(w, job.planes, channels, distances);
    job.sums = sums;
    job.distances = distances;
    const int64_t tasks = job.parts * w.groups * job.blocks;
    const int64_t work = w.batch * w.y.out * w.x.out * count;
    if (!try_parallel(job.context, tasks, work >= serial_work,
                      [&](int64_t begin, int64_t end) {
                          return run_weight_tasks<T>(job, begin, end);
                      }))
        return false;
    parallel(job.context, w.groups * w.ins, job.parts * count > serial_work,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(job.context, AC_PHASE_EPILOGUE);
                 add_parts(job, begin, end);
             });
    return true;
}

// Windows of one element: the sum of a product for each image.
template <class T>
bool sum_products(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    Gemm<T> p = {};
    p.m = w.outs;
    p.n = w.ins;
    p.k = w.y.in * w.x.in;
    p.a_row = call.g.channel;
    p.a_col = call.g.column;
    p.b_row = call.x.column;
    p.b_col = call.x.channel;
    p.c = call.to.data;
    p.c_row = call.to.image;
    p.alpha = 1;
    p.activation = Activation::none;
    bool ok = true;
    for (int64_t n = 0; n < w.batch && ok; ++n) {
        p.a = call.g.data + n * call.g.image;
        p.b = call.x.data + n * call.x.image;
        p.beta = n > 0 || call.accumulate ? T(1) : T(0);
        ok = multiply(p, call.context);
    }
    return ok;
}

template <class T>
bool by_products(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    return is_pointwise(w) && w.y.in * w.x.in >= pointwise_pixels && w.batch > 0 &&
           call.to.channel == 1 && pixels_in_line(call.x, w.y, w.x.in) &&
           pixels_in_line(call.g, w.y, w.x.in);
}

template <class T>
bool nhwc_dweight(const DweightCall<T>& call) {
    NhwcWeights<T> sums = {};
    sums.windows = call.windows;
    sums.g = call.g;
    sums.to = call.to;
    sums.band.from = call.x;
    sums.accumulate = call.accumulate;
    sums.context = call.context;
    return sum_nhwc_dweight(sums);
}

// Whether the channels of g are neighbours, enough for a register, of each group if
// there are several, and those of x too, or few enough to be brought together.
template <class T>
bool is_nhwc_dweight(const DweightCall<T>& call) {
    const Windows& w = call.windows;
    const int64_t fewest = w.groups == 1 ? vec<T>::lanes / 4 : vec<T>::lanes;
    return filters_in_line(call.to, w) && call.g.channel == 1 && w.outs >= fewest &&
           (is_nhwc(call.x, w.ins) || w.ins <= nhwc_few);
}

// ---- the algorithms

template <class T>
bool cheaper_by_patches(const DweightCall<T>& call, const Windows& patches, bool nhwc) {
    const Windows& w = call.windows;
    return usable_patches_cost<T>(patches, call.to, nhwc, patch_forward) <
           dweight_cost<T>(w, smaller(w.batch, most_parts),
                           nhwc ? Costs::nhwc_dweight_share : Costs::dweight_share);
}

template <class T>
Algorithm choose_nhwc(const DweightCall<T>& call) {
    if (fits_pixel_rows(call)) return Algorithm::pixel_rows;
    return call.x.channel == 1 && cheaper_by_patches(call, call.windows, true)
               ? Algorithm::nhwc_patches
               : Algorithm::nhwc;
}

template <class T>
Algorithm choose_algorithm(const DweightCall<T>& call) {
    if (is_nhwc_depthwise_dweight(call)) return Algorithm::nhwc_depthwise;
    if (is_nhwc_dweight(call)) return choose_nhwc(call);
    if (is_depthwise_weights(call)) return Algorithm::depthwise;
    if (fits_pixel_sums(call)) return Algorithm::pixel_sums;
    if (by_products(call)) return Algorithm::image_by_image;
    const Windows lines = with_long_lines(call.windows, call.x, call.g);
    return cheaper_by_patches(call, lines, false) ? Algorithm::patches
                                                  : Algorithm::planes;
}

template <class T>
DweightCall<T> dweight_call(const ac_call* call, const ac_array* dweight,
                            ac_context* context) {
    const ac_array *x = operand(call, in_x), *g = operand(call, in_g);
    return {windows_of(call, at_stride, x, g, dweight->shape + 2, dweight->shape[1]),
            images_of<const T>(x),
            images_of<const T>(g),
            images_of<T>(dweight),
            (int_attribute(call, at_accumulate) & 1) != 0,
            context};
}

// False if there is no memory.
template <class T>
bool sum_by(Algorithm algorithm, DweightCall<T> call) {
    switch (algorithm) {
        case Algorithm::nhwc_depthwise:
            return sum_nhwc_depthwise_dweight(call);
        case Algorithm::pixel_rows:
            return dweight_by_pixel_rows(call);
        case Algorithm::pixel_sums:
            return dweight_by_pixel_sums(call);
        case Algorithm::nhwc_patches:
            return dweight_by_nhwc_patches(call);
        case Algorithm::nhwc:
            return nhwc_dweight(call);
        case Algorithm::depthwise:
            sum_depthwise(call);
            return true;
        case Algorithm::image_by_image:
            return sum_products(call);
        case Algorithm::patches:
            call.windows = with_long_lines(call.windows, call.x, call.g);
            return dweight_by_patches(call);
        default:  // Algorithm::planes
            break;
    }
    return sum_weights(call);
}

template <class T>
bool dweight_typed(const ac_call* call, ac_context* context) {
    const ac_array* dweight = operand(call, out_dweight);
    const ac_array* dbias = operand(call, out_dbias);
    const DweightCall<T> job = dweight_call<T>(call, dweight, context);
    if (dbias != nullptr) {
        const bool accumulate = (int_attribute(call, at_accumulate) & 2) != 0;
        sum_bias(job.windows, job.g, dbias, accumulate, context);
    }
    if (element_count(*dweight) == 0) return true;
    return sum_by(choose_algorithm(job), job);
}

const char* describe(const ac_call* call) {
    const ac_array dweight = laid_out(operand(call, out_dweight));
    return describe(
        dweight.dtype == AC_FLOAT32
            ? choose_algorithm(dweight_call<float>(call, &dweight, nullptr))
            : choose_algorithm(dweight_call<double>(call, &dweight, nullptr)));
}

const char* supports(const ac_call* call) { return dims_supported(call, in_x); }

void conv_dweight(const ac_call* call, ac_context* context, ac_status* status) {
    const bool ok = operand(call, out_dweight)->dtype == AC_FLOAT32
                        ? dweight_typed<float>(call, context)
                        : dweight_typed<double>(call, context);
    if (!ok) no_memory(status);
}

double work(const ac_call* call) {
    const ac_array* dweight = operand(call, out_dweight);
    double taps = 1;
    for (int d = 1; d < dweight->ndim; ++d)
        taps *= static_cast<double>(dweight->shape[d]);
    return 2.0 * static_cast<double>(element_count(*operand(call, in_g))) * taps *
           ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"conv_dweight",
     "dweight dbias? ; g x ; kernel:ints stride:ints padding:ints dilation:ints "
     "groups:int accumulate:int",
     conv_dweight, supports, work, 0, float_dtypes, describe},
};

}  // namespace

AC_DEFINE_FAMILY(conv_dweight, entries);

}  // namespace autocalc::simd::AC_ISA
