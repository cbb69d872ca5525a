// SPDX-License-Identifier: MIT
#include "eager/callable.hpp"

#include <cstddef>
#include <vector>

namespace autocalc::python::eager {
namespace {

PyObject* definition_of(PyObject* self) {
    return reinterpret_cast<Callable*>(self)->definition;
}

PyObject* get_of_definition(PyObject* self, void* name) {
    return PyObject_GetAttrString(definition_of(self), static_cast<const char*>(name));
}

int set_of_definition(PyObject* self, PyObject* value, void* name) {
    return PyObject_SetAttrString(definition_of(self), static_cast<const char*>(name),
                                  value);
}

PyObject* get_wrapped(PyObject* self, void*) {
    return Ref::borrow(definition_of(self)).release();
}

// What every object has, and what would otherwise be found on the type.
#define AC_OF_DEFINITION(name) \
    {name, get_of_definition, set_of_definition, nullptr, const_cast<char*>(name)}
PyGetSetDef getters[] = {AC_OF_DEFINITION("__doc__"),
                         AC_OF_DEFINITION("__module__"),
                         AC_OF_DEFINITION("__name__"),
                         AC_OF_DEFINITION("__qualname__"),
                         {"__wrapped__", get_wrapped, nullptr, nullptr, nullptr},
                         {nullptr, nullptr, nullptr, nullptr, nullptr}};
#undef AC_OF_DEFINITION

PyObject* get_attribute(PyObject* self, PyObject* name) {
    PyObject* found = PyObject_GenericGetAttr(self, name);
    if (found != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(definition_of(self), name);
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
    return PyObject_SetAttr(definition_of(self), name, value);
}

// By its name in its module, as functions are pickled and copied.
PyObject* reduce(PyObject* self, PyObject*) {
    return PyObject_GetAttrString(definition_of(self), "__qualname__");
}

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyObject* bound_method(PyObject* self, PyObject* object, PyObject*) {
    if (object == nullptr || object == Py_None) return Ref::borrow(self).release();
    return PyMethod_New(self, object);
}

PyObject* representation(PyObject* self) { return PyObject_Repr(definition_of(self)); }

void deallocate(PyObject* self) {
    auto* callable = reinterpret_cast<Callable*>(self);
    if (callable->weak_references != nullptr) PyObject_ClearWeakRefs(self);
    Py_XDECREF(callable->definition);
    Py_XDECREF(callable->gate);
    if (callable->twin_of == nullptr) delete callable->kind;
    Py_XDECREF(callable->twin_of);
    PyObject_Free(self);
}

PyTypeObject type = {};

PyObject* call_gate(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    return PyObject_Vectorcall(reinterpret_cast<Callable*>(self)->gate, args, nargsf,
                               keywords);
}

// Of operators, which live as long as the process.
std::vector<Callable*> gated;

}  // namespace

bool callable_ready() {
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
    type.tp_name = "autocalc.accelerated";
    type.tp_basicsize = sizeof(Callable);
    type.tp_flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
    type.tp_vectorcall_offset = offsetof(Callable, vectorcall);
    type.tp_weaklistoffset = offsetof(Callable, weak_references);
    type.tp_call = PyVectorcall_Call;
    type.tp_descr_get = bound_method;
    type.tp_getattro = get_attribute;
    type.tp_setattro = set_attribute;
    type.tp_getset = getters;
    type.tp_methods = methods;
    type.tp_repr = representation;
    type.tp_dealloc = deallocate;
    return PyType_Ready(&type) == 0;
}

PyObject* new_callable(PyObject* definition, vectorcallfunc call,
                       std::unique_ptr<Kind> kind) {
    Callable* callable = PyObject_New(Callable, &type);
    if (callable == nullptr) return nullptr;
    Py_INCREF(definition);
    callable->vectorcall = callable->ungated = call;
    callable->definition = definition;
    callable->weak_references = callable->twin_of = callable->gate = nullptr;
    callable->kind = kind.release();
    return reinterpret_cast<PyObject*>(callable);
}

bool is_callable(PyObject* object) { return Py_TYPE(object) == &type; }

PyObject* twin_of(PyObject* original) {
    const auto* known = reinterpret_cast<Callable*>(original);
    PyObject* twin = new_callable(known->definition, known->ungated, nullptr);
    if (twin == nullptr) return nullptr;
    reinterpret_cast<Callable*>(twin)->kind = known->kind;
    reinterpret_cast<Callable*>(twin)->twin_of = Ref::borrow(original).release();
    return twin;
}

void add_gate(PyObject* original, PyObject* gate) {
    auto* callable = reinterpret_cast<Callable*>(original);
    callable->gate = Ref::borrow(gate).release();
    gated.push_back(callable);
    Py_INCREF(original);
}

void shut_gates(bool shut) {
    for (Callable* one : gated) one->vectorcall = shut ? call_gate : one->ungated;
}

}  // namespace autocalc::python::eager
