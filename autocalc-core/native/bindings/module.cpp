// SPDX-License-Identifier: MIT
//
// The extension module `autocalc._native`. What is not on the path of a call is bound
// with pybind11 here and in `pool.cpp`, `memory.cpp`; calls of operators, `empty` and
// `key_of` are objects of CPython's own API (`../eager/README.md` has the figure).
#include "eager/module.hpp"

#include <pybind11/pybind11.h>

#include "bindings/parts.hpp"
#include "eager/arrays.hpp"
#include "pool/pool.hpp"
#include "program/executor.hpp"

namespace py = pybind11;

namespace autocalc::python {
namespace {

// What kernel packages ask for: the pool and the scratch memory, as a context.
const ac_engine engine = {sizeof engine, AC_KERNEL_API_VERSION,
                          runtime::kernel_context};

void check(bool added) {
    if (!added) throw py::error_already_set();
}

// The submodule, which can be imported by its full name, too.
void add_eager(py::module_& native) {
    py::module_ calls = native.def_submodule("eager", "Calls of operators, in C.");
    check(eager::add_calls(native.ptr(), calls.ptr()));
    calls.def(
        "bind",
        [](const char* name, py::handle object) {
            check(eager::bind(name, object.ptr()));
        },
        "Take over a class or an object of core.", py::arg("name"), py::arg("object"));
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
    check(replay::add_executor(native.ptr()));
    add_eager(native);
}
