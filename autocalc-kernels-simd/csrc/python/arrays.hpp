// SPDX-License-Identifier: MIT
#pragma once

#include <Python.h>

namespace autocalc::python {

// Adds `empty` to the module; false with an exception set.
bool add_arrays(PyObject* module);

}  // namespace autocalc::python
