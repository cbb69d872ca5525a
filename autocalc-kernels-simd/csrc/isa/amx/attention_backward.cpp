// SPDX-License-Identifier: MIT
#define AC_PAIRS

// The file of the other set, over these tiles.
// NOLINTNEXTLINE(bugprone-suspicious-include)
#include "attention/halves/backward.cpp"
