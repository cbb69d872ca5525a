// SPDX-License-Identifier: MIT
//
// The loop of the tallest register tiles, 4 to 6 rows of two registers, whose rows of a
// run along k.
//
// A step of 6 x 2 is 8 loads and 12 multiply-adds. Compilers make it 22 instructions,
// for they move sums and factors between registers, and where another tenant keeps the
// core's second hyperthread busy, instructions are what a step takes (two a cycle). A
// statement for each row of a step is no help here: with all sixteen registers taken,
// the sums were then kept in memory, at 0.7 of the rate. So the whole loop is one.
#pragma once

#include "vec.hpp"

namespace autocalc::simd::AC_ISA {
namespace {

constexpr int fewest_tall_rows = 4;

// NOLINTBEGIN(portability-no-assembler): no intrinsic says which register
// b is in ymm14 and ymm15, the factors are in ymm12 and ymm13 by turns.
#define AC_START(at, s) "vmovups " at "(%[start]), %[" s "]\n\t"
#define AC_ROW_START(i, low, high) AC_START(low, "s" #i "0") AC_START(high, "s" #i "1")
#define AC_START_2 AC_ROW_START(0, "0", "32") AC_ROW_START(1, "64", "96")
#define AC_START_3 AC_START_2 AC_ROW_START(2, "128", "160")
#define AC_START_4 AC_START_3 AC_ROW_START(3, "192", "224")
#define AC_START_5 AC_START_4 AC_ROW_START(4, "256", "288")
#define AC_START_6 AC_START_5 AC_ROW_START(5, "320", "352")
#define AC_LOAD(b, to) "vmovups " b ", %%ymm" to "\n\t"
#define AC_FACTOR(type, a, to) "vbroadcasts" type " " a ", %%ymm" to "\n\t"
#define AC_FMA(type, b, r, s) "vfmadd231p" type " %%ymm" b ", %%ymm" r ", %[" s "]\n\t"
#define AC_ROW(i, r, type, a) \
    AC_FACTOR(type, a, r)     \
    AC_FMA(type, "14", r, "s" #i "0") AC_FMA(type, "15", r, "s" #i "1")
#define AC_STEP_4(type, at, b)                    \
    AC_LOAD(b, "14")                              \
    AC_LOAD("32" b, "15")                         \
    AC_ROW(0, "12", type, at "(%[a])")            \
    AC_ROW(1, "13", type, at "(%[a],%[a_row])")   \
    AC_ROW(2, "12", type, at "(%[a],%[a_row],2)") \
    AC_ROW(3, "13", type, at "(%[lower])")
#define AC_STEP_5(type, at, b) \
    AC_STEP_4(type, at, b) AC_ROW(4, "12", type, at "(%[lower],%[a_row])")
#define AC_STEP_6(type, at, b) \
    AC_STEP_5(type, at, b) AC_ROW(5, "13", type, at "(%[lower],%[a_row],2)")
#define AC_SUMS(i) [s##i##0] "=&x"(sum[i][0].v), [s##i##1] "=&x"(sum[i][1].v)
#define AC_SUMS_4 AC_SUMS(0), AC_SUMS(1), AC_SUMS(2), AC_SUMS(3)
#define AC_SUMS_5 AC_SUMS_4, AC_SUMS(4)
#define AC_SUMS_6 AC_SUMS_5, AC_SUMS(5)

// Lines of a's rows, each as groups of four steps, which ask for a line of six of
// the next rows; then the steps that are left.
#define AC_LOOP(rows, type, size, at1, at2, at3, groups_in_line) \
    asm volatile(                                                                   \
        AC_START_##rows                                                             \
        "test %[groups], %[groups]\n\t"                                             \
        "jle 3f\n"                                                                  \
        "1:\n\t"                                                                    \
        "lea (%[next],%[a_row],2), %[now]\n\t"                                      \
        "prefetcht0 (%[next])\n\t"                                                  \
        "prefetcht0 (%[next],%[a_row])\n\t"                                         \
        "prefetcht0 (%[now])\n\t"                                                   \
        "prefetcht0 (%[now],%[a_row])\n\t"                                          \
        "prefetcht0 (%[now],%[a_row],2)\n\t"                                        \
        "add %[a_row], %[now]\n\t"                                                  \
        "prefetcht0 (%[now],%[a_row],2)\n\t"                                        \
        "add $64, %[next]\n\t"                                                      \
        "mov $" groups_in_line ", %[now]\n\t"                                       \
        "cmp %[now], %[groups]\n\t"                                                 \
        "cmovl %[groups], %[now]\n\t"                                               \
        "sub %[now], %[groups]\n"                                                   \
        "2:\n\t"                                                                    \
        AC_STEP_##rows(type, "0", "(%[b])")                                         \
        AC_STEP_##rows(type, at1, "(%[b],%[b_row])")                                \
        AC_STEP_##rows(type, at2, "(%[b],%[b_row],2)")                              \
        AC_STEP_##rows(type, at3, "(%[b],%[three_rows])")                           \
        "lea (%[b],%[b_row],4), %[b]\n\t"                                           \
        "add $4*" size ", %[a]\n\t"                                                 \
        "add $4*" size ", %[lower]\n\t"                                             \
        "dec %[now]\n\t"                                                            \
        "jnz 2b\n\t"                                                                \
        "test %[groups], %[groups]\n\t"                                             \
        "jg 1b\n"                                                                   \
        "3:\n\t"                                                                    \
        "test %[left], %[left]\n\t"                                                 \
        "jle 5f\n"                                                                  \
        "4:\n\t"                                                                    \
        AC_STEP_##rows(type, "0", "(%[b])")                                         \
        "add %[b_row], %[b]\n\t"                                                    \
        "add $" size ", %[a]\n\t"                                                   \
        "add $" size ", %[lower]\n\t"                                               \
        "dec %[left]\n\t"                                                           \
        "jnz 4b\n"                                                                  \
        "5:\n\t"                                                                    \
        : AC_SUMS_##rows, [a] "+&r"(a), [lower] "+&r"(lower), [b] "+&r"(b),         \
          [next] "+&r"(next), [groups] "+&r"(groups), [left] "+&r"(left),           \
          [now] "=&r"(now)                                                          \
        : [a_row] "r"(a_row), [b_row] "r"(b_row), [three_rows] "r"(3 * b_row),      \
          [start] "r"(start)                                                        \
        : "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory")

// sum = start + k steps of rows of a, each along k, times rows of b of two registers.
// `next`: rows to bring nearer meanwhile. Distances are in bytes.
#define AC_SUM_TALL(T, V, type, size, at1, at2, at3, groups_in_line)          \
    template <int rows>                                                       \
    AC_INLINE void sum_tall(int64_t k, const T* a, int64_t a_row, const T* b, \
                            int64_t b_row, const T* next, const V(*start)[2], \
                            V(&sum)[rows][2]) {                               \
        static_assert(rows >= fewest_tall_rows && rows <= 6, "no such loop"); \
        const char* lower = reinterpret_cast<const char*>(a) + 3 * a_row;     \
        int64_t groups = k / 4;                                               \
        int64_t left = k % 4;                                                 \
        int64_t now;                                                          \
        if constexpr (rows == 4) {                                            \
            AC_LOOP(4, type, size, at1, at2, at3, groups_in_line);            \
        } else if constexpr (rows == 5) {                                     \
            AC_LOOP(5, type, size, at1, at2, at3, groups_in_line);            \
        } else {                                                              \
            AC_LOOP(6, type, size, at1, at2, at3, groups_in_line);            \
        }                                                                     \
    }
AC_SUM_TALL(float, f32, "s", "4", "4", "8", "12", "4")
AC_SUM_TALL(double, f64, "d", "8", "8", "16", "24", "2")
// NOLINTEND(portability-no-assembler)
#undef AC_START
#undef AC_ROW_START
#undef AC_START_2
#undef AC_START_3
#undef AC_START_4
#undef AC_START_5
#undef AC_START_6
#undef AC_LOAD
#undef AC_FACTOR
#undef AC_FMA
#undef AC_ROW
#undef AC_STEP_4
#undef AC_STEP_5
#undef AC_STEP_6
#undef AC_SUMS
#undef AC_SUMS_4
#undef AC_SUMS_5
#undef AC_SUMS_6
#undef AC_LOOP
#undef AC_SUM_TALL

}  // namespace
}  // namespace autocalc::simd::AC_ISA
