// SPDX-License-Identifier: MIT
//
// Views of tensors, and those of their parts: an index may be another one in each call,
// which no short program serves.
#include <algorithm>

#include "eager/arrays.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

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

// A node of a view's operator that leads to `edge`; null with an exception set.
Ref view_node(PyObject* edge, PyObject* array, PyObject* op, PyObject* attributes,
              PyObject* shape) {
    return Ref(new_node(op, Ref(PyTuple_Pack(1, edge)), Ref::borrow(bound.nothing),
                        Ref::borrow(bound.nothing), Ref(PyTuple_Pack(1, shape)),
                        dtype_of(fields(array)), Ref::borrow(attributes)));
}

// The base of a view of `x`, and how `x` is made of it.
void family_of(PyObject* x, PyObject** base, PyObject** chain) {
    PyObject* held = slot(x, bound.view);
    const bool is_a_view = PyTuple_CheckExact(held);
    *base = is_a_view ? PyTuple_GET_ITEM(held, 0) : x;
    *chain = is_a_view ? PyTuple_GET_ITEM(held, 1) : Py_None;
}

// A tensor that is made of `base` by the steps of `chain` and counts writes as `x`
// does.
PyObject* related(PyObject* x, PyObject* base, Ref array, Ref edge, Ref chain) {
    PyObject* cell = version_of(x);
    Ref relation(chain ? PyTuple_Pack(2, base, chain.get()) : nullptr);
    if (cell == nullptr || !relation) return nullptr;
    Ref view(new_tensor(std::move(array), std::move(edge)));
    if (!view) return nullptr;
    set_slot(view.get(), bound.version_cell, Ref::borrow(cell).release());
    set_slot(view.get(), bound.view, relation.release());
    return track(base, view.get()) ? view.release() : nullptr;
}

// `view_of` of core's `_ops/_operator/view_tracker.py`.
PyObject* new_view(PyObject* x, PyObject* array, PyObject* op, PyObject* attributes) {
    PyObject *base, *before;
    family_of(x, &base, &before);
    Ref shape(shape_of(fields(slot(x, bound.array))));
    if (!shape) return nullptr;
    Ref edge;
    if (slot(x, bound.edge) != Py_None) {
        const Context context;
        if (!context) return nullptr;
        if (context.grad()) {
            edge = view_node(slot(x, bound.edge), array, op, attributes, shape.get());
            if (!edge) return nullptr;
        }
    }
    return related(x, base, Ref::borrow(array), std::move(edge),
                   Ref(PyTuple_Pack(4, before, op, attributes, shape.get())));
}

PyObject* call_view_of(PyObject* self, PyObject* const* args, std::size_t nargsf,
                       PyObject* keywords) {
    if (!positional(keywords, nargsf, 4) || array_of(args[0]) == nullptr ||
        Py_TYPE(args[1]) != bound.ndarray) {
        return define(self, args, nargsf, keywords);
    }
    return new_view(args[0], args[1], args[2], args[3]);
}

// ---- parts

bool is_plain_bound(PyObject* bound_object) {
    return bound_object == Py_None || PyLong_CheckExact(bound_object);
}

bool is_plain_step(PyObject* step) {
    npy_intp value;
    return step == Py_None || (read_integer(step, &value) && value > 0);
}

// Integers, slices with steps above 0, None and one Ellipsis: 1 for a plain index, 2
// where it has an Ellipsis, 0 for anything else.
int plain_part(PyObject* part) {
    if (PyLong_CheckExact(part) || part == Py_None) return 1;
    if (part == Py_Ellipsis) return 2;
    if (!PySlice_Check(part)) return 0;
    const auto* slice = reinterpret_cast<PySliceObject*>(part);
    return is_plain_bound(slice->start) && is_plain_bound(slice->stop) &&
                   is_plain_step(slice->step)
               ? 1
               : 0;
}

// The index as a tuple with an Ellipsis, as the definition keeps it; null if not plain.
Ref plain_index(PyObject* index) {
    PyObject* const* parts = &index;
    Py_ssize_t count = 1;
    if (PyTuple_CheckExact(index)) {
        parts = &PyTuple_GET_ITEM(index, 0);
        count = PyTuple_GET_SIZE(index);
    }
    int ends = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const int kind = plain_part(parts[i]);
        ends += kind == 2;
        if (kind == 0 || ends > 1) return {};
    }
    if (ends == 1 && PyTuple_CheckExact(index)) return Ref::borrow(index);
    Ref whole(PyTuple_New(count + (ends == 0)));
    if (!whole) return whole;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyTuple_SET_ITEM(whole.get(), i, Ref::borrow(parts[i]).release());
    }
    if (ends == 0) {
        PyTuple_SET_ITEM(whole.get(), count, Ref::borrow(Py_Ellipsis).release());
    }
    return whole;
}

// The part itself, at once for integers: NumPy takes three times as long.
Ref part_of(PyObject* array, PyObject* index) {
    const Array* a = fields(array);
    npy_intp offset = 0;
    int axis = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
        PyObject* part = PyTuple_GET_ITEM(index, i);
        npy_intp at;
        if (part == Py_Ellipsis && i == PyTuple_GET_SIZE(index) - 1) break;
        if (axis >= a->nd || !read_axis(part, a->dimensions[axis], &at)) {
            return Ref(PyObject_GetItem(array, index));
        }
        offset += at * a->strides[axis++];
    }
    return Ref(new_array_view(array, a->nd - axis, a->dimensions + axis,
                              a->strides + axis, offset, true));
}

// x[index]
struct Part : Kind {
    Ref op;

    void read(const py::args& args) { read_fields(args, op); }
};

bool has_elements(const Array* a) {  // of none NumPy has strides of its own
    return std::find(a->dimensions, a->dimensions + a->nd, 0) == a->dimensions + a->nd;
}

PyObject* call_part(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords) {
    const Ref array =
        Ref::borrow(positional(keywords, nargsf, 2) ? array_of(args[0]) : nullptr);
    Ref index, part;
    if (array && fields(array.get())->nd <= max_dims &&
        has_elements(fields(array.get()))) {
        index = plain_index(args[1]);
    }
    if (index) part = part_of(array.get(), index.get());
    if (!part && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_IndexError)) {
        PyErr_Clear();
    }
    if (!part || Py_TYPE(part.get()) != bound.ndarray) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    const Ref attributes(PyTuple_Pack(1, index.get()));
    if (!attributes) return nullptr;
    return new_view(args[0], part.get(), kind_of<Part>(self).op.get(),
                    attributes.get());
}

}  // namespace

PyObject* new_view_by_steps(PyObject* x, Ref array, PyObject* steps, bool grad) {
    PyObject *base, *before;
    family_of(x, &base, &before);
    Ref chain = Ref::borrow(before);
    Ref edge;
    if (grad && slot(x, bound.edge) != Py_None) edge = Ref::borrow(slot(x, bound.edge));
    for (Py_ssize_t i = 0; chain && i < PyTuple_GET_SIZE(steps); ++i) {
        PyObject* const* step = &PyTuple_GET_ITEM(PyTuple_GET_ITEM(steps, i), 0);
        chain = Ref(PyTuple_Pack(4, chain.get(), step[0], step[1], step[2]));
        if (!edge) continue;
        edge = view_node(edge.get(), array.get(), step[0], step[1], step[2]);
        if (!edge) return nullptr;
    }
    return related(x, base, std::move(array), std::move(edge), std::move(chain));
}

void add_views(py::module_& calls) {
    add_kind<Plain>(calls, "view_of", call_view_of);
    add_kind<Part>(calls, "part", call_part);
}

}  // namespace autocalc::python::eager
