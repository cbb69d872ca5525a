// SPDX-License-Identifier: MIT
//
// The extension module `autocalc_kernels_simd._loader`: the door to the kernel
// libraries, compiled for every CPU.
#include <Python.h>

#include <new>
#include <string>

#include "loader/cpu.hpp"
#include "loader/library.hpp"

namespace autocalc::loader {
namespace {

PyObject* load(PyObject*, PyObject* args, PyObject* named) {
    const char* const names[] = {"isa", "family", nullptr};
    const char *isa, *family = "simd";
    if (!PyArg_ParseTupleAndKeywords(args, named, "s|s:load", const_cast<char**>(names),
                                     &isa, &family)) {
        return nullptr;
    }
    try {
        return load_kernels(isa, family);
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

PyObject* cpu_runs_isa(PyObject*, PyObject* isa) {
    const char* name = PyUnicode_AsUTF8(isa);
    if (name == nullptr) return nullptr;
    try {
        return PyBool_FromLong(cpu_runs(name));
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

PyMethodDef methods[] = {
    {"load", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(load)),
     METH_VARARGS | METH_KEYWORDS,
     "load($module, /, isa, family='simd')\n--\n\n"
     "Open a library; return the kernels of one of its sets by name."},
    {"cpu_runs", cpu_runs_isa, METH_O,
     "cpu_runs($module, isa, /)\n--\n\nReturn whether this CPU runs an instruction "
     "set."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_loader",
                          "Opens the kernel library of an instruction set.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace autocalc::loader

// Python asks for this name.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
PyMODINIT_FUNC PyInit__loader() {
    return PyModule_Create(&autocalc::loader::definition);
}
