// SPDX-License-Identifier: MIT
//
// Loops over the channels of an [N, C, ...]. In a contiguous one, positions of one
// channel are planes of their own, and fill the lanes. Where the channels of a position
// are adjacent, as in [N, C] and in all that is channels-last, `lanes` of them are
// worked on together (a bundle), and some bundles in turn, so that memory is read in
// its order.
//
// Channels are cut into chunks by the shape alone. What is summed is kept for each
// chunk and combined in their order, so that bits do not depend on threads.
#pragma once

#include "common/contiguous.hpp"
#include "common/lanes.hpp"
#include "common/phase.hpp"
#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// Elements of a chunk: small enough for the L1 cache, which a second look at a chunk
// then finds it in, and for the error of sums in 4 accumulators of each lane.
constexpr int64_t chunk_elements = 2048;

// Four sums of each lane.
template <class T>
struct Sums {
    vec<T> part[4];
    [[nodiscard]] AC_INLINE vec<T> total() const {
        return (part[0] + part[1]) + (part[2] + part[3]);
    }
};
template <class T>
AC_INLINE void clear(Sums<T>* sums, int64_t count) {
    const vec<T> none = zero<T>();
    for (int64_t i = 0; i < count; ++i) sums[i] = {{none, none, none, none}};
}
template <int i>
struct Turn {
    static constexpr int value = i;
};

// Channels of a unit at most, where they are planes.
constexpr int64_t most_channels = 16;
// Of bundles, the bytes of a unit in one position at most, so that its sums stay in the
// L1 cache, and positions that are read bundle after bundle: few, so that memory is
// read nearly in its order (8: 1.0 to 1.3 times the time, 32: up to 1.5).
constexpr int64_t bundles_bytes = 1024, bundle_rows = 4;
// Of a unit: planes or bundles.
template <class T, bool bundle>
constexpr int64_t most_of_unit =
    bundle ? bundles_bytes / item_size<T> / vec<T>::lanes : most_channels;
// Where a chunk of bundles is sampled, in 256ths: at no step that images could share.
constexpr int64_t sampled[] = {33, 94, 147, 219};
// A unit of bundles that a second look finds in the L2 cache, or near it.
constexpr int64_t most_unit_bytes = int64_t{512} << 10;

// `count` positions of a bundle with `width` channels; their sums are added to one of
// four.
struct Rows {
    int64_t begin, count, width, turn;
};

// A chunk of a unit, or a block of it: of `count` images the planes of `channels`
// channels, `length` elements each. With bundles, `count` positions of `channels`
// bundles, `length` channels together.
struct Extent {
    int64_t begin;  // of the first plane, in elements
    int64_t count, step, length, channels;
    int64_t row = 0, channel = 0;  // where a block is in its chunk
};

template <class T, bool bundle>
struct Chunk : Extent {
    static constexpr int64_t lanes = vec<T>::lanes;

    [[nodiscard]] AC_INLINE int64_t values() const {  // of one channel
        return bundle ? count : count * length;
    }
    [[nodiscard]] AC_INLINE int64_t width(int64_t c) const {  // of a bundle
        return smaller(lanes, length - c * lanes);
    }

    // Parts whose mean is near that of each channel: all of a chunk that the L1 cache
    // holds, or some positions.
    static constexpr int64_t samples = bundle ? 4 : 1;
    [[nodiscard]] AC_INLINE Chunk sample(int64_t i) const {
        Chunk some = *this;
        if constexpr (bundle) {
            some.count = smaller(count, bundle_rows);
            some.begin += (count - some.count) * sampled[i] / 256 * step;
        }
        return some;
    }

    // f(channel, where), in the order of memory.
    template <class F>
    AC_INLINE void planes(F&& f) const {
        if constexpr (bundle) {
            for (int64_t r = 0; r < count; r += bundle_rows) {
                const int64_t rows = smaller(bundle_rows, count - r);
                for (int64_t c = 0; c < channels; ++c)
                    f(c, Rows{begin + r * step + c * lanes, rows, width(c),
                              (row + r) / bundle_rows % 4});
            }
        } else {
            for (int64_t r = 0, from = begin; r < count; ++r, from += step) {
                for (int64_t c = 0; c < channels; ++c)
                    f(channel + c, from + c * length);
            }
        }
    }

    // f(turn, offset, lanes) over a plane, or rows of a bundle, in turns of 4, each
    // with sums of its own.
    template <class F>
    AC_INLINE void along(int64_t from, F&& f) const {
        along_plane(from, f);
    }
    template <class F>
    AC_INLINE void along(const Rows& rows, F&& f) const {
        if (rows.width == lanes) {
            along_rows(rows, AllLanes<T>{}, f);
        } else {
            along_rows(rows, FirstLanes<T>{rows.width}, f);
        }
    }
    template <class F>
    AC_INLINE void along_plane(int64_t i, F&& f) const {
        const AllLanes<T> all;
        const int64_t end = i + length;
        for (; i + 4 * lanes <= end; i += 4 * lanes) {
            f(Turn<0>{}, i, all);
            f(Turn<1>{}, i + lanes, all);
            f(Turn<2>{}, i + 2 * lanes, all);
            f(Turn<3>{}, i + 3 * lanes, all);
        }
        if (i + 2 * lanes <= end) {
            f(Turn<0>{}, i, all);
            f(Turn<1>{}, i + lanes, all);
            i += 2 * lanes;
        }
        if (i + lanes <= end) {
            f(Turn<2>{}, i, all);
            i += lanes;
        }
        if (i < end) f(Turn<3>{}, i, FirstLanes<T>{end - i});
    }
    template <class Lanes, class F>
    AC_INLINE void along_rows(const Rows& rows, const Lanes& some, F&& f) const {
        int64_t r = 0, i = rows.begin;
        for (; r + 4 <= rows.count; r += 4, i += 4 * step) {
            f(Turn<0>{}, i, some);
            f(Turn<1>{}, i + step, some);
            f(Turn<2>{}, i + 2 * step, some);
            f(Turn<3>{}, i + 3 * step, some);
        }
        for (; r < rows.count; ++r, i += step) f(Turn<0>{}, i, some);
    }

    // Asks for the line at this place in the next image: planes of one channel are far
    // apart, and the hardware looks ahead within a page only. Forward 1.1 to 1.2 times
    // as fast, backward 1.02 to 1.1 times. Of a bundle, in the next rows.
    template <int to_write>
    AC_INLINE void ask(const T* here) const {
        __builtin_prefetch(here + (bundle ? bundle_rows : 1) * step, to_write);
    }

    // Sums that go on in a plane, and what they come to. Those of rows are added up
    // first, for the error of many rows.
    AC_INLINE Sums<T> resume(const Sums<T>& sums, int64_t) const { return sums; }
    AC_INLINE Sums<T> resume(const Sums<T>&, const Rows&) const {
        Sums<T> none;
        clear(&none, 1);
        return none;
    }
    AC_INLINE void add(Sums<T>& to, const Sums<T>& sums, int64_t) const { to = sums; }
    AC_INLINE void add(Sums<T>& to, const Sums<T>& sums, const Rows& rows) const {
        vec<T>& total = to.part[rows.turn];
        total = total + sums.total();
    }

    // What the lanes hold, brought together where they hold one channel.
    [[nodiscard]] AC_INLINE vec<T> join(const Sums<T>& sums) const {
        if constexpr (bundle) return sums.total();
        return set1<T>(reduce_add(sums.total()));
    }
};

// An [N, C, ...], contiguous or, if `last`, channels-last: then every position counts
// as an image.
struct Channels {
    int64_t images, channels;
    int64_t size = 1;  // elements of a plane

    Channels(const ac_array& x, bool last) : images(x.shape[0]), channels(x.shape[1]) {
        for (int d = 2; d < x.ndim; ++d) (last ? images : size) *= x.shape[d];
    }
    [[nodiscard]] AC_INLINE bool bundled() const { return size == 1; }
    [[nodiscard]] AC_INLINE int64_t values() const { return images * size; }
};

// How channels are cut: into `units`, some neighbours or bundles each, of `chunks`.
// What is summed, and in which order, does not depend on the units.
template <class T, bool bundle>
struct Cutting {
    const Channels& x;
    int64_t units, chunks;
    int64_t images;  // of a chunk, or
    int64_t pieces;  // of a plane
    // Channels that a line of the caches holds: units of bundles are so many of them.
    static constexpr int64_t line = 64 / item_size<T>;

    Cutting(const Channels& of, int64_t threads) : x(of) {
        // Small planes are read with their neighbours', a page at a time: 128 channels
        // of 7 x 7 in 128 images took 1.28 ms one by one.
        const int64_t size = larger<int64_t>(1, x.size);
        const int64_t together = smaller(most_channels, ceil_div(1024, size));
        units = bundle ? ceil_div(bytes_of<T>(x.channels), bundles_bytes)
                       : smaller(x.channels,
                                 round_up(ceil_div(x.channels, together), threads));
        pieces = larger<int64_t>(1, x.size / chunk_elements);
        // Rows of bundles: few chunks, since each costs its channels some time
        // when sums are combined.
        images =
            bundle ? larger<int64_t>(64, smaller<int64_t>(1024, ceil_div(x.images, 32)))
                   : larger<int64_t>(1, chunk_elements / size);
        const int64_t taken = x.size == 0 ? 0 : x.images;
        chunks = pieces > 1 ? taken * pieces : ceil_div(taken, images);
    }
    // The first channel of a unit, and how many it has.
    [[nodiscard]] AC_INLINE int64_t channel(int64_t unit) const {
        if (!bundle) return Shares(x.channels, units).at(unit);
        return smaller(x.channels,
                       Shares(ceil_div(x.channels, line), units).at(unit) * line);
    }
    [[nodiscard]] AC_INLINE int64_t width(int64_t unit) const {
        return channel(unit + 1) - channel(unit);
    }
    [[nodiscard]] AC_INLINE Chunk<T, bundle> chunk(int64_t unit, int64_t k) const {
        const int64_t all = x.channels * x.size, first = channel(unit) * x.size;
        if (pieces > 1) {
            const Shares shares(x.size, pieces);
            const int64_t from = shares.at(k % pieces);
            return {{k / pieces * all + first + from, 1, all,
                     shares.at(k % pieces + 1) - from, 1}};
        }
        const int64_t image = k * images;
        return {{image * all + first, smaller(images, x.images - image), all,
                 bundle ? width(unit) : x.size,
                 bundle ? ceil_div(width(unit), vec<T>::lanes) : width(unit)}};
    }
    // Whether a unit is read again from a cache, or no neighbour is on its pages.
    [[nodiscard]] AC_INLINE bool unit_stays() const {
        return !bundle || x.images * bundles_bytes <= most_unit_bytes;
    }
    [[nodiscard]] AC_INLINE int64_t values(int64_t k) const {
        return chunk(0, k).values();
    }
};

// Chunks of a channel, whichever way they are cut.
template <class T>
AC_INLINE int64_t most_chunks(const Channels& x) {
    return larger(Cutting<T, false>(x, 1).chunks, Cutting<T, true>(x, 1).chunks);
}

// `rows` numbers for each channel; null if memory is exhausted.
template <class T>
AC_INLINE T* channel_scratch(ac_context* context, int slot, const Channels& x,
                             int64_t rows) {
    const auto numbers = static_cast<size_t>(rows * x.channels + 1);
    return static_cast<T*>(context->scratch(context, slot, numbers * sizeof(T)));
}

// Numbers of the channels of a chunk, one to each lane or all lanes the same: those of
// its bundle or channel `c`.
template <class T, bool bundle>
AC_INLINE vec<T> numbers_of(const Chunk<T, bundle>& chunk, const T* of, int64_t c) {
    if constexpr (bundle) return load_last(of + c * vec<T>::lanes, chunk.width(c));
    return set1<T>(of[c]);
}
template <class T, bool bundle>
AC_INLINE void put_numbers(const Chunk<T, bundle>& chunk, T* to, int64_t c, vec<T> v) {
    if constexpr (bundle) {
        store_first(to + c * vec<T>::lanes, v, chunk.width(c));
    } else {
        store_first(to + c, v, 1);
    }
}

// `first(unit, chunk)` for all chunks, then `finish(begin, end)` for channels, then
// `second(unit, chunk)`, from the last chunk back to the first: what was read last may
// still be in a cache. Where there are enough units, a thread takes one through all
// three, so that the second look finds in the L2 cache what the first one read: 401 KB
// are a channel of 128 images of 28 x 28. Else units go side by side through a chunk,
// since bundles share pages and what the hardware reads ahead: forward 1.3 times and
// backward 1.5 times as fast for 144 channels of 32 images of 32 x 32 (a Zen 3).
template <class Cut, class First, class Finish, class Second>
void two_looks(ac_context* context, const Cut& cut, First&& first, Finish&& finish,
               Second&& second) {
    const bool worthwhile = cut.x.images * cut.x.channels * cut.x.size >= 16384;
    const bool enough = cut.units >= 4 * static_cast<int64_t>(context->num_threads);
    if ((enough && cut.unit_stays()) || !worthwhile) {
        parallel(context, cut.units, worthwhile, [&](int64_t begin, int64_t end) {
            const Phase phase(context, AC_PHASE_STATISTICS);
            for (int64_t u = begin; u < end; ++u) {
                phase.next(AC_PHASE_STATISTICS);
                for (int64_t k = 0; k < cut.chunks; ++k) first(u, k);
                finish(cut.channel(u), cut.channel(u) + cut.width(u));
                phase.next(AC_PHASE_NORMALISE);
                for (int64_t k = cut.chunks; k-- > 0;) second(u, k);
            }
        });
        return;
    }
    const int64_t tasks = cut.units * cut.chunks;
    parallel(context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
        const Phase phase(context, AC_PHASE_STATISTICS);
        for (int64_t i = begin; i < end; ++i) first(i % cut.units, i / cut.units);
    });
    parallel(context, cut.x.channels, cut.x.channels * cut.chunks >= 512,
             [&](int64_t begin, int64_t end) {
                 const Phase phase(context, AC_PHASE_STATISTICS);
                 finish(begin, end);
             });
    parallel(context, tasks, worthwhile, [&](int64_t begin, int64_t end) {
        const Phase phase(context, AC_PHASE_NORMALISE);
        for (int64_t i = end; i-- > begin;) second(i % cut.units, i / cut.units);
    });
}

// Channels whose sums are combined side by side, so that none waits for its own.
constexpr int64_t combined_channels = 8;

// A [C] operand, or one number for all channels where it is absent.
template <class T>
struct PerChannel {
    const char* first;
    int64_t stride;
    T otherwise;
    int dtype;
    PerChannel(const ac_array* array, T value)
        : first(array == nullptr ? nullptr : data<char>(array)),
          stride(array == nullptr ? 0 : array->strides[0]),
          otherwise(value),
          dtype(array == nullptr ? 0 : array->dtype) {}
    AC_INLINE T operator[](int64_t c) const {
        if (first == nullptr) return otherwise;
        return element_of<T>(first + c * stride, dtype);
    }
};

template <class T>
AC_INLINE void put_channel(const ac_array* to, int64_t c, double value, bool add) {
    if (to == nullptr) return;
    char* place = data<char>(to) + c * to->strides[0];
    const T before = add ? element_of<T>(place, to->dtype) : T(0);
    set_element<T>(place, to->dtype,
                   add ? before + static_cast<T>(value) : static_cast<T>(value));
}

AC_INLINE double inverse_deviation(double variance, double eps) {
    return 1 / __builtin_sqrt(variance + eps);
}

}  // namespace
}  // namespace autocalc::simd::AC_ISA
