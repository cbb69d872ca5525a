// SPDX-License-Identifier: MIT
//
// New arrays of one number.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

struct Full : Kind {
    Py_ssize_t index;

    bool read(PyObject* args) { return read_fields(args, index); }
};

// full(shape, value, dtype): an array.
PyObject* call_full(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    const Full& k = kind_of<Full>(self);
    if (!positional(keywords, nargsf, 3) || !PyTuple_Check(args[0]) ||
        !PyObject_TypeCheck(args[2], bound.dtype_class)) {
        return define(self, args, nargsf, keywords);
    }
    const Context context;
    if (!context) return nullptr;
    Ref kernel = context.decision(k.index, args[2]);
    Ref number;
    if (kernel) number = number_of(args[1], reinterpret_cast<PyArray_Descr*>(args[2]));
    if (!number) return define_or_raise(self, args, nargsf, keywords);
    Ref out = context.empty(args[2], args[0]);
    PyObject* operands[] = {out.get(), number.get()};
    if (!out || !run(kernel.get(), operands, 2)) return nullptr;
    return out.release();
}

}  // namespace

PyMethodDef creation_calls[] = {{"full", make<Full, call_full>, METH_VARARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
