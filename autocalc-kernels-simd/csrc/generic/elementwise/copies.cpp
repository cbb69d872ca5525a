// SPDX-License-Identifier: MIT
//
// Moving and choosing elements: copy (with casts, any strides), fill, compare, where.
#include <type_traits>

#include "common/families.hpp"
#include "elementwise/in_floats.hpp"
#include "elementwise/vector_loops.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- casts
//
// A bool is a byte 0 or 1, but not the type uint8_t, which casts by taking low bits.
struct Bool {
    uint8_t byte;
};
template <class To, class From>
struct Cast {
    static AC_INLINE To apply(From x) { return static_cast<To>(x); }
};
template <class To>
struct Cast<To, Bool> {
    static AC_INLINE To apply(Bool x) { return static_cast<To>(x.byte); }
};
template <class From>
struct Cast<Bool, From> {
    static AC_INLINE Bool apply(From x) { return {static_cast<uint8_t>(x != From(0))}; }
};
template <>
struct Cast<Bool, Bool> {
    static AC_INLINE Bool apply(Bool x) { return x; }
};

template <class To, class From>
void cast_run(void* const* operands, int64_t n, const void*) {
    To* out = static_cast<To*>(operands[0]);
    const From* a = static_cast<const From*>(operands[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = Cast<To, From>::apply(a[i]);
}

template <class E>
void widen_cast(void* const* operands, int64_t n, const void*) {
    widen_run<E>(operands[1], n, static_cast<float*>(operands[0]));
}
template <class E>
void narrow_cast(void* const* operands, int64_t n, const void*) {
    narrow_run<E>(static_cast<const float*>(operands[1]), n, operands[0]);
}

template <int item>
void same_run(void* const* operands, int64_t n, const void*) {
    if (operands[0] != operands[1]) {
        memcpy(operands[0], operands[1], static_cast<size_t>(n * item));
    }
}

template <class To>
AC_INLINE RunKernel cast_to(int from) {
    switch (from) {
        case AC_FLOAT32:
            return cast_run<To, float>;
        case AC_FLOAT64:
            return cast_run<To, double>;
        case AC_INT8:
            return cast_run<To, int8_t>;
        case AC_INT16:
            return cast_run<To, int16_t>;
        case AC_INT32:
            return cast_run<To, int32_t>;
        case AC_INT64:
            return cast_run<To, int64_t>;
        case AC_UINT8:
            return cast_run<To, uint8_t>;
        case AC_BOOL:
            return cast_run<To, Bool>;
        default:
            break;
    }
    if constexpr (std::is_same_v<To, float>) {
        if (from == AC_BFLOAT16) return widen_cast<BFloat16>;
        if (from == AC_FLOAT16) return widen_cast<Float16>;
    }
    return nullptr;
}

RunKernel copy_run(int to, int from) {
    if (to == from) {
        switch (size_of(to)) {
            case 1:
                return same_run<1>;
            case 2:
                return same_run<2>;
            case 4:
                return same_run<4>;
            default:
                return same_run<8>;
        }
    }
    switch (to) {
        case AC_FLOAT32:
            return cast_to<float>(from);
        case AC_FLOAT64:
            return cast_to<double>(from);
        case AC_INT8:
            return cast_to<int8_t>(from);
        case AC_INT16:
            return cast_to<int16_t>(from);
        case AC_INT32:
            return cast_to<int32_t>(from);
        case AC_INT64:
            return cast_to<int64_t>(from);
        case AC_UINT8:
            return cast_to<uint8_t>(from);
        case AC_BOOL:
            return cast_to<Bool>(from);
        default:
            break;
    }
    if (from != AC_FLOAT32) return nullptr;
    return to == AC_BFLOAT16 ? narrow_cast<BFloat16> : narrow_cast<Float16>;
}

// Of 16 bits are converted to and from float32 alone.
const char* copy_supports(const ac_call* call) {
    const int to = call->operands[0].arrays->dtype,
              from = call->operands[1].arrays->dtype;
    const bool halves = is_half(to) || is_half(from);
    return halves && copy_run(to, from) == nullptr ? "converts 16 bits by float32 alone"
                                                   : nullptr;
}

// Rows of a tile whose rows and columns change places: four times the height of a
// vector reads whole lines of the one array, and cuts few tiles. 316 x 316 floats: 20
// and 14 us with 16 and 64 rows, 1024 x 1024: 640 and 560.
constexpr int64_t transposed_rows = 64;

// A copy whose rows and columns change places goes from the one array into the other,
// without a buffer between.
void transpose_tiles(const Nest& nest, int across, int64_t most_rows, int64_t begin,
                     int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
        Tile tile;
        find_tile(nest, across, index, tile, most_rows);
        transpose_items(tile.data[0], nest.stride[0][across], tile.data[1],
                        nest.stride[1][nest.dims - 1], tile.rows, tile.columns,
                        nest.item[0]);
    }
}

// Planes of a few channels that become pixels: the dimension along which pixels follow
// each other on both sides, or -1.
constexpr int64_t interleaved_rows = 4096;
int interleaved_dim(const Nest& nest) {
    const int inner = nest.dims - 1;
    const int64_t item = nest.item[0], columns = nest.dims > 1 ? nest.size[inner] : 0;
    if (columns < 2 || columns > 4 || nest.stride[0][inner] != item ||
        nest.stride[1][inner] % item != 0)
        return -1;
    for (int d = inner - 1; d >= 0; --d) {
        if (nest.stride[1][d] == item && nest.stride[0][d] == columns * item) return d;
    }
    return -1;
}

// The way back: a few channels, of which each becomes a plane, or -1.
int separated_dim(const Nest& nest) {
    const int inner = nest.dims - 1;
    const int64_t item = nest.item[0];
    if (nest.dims < 2 || nest.stride[0][inner] != item) return -1;
    for (int d = inner - 1; d >= 0; --d) {
        const int64_t rows = nest.size[d];
        if (rows >= 2 && rows <= 4 && nest.stride[1][d] == item &&
            nest.stride[1][inner] == rows * item)
            return d;
    }
    return -1;
}

void copy_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* arrays[2] = {operand(call, 0), operand(call, 1)};
    const RunKernel kernel = copy_run(arrays[0]->dtype, arrays[1]->dtype);
    if (kernel == nullptr) return unsupported(status);
    done(status);
    if (is_asked(context)) {
        elementwise(context, arrays, 2, kernel, nullptr, Cost::cheap);
        return;
    }
    Nest nest;
    make_nest(nest, arrays, 2);
    if (nest.total > 0 && arrays[0]->dtype == arrays[1]->dtype) {
        const int few = interleaved_dim(nest);
        int across = few < 0 ? separated_dim(nest) : few;
        if (across < 0) across = transposed_dim(nest);
        const int64_t rows = few < 0 ? transposed_rows : interleaved_rows;
        if (across >= 0 && nest.stride[0][across] % nest.item[0] == 0) {
            parallel(context, count_tiles(nest, across, rows), nest.total >= 16384,
                     [&](int64_t begin, int64_t end) {
                         transpose_tiles(nest, across, rows, begin, end);
                     });
            return;
        }
    }
    elementwise(context, arrays, 2, kernel, nullptr, Cost::cheap);
}

// ---- fill
template <class Bits>
void fill_run(void* const* operands, int64_t n, const void* value) {
    char* out = static_cast<char*>(operands[0]);
    const Bits x = load_bits<Bits>(value);
    for (int64_t i = 0; i < n; ++i) store_bits(out + i * item_size<Bits>, x);
}

void fill_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array* out = operand(call, 0);
    const ac_array* value = operand(call, 1);
    RunKernel kernel = fill_run<uint64_t>;
    switch (size_of(out->dtype)) {
        case 1:
            kernel = fill_run<uint8_t>;
            break;
        case 2:
            kernel = fill_run<uint16_t>;
            break;
        case 4:
            kernel = fill_run<uint32_t>;
            break;
        default:
            break;
    }
    alignas(8) char bytes[8];
    const RunKernel convert = copy_run(out->dtype, value->dtype);
    if (convert == nullptr) return unsupported(status);
    void* const operands[2] = {bytes, value->data};
    convert(operands, 1, nullptr);
    elementwise(context, &out, 1, kernel, bytes, Cost::cheap);
    done(status);
}

// ---- compare
enum Comparison { equal, not_equal, less, less_equal, greater, greater_equal };

template <Comparison op, class V>
AC_INLINE auto compare_lanes(V a, V b) {
    if constexpr (op == equal) return eq(a, b);
    if constexpr (op == not_equal) return ne(a, b);
    if constexpr (op == less) return lt(a, b);
    if constexpr (op == less_equal) return le(a, b);
    if constexpr (op == greater) return gt(a, b);
    if constexpr (op == greater_equal) return ge(a, b);
}

template <class T, Comparison op>
void compare_run(void* const* operands, int64_t n, const void*) {
    uint8_t* out = static_cast<uint8_t*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
    constexpr int64_t lanes = vec<T>::lanes;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        store_bools(out + i, compare_lanes<op>(load(a + i), load(b + i)));
    }
    if (i < n) {
        const int64_t rest = n - i;
        store_bools_first(
            out + i,
            compare_lanes<op>(load_first(a + i, rest), load_first(b + i, rest)), rest);
    }
}

template <class T, Comparison op>
void int_compare_run(void* const* operands, int64_t n, const void*) {
    uint8_t* out = static_cast<uint8_t*>(operands[0]);
    const T* a = static_cast<const T*>(operands[1]);
    const T* b = static_cast<const T*>(operands[2]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        bool result = false;
        if constexpr (op == equal) result = a[i] == b[i];
        if constexpr (op == not_equal) result = a[i] != b[i];
        if constexpr (op == less) result = a[i] < b[i];
        if constexpr (op == less_equal) result = a[i] <= b[i];
        if constexpr (op == greater) result = a[i] > b[i];
        if constexpr (op == greater_equal) result = a[i] >= b[i];
        out[i] = result;
    }
}

template <Comparison op>
AC_INLINE RunKernel compare_for(int dtype) {
    switch (dtype) {
        case AC_FLOAT32:
            return compare_run<float, op>;
        case AC_FLOAT64:
            return compare_run<double, op>;
        case AC_INT8:
            return int_compare_run<int8_t, op>;
        case AC_INT16:
            return int_compare_run<int16_t, op>;
        case AC_INT32:
            return int_compare_run<int32_t, op>;
        case AC_INT64:
            return int_compare_run<int64_t, op>;
        case AC_UINT8:
        case AC_BOOL:
            return int_compare_run<uint8_t, op>;
        default:
            return nullptr;
    }
}

void compare_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    const int dtype = operand(call, 1)->dtype;
    RunKernel kernel = nullptr;
    switch (int_attribute(call, 0)) {
        case equal:
            kernel = compare_for<equal>(dtype);
            break;
        case not_equal:
            kernel = compare_for<not_equal>(dtype);
            break;
        case less:
            kernel = compare_for<less>(dtype);
            break;
        case less_equal:
            kernel = compare_for<less_equal>(dtype);
            break;
        case greater:
            kernel = compare_for<greater>(dtype);
            break;
        case greater_equal:
            kernel = compare_for<greater_equal>(dtype);
            break;
        default:
            break;
    }
    call_elementwise(call, context, status, 3, kernel, Cost::cheap);
}

// ---- where: bits are chosen, so one vector kernel serves all types of a size
template <class T>
void where_run(void* const* operands, int64_t n, const void*) {
    constexpr int64_t lanes = vec<T>::lanes;
    T* out = static_cast<T*>(operands[0]);
    const uint8_t* condition = static_cast<const uint8_t*>(operands[1]);
    const T* a = static_cast<const T*>(operands[2]);
    const T* b = static_cast<const T*>(operands[3]);
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        store(out + i, select(load_bools<T>(condition + i), load(a + i), load(b + i)));
    }
    if (i < n) {
        const int64_t rest = n - i;
        store_first(out + i,
                    select(load_bools_first<T>(condition + i, rest),
                           load_first(a + i, rest), load_first(b + i, rest)),
                    rest);
    }
}

template <class T>
void small_where_run(void* const* operands, int64_t n, const void*) {
    T* out = static_cast<T*>(operands[0]);
    const uint8_t* condition = static_cast<const uint8_t*>(operands[1]);
    const T* a = static_cast<const T*>(operands[2]);
    const T* b = static_cast<const T*>(operands[3]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = condition[i] ? a[i] : b[i];
}

const char* where_supports(const ac_call* call) {
    const int a = call->operands[2].arrays->dtype, b = call->operands[3].arrays->dtype;
    const int out = call->operands[0].arrays->dtype;
    const bool halves = is_half(a) || is_half(b) || is_half(out);
    return halves && (a != b || (a != out && out >= 0))
               ? "operands of several floating-point types"
               : nullptr;
}

void where_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    RunKernel kernel = where_run<double>;
    switch (size_of(operand(call, 0)->dtype)) {
        case 1:
            kernel = small_where_run<uint8_t>;
            break;
        case 2:
            kernel = small_where_run<uint16_t>;
            break;
        case 4:
            kernel = where_run<float>;
            break;
        default:
            break;
    }
    call_elementwise(call, context, status, 4, kernel, Cost::cheap);
}

const ac_kernel_entry entries[] = {
    {"copy", "~ out ; a", copy_kernel, copy_supports, nullptr, 0.2,
     all_dtypes | half_dtypes, nullptr},
    {"fill", "out ; value", fill_kernel, copy_supports, nullptr, 0.1,
     all_dtypes | half_dtypes, nullptr},
    {"compare", "~ out ; a b ; op:eq,ne,lt,le,gt,ge", compare_kernel, nullptr, nullptr,
     0.2, all_dtypes, nullptr},
    {"where", "~ out ; condition a b", where_kernel, where_supports, nullptr, 0.2,
     bool_dtype | half_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(copies, entries);
}  // namespace autocalc::simd::AC_ISA
