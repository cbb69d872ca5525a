// SPDX-License-Identifier: MIT
//
// Objects that do in C what a class of core does in Python.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "eager/calls.hpp"

namespace autocalc::python::eager {

// Reads each of a list; false where one answers so, without an exception if it is for
// the definition.
template <class One>
bool read_all(PyObject* list, std::vector<One>* to) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        to->emplace_back();
        if (!to->back().read(PyList_GET_ITEM(list, i))) return false;
    }
    return true;
}

// An object that owns a `State`: its `read` takes the arguments of the class; where it
// answers false without an exception, the class itself is for them.
template <class State>
struct Holder {
    struct Object {
        PyObject_HEAD State* state;
    };
    static inline PyTypeObject type = {};

    // Null after `clear`, which finalizers may see.
    static State*& state_of(PyObject* self) {
        return reinterpret_cast<Object*>(self)->state;
    }

    static int traverse(PyObject* self, visitproc visit, void* arg) {
        const State* state = state_of(self);
        return state == nullptr ? 0 : state->traverse(visit, arg);
    }

    static int clear(PyObject* self) {
        const std::unique_ptr<State> gone(std::exchange(state_of(self), nullptr));
        return 0;
    }

    static void deallocate(PyObject* self) {
        PyObject_GC_UnTrack(self);
        clear(self);
        Py_TYPE(self)->tp_free(self);
    }

    static bool is_ready(const char* name, PyMethodDef* methods) {
        if (type.tp_name != nullptr) return true;
        Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
        type.tp_basicsize = sizeof(Object);
        type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
        type.tp_dealloc = deallocate;
        type.tp_traverse = traverse;
        type.tp_clear = clear;
        type.tp_methods = methods;
        type.tp_name = name;
        return PyType_Ready(&type) == 0;
    }

    static PyObject* construct(PyObject* definition, PyObject* args) {
        try {
            auto state = std::make_unique<State>();
            if (!state->read(args)) {
                return PyErr_Occurred() ? nullptr
                                        : PyObject_CallObject(definition, args);
            }
            PyObject* self = type.tp_alloc(&type, 0);
            if (self != nullptr) state_of(self) = state.release();
            return self;
        } catch (const std::bad_alloc&) {
            return PyErr_NoMemory();
        }
    }

    // The answer to core's `kind(definition)`: what makes objects.
    static PyObject* constructor_for(PyObject* args, PyMethodDef* constructor,
                                     const char* name, PyMethodDef* methods) {
        PyObject* definition;
        if (!PyArg_ParseTuple(args, "O", &definition) || !is_ready(name, methods))
            return nullptr;
        return PyCFunction_New(constructor, definition);
    }
};

}  // namespace autocalc::python::eager
