// SPDX-License-Identifier: MIT
//
// Tensors around arrays, and the sum that undoes broadcasting.
#include "eager/callable.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

// make(array, edge)
PyObject* call_make(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    if (!positional(keywords, nargsf, 2)) return define(self, args, nargsf, keywords);
    return new_tensor(Ref::borrow(args[0]), Ref::borrow(args[1]));
}

// ---- sum_to(array, shape)

bool has_shape(const Array* a, PyObject* shape) {
    if (PyTuple_GET_SIZE(shape) != a->nd) return false;
    for (int d = 0; d < a->nd; ++d) {
        PyObject* size = PyTuple_GET_ITEM(shape, d);
        if (!PyLong_CheckExact(size) || PyLong_AsSsize_t(size) != a->dimensions[d]) {
            return false;
        }
    }
    return true;
}

PyObject* call_sum_to(PyObject* self, PyObject* const* args, std::size_t nargsf,
                      PyObject* keywords) {
    if (positional(keywords, nargsf, 2) && Py_TYPE(args[0]) == bound.ndarray &&
        PyTuple_Check(args[1]) && has_shape(fields(args[0]), args[1])) {
        return Ref::borrow(args[0]).release();
    }
    if (PyErr_Occurred()) return nullptr;
    return define(self, args, nargsf, keywords);
}

PyObject* plain(PyObject* args, vectorcallfunc call) {
    PyObject* definition;
    if (!PyArg_ParseTuple(args, "O", &definition)) return nullptr;
    return new_callable(definition, call, nullptr);
}

}  // namespace

PyObject* make_make(PyObject*, PyObject* args) { return plain(args, call_make); }

PyObject* make_sum_to(PyObject*, PyObject* args) { return plain(args, call_sum_to); }

}  // namespace autocalc::python::eager
