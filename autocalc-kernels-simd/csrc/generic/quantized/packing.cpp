// SPDX-License-Identifier: MIT
//
// Numbers to codes of 8 or 4 bits in groups with a scale, and back.
#include "common/families.hpp"
#include "quantized/rounding.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

// ---- quantize_groups

AC_INLINE void pack_nibbles(const int8_t* codes, uint8_t* to) {
    for (int64_t j = 0; j < chunk / 2; ++j)
        to[j] = static_cast<uint8_t>((codes[j] + 8) | (codes[j + chunk / 2] + 8) << 4);
}

template <int bits>
void quantize_range(const float* x, uint8_t* out, const Groups& to, int64_t begin,
                    int64_t end) {
    const int64_t group = to.chunks * chunk;
    for (int64_t g = begin; g < end; ++g) {
        const float* from = x + g * group;
        uint8_t* at = out + g * to.group_bytes;
        uint16_t stored;
        const float scale = stored_scale(exact_scale<bits>(from, group), stored);
        memcpy(at, &stored, sizeof stored);
        at += scale_bytes;
        for (int64_t j = 0; j < to.chunks; ++j) {
            int8_t codes[chunk];
            round_codes<bits>(from + j * chunk, scale, codes, chunk);
            if constexpr (bits == 8) {
                memcpy(at + j * chunk, codes, chunk);
            } else {
                pack_nibbles(codes, at + j * chunk_bytes<4>);
            }
        }
    }
}

void quantize_groups(const ac_call* call, ac_context* context, ac_status* status) {
    const int64_t bits = int_attribute(call, 0);
    const ac_array& out = *operand(call, 0);
    const Groups to(out, bits, int_attribute(call, 1));
    const float* x;
    if (!whole_input(context, 0, operand(call, 1), x)) return no_memory(status);
    auto* blocks = data<uint8_t>(&out);
    done(status);
    const int64_t groups = to.rows * to.count;
    parallel_range(context, groups, groups_at_once, groups * to.chunks >= 512,
                   [&](int64_t begin, int64_t end) {
                       bits == 8 ? quantize_range<8>(x, blocks, to, begin, end)
                                 : quantize_range<4>(x, blocks, to, begin, end);
                   });
}

// ---- dequantize_groups

template <int bits>
AC_INLINE void codes_of(const uint8_t* from, int8_t* codes) {
    if constexpr (bits == 8) {
        memcpy(codes, from, chunk);
    } else {
        for (int64_t j = 0; j < chunk / 2; ++j) {
            codes[j] = static_cast<int8_t>((from[j] & 15) - 8);
            codes[j + chunk / 2] = static_cast<int8_t>((from[j] >> 4) - 8);
        }
    }
}

template <int bits>
void dequantize_range(const uint8_t* blocks, float* out, const Groups& from,
                      int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
        const uint8_t* at = blocks + g * from.group_bytes;
        float* to = out + g * from.chunks * chunk;
        float scale[f32::lanes];
        store(scale, spread_float16(at));
        at += scale_bytes;
        for (int64_t j = 0; j < from.chunks; ++j, to += chunk) {
            int8_t codes[chunk];
            codes_of<bits>(at + j * chunk_bytes<bits>, codes);
            for (int64_t i = 0; i < chunk; ++i)
                to[i] = static_cast<float>(codes[i]) * scale[0];
        }
    }
}

void dequantize_groups(const ac_call* call, ac_context* context, ac_status* status) {
    const int64_t bits = int_attribute(call, 0);
    const ac_array& blocks = *operand(call, 1);
    const Groups from(blocks, bits, int_attribute(call, 1));
    const uint8_t* packed;
    if (!whole_input(context, 0, &blocks, packed)) return no_memory(status);
    auto* out = data<float>(operand(call, 0));
    done(status);
    const int64_t groups = from.rows * from.count;
    parallel_range(context, groups, groups_at_once, groups * from.chunks >= 1024,
                   [&](int64_t begin, int64_t end) {
                       bits == 8 ? dequantize_range<8>(packed, out, from, begin, end)
                                 : dequantize_range<4>(packed, out, from, begin, end);
                   });
}

const ac_kernel_entry entries[] = {
    {"quantize_groups", "out ; x ; bits:int group:int", quantize_groups, nullptr,
     nullptr, 0.6, 1u << AC_FLOAT32, nullptr},
    {"dequantize_groups", "out ; blocks ; bits:int group:int", dequantize_groups,
     nullptr, nullptr, 0.3, 1u << AC_UINT8, nullptr},
};

}  // namespace
AC_DEFINE_FAMILY(packing, entries);
}  // namespace autocalc::simd::AC_ISA
