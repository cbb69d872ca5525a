// SPDX-License-Identifier: MIT
#include "eager/module.hpp"

#include <algorithm>
#include <iterator>

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
    {nullptr, nullptr, 0, nullptr}};

bool add_calls(PyObject* module) {
    PyMethodDef* const all[] = {along_calls,       bookkeeping_calls, creation_calls,
                                elementwise_calls, in_place_calls,    remembered_calls,
                                kernel_calls,      moving_calls,      tensor_calls,
                                unchanged_calls,   view_calls,        walk_calls,
                                half_calls};
    return std::all_of(std::begin(all), std::end(all), [module](PyMethodDef* calls) {
        return PyModule_AddFunctions(module, calls) == 0;
    });
}

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
           PyModule_AddFunctions(module, methods) == 0 && add_calls(module);
}

}  // namespace autocalc::python::eager
