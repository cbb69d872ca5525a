// SPDX-License-Identifier: MIT
#include "eager/module.hpp"

#include <algorithm>
#include <iterator>

#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

bool add_kinds(PyObject* module) {
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

bool add_calls(PyObject* native, PyObject* module) {
    Ref numpy(PyImport_ImportModule("numpy"));
    if (!numpy || !callable_ready()) return false;
    bound.ndarray =
        reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(numpy.get(), "ndarray"));
    bound.dtype_class =
        reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(numpy.get(), "dtype"));
    bound.own_empty = PyObject_GetAttrString(native, "empty");
    bound.own_key_of = PyObject_GetAttrString(native, "key_of");
    bound.zero = PyLong_FromLong(0);
    bound.nothing = PyTuple_New(0);
    return bound.ndarray != nullptr && bound.dtype_class != nullptr &&
           bound.own_empty != nullptr && bound.own_key_of != nullptr &&
           bound.zero != nullptr && bound.nothing != nullptr && add_kinds(module);
}

}  // namespace autocalc::python::eager
