// SPDX-License-Identifier: MIT
//
// What core asks for, by kind: each takes the Python definition and what it knows.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace autocalc::python::eager {

// elementwise.cpp
PyObject* make_unary(PyObject*, PyObject* args);
PyObject* make_binary(PyObject*, PyObject* args);
PyObject* make_comparison(PyObject*, PyObject* args);
PyObject* make_ternary(PyObject*, PyObject* args);
PyObject* make_array_unary(PyObject*, PyObject* args);
PyObject* make_array_binary(PyObject*, PyObject* args);
PyObject* make_add_into(PyObject*, PyObject* args);

// kernel_call.cpp
PyObject* make_nary(PyObject*, PyObject* args);
PyObject* make_array_kernel(PyObject*, PyObject* args);

// tensors.cpp
PyObject* make_make(PyObject*, PyObject* args);
PyObject* make_view_of(PyObject*, PyObject* args);
PyObject* make_view(PyObject*, PyObject* args);
PyObject* make_sum_to(PyObject*, PyObject* args);

// walk.cpp
PyObject* make_walk(PyObject*, PyObject* args);

}  // namespace autocalc::python::eager
