// SPDX-License-Identifier: MIT
//
// The places of the windows of one element of all images, counted through, and their
// way into registers and back. Windows that are neighbours in a line are a run.
#pragma once

#include "common/lanes.hpp"
#include "conv/windows.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Window (n * lines + y) * length + x: image n, line y, place x.
struct WindowLines {
    int64_t image, line, step;  // from one image, line, window to the next
    int64_t length, lines;
    int64_t down, across;   // elements from one window to the next
    int64_t rows, columns;  // elements of an image

    [[nodiscard]] AC_INLINE int64_t place(int64_t at) const {
        const int64_t y = at / length;
        return y / lines * image + y % lines * line + at % length * step;
    }
    // Whether `count` windows are one after the other in memory.
    [[nodiscard]] AC_INLINE bool are_neighbours(int64_t at, int64_t count) const {
        return step == 1 && down == 1 && at % length + count <= length;
    }
};

// Lines that follow each other become one.
AC_INLINE void merge_lines(WindowLines& l) {
    if (l.down != 1 || l.across != 1 || (l.lines > 1 && l.line != l.length * l.step))
        return;
    l.length *= l.lines;
    l.columns = l.length;
    l.lines = l.rows = 1;
}

// Of the images that the windows read, or whose gradient they have.
template <class T>
AC_INLINE WindowLines lines_read(const Windows& w, const Images<T>& images) {
    WindowLines l = {images.image,
                     w.y.stride * images.row,
                     w.x.stride * images.column,
                     w.x.out,
                     w.y.out,
                     w.y.stride,
                     w.x.stride,
                     w.y.in,
                     w.x.in};
    merge_lines(l);
    return l;
}

// Of the windows' results, or their gradients.
template <class T>
AC_INLINE WindowLines lines_made(const Windows& w, const Images<T>& images) {
    WindowLines l = {images.image, images.row, images.column, w.x.out, w.y.out, 1, 1,
                     w.y.out,      w.x.out};
    merge_lines(l);
    return l;
}

// A register's part of some windows: `count` of them, from element `place` on, are
// columns `column` and following; `columns` of the register are stored there. In
// addition to its windows' elements, `down` lines of `across` elements belong to them:
// those that a stride leaves out.
struct WindowRun {
    int64_t place, column, count, columns;
    int64_t down, across;
};

// Room for the runs of so many columns in some panels.
AC_INLINE constexpr int64_t most_runs(int64_t columns, int64_t panels) {
    return columns + panels;
}

// Windows at to at + count as runs; columns up to `width` become zeros.
template <class T>
int64_t find_runs(const WindowLines& l, int64_t at, int64_t count, int64_t width,
                  WindowRun* runs) {
    constexpr int64_t lanes = vec<T>::lanes;
    int64_t found = 0, covered = 0;
    int64_t x = at % l.length, y = at / l.length % l.lines;
    int64_t n = at / l.length / l.lines;
    for (int64_t done = 0; done < count;) {
        const int64_t here = smaller(lanes, smaller(l.length - x, count - done));
        const bool ends = x + here == l.length;
        const int64_t columns = smaller(lanes, width - done);
        runs[found++] = {n * l.image + y * l.line + x * l.step,
                         done,
                         here,
                         columns,
                         y + 1 == l.lines ? l.rows - y * l.down : l.down,
                         ends ? l.columns - x * l.across : here * l.across};
        covered = done + columns;
        done += here;
        x = ends ? 0 : x + here;
        if (!ends) continue;
        if (++y == l.lines) {
            y = 0;
            ++n;
        }
    }
    if (covered < width) runs[found++] = {0, covered, 0, width - covered, 0, 0};
    return found;
}

// ---- into registers

// `count` elements, `step` apart, in the first lanes.
template <class T>
AC_INLINE vec<T> load_apart(const T* at, int64_t step, int64_t count) {
    constexpr int64_t lanes = vec<T>::lanes;
    if (step == 1) return load_last(at, count);
    if (step == 2) {  // what is read ends with the last element that is wanted
        const int64_t reach = larger<int64_t>(0, 2 * count - 1);
        const vec<T> low = load_last(at, smaller(lanes, reach));
        if (reach <= lanes) return even(low, zero<T>());
        return even(low, load_first(at + lanes, reach - lanes));
    }
    alignas(64) T some[lanes] = {};
    for (int64_t i = 0; i < count; ++i) some[i] = at[i * step];
    return load(some);
}

// The windows of `channels` channels as rows of `width` elements. Registers are stored
// whole where that fits, and the next run overwrites what was too much.
template <class T>
AC_NOINLINE void pack_runs(int64_t step, const WindowRun* runs, int64_t count,
                           const T* from, int64_t channel, int64_t channels,
                           int64_t width, T* to) {
    const auto pack = [&](int64_t apart) AC_INLINE_LAMBDA {
        for (int64_t c = 0; c < channels; ++c, from += channel, to += width) {
            for (const WindowRun* run = runs; run < runs + count; ++run) {
                store_last(to + run->column,
                           load_apart(from + run->place, apart, run->count),
                           run->columns);
            }
        }
    };
    if (step == 1) return pack(1);
    if (step == 2) return pack(2);
    pack(step);
}

// ---- and back

template <class T>
AC_INLINE void put(T* to, vec<T> x, int64_t n, bool add) {
    store_last(to, add ? x + load_last(to, n) : x, n);
}

// x at every `across`-th of n elements, and `between` at the others.
template <class T>
AC_INLINE void put_apart(T* to, vec<T> x, T between, int64_t across, int64_t n,
                         bool add) {
    constexpr int64_t lanes = vec<T>::lanes;
    if (across == 1) return put(to, x, n, add);
    if (across == 2) {
        const vec<T> other = set1<T>(between);
        put(to, zip_low(x, other), smaller(lanes, n), add);
        if (n > lanes) put(to + lanes, zip_high(x, other), n - lanes, add);
        return;
    }
    alignas(64) T some[lanes];
    store(some, x);
    for (int64_t i = 0; i < n; ++i) {
        const T value = i % across == 0 ? some[i / across] : between;
        to[i] = add ? to[i] + value : value;
    }
}

// A channel's sums + start, and `start` alone where no window is. Whole registers of
// sums are read.
template <class T>
AC_NOINLINE void put_runs(const WindowLines& l, const WindowRun* runs, int64_t count,
                          const T* sums, T start, bool add, T* to, int64_t row) {
    constexpr int64_t lanes = vec<T>::lanes;
    const vec<T> other = set1<T>(start);
    for (const WindowRun* run = runs; run < runs + count; ++run) {
        T* line = to + run->place;
        put_apart(line, load(sums + run->column) + other, start, l.across, run->across,
                  add);
        if (add && start == 0) continue;
        for (int64_t y = 1; y < run->down; ++y) {
            line += row;
            for (int64_t x = 0; x < run->across; x += lanes)
                put(line + x, other, smaller(lanes, run->across - x), add);
        }
    }
}

// Whether no element is beyond the reach of the last window and its stride.
AC_INLINE bool reach_all(const Windows& w) {
    return w.y.in <= w.y.out * w.y.stride && w.x.in <= w.x.out * w.x.stride;
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
