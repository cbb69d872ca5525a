// SPDX-License-Identifier: MIT
//
// What a call of Winograd's conv or conv_dx is, and its filters: gathered from memory,
// and transformed.
#pragma once

#include "conv/winograd_plan.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// The place of w[lane][channel][row][column], for the convolution that is run.
struct WinoTaps {
    const float* data;
    int64_t group, lane, channel, row, column;
    bool flipped;
};

struct WinoJob {
    Axis y, x;
    int64_t groups, ins, outs;  // channels of a group
    Images<const float> from;
    Images<float> to;
    WinoTaps taps;
    int64_t places;
    Segments segments;
    int64_t data_row, data_step;  // of V
    int64_t vectors;              // of a panel, at most
    float* weights;               // U: [group][panel][place][ins][panel's width]
    float* start;                 // the bias, [group][whole registers]
    bool accumulate;
    ac_context* context;

    [[nodiscard]] AC_INLINE int64_t wide() const {
        return round_up(outs, vec<float>::lanes);
    }
    [[nodiscard]] AC_INLINE int64_t group_weights() const {
        return places * ins * wide();
    }
};

// ---- weights

// Channels whose taps follow each other, or that themselves do, are gathered together,
// in whole squares of a register's size.
AC_INLINE int64_t channels_together(const WinoTaps& t) {
    const bool in_line =
        t.column == 1 && t.row == wino_kernel && t.channel == wino_taps;
    return in_line || t.channel == 1 ? vec<float>::lanes : 1;
}

// Taps of `n` output channels for `channels` channels, as [channel][3 x 3][lanes].
AC_INLINE void gather_taps(const WinoTaps& t, const float* from, int64_t channels,
                           int64_t n, float* to) {
    constexpr int lanes = vec<float>::lanes;
    if (t.column == 1 && t.row == wino_kernel) {
        const int64_t all = channels * wino_taps;
        const int64_t count = smaller<int64_t>(lanes, all);
        for (int64_t k = 0; k < all; k += lanes) {  // the last one may go back
            const int64_t first = smaller(k, all - count);
            pack_square(count, n, from + first, t.lane, to + first * lanes, lanes);
        }
        return;
    }
    for (int64_t y = 0; y < wino_kernel; ++y) {
        for (int64_t x = 0; x < wino_kernel; ++x, to += lanes) {
            const float* tap = from + y * t.row + x * t.column;
            if (t.channel == 1) {
                pack_square(channels, n, tap, t.lane, to, wino_taps * lanes);
                continue;
            }
            for (int64_t i = 0; i < lanes; ++i) to[i] = i < n ? tap[i * t.lane] : 0.0F;
        }
    }
}

// The transforms of `channels` channels' taps.
template <int out>
AC_INLINE void transform_taps(const WinoJob& job, const float* taps, int64_t channels,
                              float* to, int64_t channel_step, int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    for (int64_t c = 0; c < channels; ++c, taps += wino_taps * lanes) {
        const auto tap = [&](int y, int x) AC_INLINE_LAMBDA {
            const int k = y * 3 + x;
            return load(taps + (job.taps.flipped ? 8 - k : k) * lanes);
        };
        transform<typename Wino<out>::Taps>(
            tap, Places<Wino<out>::in>{to + c * channel_step, step});
    }
}

// A panel's weights of the channels c0 to c1 of a group, `step` from a place to the
// next. Panel by panel, so that each filter is read in line: filters of 512 channels
// are 18 KiB apart, in few sets of the caches.
template <int out>
void transform_panel(const WinoJob& job, int64_t group, const Panel& panel, int64_t c0,
                     int64_t c1, float* to, int64_t step) {
    constexpr int lanes = vec<float>::lanes;
    alignas(64) float taps[lanes * wino_taps * lanes];
    const int64_t together = channels_together(job.taps);
    for (int64_t c = c0; c < c1; c += together, to += together * panel.width) {
        const float* from =
            job.taps.data + group * job.taps.group + c * job.taps.channel;
        const int64_t channels = smaller(together, c1 - c);
        for (int64_t o = 0; o < panel.width; o += lanes) {
            const int64_t first = panel.begin + o;
            gather_taps(job.taps, from + first * job.taps.lane, channels,
                        smaller<int64_t>(lanes, job.outs - first), taps);
            transform_taps<out>(job, taps, channels, to + o, panel.width, step);
        }
    }
}

// Channels `begin` to `end`, counted through the groups.
template <int out>
void transform_weights(const WinoJob& job, int64_t begin, int64_t end) {
    const Panels<float> panels(job.outs, job.vectors);
    for (int64_t t = begin; t < end;) {
        const int64_t group = t / job.ins, c0 = t % job.ins;
        const int64_t c1 = smaller(job.ins, c0 + end - t);
        float* weights = job.weights + group * job.group_weights();
        for (int64_t p = 0; p < panels.count; ++p) {
            const Panel panel = panels.at(p);
            transform_panel<out>(
                job, group, panel, c0, c1,
                weights + job.places * job.ins * panel.begin + c0 * panel.width,
                job.ins * panel.width);
        }
        t += c1 - c0;
    }
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
