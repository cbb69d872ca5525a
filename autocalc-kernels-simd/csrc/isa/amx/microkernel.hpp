// SPDX-License-Identifier: MIT
//
// The register tiles of small products, which are not worth splitting.
#pragma once

#include "../avx512/microkernel.hpp"
