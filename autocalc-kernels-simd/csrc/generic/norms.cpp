// SPDX-License-Identifier: MIT
//
// rms_norm over the last axis: the sum of squares, then the products, while the row is
// in the cache.
#include "families.hpp"
#include "lines.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

template <class T>
struct RmsNorm {
    const T* weight;  // contiguous, or null
    T eps;
    int64_t width;

    // Answers 1 / sqrt(mean(x^2) + eps).
    AC_INLINE T row(T* out, const T* x) const {
        const Line<T, false> line = {width, vec<T>::lanes, vec<T>::lanes};
        const vec<T> total = line.sum([&](int64_t i, auto part) {
            const vec<T> v = part.get(x + i);
            return v * v;
        });
        const vec<T> mean = total / set1<T>(T(width));
        const vec<T> rstd = set1<T>(1) / sqrt(mean + set1<T>(eps));
        if (weight == nullptr) {
            line.each([&](int64_t i, auto part) {
                part.put(out + i, part.get(x + i) * rstd);
            });
        } else {
            line.each([&](int64_t i, auto part) {
                part.put(out + i, (part.get(x + i) * rstd) * part.get(weight + i));
            });
        }
        T lanes[vec<T>::lanes];
        store(lanes, rstd);
        return lanes[0];
    }
};

template <class T>
void rms_norm_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *out = operand(call, 0), *rstd = operand(call, 1);
    const ac_array *x = operand(call, 2), *weight = operand(call, 3);
    const int last = x->ndim - 1;
    const int64_t width = x->shape[last], item = sizeof(T);
    done(status);
    RmsNorm<T> norm = {nullptr, T(float_attribute(call, 0)), width};
    if (weight != nullptr) {
        norm.weight = data<T>(weight);
        if (!is_contiguous(*weight)) {
            T* copy = static_cast<T*>(context->scratch(
                context, 1, static_cast<size_t>(width + 1) * sizeof(T)));
            if (copy == nullptr) return no_memory(status);
            gather(reinterpret_cast<char*>(copy), data<char>(weight), item,
                   weight->strides[0], width);
            norm.weight = copy;
        }
    }
    // The rows: what is left without the last axis, rstd beside them if it is wanted.
    ac_array rows[3] = {*out, *x, rstd != nullptr ? *rstd : *out};
    const ac_array* arrays[3] = {&rows[0], &rows[1], &rows[2]};
    for (ac_array& array : rows) --array.ndim;
    Nest nest;
    make_nest(nest, arrays, 3);
    const int inner = nest.dims - 1;
    const int64_t out_stride = out->strides[last], x_stride = x->strides[last];
    const bool contiguous = width == 1 || (out_stride == item && x_stride == item);
    bool failed = false;
    parallel_range(context, nest.total, ceil_div(2048, larger<int64_t>(width, 1)),
                   nest.total * width >= 8192, [&](int64_t begin, int64_t end) {
                       T* buffer = nullptr;
                       if (!contiguous) {
                           buffer = static_cast<T*>(context->scratch(
                               context, 2, static_cast<size_t>(width) * sizeof(T)));
                           if (buffer == nullptr) {
                               __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
                               return;
                           }
                       }
                       Position at;
                       start_at(nest, begin, at);
                       for (int64_t i = begin; i < end; ++i) {
                           char* p[3];
                           for (int k = 0; k < 3; ++k) {
                               p[k] = at.row[k] + at.column * nest.stride[k][inner];
                           }
                           T* to = contiguous ? reinterpret_cast<T*>(p[0]) : buffer;
                           const T* from =
                               contiguous ? reinterpret_cast<const T*>(p[1]) : buffer;
                           if (!contiguous) {
                               gather(reinterpret_cast<char*>(buffer), p[1], item,
                                      x_stride, width);
                           }
                           const T factor = norm.row(to, from);
                           if (!contiguous) {
                               scatter(p[0], reinterpret_cast<const char*>(buffer),
                                       item, out_stride, width);
                           }
                           if (rstd != nullptr) *reinterpret_cast<T*>(p[2]) = factor;
                           if (++at.column == nest.size[inner]) next_row(nest, at);
                       }
                   });
    if (failed) no_memory(status);
}

void rms_norm_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 2)->dtype == AC_FLOAT32) {
        rms_norm_floats<float>(call, context, status);
    } else {
        rms_norm_floats<double>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"rms_norm", "out rstd? ; x weight? ; eps:float", rms_norm_kernel, nullptr, nullptr,
     0.3, float_dtypes, 0},
};

}  // namespace
AC_DEFINE_FAMILY(norms, entries);
}  // namespace autocalc::simd::AC_ISA
