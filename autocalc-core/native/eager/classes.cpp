// SPDX-License-Identifier: MIT
//
// A function that is given each class that a ``class`` statement makes.  In Python it
// would be a frame between a metaclass and the statement, where libraries look for the
// names of the statement's scope.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

PyObject* build_class = nullptr;  // what Python had
PyObject* watcher = nullptr;

PyObject* build(PyObject*, PyObject* const* args, Py_ssize_t count,
                PyObject* keywords) {
    Ref made(PyObject_Vectorcall(build_class, args, static_cast<std::size_t>(count),
                                 keywords));
    if (!made) return nullptr;
    PyObject* of[] = {made.get()};
    return run(watcher, of, 1) ? made.release() : nullptr;
}

PyMethodDef method = {
    "__build_class__",
    reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(build)),
    METH_FASTCALL | METH_KEYWORDS, nullptr};

void watch_classes(const py::function& function) {
    auto builtins = py::module_::import("builtins");
    if (watcher != nullptr) throw py::value_error("classes are watched already");
    watcher = py::object(function).release().ptr();
    build_class = py::object(builtins.attr("__build_class__")).release().ptr();
    builtins.attr("__build_class__") =
        py::reinterpret_steal<py::object>(PyCFunction_New(&method, nullptr));
}

}  // namespace

void add_classes(py::module_& calls) {
    calls.def("watch_classes", watch_classes,
              "Call a function with each class that a statement makes.",
              py::arg("function"));
}

}  // namespace autocalc::python::eager
