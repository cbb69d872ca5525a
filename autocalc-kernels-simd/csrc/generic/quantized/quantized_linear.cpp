// SPDX-License-Identifier: MIT
//
// Products of rows, rounded to 8 bits, with weights of 8 or 4 bits, group by group.
//
// One row is bound by the memory that the weights come from, many by arithmetic: then
// four rows at a time share what is loaded of the weights.
#include "common/families.hpp"
#include "quantized/rounding.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

enum { out_at, x_at, weight_at, bias_at };
enum { scratch_scales, scratch_codes, scratch_x, scratch_weight, scratch_bias };

constexpr int64_t columns_at_once = 2;

struct Product {
    int64_t rows, groups, group;  // of x
    float* scales;                // [rows, groups]
    uint8_t* codes;               // [rows, groups * group]
    Groups weight;
    const uint8_t* packed;
    const float* bias;
    float* out;
};

// Rounds x to 8 bits, with scales apart from codes.
bool round_rows(Product& p, const ac_array& rows, ac_context* context) {
    const int64_t groups = p.rows * p.groups;
    const float* x;
    if (!whole_input(context, scratch_x, &rows, x)) return false;
    p.scales = scratch_of<float>(context, scratch_scales, groups + 1);
    p.codes = scratch_of<uint8_t>(context, scratch_codes, groups * p.group + 1);
    if (p.scales == nullptr || p.codes == nullptr) return false;
    parallel_range(
        context, groups, groups_at_once, groups * p.group >= 1 << 14,
        [&](int64_t begin, int64_t end) {
            for (int64_t g = begin; g < end; ++g) {
                const float* from = x + g * p.group;
                uint16_t bits;
                p.scales[g] = stored_scale(exact_scale<8>(from, p.group), bits);
                round_codes<8>(from, p.scales[g],
                               reinterpret_cast<int8_t*>(p.codes + g * p.group),
                               p.group);
            }
        });
    return true;
}

// R rows of x times C rows of the weights.
template <int bits, int R, int C>
AC_INLINE void tile(const Product& p, int64_t row, int64_t column) {
    const int64_t groups = p.groups, codes = groups * p.group;
    const float* scales = p.scales + row * groups;
    const uint8_t* x = p.codes + row * codes;
    const uint8_t* w = p.packed + column * p.weight.row_bytes;
    f32 sums[R][C];
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) sums[r][c] = zero<float>();
    for (int64_t g = 0; g < groups; ++g, w += p.weight.group_bytes) {
        f32 scale[C];
        for (int c = 0; c < C; ++c)
            scale[c] = spread_float16(w + c * p.weight.row_bytes);
        for (int64_t j = 0; j < p.weight.chunks; ++j, x += chunk) {
            Bytes weights[C];
            for (int c = 0; c < C; ++c)
                weights[c] = load_chunk<bits>(w + c * p.weight.row_bytes + scale_bytes +
                                              j * chunk_bytes<bits>);
            for (int r = 0; r < R; ++r) {
                const Bytes b = load_bytes(x + r * codes);
                const f32 of_x = set1<float>(scales[r * groups + g]);
                for (int c = 0; c < C; ++c)
                    sums[r][c] =
                        fma(dot_bytes(weights[c], b), of_x * scale[c], sums[r][c]);
            }
        }
    }
    const int64_t columns = p.weight.rows;
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) {
            const float sum = reduce_add(sums[r][c]);
            p.out[(row + r) * columns + column + c] =
                p.bias == nullptr ? sum : sum + p.bias[column + c];
        }
}

template <int bits, int C>
void columns_of(const Product& p, int64_t column) {
    int64_t row = 0;
    for (; row + 4 <= p.rows; row += 4) tile<bits, 4, C>(p, row, column);
    for (; row < p.rows; ++row) tile<bits, 1, C>(p, row, column);
}

template <int bits>
void multiply_groups(const Product& p, ac_context* context) {
    const int64_t columns = p.weight.rows;
    const int64_t products = p.rows * columns * p.groups * p.group;
    parallel_range(context, columns, 4 * columns_at_once, products >= 1 << 18,
                   [&](int64_t begin, int64_t end) {
                       int64_t at = begin;
                       for (; at + columns_at_once <= end; at += columns_at_once)
                           columns_of<bits, columns_at_once>(p, at);
                       for (; at < end; ++at) columns_of<bits, 1>(p, at);
                   });
}

void quantized_linear(const ac_call* call, ac_context* context, ac_status* status) {
    const int64_t bits = int_attribute(call, 0), group = int_attribute(call, 1);
    const ac_array &x = *operand(call, x_at), &weight = *operand(call, weight_at);
    const Groups packed(weight, bits, group);
    Product p = {1,      packed.count, group,   nullptr, nullptr,
                 packed, nullptr,      nullptr, nullptr};
    for (int i = 0; i < x.ndim - 1; ++i) p.rows *= x.shape[i];
    p.out = data<float>(operand(call, out_at));
    if (!whole_input(context, scratch_weight, &weight, p.packed) ||
        !whole_input(context, scratch_bias, operand(call, bias_at), p.bias) ||
        !round_rows(p, x, context))
        return no_memory(status);
    done(status);
    if (bits == 8) {
        multiply_groups<8>(p, context);
    } else {
        multiply_groups<4>(p, context);
    }
}

double quantized_linear_work(const ac_call* call) {
    const ac_array *x = operand(call, x_at), *weight = operand(call, weight_at);
    const double products =
        static_cast<double>(element_count(*x)) * static_cast<double>(weight->shape[0]);
    return 2.0 * products * ns_per_flop;
}

const ac_kernel_entry entries[] = {
    {"quantized_linear", "out ; x weight bias? ; bits:int group:int", quantized_linear,
     nullptr, quantized_linear_work, 0, 1u << AC_FLOAT32, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(quantized_linear, entries);
}  // namespace autocalc::simd::AC_ISA
