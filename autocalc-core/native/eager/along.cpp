// SPDX-License-Identifier: MIT
//
// Functions of one tensor over or along dimensions: they turn ``dim`` and ``keepdim``
// into the attributes of an operator of `nary` and call that.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

struct Usual : Kind {
    Ref op;       // the operator
    bool floats;  // leaves other dtypes to the definition
};

struct Reduction : Usual {
    bool needs_dim;  // has no meaning without a dimension

    bool read(PyObject* args) { return read_fields(args, op, floats, needs_dim); }
};

struct Along : Usual {
    bool takes_keep;  // has a third argument, keepdim
    Ref after;        // attributes behind the dimension, a tuple of at most 4

    bool read(PyObject* args) {
        return read_fields(args, op, floats, takes_keep, after) &&
               PyTuple_Check(after.get()) && PyTuple_GET_SIZE(after.get()) <= 4;
    }
};

// The arguments ``(input, dim, keepdim)``, by position or by these names.
struct Arguments {
    PyObject* input = nullptr;
    PyObject* dim = Py_None;
    PyObject* keep = Py_False;

    bool take(PyObject* const* args, Py_ssize_t count, PyObject* keywords,
              bool takes_keep) {
        if (count < 1 || count > 2 + takes_keep || bound.paused) return false;
        input = args[0];
        if (count > 1) dim = args[1];
        if (count > 2) keep = args[2];
        const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
        for (Py_ssize_t i = 0; i < named; ++i) {
            PyObject* name = PyTuple_GET_ITEM(keywords, i);
            PyObject** to;
            if (count < 2 && PyUnicode_CompareWithASCIIString(name, "dim") == 0) {
                to = &dim;
            } else if (takes_keep && count < 3 &&
                       PyUnicode_CompareWithASCIIString(name, "keepdim") == 0) {
                to = &keep;
            } else {
                return false;
            }
            *to = args[count + i];
        }
        return PyBool_Check(keep);
    }
};

// What is common: a tensor with elements, of a dtype that needs no conversion.
const Array* usual(const Usual& k, PyObject* input) {
    PyObject* array = array_of(input);
    if (array == nullptr) return nullptr;
    const Array* a = fields(array);
    if (k.floats && !is_wide_float(a)) return nullptr;
    for (int d = 0; d < a->nd; ++d) {
        if (a->dimensions[d] == 0) return nullptr;
    }
    return a;
}

// The dimensions as a tuple: those of `dim`, or all.
Ref axes_tuple(PyObject* dim, int nd) {
    npy_intp axis = 0;
    if (dim != Py_None && !read_axis(dim, nd, &axis)) return {};
    const int count = dim == Py_None ? nd : 1;
    Ref axes(PyTuple_New(count));
    for (int i = 0; axes && i < count; ++i) {
        PyObject* one = PyLong_FromSsize_t(dim == Py_None ? i : axis);
        if (one == nullptr) return {};
        PyTuple_SET_ITEM(axes.get(), i, one);
    }
    return axes;
}

PyObject* call_reduction(PyObject* self, PyObject* const* args, std::size_t nargsf,
                         PyObject* keywords) {
    const Reduction& k = kind_of<Reduction>(self);
    Arguments given;
    const Array* a = nullptr;
    if (given.take(args, PyVectorcall_NARGS(nargsf), keywords, true)) {
        a = usual(k, given.input);
    }
    Ref axes;
    if (a != nullptr && (given.dim != Py_None || !k.needs_dim)) {
        axes = axes_tuple(given.dim, a->nd);
    }
    if (!axes) return define_or_raise(self, args, nargsf, keywords);
    PyObject* passed[] = {given.input, axes.get(), given.keep};
    return PyObject_Vectorcall(k.op.get(), passed, 3, nullptr);
}

// A function that reduces all dimensions where it is given the tensor alone.
PyObject* call_of_all(PyObject* self, PyObject* const* args, std::size_t nargsf,
                      PyObject* keywords) {
    const Reduction& k = kind_of<Reduction>(self);
    const Array* a = positional(keywords, nargsf, 1) ? usual(k, args[0]) : nullptr;
    Ref axes;
    if (a != nullptr) axes = axes_tuple(Py_None, a->nd);
    if (!axes) return define_or_raise(self, args, nargsf, keywords);
    PyObject* passed[] = {args[0], axes.get(), Py_False};
    return PyObject_Vectorcall(k.op.get(), passed, 3, nullptr);
}

PyObject* call_along(PyObject* self, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) {
    const Along& k = kind_of<Along>(self);
    Arguments given;
    const Array* a = nullptr;
    if (given.take(args, PyVectorcall_NARGS(nargsf), keywords, k.takes_keep)) {
        a = usual(k, given.input);
    }
    npy_intp axis = 0;
    if (a == nullptr || !read_axis(given.dim, a->nd, &axis)) {
        return define(self, args, nargsf, keywords);
    }
    Ref dim(PyLong_FromSsize_t(axis));
    if (!dim) return nullptr;
    PyObject* passed[8] = {given.input, dim.get()};
    std::size_t count = 2;
    if (k.takes_keep) passed[count++] = given.keep;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(k.after.get()); ++i) {
        passed[count++] = PyTuple_GET_ITEM(k.after.get(), i);
    }
    return PyObject_Vectorcall(k.op.get(), passed, count, nullptr);
}

}  // namespace

PyMethodDef along_calls[] = {
    {"reduction", make<Reduction, call_reduction>, METH_VARARGS, nullptr},
    {"of_all", make<Reduction, call_of_all>, METH_VARARGS, nullptr},
    {"along", make<Along, call_along>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
