// SPDX-License-Identifier: MIT
//
// cross_entropy: loss and gradient in one pass over the logits. Rows are taken in
// groups of one vector's lanes: the exponentials of a row go into its gradient while
// the row is in the cache, the logarithms of a group's sums are one vector, and then
// the gradients are scaled in place.
//
//     q[i, c] = w[c] ((1 - s) [c = t(i)] + s / C)
//     loss[i] = -sum_c q[i, c] log_softmax(x)[i, c]
//     grad[i, c] = softmax(x)[i, c] sum_c q[i, c] - q[i, c]
#include "common/families.hpp"
#include "common/operands.hpp"
#include "elementwise/vector_math.hpp"
#include "indexing/indices.hpp"
#include "reduce/axis.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum Reduction { none, mean, sum };

template <class T>
struct CrossEntropy {
    const ac_array* logits;
    const ac_array* target;
    const ac_array* weight;
    const ac_array* grad;  // or null
    int64_t rows, classes, ignore_index;
    T smoothing;  // s
    T* even;      // w[c] s / C, or null without smoothing
    T even_total;
    T scale;  // of the gradient: 1, or 1 / n for the mean
    T* losses;
    // A copy: another thread may write to the target while the kernel runs without the
    // interpreter lock, and what was a class when it was checked be none when it is
    // used.
    int64_t* labels;

    [[nodiscard]] AC_INLINE T weight_of(int64_t c) const {
        if (weight == nullptr) return T(1);
        return *reinterpret_cast<const T*>(data<char>(weight) + c * weight->strides[0]);
    }
    [[nodiscard]] AC_INLINE const char* logits_row(int64_t i) const {
        return data<char>(logits) + i * logits->strides[0];
    }
    [[nodiscard]] AC_INLINE char* grad_row(int64_t i) const {
        return data<char>(grad) + i * grad->strides[0];
    }

    // sum_c even[c] (x[c] - top); a class without weight counts nothing, even at -inf.
    [[nodiscard]] AC_INLINE T smoothed(const T* x, T largest) const {
        const Line<T, false> line = {classes, vec<T>::lanes, vec<T>::lanes};
        const vec<T> top = set1<T>(largest);
        const vec<T> total = line.sum([&](int64_t i, auto part) {
            const vec<T> share = part.get(even + i);
            const vec<T> term = share * (part.get(x + i) - top);
            return select(eq(share, zero<T>()), zero<T>(), term);
        });
        T lanes[vec<T>::lanes];
        store(lanes, total);
        return lanes[0];
    }

    // Rows begin to end, at most one vector's lanes. Buffers hold one row each, and are
    // used where a row is not contiguous or no gradient is wanted.
    AC_INLINE void group(int64_t begin, int64_t end, T* x_buffer, T* e_buffer) const {
        constexpr int64_t lanes = vec<T>::lanes;
        const Line<T, false> line = {classes, lanes, lanes};
        const bool in_place =
            grad != nullptr && (grad->strides[1] == item_size<T> || classes == 1);
        const bool contiguous = logits->strides[1] == item_size<T> || classes == 1;
        T totals[lanes] = {}, below[lanes] = {}, shares[lanes] = {}, logs[lanes];
        for (int64_t i = begin; i < end; ++i) {
            const int64_t at = i - begin, t = labels[i];
            totals[at] = T(1);
            if (t == ignore_index) {
                if (grad != nullptr) clear_row(i);
                continue;
            }
            const T* x = reinterpret_cast<const T*>(logits_row(i));
            if (!contiguous) {
                gather(reinterpret_cast<char*>(x_buffer), logits_row(i), sizeof(T),
                       logits->strides[1], classes);
                x = x_buffer;
            }
            const vec<T> top = line.top(x);
            T* e = in_place ? reinterpret_cast<T*>(grad_row(i)) : e_buffer;
            vec<T> total;
            if (grad != nullptr) {
                total = line.sum([&](int64_t c, auto part) {
                    const vec<T> v = exp_negative(part.get(x + c) - top);
                    part.put(e + c, v);
                    return v;
                });
            } else {
                total = line.sum([&](int64_t c, auto part) {
                    return exp_negative(part.get(x + c) - top);
                });
            }
            T first_lanes[lanes];
            store(first_lanes, total);
            totals[at] = first_lanes[0];
            store(first_lanes, top);
            below[at] = x[t] - first_lanes[0];
            if (even != nullptr) shares[at] = smoothed(x, first_lanes[0]);
            if (grad != nullptr) finish_row(i, t, e, totals[at], in_place);
        }
        store(logs, log(load(totals)));
        for (int64_t i = begin; i < end; ++i) {
            const int64_t at = i - begin, t = labels[i];
            losses[i] =
                t == ignore_index ? T(0) : loss(t, logs[at], below[at], shares[at]);
        }
    }

    [[nodiscard]] AC_INLINE T loss(int64_t t, T log_total, T below, T share) const {
        const T own = weight_of(t) * (T(1) - smoothing);
        // A label of no weight counts nothing, even at -inf.
        const T from_label = own == T(0) ? T(0) : own * (log_total - below);
        if (even == nullptr) return from_label;
        return from_label + (even_total * log_total - share);
    }

    // e becomes the gradient.
    AC_INLINE void finish_row(int64_t i, int64_t t, T* e, T total,
                              bool in_place) const {
        const Line<T, false> line = {classes, vec<T>::lanes, vec<T>::lanes};
        const T own = weight_of(t) * (T(1) - smoothing);
        const vec<T> factor = set1<T>((own + even_total) * scale / total);
        const vec<T> least = least_factor_of(factor);
        if (even == nullptr) {
            line.each([&](int64_t c, auto part) {
                part.put(e + c, product_from(part.get(e + c), least, factor));
            });
        } else {
            const vec<T> by = set1<T>(scale);
            line.each([&](int64_t c, auto part) {
                const vec<T> share = product_from(part.get(e + c), least, factor);
                part.put(e + c, flushed(fnma(part.get(even + c), by, share)));
            });
        }
        const T slope = e[t] - own * scale;
        const bool small =
            slope > -limits<T>::smallest_normal && slope < limits<T>::smallest_normal;
        e[t] = small ? T(0) : slope;
        if (!in_place) {
            scatter(grad_row(i), reinterpret_cast<const char*>(e), sizeof(T),
                    grad->strides[1], classes);
        }
    }

    // An ignored row has no gradient, not even where the mean is 0 / 0.
    AC_INLINE void clear_row(int64_t i) const {
        for (int64_t c = 0; c < classes; ++c) {
            *reinterpret_cast<T*>(grad_row(i) + c * grad->strides[1]) = T(0);
        }
    }
};

template <class T>
T sum_of(T* values, int64_t n) {
    Nest rows;
    rows.dims = rows.operands = 1;
    rows.total = rows.size[0] = n;
    rows.stride[0][0] = rows.item[0] = sizeof(T);
    rows.data[0] = reinterpret_cast<char*>(values);
    return reduce_along<T, SumOp, Plain>(rows, 0, n, T(0));
}

template <class T>
void cross_entropy_floats(const ac_call* call, ac_context* context, ac_status* status) {
    constexpr int64_t lanes = vec<T>::lanes;
    const ac_array* loss = operand(call, 0);
    CrossEntropy<T> c;
    c.grad = operand(call, 1);
    c.logits = operand(call, 2);
    c.target = operand(call, 3);
    c.weight = operand(call, 4);
    c.rows = c.logits->shape[0];
    c.classes = c.logits->shape[1];
    c.ignore_index = int_attribute(call, 1);
    c.smoothing = T(float_attribute(call, 2));
    c.even = nullptr;
    c.even_total = T(0);
    done(status);
    const int64_t reduction = int_attribute(call, 0);

    const bool own_losses = reduction == none && is_contiguous(*loss);
    const size_t label_bytes = static_cast<size_t>(c.rows) * sizeof(int64_t);
    const size_t loss_bytes = own_losses ? 0 : static_cast<size_t>(c.rows) * sizeof(T);
    const size_t even_bytes = static_cast<size_t>(c.classes) * sizeof(T);
    char* memory = static_cast<char*>(
        context->scratch(context, 1, label_bytes + loss_bytes + even_bytes + 64));
    if (memory == nullptr) return no_memory(status);
    c.labels = reinterpret_cast<int64_t*>(memory);
    memory += label_bytes;

    // Labels are checked, and their weights added, before anything is written.
    double total_weight = 0;
    for (int64_t i = 0; i < c.rows; ++i) {
        const int64_t t = read_index(data<char>(c.target) + i * c.target->strides[0]);
        c.labels[i] = t;
        if (t == c.ignore_index) continue;
        if (t < 0 || t >= c.classes) return bad_value(status, 3, i, t);
        total_weight += double(c.weight_of(t));
    }
    c.scale = reduction == mean ? T(1.0 / total_weight) : T(1);

    c.losses = own_losses ? data<T>(loss) : reinterpret_cast<T*>(memory);
    if (float_attribute(call, 2) != 0 && c.classes > 0) {
        c.even = reinterpret_cast<T*>(memory + loss_bytes);
        double total = 0;
        for (int64_t k = 0; k < c.classes; ++k) {
            c.even[k] = T(double(c.weight_of(k)) * float_attribute(call, 2) /
                          double(c.classes));
            total += double(c.even[k]);
        }
        c.even_total = T(total);
    }

    // A task is some groups of rows, at least 2048 logits.
    const int64_t groups = ceil_div(2048, lanes * larger<int64_t>(c.classes, 1));
    const bool finished = try_parallel_range(
        context, c.rows, groups * lanes, c.rows * c.classes >= 4096,
        [&](int64_t begin, int64_t end) {
            T* buffer = static_cast<T*>(context->scratch(
                context, 2, static_cast<size_t>(2 * c.classes + 1) * sizeof(T)));
            if (buffer == nullptr) return false;
            for (int64_t i = begin; i < end; i += lanes) {
                c.group(i, smaller(i + lanes, end), buffer, buffer + c.classes);
            }
            return true;
        });
    if (!finished) return no_memory(status);
    if (reduction == none) return store_results(c.losses, *loss);

    T total = sum_of(c.losses, c.rows);
    if (reduction == mean) total = T(double(total) / total_weight);
    *data<T>(loss) = total;
}

void cross_entropy_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 2)->dtype == AC_FLOAT32) {
        cross_entropy_floats<float>(call, context, status);
    } else {
        cross_entropy_floats<double>(call, context, status);
    }
}

// ---- nll_loss: minus the element at each label, and its slope there
template <class T>
void nll_loss_floats(const ac_call* call, ac_context* context, ac_status* status) {
    const ac_array *loss = operand(call, 0), *slopes = operand(call, 1);
    const ac_array *log_p = operand(call, 2), *target = operand(call, 3);
    const int64_t reduction = int_attribute(call, 0), ignored = int_attribute(call, 1);
    const int64_t rows = log_p->shape[0], classes = log_p->shape[1];
    const int64_t down = stride_of<T>(log_p, 0), across = stride_of<T>(log_p, 1);
    T* losses = scratch_of<T>(context, 1, larger<int64_t>(rows, 1));
    if (losses == nullptr) return no_memory(status);
    const auto label = [&](int64_t i) {
        return read_index(data<char>(target) + i * target->strides[0]);
    };
    int64_t kept = 0;
    for (int64_t i = 0; i < rows; ++i) {
        const int64_t t = label(i);
        losses[i] = T(0);
        if (t == ignored) continue;
        if (t < 0 || t >= classes) return bad_value(status, 3, i, t);
        losses[i] = -data<T>(log_p)[i * down + t * across];
        ++kept;
    }
    done(status);
    const double count = reduction == mean ? static_cast<double>(kept) : 1.0;
    for (int64_t i = 0; slopes != nullptr && i < rows; ++i) {
        data<T>(slopes)[i * stride_of<T>(slopes, 0)] =
            label(i) == ignored ? T(0) : T(-1.0 / count);
    }
    if (reduction == none) return store_results(losses, *loss);
    *data<T>(loss) = T(double(sum_of(losses, rows)) / count);
}

void nll_loss_kernel(const ac_call* call, ac_context* context, ac_status* status) {
    if (operand(call, 2)->dtype == AC_FLOAT32) {
        nll_loss_floats<float>(call, context, status);
    } else {
        nll_loss_floats<double>(call, context, status);
    }
}

const ac_kernel_entry entries[] = {
    {"cross_entropy",
     "loss grad? ; logits target weight? ; reduction:none,mean,sum ignore_index:int "
     "label_smoothing:float",
     cross_entropy_kernel, nullptr, nullptr, 0.8, float_dtypes, nullptr},
    {"nll_loss",
     "loss slopes? ; log_p target ; reduction:none,mean,sum ignore_index:int",
     nll_loss_kernel, nullptr, nullptr, 0.5, float_dtypes, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(losses, entries);
}  // namespace autocalc::simd::AC_ISA
