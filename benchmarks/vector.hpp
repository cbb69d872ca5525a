// SPDX-License-Identifier: MIT
//
// The widest vector of floats that the compiler's flags allow; it may be anywhere in
// memory.
#pragma once

#if defined(__AVX512F__)
constexpr int bytes = 64;
#elif defined(__AVX__)
constexpr int bytes = 32;
#else
constexpr int bytes = 16;
#endif
typedef float Vector __attribute__((vector_size(bytes), aligned(4), may_alias));
constexpr int lanes = bytes / 4;
