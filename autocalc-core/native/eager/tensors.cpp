// SPDX-License-Identifier: MIT
//
// Tensors around arrays and what is read of them, the sum that undoes broadcasting, and
// words of the random generator.
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

// make(array, edge)
PyObject* call_make(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    if (!positional(keywords, nargsf, 2)) return define(self, args, nargsf, keywords);
    return new_tensor(Ref::borrow(args[0]), Ref::borrow(args[1]));
}

// ---- sum_to(array, shape)

bool has_shape(const Array* a, PyObject* shape) {
    if (PyTuple_GET_SIZE(shape) != a->nd) return false;
    for (int d = 0; d < a->nd; ++d) {
        PyObject* size = PyTuple_GET_ITEM(shape, d);
        if (!PyLong_CheckExact(size) || PyLong_AsSsize_t(size) != a->dimensions[d]) {
            return false;
        }
    }
    return true;
}

PyObject* call_sum_to(PyObject* self, PyObject* const* args, std::size_t nargsf,
                      PyObject* keywords) {
    if (positional(keywords, nargsf, 2) && Py_TYPE(args[0]) == bound.ndarray &&
        PyTuple_Check(args[1]) && has_shape(fields(args[0]), args[1])) {
        return Ref::borrow(args[0]).release();
    }
    return define_or_raise(self, args, nargsf, keywords);
}

// ---- what is read of a tensor

struct Shapes : Kind {
    Ref sizes;  // a dict of those that are known

    void read(const py::args& args) {
        read_fields(args, sizes);
        if (!PyDict_Check(sizes.get())) throw py::type_error("shape_of: needs a dict");
    }
};

// x.shape
PyObject* call_shape_of(PyObject* self, PyObject* const* args, std::size_t nargsf,
                        PyObject* keywords) {
    PyObject* array = positional(keywords, nargsf, 1) ? array_of(args[0]) : nullptr;
    const Ref shape(array == nullptr ? nullptr : shape_of(fields(array)));
    PyObject* known = nullptr;
    if (shape) {
        known = PyDict_GetItemWithError(kind_of<Shapes>(self).sizes.get(), shape.get());
    }
    return known != nullptr ? Ref::borrow(known).release()
                            : define_or_raise(self, args, nargsf, keywords);
}

// ---- random words

struct Draw : Kind {
    Ref stand_in;    // a context variable or None
    Ref recordings;  // true while anything is recorded

    void read(const py::args& args) { read_fields(args, stand_in, recordings); }

    // Whether a generator stands in for this one, or draws may be recorded; with an
    // exception maybe.
    bool elsewhere() const {
        PyObject* found = nullptr;
        if (PyObject_IsTrue(recordings.get()) != 0) return true;
        if (stand_in.get() == Py_None) return false;
        if (PyContextVar_Get(stand_in.get(), Py_None, &found) < 0) return true;
        return Ref(found).get() != Py_None;
    }
};

// generator.draw(words): no other thread runs between both looks at the offset.
PyObject* call_draw(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    npy_intp words, offset;
    if (!positional(keywords, nargsf, 2) || bound.generator == nullptr ||
        !PyObject_TypeCheck(args[0], bound.generator) ||
        !read_integer(args[1], &words) || kind_of<Draw>(self).elsewhere() ||
        !read_integer(slot(args[0], bound.offset), &offset)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    const Ref dtype = Ref::borrow(dtype_of(fields(slot(args[0], bound.seed_word))));
    const Ref word = holding(static_cast<npy_int64>(offset), dtype.get());
    PyObject* next = word ? PyLong_FromSsize_t(offset + words) : nullptr;
    if (next == nullptr) return nullptr;
    set_slot(args[0], bound.offset, next);
    return PyTuple_Pack(2, slot(args[0], bound.seed_word), word.get());
}

}  // namespace

void add_tensors(py::module_& calls) {
    add_kind<Plain>(calls, "make", call_make);
    add_kind<Shapes>(calls, "shape_of", call_shape_of);
    add_kind<Draw>(calls, "draw", call_draw);
    add_kind<Plain>(calls, "sum_to", call_sum_to);
}

}  // namespace autocalc::python::eager
