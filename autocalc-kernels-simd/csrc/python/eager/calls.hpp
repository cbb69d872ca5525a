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
PyObject* make_sum_to(PyObject*, PyObject* args);

// views.cpp
PyObject* make_view_of(PyObject*, PyObject* args);
PyObject* make_view(PyObject*, PyObject* args);
PyObject* make_view_reshape(PyObject*, PyObject* args);
PyObject* make_view_permute(PyObject*, PyObject* args);
PyObject* make_view_transpose(PyObject*, PyObject* args);
PyObject* make_view_t(PyObject*, PyObject* args);
PyObject* make_view_unsqueeze(PyObject*, PyObject* args);
PyObject* make_view_squeeze(PyObject*, PyObject* args);
PyObject* make_view_flatten(PyObject*, PyObject* args);
PyObject* make_view_expand(PyObject*, PyObject* args);
PyObject* make_view_slice(PyObject*, PyObject* args);

// along.cpp
PyObject* make_reduction(PyObject*, PyObject* args);
PyObject* make_along(PyObject*, PyObject* args);

// joins.cpp
PyObject* make_cat(PyObject*, PyObject* args);
PyObject* make_stack(PyObject*, PyObject* args);

// inplace.cpp
PyObject* make_binary_in_place(PyObject*, PyObject* args);
PyObject* make_unary_in_place(PyObject*, PyObject* args);

// creation.cpp
PyObject* make_full(PyObject*, PyObject* args);
PyObject* make_filled(PyObject*, PyObject* args);

// walk.cpp
PyObject* make_walk(PyObject*, PyObject* args);
PyObject* make_backward(PyObject*, PyObject* args);

}  // namespace autocalc::python::eager
