// SPDX-License-Identifier: MIT
//
// Functions of one tensor over or along dimensions: they turn ``dim`` and ``keepdim``
// into the attributes of an operator of `nary` and call that.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

struct Along : Kind {
    Ref op;           // the operator
    bool floats;      // leaves other dtypes to the definition
    Py_ssize_t most;  // arguments: the tensor alone, also dim, also keepdim
    bool in_tuple;    // the operator takes a tuple of dimensions
    bool needs_dim;   // has no meaning without a dimension
    Ref after;        // attributes that come last, a tuple of at most 4

    void read(const py::args& args) {
        read_fields(args, op, floats, most, in_tuple, needs_dim, after);
        if (!PyTuple_Check(after.get()) || PyTuple_GET_SIZE(after.get()) > 4) {
            throw py::type_error("along: needs a tuple of at most 4 attributes");
        }
    }
};

// The arguments ``(input, dim, keepdim)``, by position or by these names.
struct AlongArguments {
    PyObject* input = nullptr;
    PyObject* dim = Py_None;
    PyObject* keep = Py_False;

    bool take(PyObject* const* args, Py_ssize_t count, PyObject* keywords,
              Py_ssize_t most) {
        if (count < 1 || count > most || bound.paused) return false;
        input = args[0];
        if (count > 1) dim = args[1];
        if (count > 2) keep = args[2];
        const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
        for (Py_ssize_t i = 0; i < named; ++i) {
            PyObject* name = PyTuple_GET_ITEM(keywords, i);
            PyObject** to;
            if (most > 1 && count < 2 &&
                PyUnicode_CompareWithASCIIString(name, "dim") == 0) {
                to = &dim;
            } else if (most > 2 && count < 3 &&
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
const Array* usual(const Along& k, PyObject* input) {
    PyObject* array = array_of(input);
    if (array == nullptr) return nullptr;
    const Array* a = fields(array);
    if (k.floats && !is_wide_float(a)) return nullptr;
    for (int d = 0; d < a->nd; ++d) {
        if (a->dimensions[d] == 0) return nullptr;
    }
    return a;
}

// The dimension, in a tuple or alone, or all of them; null where it is none.
Ref dimensions(const Along& k, PyObject* dim, int nd) {
    npy_intp axis = 0;
    if (dim == Py_None ? k.needs_dim : !read_axis(dim, nd, &axis)) return {};
    if (!k.in_tuple) return Ref(PyLong_FromSsize_t(axis));
    const int count = dim == Py_None ? nd : 1;
    Ref axes(PyTuple_New(count));
    for (int i = 0; axes && i < count; ++i) {
        PyObject* one = PyLong_FromSsize_t(dim == Py_None ? i : axis);
        if (one == nullptr) return {};
        PyTuple_SET_ITEM(axes.get(), i, one);
    }
    return axes;
}

PyObject* call_along(PyObject* self, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) {
    const Along& k = kind_of<Along>(self);
    AlongArguments given;
    const Array* a = nullptr;
    if (given.take(args, PyVectorcall_NARGS(nargsf), keywords, k.most)) {
        a = usual(k, given.input);
    }
    Ref dim;
    if (a != nullptr) dim = dimensions(k, given.dim, a->nd);
    if (!dim) return define_or_raise(self, args, nargsf, keywords);
    PyObject* passed[8] = {given.input, dim.get()};
    std::size_t count = 2;
    if (k.most != 2) passed[count++] = given.keep;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(k.after.get()); ++i) {
        passed[count++] = PyTuple_GET_ITEM(k.after.get(), i);
    }
    return PyObject_Vectorcall(k.op.get(), passed, count, nullptr);
}

}  // namespace

void add_along(py::module_& calls) { add_kind<Along>(calls, "along", call_along); }

}  // namespace autocalc::python::eager
