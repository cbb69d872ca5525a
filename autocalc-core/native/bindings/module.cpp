// SPDX-License-Identifier: MIT
//
// The extension module `autocalc._native`. What is not on the path of a call is bound
// with pybind11 here and in `pool.cpp`, `memory.cpp`; calls of operators, `empty` and
// `key_of` are objects of CPython's own API (`../eager/README.md` has the figure).
#include <pybind11/pybind11.h>

#include "bindings/parts.hpp"
#include "eager/calls.hpp"
#include "pool/pool.hpp"
#include "program/objects.hpp"

namespace py = pybind11;

namespace autocalc::python {
namespace {

// What kernel packages ask for: the pool and the scratch memory, as a context.
const ac_engine engine = {sizeof engine, AC_KERNEL_API_VERSION,
                          runtime::kernel_context};

void check(bool added) {
    if (!added) throw py::error_already_set();
}

// Returns the call; a function that is none becomes one that runs its definition.
py::object gate(const py::object& function, const py::function& make) {
    const bool is_call = eager::is_callable(function.ptr());
    const py::object call =
        is_call ? function
                : eager::callable(py::make_tuple(function), eager::define, nullptr);
    const py::object twin =
        py::reinterpret_steal<py::object>(eager::twin_of(call.ptr()));
    if (!twin) throw py::error_already_set();
    eager::add_gate(call.ptr(), make(twin).ptr());
    return call;
}

// The submodule, which can be imported by its full name, too.
void add_eager(py::module_& native) {
    py::module_ calls = native.def_submodule("eager", "Calls of operators, in C.");
    check(eager::prepare(native.ptr()) && eager::callable_ready());
    eager::add_along(calls);
    eager::add_backward(calls);
    eager::add_classes(calls);
    eager::add_elementwise(calls);
    eager::add_halves(calls);
    eager::add_kernels(calls);
    eager::add_tensors(calls);
    eager::add_traced(calls);
    eager::add_views(calls);
    program::add_bookkeeping(calls);
    program::add_moving(calls);
    program::add_unchanged(calls);
    calls.def(
        "bind",
        [](const char* name, py::handle object) {
            check(eager::bind(name, object.ptr()));
        },
        "Take over a class or an object of core.", py::arg("name"), py::arg("object"));
    calls.def("gate", gate,
              "Let a function of a call's ungated twin run in its place, while gates "
              "are shut.",
              py::arg("call"), py::arg("gate"));
    calls.def("shut_gates", eager::shut_gates, "Shut all gates, or open them.",
              py::arg("shut"));
    calls.def(
        "pause", [](bool paused) { eager::bound.paused = paused; },
        "Let every call go to its definition, or no longer.", py::arg("paused"));
}

}  // namespace
}  // namespace autocalc::python

PYBIND11_MODULE(_native, native) {
    using namespace autocalc::python;
    native.doc() =
        "Core's engine: thread pool, allocator, programs and calls of operators.";
    native.attr(AC_PYTHON_ENGINE) = py::capsule(&engine, AC_PYTHON_ENGINE_CAPSULE);
    add_pool(native);
    add_memory(native);
    check(add_arrays(native.ptr()));
    program::add_executor(native);
    add_eager(native);
}
