// SPDX-License-Identifier: MIT
#include "eager/module.hpp"

#include "eager/callable.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

PyObject* bind_object(PyObject*, PyObject* args) {
    const char* name;
    PyObject* object;
    if (!PyArg_ParseTuple(args, "sO", &name, &object) || !bind(name, object)) {
        return nullptr;
    }
    Py_RETURN_NONE;
}

PyObject* pause(PyObject*, PyObject* paused) {
    const int truth = PyObject_IsTrue(paused);
    if (truth < 0) return nullptr;
    bound.paused = truth != 0;
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"bind", bind_object, METH_VARARGS,
     "bind(name: str, value: object) -> None\n\nHand over a class or object of core."},
    {"pause", pause, METH_O,
     "pause(paused: bool) -> None\n\nLet every call go to its definition, or no more."},
    {"unary", make_unary, METH_VARARGS, nullptr},
    {"binary", make_binary, METH_VARARGS, nullptr},
    {"comparison", make_comparison, METH_VARARGS, nullptr},
    {"ternary", make_ternary, METH_VARARGS, nullptr},
    {"nary", make_nary, METH_VARARGS, nullptr},
    {"array_unary", make_array_unary, METH_VARARGS, nullptr},
    {"array_binary", make_array_binary, METH_VARARGS, nullptr},
    {"array_kernel", make_array_kernel, METH_VARARGS, nullptr},
    {"add_into", make_add_into, METH_VARARGS, nullptr},
    {"sum_to", make_sum_to, METH_VARARGS, nullptr},
    {"make", make_make, METH_VARARGS, nullptr},
    {"view_of", make_view_of, METH_VARARGS, nullptr},
    {"view", make_view, METH_VARARGS, nullptr},
    {"view_reshape", make_view_reshape, METH_VARARGS, nullptr},
    {"view_permute", make_view_permute, METH_VARARGS, nullptr},
    {"view_transpose", make_view_transpose, METH_VARARGS, nullptr},
    {"view_t", make_view_t, METH_VARARGS, nullptr},
    {"view_unsqueeze", make_view_unsqueeze, METH_VARARGS, nullptr},
    {"view_squeeze", make_view_squeeze, METH_VARARGS, nullptr},
    {"view_flatten", make_view_flatten, METH_VARARGS, nullptr},
    {"view_expand", make_view_expand, METH_VARARGS, nullptr},
    {"view_slice", make_view_slice, METH_VARARGS, nullptr},
    {"reduction", make_reduction, METH_VARARGS, nullptr},
    {"along", make_along, METH_VARARGS, nullptr},
    {"cat", make_cat, METH_VARARGS, nullptr},
    {"stack", make_stack, METH_VARARGS, nullptr},
    {"binary_in_place", make_binary_in_place, METH_VARARGS, nullptr},
    {"unary_in_place", make_unary_in_place, METH_VARARGS, nullptr},
    {"full", make_full, METH_VARARGS, nullptr},
    {"filled", make_filled, METH_VARARGS, nullptr},
    {"backward", make_backward, METH_VARARGS, nullptr},
    {"walk", make_walk, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_eager(PyObject* core, PyObject* module) {
    Ref numpy(PyImport_ImportModule("numpy"));
    if (!numpy || !callable_ready()) return false;
    bound.ndarray =
        reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(numpy.get(), "ndarray"));
    bound.dtype_class =
        reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(numpy.get(), "dtype"));
    bound.own_empty = PyObject_GetAttrString(core, "empty");
    bound.own_key_of = PyObject_GetAttrString(core, "key_of");
    bound.zero = PyLong_FromLong(0);
    bound.nothing = PyTuple_New(0);
    return bound.ndarray != nullptr && bound.dtype_class != nullptr &&
           bound.own_empty != nullptr && bound.own_key_of != nullptr &&
           bound.zero != nullptr && bound.nothing != nullptr &&
           PyModule_AddIntConstant(module, "EAGER_API_VERSION", api_version) == 0 &&
           PyModule_AddFunctions(module, methods) == 0;
}

}  // namespace autocalc::python::eager
