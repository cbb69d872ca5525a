// SPDX-License-Identifier: MIT
//
// The kinds of calls, by file.  Core asks for one by name with the Python definition
// and what it knows, which the kind reads into its fields.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <vector>

#include "eager/callable.hpp"
#include "eager/operands.hpp"

namespace autocalc::python::eager {

namespace py = pybind11;

template <class Field>
void read_field(py::handle given, Field& to) {
    if constexpr (std::is_same_v<Field, Ref>) {
        to = Ref::borrow(given.ptr());
    } else if constexpr (std::is_same_v<Field, Saves>) {
        to.read(given);
    } else {
        to = given.cast<Field>();
    }
}

// Reads the arguments after the definition.
template <class... Fields>
void read_fields(const py::args& args, Fields&... fields) {
    if (args.size() != 1 + sizeof...(fields)) {
        throw py::type_error("a kind of call needs other arguments");
    }
    std::size_t at = 0;
    (read_field(args[++at], fields), ...);
}

inline py::object callable(const py::args& args, vectorcallfunc call,
                           std::unique_ptr<Kind> kind) {
    PyObject* made = new_callable(args[0].ptr(), call, std::move(kind));
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
}

// Adds ``name(definition, *known)``: a callable that keeps a `K` and runs `call`.
template <class K>
void add_kind(py::module_& calls, const char* name, vectorcallfunc call) {
    calls.def(name, [call](const py::args& args) {
        auto kind = std::make_unique<K>();
        kind->read(args);
        return callable(args, call, std::move(kind));
    });
}

// A kind that keeps nothing.
struct Plain : Kind {
    static void read(const py::args&) {}
};

void add_along(py::module_& calls);
void add_backward(py::module_& calls);
void add_classes(py::module_& calls);
void add_elementwise(py::module_& calls);
void add_halves(py::module_& calls);
void add_kernels(py::module_& calls);
void add_tensors(py::module_& calls);
void add_traced(py::module_& calls);
void add_views(py::module_& calls);

}  // namespace autocalc::python::eager
