// SPDX-License-Identifier: MIT
//
// rotary: the two halves of each head's features, turned by the angles of the place.
#include "attention/heads.hpp"
#include "common/families.hpp"
#include "common/lanes.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct Table {
    const T* data;
    int64_t row, column;
    explicit Table(const ac_array* array)
        : data(data_of<T>(array)),
          row(stride_of<T>(array, 0)),
          column(array->shape[1] > 1 ? stride_of<T>(array, 1) : 1) {}
};

template <class T>
struct Rotation {
    Heads<T> out, x;
    Table<T> cos, sin;
    int64_t heads, half;
    T sign;  // of the angle
};

// All heads of one place, whose angles stay in registers or L1.
template <class T>
AC_INLINE void turn_place(const Rotation<T>& r, int64_t b, int64_t s) {
    constexpr int64_t lanes = vec<T>::lanes;
    const T* cos = r.cos.data + s * r.cos.row;
    const T* sin = r.sin.data + s * r.sin.row;
    const vec<T> sign = set1<T>(r.sign);
    for (int64_t j = 0; j < r.half; j += lanes) {
        const int64_t n = smaller(lanes, r.half - j);
        const vec<T> c = load_last(cos + j, n), t = load_last(sin + j, n) * sign;
        for (int64_t h = 0; h < r.heads; ++h) {
            const T* from = r.x.at(b, s, h) + j;
            T* to = r.out.at(b, s, h) + j;
            const vec<T> left = load_last(from, n);
            const vec<T> right = load_last(from + r.half, n);
            store_last(to, fnma(right, t, left * c), n);
            store_last(to + r.half, fma(left, t, right * c), n);
        }
    }
}

// The same with elements that are apart.
template <class T>
void turn_place_apart(const Rotation<T>& r, int64_t b, int64_t s) {
    for (int64_t h = 0; h < r.heads; ++h) {
        const T* from = r.x.at(b, s, h);
        T* to = r.out.at(b, s, h);
        for (int64_t j = 0; j < r.half; ++j) {
            const T c = r.cos.data[s * r.cos.row + j * r.cos.column];
            const T t = r.sin.data[s * r.sin.row + j * r.sin.column] * r.sign;
            const T left = from[j * r.x.column];
            const T right = from[(j + r.half) * r.x.column];
            to[j * r.out.column] = left * c - right * t;
            to[(j + r.half) * r.out.column] = right * c + left * t;
        }
    }
}

constexpr int64_t task_elements = 4096;

template <class T>
void rotary_typed(const ac_call* call, ac_context* context) {
    const ac_array* x = operand(call, 1);
    const Rotation<T> r = {Heads<T>(operand(call, 0)),
                           Heads<T>(x),
                           Table<T>(operand(call, 2)),
                           Table<T>(operand(call, 3)),
                           x->shape[2],
                           x->shape[3] / 2,
                           int_attribute(call, 0) != 0 ? T(-1) : T(1)};
    const bool together =
        r.out.column == 1 && r.x.column == 1 && r.cos.column == 1 && r.sin.column == 1;
    const int64_t length = x->shape[1], places = x->shape[0] * length;
    const int64_t elements = r.heads * 2 * r.half;
    if (elements == 0) return;
    parallel_range(context, places, ceil_div(task_elements, elements),
                   places * elements >= 4 * task_elements,
                   [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                           if (together) {
                               turn_place(r, i / length, i % length);
                           } else {
                               turn_place_apart(r, i / length, i % length);
                           }
                       }
                   });
}

void rotary_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 0)->dtype == AC_FLOAT32) {
        rotary_typed<float>(call, context);
    } else {
        rotary_typed<double>(call, context);
    }
    done(status);
}

const ac_kernel_entry entries[] = {
    {"rotary", "out ; x cos sin ; inverse:bool", rotary_kernel, nullptr, nullptr, 0.2,
     float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(rotary, entries);
}  // namespace autocalc::simd::AC_ISA
