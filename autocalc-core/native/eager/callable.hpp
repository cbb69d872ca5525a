// SPDX-License-Identifier: MIT
//
// A call in C for the Python function that defines it, in the manner of PEP 399.
//
// The C call takes what is common: tensors of one dtype, a decision that is known,
// results in row-major order.  Whatever it does not know, and every error, it hands to
// the definition before it has changed anything.  In all else the object is the
// definition: its attributes are read and set there.
#pragma once

#include <memory>

#include "eager/objects.hpp"

namespace autocalc::python::eager {

// What one kind of call keeps; freed with the callable.
struct Kind {
    virtual ~Kind() = default;
};

struct Callable {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject* definition;
    PyObject* weak_references;
    Kind* kind;
    PyObject* twin_of;       // the callable that owns `kind`, of an ungated twin
    PyObject* gate;          // what runs in place of the call while gates are shut
    vectorcallfunc ungated;  // the call while they are open
};

bool callable_ready();
bool is_callable(PyObject* object);

// Null with an exception set.
PyObject* new_callable(PyObject* definition, vectorcallfunc call,
                       std::unique_ptr<Kind> kind);

// A twin does as the callable does, and never has a gate: null with an exception set.
PyObject* twin_of(PyObject* original);

// Gives a callable a gate, a function of the same arguments that runs in its place
// while gates are shut.  Open ones cost nothing: `shut_gates` exchanges the calls.
void add_gate(PyObject* original, PyObject* gate);
void shut_gates(bool shut);

template <class T>
const T& kind_of(PyObject* self) {
    return *static_cast<const T*>(reinterpret_cast<Callable*>(self)->kind);
}

// Whether a call has so many arguments, all by position, and may run here.
inline bool positional(PyObject* keywords, std::size_t nargsf, Py_ssize_t count) {
    return keywords == nullptr && PyVectorcall_NARGS(nargsf) == count && !bound.paused;
}

// Runs the definition.
inline PyObject* define(PyObject* self, PyObject* const* args, std::size_t nargsf,
                        PyObject* keywords) {
    return PyObject_Vectorcall(reinterpret_cast<Callable*>(self)->definition, args,
                               nargsf, keywords);
}

// The same, unless an exception is set: for what may have failed or not be known.
inline PyObject* define_or_raise(PyObject* self, PyObject* const* args,
                                 std::size_t nargsf, PyObject* keywords) {
    return PyErr_Occurred() ? nullptr : define(self, args, nargsf, keywords);
}

// Runs a kernel, or any function of Python's, for its effect.
inline bool run(PyObject* function, PyObject* const* args, Py_ssize_t count) {
    Ref result(
        PyObject_Vectorcall(function, args, static_cast<std::size_t>(count), nullptr));
    return static_cast<bool>(result);
}

}  // namespace autocalc::python::eager
