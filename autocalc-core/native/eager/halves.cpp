// SPDX-License-Identifier: MIT
//
// Functions that are called in another way where they are given float16 or bfloat16:
// `rounded_once` of core's `_ops/_operator/halves.py`. As Python this took 200 ns more,
// a fifth of what a call of 16 elements takes.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

struct RoundedOnce : Kind {
    Ref wide;  // the call with halves among the arguments

    void read(const py::args& args) { read_fields(args, wide); }
};

// Whether an argument is a tensor of half precision, or a list that holds one.
// NOLINTNEXTLINE(misc-no-recursion): `depth` times at most
bool holds_half(PyObject* x, int depth) {
    PyObject* array = array_of(x);
    if (array != nullptr) return is_half(fields(array));
    if (depth == 0 || !(PyTuple_CheckExact(x) || PyList_CheckExact(x))) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(x); ++i) {
        if (holds_half(PySequence_Fast_GET_ITEM(x, i), depth - 1)) return true;
    }
    return false;
}

PyObject* call_rounded_once(PyObject* self, PyObject* const* args, std::size_t nargsf,
                            PyObject* keywords) {
    Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    if (keywords != nullptr) count += PyTuple_GET_SIZE(keywords);
    bool halves = false;
    for (Py_ssize_t i = 0; i < count && !halves; ++i) halves = holds_half(args[i], 2);
    if (!halves) return define(self, args, nargsf, keywords);
    const RoundedOnce& k = kind_of<RoundedOnce>(self);
    return PyObject_Vectorcall(k.wide.get(), args, nargsf, keywords);
}

}  // namespace

void add_halves(py::module_& calls) {
    add_kind<RoundedOnce>(calls, "rounded_once", call_rounded_once);
}

}  // namespace autocalc::python::eager
