// SPDX-License-Identifier: MIT
//
// Objects that do in C what a class of core does in Python. `read` takes the arguments
// of the class; where it answers false, the class itself is for them. What fails throws
// an exception of Python's.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "program/program.hpp"

namespace autocalc::python::program {

// Adds the kinds `bookkeeping`, `moving` and `unchanged`, and the class `Executor`.
void add_bookkeeping(py::module_& calls);
void add_moving(py::module_& calls);
void add_unchanged(py::module_& calls);
void add_executor(py::module_& native);

inline Ref ref(py::object object) { return Ref(object.release().ptr()); }

// Lets the garbage collector see what a class of C++ holds, and break its cycles: the
// class has `traverse`, and `clear`.
template <class State>
py::custom_type_setup collected() {
    return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
        PyTypeObject* type = &heap_type->ht_type;
        type->tp_flags |= Py_TPFLAGS_HAVE_GC;
        type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) -> int {
            Py_VISIT(Py_TYPE(self));
            if (!py::detail::is_holder_constructed(self)) return 0;
            return py::cast<State&>(py::handle(self)).traverse(visit, arg);
        };
        type->tp_clear = [](PyObject* self) -> int {
            if (py::detail::is_holder_constructed(self)) {
                py::cast<State&>(py::handle(self)).clear();
            }
            return 0;
        };
    });
}

// Adds core's `kind(definition)`, which makes objects of `State` or of the definition.
template <class State>
py::class_<State> add_kind(py::module_& calls, const char* kind, const char* name) {
    calls.def(kind, [](const py::object& definition) {
        return py::cpp_function([definition](const py::args& args) -> py::object {
            auto state = std::make_unique<State>();
            return state->read(args) ? py::cast(std::move(state)) : definition(*args);
        });
    });
    return py::class_<State>(calls, name, collected<State>());
}

}  // namespace autocalc::python::program
