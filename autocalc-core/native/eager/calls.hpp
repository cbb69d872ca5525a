// SPDX-License-Identifier: MIT
//
// The kinds of calls, by file.  Core asks for one by name with the Python definition
// and what it knows, which the kind reads into its fields.
#pragma once

#include <memory>
#include <vector>

#include "eager/callable.hpp"
#include "eager/operands.hpp"

namespace autocalc::python::eager {

bool read_field(PyObject* given, Ref& to);
bool read_field(PyObject* given, bool& to);
bool read_field(PyObject* given, Py_ssize_t& to);
bool read_field(PyObject* given, Saves& to);
bool read_field(PyObject* given, std::vector<Py_ssize_t>& to);

// Reads the arguments after the definition; false with an exception set.
template <class... Fields>
bool read_fields(PyObject* args, Fields&... fields) {
    Py_ssize_t at = 0;
    if (PyTuple_GET_SIZE(args) != 1 + static_cast<Py_ssize_t>(sizeof...(fields))) {
        PyErr_Format(PyExc_TypeError, "needs a definition and %zd arguments, got %zd",
                     static_cast<Py_ssize_t>(sizeof...(fields)),
                     PyTuple_GET_SIZE(args));
        return false;
    }
    return (read_field(PyTuple_GET_ITEM(args, ++at), fields) && ...);
}

// Makes a callable that keeps a `K` and runs `call`.
template <class K, vectorcallfunc call>
PyObject* make(PyObject*, PyObject* args) {
    auto kind = std::make_unique<K>();
    if (!kind->read(args)) return nullptr;
    return new_callable(PyTuple_GET_ITEM(args, 0), call, kind.release());
}

// A kind that keeps nothing.
struct Plain : Kind {
    static bool read(PyObject* args) { return read_fields(args); }
};

extern PyMethodDef along_calls[], bookkeeping_calls[], creation_calls[],
    elementwise_calls[], half_calls[], in_place_calls[], kernel_calls[], moving_calls[],
    remembered_calls[], tensor_calls[], unchanged_calls[], view_calls[], walk_calls[];

}  // namespace autocalc::python::eager
