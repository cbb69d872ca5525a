// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

namespace autocalc::python {

// Adds the functions of the thread pool and of its clocks.
void add_pool(pybind11::module_& native);

// Adds the functions of the allocator.
void add_memory(pybind11::module_& native);

}  // namespace autocalc::python
