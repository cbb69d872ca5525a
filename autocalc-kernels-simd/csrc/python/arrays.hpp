// SPDX-License-Identifier: MIT
#pragma once

#include <Python.h>

#include <cstdint>

namespace autocalc::python {

// Adds `empty` and `key_of` to the module; false with an exception set.
bool add_arrays(PyObject* module);

// A new C-contiguous array of a `numpy.dtype`, its values undefined.
PyObject* new_array(PyObject* dtype, int nd, const std::intptr_t* dims);

// What `key_of` returns.
PyObject* describe_arrays(PyObject* const* operands, Py_ssize_t count);

}  // namespace autocalc::python
