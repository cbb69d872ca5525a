// SPDX-License-Identifier: MIT
//
// argsort, argtopk, cumargmax and searchsorted: what needs the order of elements and
// nothing else of them. Elements become unsigned keys of that order; NaN is the
// largest, and both zeros are one.
#include "common/families.hpp"
#include "elementwise/loops.hpp"
#include "indexing/indexed.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct KeyOf {
    using type = uint32_t;
};
template <>
struct KeyOf<double> {
    using type = uint64_t;
};
template <>
struct KeyOf<int64_t> {
    using type = uint64_t;
};

template <class Bits>
AC_INLINE Bits key_of_float(Bits bits, Bits infinity) {
    constexpr Bits sign = Bits(1) << (sizeof(Bits) * 8 - 1);
    const Bits size = bits & ~sign;
    if (size > infinity) return ~Bits(0);  // NaN
    if (size == 0) return sign;
    return bits & sign ? ~bits : bits | sign;
}

template <class T>
AC_INLINE typename KeyOf<T>::type key_at(const char* p) {
    using Key = typename KeyOf<T>::type;
    if constexpr (T(0.5) != T(0)) {
        Key bits;
        memcpy(&bits, p, sizeof(bits));
        return key_of_float<Key>(
            bits, sizeof(Key) == 4 ? Key(0x7f800000) : Key(0x7ff0000000000000));
    } else {
        T value;
        memcpy(&value, p, sizeof(value));
        constexpr Key sign = T(-1) < T(0) ? Key(1) << (sizeof(Key) * 8 - 1) : Key(0);
        return static_cast<Key>(value) ^ sign;
    }
}

// The key of the order from the largest to the smallest. NaN comes first there; or
// last, where it is to be the smallest as well.
template <class T>
AC_INLINE typename KeyOf<T>::type turned(typename KeyOf<T>::type key, bool nan_last) {
    const bool nan = T(0.5) != T(0) && ~key == 0;
    return nan_last && nan ? key : ~key;
}

// The lines along an axis of two arrays of one shape.
struct Lines {
    Nest nest;  // out, a, without the axis
    int64_t n, out, a;
};

AC_INLINE Lines lines_of(const ac_call* call, int64_t axis) {
    ac_array out = *operand(call, 0), a = *operand(call, 1);
    Lines lines;
    lines.n = out.shape[axis];
    lines.out = drop_axis(out, axis);
    lines.a = drop_axis(a, axis);
    const ac_array* arrays[2] = {&out, &a};
    make_nest(lines.nest, arrays, 2);
    return lines;
}

// f(out, a) for each line, in tasks of some thousand elements; f answers whether it
// had the memory that it needs, and begin() what all lines of a task share.
template <class Begin, class F>
AC_INLINE bool each_line(ac_context* context, const Lines& lines, Begin&& begin,
                         F&& f) {
    const Nest& nest = lines.nest;
    const int64_t tile = larger<int64_t>(1, 4096 / larger<int64_t>(lines.n, 1));
    return try_parallel_range(context, nest.total, tile, nest.total * lines.n >= 8192,
                              [&](int64_t first, int64_t last) {
                                  auto* memory = begin();
                                  if (memory == nullptr) return false;
                                  each_pair(
                                      nest, first, last,
                                      [&](char* out, const char* a)
                                          AC_INLINE_LAMBDA { f(memory, out, a); });
                                  return true;
                              });
}

// ---- argsort
//
// Short lines are sorted by insertion, others by their keys' bytes, the lowest first:
// each pass is stable, and one whose bytes are all equal is left out.
template <class Key>
struct Item {
    Key key, place;
};

constexpr int64_t few = 32;

// Puts an item among the `i` sorted ones before its place, after its equals.
template <class Key>
AC_INLINE void insert(Item<Key>* items, int64_t i, Item<Key> item) {
    for (; i > 0 && items[i - 1].key > item.key; --i) items[i] = items[i - 1];
    items[i] = item;
}

template <class Key>
AC_INLINE void insert_all(Item<Key>* items, int64_t n) {
    for (int64_t i = 1; i < n; ++i) insert(items, i, items[i]);
}

// The item of element i of a line.
template <class T, class Key>
AC_INLINE Item<Key> item_at(const char* a, int64_t step, int64_t i, bool descending) {
    const auto key = key_at<T>(a + i * step);
    return {descending ? turned<T>(key, false) : key, static_cast<Key>(i)};
}

template <class Key>
AC_INLINE void put_places(const Item<Key>* items, int64_t n, char* out, int64_t step) {
    for (int64_t i = 0; i < n; ++i) {
        const int64_t place = static_cast<int64_t>(items[i].place);
        memcpy(out + i * step, &place, sizeof(place));
    }
}

// Answers where the sorted items are: in `items` or in `spare`.
template <class Key>
AC_NOINLINE Item<Key>* sort_by_bytes(Item<Key>* items, Item<Key>* spare, int64_t n) {
    constexpr int bytes = sizeof(Key);
    Key counts[bytes][256];
    memset(counts, 0, sizeof(counts));
    for (int64_t i = 0; i < n; ++i) {
        for (int b = 0; b < bytes; ++b) ++counts[b][items[i].key >> (8 * b) & 255];
    }
    for (int b = 0; b < bytes; ++b) {
        Key* count = counts[b];
        if (count[items[0].key >> (8 * b) & 255] == static_cast<Key>(n)) continue;
        Key before = 0;
        for (int value = 0; value < 256; ++value) {
            const Key some = count[value];
            count[value] = before;
            before += some;
        }
        for (int64_t i = 0; i < n; ++i) {
            spare[count[items[i].key >> (8 * b) & 255]++] = items[i];
        }
        Item<Key>* sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

// `Key` may be wider than the elements' keys, for places that need it.
template <class T, class Key>
void argsort_lines(ac_context* context, ac_status* status, const Lines& lines,
                   bool descending) {
    const int64_t n = lines.n;
    const bool sorted = each_line(
        context, lines,
        [&] { return scratch_of<Item<Key>>(context, 0, larger<int64_t>(2 * n, 1)); },
        [&](Item<Key>* items, char* out, const char* a) {
            for (int64_t i = 0; i < n; ++i) {
                items[i] = item_at<T, Key>(a, lines.a, i, descending);
            }
            if (n <= few) {
                insert_all(items, n);
            } else {
                items = sort_by_bytes(items, items + n, n);
            }
            put_places(items, n, out, lines.out);
        });
    if (!sorted) no_memory(status);
}

template <class T>
struct Argsort {
    static void run(const ac_call* call, ac_context* context, ac_status* status) {
        const Lines lines = lines_of(call, int_attribute(call, 0));
        const bool descending = int_attribute(call, 1) != 0;
        if (lines.n > 0xffffffff) {
            argsort_lines<T, uint64_t>(context, status, lines, descending);
        } else {
            argsort_lines<T, typename KeyOf<T>::type>(context, status, lines,
                                                      descending);
        }
    }
};

// ---- argtopk
//
// The first k of a line are sorted, then the rest is looked through for elements that
// come before the last of them. With those the next few are sorted, and so on: of
// random elements k ln(n / k) are. Equal elements that come later never do.
constexpr int64_t looked_at = 16;  // at once

// Whether one of these elements may come before `limit`; of NaN it is not known.
template <class T, bool descending>
AC_INLINE bool any_before(const T* x, T limit) {
    int found = 0;
    for (int64_t j = 0; j < looked_at; ++j) {
        found |= static_cast<int>(descending ? !(x[j] <= limit) : !(x[j] >= limit));
    }
    return found != 0;
}

// The next element from `i` on that may come before `limit`, or n.
template <class T, bool descending>
AC_INLINE int64_t skip_others(const char* a, int64_t step, int64_t i, int64_t n,
                              T limit) {
    if (step != item_size<T>) return i;
    const T* x = reinterpret_cast<const T*>(a);
    while (i + looked_at <= n && !any_before<T, descending>(x + i, limit)) {
        i += looked_at;
    }
    return i;
}

// Wide keys for all: another form of these loops would be 15 KB of the library.
using Wide = Item<uint64_t>;

// The element of which an item is.
template <class T>
AC_INLINE T element_of(const Wide& item, const char* a, int64_t step) {
    T element;
    memcpy(&element, a + static_cast<int64_t>(item.place) * step, sizeof(element));
    return element;
}

// Few items stay sorted: each new one is put in its place.
template <class T, bool descending>
void few_of_line(Wide* items, const char* a, int64_t step, int64_t n, int64_t k) {
    const auto item = [&](int64_t i) AC_INLINE_LAMBDA {
        return item_at<T, uint64_t>(a, step, i, descending);
    };
    for (int64_t i = 0; i < k; ++i) insert(items, i, item(i));
    for (int64_t i = k; i < n;) {
        const Wide& last = items[k - 1];
        i = skip_others<T, descending>(a, step, i, n, element_of<T>(last, a, step));
        const int64_t end = smaller(n, i + looked_at);
        for (; i < end; ++i) {
            const Wide one = item(i);
            if (one.key < last.key) insert(items, k - 1, one);
        }
    }
}

// Answers where the first k items are: in `items` or in `spare`, of `room` each.
template <class T, bool descending>
Wide* first_of_line(Wide* items, Wide* spare, int64_t room, const char* a, int64_t step,
                    int64_t n, int64_t k) {
    const auto item = [&](int64_t i) AC_INLINE_LAMBDA {
        return item_at<T, uint64_t>(a, step, i, descending);
    };
    int64_t i = 0, count = room;
    for (; i < count; ++i) items[i] = item(i);
    for (;;) {
        Wide* sorted = sort_by_bytes(items, spare, count);
        if (sorted != items) spare = items;
        items = sorted;
        if (i == n) return items;
        count = k;
        const Wide last = items[k - 1];
        const T limit = element_of<T>(last, a, step);
        while (i < n && count < room) {
            i = skip_others<T, descending>(a, step, i, n, limit);
            const int64_t end = smaller(n, i + looked_at);
            for (; i < end && count < room; ++i) {
                const Wide one = item(i);
                if (one.key < last.key) items[count++] = one;
            }
        }
    }
}

template <class T, bool descending>
void argtopk_lines(ac_context* context, ac_status* status, const Lines& lines,
                   int64_t k) {
    const int64_t n = lines.n, room = smaller(n, 4 * k);
    const bool found = each_line(
        context, lines, [&] { return scratch_of<Wide>(context, 0, 2 * room); },
        [&](Wide* items, char* out, const char* a) {
            const Wide* first = items;
            if (k <= few) {
                few_of_line<T, descending>(items, a, lines.a, n, k);
            } else {
                first = first_of_line<T, descending>(items, items + room, room, a,
                                                     lines.a, n, k);
            }
            put_places(first, k, out, lines.out);
        });
    if (!found) no_memory(status);
}

template <class T>
void argtopk_of(const ac_call* call, ac_context* context, ac_status* status) {
    const int64_t axis = int_attribute(call, 0), k = int_attribute(call, 1);
    Lines lines = lines_of(call, axis);
    lines.n = operand(call, 1)->shape[axis];
    if (int_attribute(call, 2) != 0) {
        argtopk_lines<T, true>(context, status, lines, k);
    } else {
        argtopk_lines<T, false>(context, status, lines, k);
    }
}

// ---- cumargmax
template <class T, bool smallest>
void cumargmax_lines(ac_context* context, const Lines& lines) {
    char nothing;
    each_line(
        context, lines, [&] { return &nothing; },
        [&](char*, char* out, const char* a) {
            typename KeyOf<T>::type best = 0;
            int64_t place = 0;
            for (int64_t i = 0; i < lines.n; ++i) {
                auto key = key_at<T>(a + i * lines.a);
                if (smallest) key = turned<T>(key, true);
                if (key >= best) {
                    best = key;
                    place = i;
                }
                memcpy(out + i * lines.out, &place, sizeof(place));
            }
        });
}

template <class T>
struct Cumargmax {
    static void run(const ac_call* call, ac_context* context, ac_status*) {
        const Lines lines = lines_of(call, int_attribute(call, 0));
        if (int_attribute(call, 1) != 0) {
            cumargmax_lines<T, true>(context, lines);
        } else {
            cumargmax_lines<T, false>(context, lines);
        }
    }
};

// ---- searchsorted
template <class T>
AC_INLINE int64_t place_in(const char* line, int64_t step, int64_t n,
                           typename KeyOf<T>::type key, bool right) {
    int64_t low = 0;
    while (n > 0) {
        const int64_t half = n / 2;
        const auto middle = key_at<T>(line + (low + half) * step);
        const bool before = right ? middle <= key : middle < key;
        low = before ? low + half + 1 : low;
        n = before ? n - half - 1 : half;
    }
    return low;
}

template <class T>
struct Searchsorted {
    static void run(const ac_call* call, ac_context* context, ac_status*) {
        const ac_array &out = *operand(call, 0), &line = *operand(call, 1);
        const int last = line.ndim - 1;
        const int64_t n = line.shape[last], step = line.strides[last];
        const bool right = int_attribute(call, 0) != 0;
        // The line over the shape of the values, standing still along its own axis.
        ac_array lines = out;
        lines.data = line.data;
        lines.dtype = line.dtype;
        for (int d = 0; d < out.ndim; ++d) {
            lines.strides[d] = last > 0 && d < last ? line.strides[d] : 0;
        }
        const ac_array* arrays[3] = {&out, operand(call, 2), &lines};
        Nest nest;
        make_nest(nest, arrays, 3);
        const int inner = nest.dims - 1;
        parallel_range(context, nest.total, 1024, nest.total >= 4096,
                       [&](int64_t begin, int64_t end) {
                           Position at;
                           start_at(nest, begin, at);
                           for (int64_t i = begin; i < end; ++i) {
                               const int64_t column = at.column;
                               const auto key = key_at<T>(
                                   at.row[1] + column * nest.stride[1][inner]);
                               const int64_t place = place_in<T>(
                                   at.row[2] + column * nest.stride[2][inner], step, n,
                                   key, right);
                               memcpy(at.row[0] + column * nest.stride[0][inner],
                                      &place, sizeof(place));
                               if (++at.column == nest.size[inner]) next_row(nest, at);
                           }
                       });
    }
};

// Runs a kernel for the dtype of the first input.
template <template <class> class Kernel>
void by_dtype(const ac_call* call, ac_context* context, ac_status* status) {
    done(status);
    if (element_count(*operand(call, 0)) == 0) return;
    switch (operand(call, 1)->dtype) {
        case AC_FLOAT32:
            return Kernel<float>::run(call, context, status);
        case AC_FLOAT64:
            return Kernel<double>::run(call, context, status);
        case AC_INT8:
            return Kernel<int8_t>::run(call, context, status);
        case AC_INT16:
            return Kernel<int16_t>::run(call, context, status);
        case AC_INT32:
            return Kernel<int32_t>::run(call, context, status);
        case AC_INT64:
            return Kernel<int64_t>::run(call, context, status);
        default:
            return Kernel<uint8_t>::run(call, context, status);
    }
}

// Of floats alone: the loops for integers would make the library 60 KB larger.
void argtopk_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    done(status);
    if (element_count(*operand(call, 0)) == 0) return;
    if (operand(call, 1)->dtype == AC_FLOAT32) {
        argtopk_of<float>(call, context, status);
    } else {
        argtopk_of<double>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"argsort", "out ; a ; axis:int descending:bool", by_dtype<Argsort>, nullptr,
     nullptr, 10.0, all_dtypes, nullptr},
    {"argtopk", "out ; a ; axis:int k:int descending:bool", argtopk_kernel, nullptr,
     nullptr, 1.0, float_dtypes, nullptr},
    {"cumargmax", "out ; a ; axis:int smallest:bool", by_dtype<Cumargmax>, nullptr,
     nullptr, 1.0, all_dtypes, nullptr},
    {"searchsorted", "out ; line values ; right:bool", by_dtype<Searchsorted>, nullptr,
     nullptr, 10.0, all_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(sorting, entries);
}  // namespace autocalc::simd::AC_ISA
