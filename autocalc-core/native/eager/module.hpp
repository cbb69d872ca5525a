// SPDX-License-Identifier: MIT
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace autocalc::python::eager {

// Adds what core asks for to the submodule `eager` of `native`; false with an
// exception.
bool add_calls(PyObject* native, PyObject* module);

}  // namespace autocalc::python::eager
