// SPDX-License-Identifier: MIT
//
// Tensors around arrays, and the sum that undoes broadcasting.
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
    return define_or_raise(self, args, nargsf, keywords);
}

}  // namespace

PyMethodDef tensor_calls[] = {
    {"make", make<Plain, call_make>, METH_VARARGS, nullptr},
    {"sum_to", make<Plain, call_sum_to>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
