// SPDX-License-Identifier: MIT
#define AC_PAIRS

#include "attention/halves/forward.cpp"
