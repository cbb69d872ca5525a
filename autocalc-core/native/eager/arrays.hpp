// SPDX-License-Identifier: MIT
#pragma once

#include <Python.h>

#include <cstdint>

namespace autocalc::python {

// Adds `empty` and `key_of` to the module; false with an exception set.
bool add_arrays(PyObject* module);

// A new C-contiguous array of a `numpy.dtype`, its values undefined.
PyObject* new_array(PyObject* dtype, int nd, const std::intptr_t* dims);

// The same memory as `array` from `offset` bytes on, with other sizes and strides, and
// maybe another dtype; one that is not `writable` cannot be written through it.
PyObject* new_array_view(PyObject* array, int nd, const std::intptr_t* dims,
                         const std::intptr_t* strides, std::intptr_t offset,
                         bool writable, PyObject* dtype = nullptr);

// An array of `dtype` in the memory of `root`, `offset` bytes after its first element.
PyObject* new_array_at(PyObject* root, PyObject* dtype, int nd,
                       const std::intptr_t* dims, const std::intptr_t* strides,
                       std::intptr_t offset);

// Bytes of an element of a `numpy.dtype`.
std::intptr_t item_size(PyObject* dtype);

// What `key_of` returns of NumPy's arrays; null without an exception for others.
PyObject* describe_arrays(PyObject* const* operands, Py_ssize_t count);

// Whether `object` is a `numpy.dtype`; those of devices are not.
bool is_dtype(PyObject* object);

}  // namespace autocalc::python
