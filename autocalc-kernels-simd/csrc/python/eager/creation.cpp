// SPDX-License-Identifier: MIT
//
// New tensors of one number: zeros and ones.
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

struct Filled : Kind {
    Ref full, value, default_dtype;

    bool read(PyObject* args) { return read_fields(args, full, value, default_dtype); }
};

// Positive plain integers, one by one or as one tuple.
Ref shape_given(PyObject* const* args, Py_ssize_t count) {
    Ref given;
    if (count == 1 && PyTuple_Check(args[0])) {
        given = Ref::borrow(args[0]);
    } else {
        given = Ref(PyTuple_New(count));
        for (Py_ssize_t i = 0; given && i < count; ++i) {
            PyTuple_SET_ITEM(given.get(), i, Ref::borrow(args[i]).release());
        }
    }
    if (!given || PyTuple_GET_SIZE(given.get()) == 0) return {};
    long total = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given.get()); ++i) {
        PyObject* size = PyTuple_GET_ITEM(given.get(), i);
        int overflow = 0;
        const long n =
            PyLong_CheckExact(size) ? PyLong_AsLongAndOverflow(size, &overflow) : 0;
        constexpr long too_large = 1L << 60;
        if (overflow != 0 || n <= 0 || __builtin_mul_overflow(total, n, &total) ||
            total >= too_large) {
            return {};
        }
    }
    return given;
}

PyObject* call_filled(PyObject* self, PyObject* const* args, std::size_t nargsf,
                      PyObject* keywords) {
    const Filled& k = kind_of<Filled>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    Ref shape;
    if (positional(keywords, nargsf, count) && count > 0)
        shape = shape_given(args, count);
    if (!shape) return define_or_raise(self, args, nargsf, keywords);
    Ref kind(PyObject_CallNoArgs(k.default_dtype.get()));
    Ref dtype(kind ? PyObject_GetAttrString(kind.get(), "numpy") : nullptr);
    if (!dtype) return nullptr;
    PyObject* passed[] = {shape.get(), k.value.get(), dtype.get()};
    return new_tensor(Ref(PyObject_Vectorcall(k.full.get(), passed, 3, nullptr)));
}

}  // namespace

PyMethodDef creation_calls[] = {
    {"full", make<Full, call_full>, METH_VARARGS, nullptr},
    {"filled", make<Filled, call_filled>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
