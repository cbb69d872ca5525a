// SPDX-License-Identifier: MIT
//
// Tensors around arrays, views of tensors, and the sum that undoes broadcasting.
#include "eager/callable.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

bool positional(PyObject* keywords, std::size_t nargsf, Py_ssize_t count) {
    return keywords == nullptr && PyVectorcall_NARGS(nargsf) == count;
}

// make(array, edge)
PyObject* call_make(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    if (!positional(keywords, nargsf, 2)) return define(self, args, nargsf, keywords);
    return new_tensor(Ref::borrow(args[0]), Ref::borrow(args[1]));
}

// ---- views

// Tells the base of a view of it: `ViewTracker.views`, weak references.
bool track(PyObject* base, PyObject* view) {
    PyObject* family = slot(base, bound.view);
    if (family == Py_None) {
        family = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(bound.tracker));
        if (family == nullptr) return false;
        set_slot(base, bound.view, family);
    }
    if (Py_TYPE(family) != bound.tracker) {
        PyErr_SetString(PyExc_TypeError, "view_of: the base of a view is a view");
        return false;
    }
    const Py_ssize_t limit = PyLong_AsSsize_t(slot(family, bound.tracker_limit));
    if (limit == -1 && PyErr_Occurred()) return false;
    Ref views = Ref::borrow(slot(family, bound.tracker_views));
    if (PyList_GET_SIZE(views.get()) >= limit) {
        views = Ref(PyObject_CallMethod(family, "forget_dead", nullptr));
        if (!views) return false;
    }
    Ref reference(PyWeakref_NewRef(view, nullptr));
    return reference && PyList_Append(views.get(), reference.get()) == 0;
}

// The edge of a view: a node of its operator, or null without an exception.
Ref edge_of_view(PyObject* x, PyObject* shape, PyObject* array, PyObject* op,
                 PyObject* attributes) {
    PyObject* edge = slot(x, bound.edge);
    if (edge == Py_None) return Ref();
    const Context context;
    if (!context || !context.grad()) return Ref();
    return Ref(new_node(op, Ref(PyTuple_Pack(1, edge)), Ref::borrow(bound.nothing),
                        Ref::borrow(bound.nothing), Ref(PyTuple_Pack(1, shape)),
                        reinterpret_cast<PyObject*>(fields(array)->descr),
                        Ref::borrow(attributes)));
}

// `view_of` of core's `_ops/_view_tracker.py`.
PyObject* new_view(PyObject* x, PyObject* array, PyObject* op, PyObject* attributes) {
    PyObject* cell = version_of(x);
    Ref shape(shape_of(fields(slot(x, bound.array))));
    if (cell == nullptr || !shape) return nullptr;
    Ref edge = edge_of_view(x, shape.get(), array, op, attributes);
    if (!edge && PyErr_Occurred()) return nullptr;
    Ref view(new_tensor(Ref::borrow(array), std::move(edge)));
    if (!view) return nullptr;
    set_slot(view.get(), bound.version_cell, Ref::borrow(cell).release());
    PyObject* held = slot(x, bound.view);
    PyObject *base = x, *chain = Py_None;
    if (PyTuple_CheckExact(held)) {
        base = PyTuple_GET_ITEM(held, 0);
        chain = PyTuple_GET_ITEM(held, 1);
    }
    Ref step(PyTuple_Pack(4, chain, op, attributes, shape.get()));
    Ref relation(step ? PyTuple_Pack(2, base, step.get()) : nullptr);
    if (!relation) return nullptr;
    set_slot(view.get(), bound.view, relation.release());
    return track(base, view.get()) ? view.release() : nullptr;
}

PyObject* call_view_of(PyObject* self, PyObject* const* args, std::size_t nargsf,
                       PyObject* keywords) {
    if (!positional(keywords, nargsf, 4) || bound.paused ||
        array_of(args[0]) == nullptr || Py_TYPE(args[1]) != bound.ndarray) {
        return define(self, args, nargsf, keywords);
    }
    return new_view(args[0], args[1], args[2], args[3]);
}

struct View : Kind {
    Ref op, function;
};

// A view operator: ``function(array, *attributes)``, seen as a view of the tensor.
PyObject* call_view(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    const View& k = kind_of<View>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    PyObject* given[8];
    PyObject* array =
        keywords == nullptr && count >= 1 && count <= 8 ? array_of(args[0]) : nullptr;
    if (array == nullptr || bound.paused) return define(self, args, nargsf, keywords);
    const Ref held = Ref::borrow(array);
    Ref attributes(PyTuple_New(count - 1));
    if (!attributes) return nullptr;
    given[0] = array;
    for (Py_ssize_t i = 1; i < count; ++i) {
        given[i] = args[i];
        Py_INCREF(args[i]);
        PyTuple_SET_ITEM(attributes.get(), i - 1, args[i]);
    }
    Ref seen(PyObject_Vectorcall(k.function.get(), given,
                                 static_cast<std::size_t>(count), nullptr));
    if (!seen) return nullptr;
    if (Py_TYPE(seen.get()) != bound.ndarray) {
        return define(self, args, nargsf, keywords);
    }
    return new_view(args[0], seen.get(), k.op.get(), attributes.get());
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
    if (PyErr_Occurred()) return nullptr;
    return define(self, args, nargsf, keywords);
}

PyObject* plain(PyObject* args, vectorcallfunc call) {
    PyObject* definition;
    if (!PyArg_ParseTuple(args, "O", &definition)) return nullptr;
    return new_callable(definition, call, nullptr);
}

}  // namespace

PyObject* make_make(PyObject*, PyObject* args) { return plain(args, call_make); }

PyObject* make_view_of(PyObject*, PyObject* args) { return plain(args, call_view_of); }

PyObject* make_sum_to(PyObject*, PyObject* args) { return plain(args, call_sum_to); }

PyObject* make_view(PyObject*, PyObject* args) {
    PyObject *definition, *op, *function;
    if (!PyArg_ParseTuple(args, "OOO", &definition, &op, &function)) return nullptr;
    auto* k = new View;
    k->op = Ref::borrow(op);
    k->function = Ref::borrow(function);
    return new_callable(definition, call_view, k);
}

}  // namespace autocalc::python::eager
