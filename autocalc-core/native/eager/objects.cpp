// SPDX-License-Identifier: MIT
#include "eager/objects.hpp"

#include <structmember.h>

#include <algorithm>
#include <cstring>

#include "eager/arrays.hpp"

namespace autocalc::python::eager {

Bound bound = {};

Py_ssize_t offset_of(PyObject* type, const char* name) {
    Ref member(PyObject_GetAttrString(type, name));
    if (!member) return -1;
    if (Py_TYPE(member.get()) != &PyMemberDescr_Type) {
        PyErr_Format(PyExc_TypeError, "%R.%s is no slot", type, name);
        return -1;
    }
    return reinterpret_cast<PyMemberDescrObject*>(member.get())->d_member->offset;
}

namespace {

struct SlotName {
    const char* name;
    Py_ssize_t* offset;
};

template <int count>
bool bind_class(PyObject* type, PyTypeObject** to, const SlotName (&slots)[count]) {
    if (!PyType_Check(type)) {
        PyErr_Format(PyExc_TypeError, "bind: %R is no class", type);
        return false;
    }
    for (const SlotName& one : slots) {
        *one.offset = offset_of(type, one.name);
        if (*one.offset < 0) return false;
    }
    Py_INCREF(type);
    *to = reinterpret_cast<PyTypeObject*>(type);
    return true;
}

bool bind_object(PyObject* object, PyObject** to) {
    Py_INCREF(object);
    *to = object;
    return true;
}

}  // namespace

bool bind(const char* name, PyObject* object) {
    Bound& b = bound;
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("Tensor")) {
        b.array_member = PyObject_GetAttrString(object, "_array");
        if (b.array_member == nullptr) return false;
        return bind_class(object, &b.tensor,
                          {{"_array", &b.array},
                           {"_edge", &b.edge},
                           {"_version", &b.version_cell},
                           {"_view", &b.view}});
    }
    if (is("Node")) {
        return bind_class(object, &b.node,
                          {{"attributes", &b.attributes},
                           {"dtype", &b.dtype},
                           {"edges", &b.edges},
                           {"hooks", &b.hooks},
                           {"op", &b.op},
                           {"saved", &b.saved},
                           {"serial", &b.serial},
                           {"shapes", &b.shapes},
                           {"versions", &b.versions}});
    }
    if (is("Output")) {
        return bind_class(object, &b.output,
                          {{"node", &b.output_node}, {"slot", &b.output_slot}});
    }
    if (is("State")) {
        return bind_class(object, &b.state,
                          {{"grad", &b.grad}, {"selection", &b.selection}});
    }
    if (is("Selection")) {
        return bind_class(object, &b.selected,
                          {{"tables", &b.tables},
                           {"empty", &b.empty},
                           {"key_of", &b.key_of},
                           {"remembered", &b.remembered}});
    }
    if (is("ViewTracker")) {
        return bind_class(object, &b.tracker,
                          {{"limit", &b.tracker_limit}, {"views", &b.tracker_views}});
    }
    if (is("Generator")) {
        return bind_class(object, &b.generator,
                          {{"_seed_word", &b.seed_word}, {"_offset", &b.offset}});
    }
    Py_ssize_t unused;
    if (is("Leaf")) {
        return bind_class(object, &b.leaf,
                          {{"grad", &b.leaf_grad},
                           {"hooks", &b.leaf_hooks},
                           {"accumulated", &b.leaf_accumulated}});
    }
    if (is("Decomposed")) return bind_class(object, &b.decomposed, {{"spec", &unused}});
    if (is("Version")) return bind_class(object, &b.version, {{"count", &b.count}});
    if (is("next_serial")) {  // a method of the iterator
        b.serials = PyObject_GetAttrString(object, "__self__");
        return b.serials != nullptr;
    }
    if (is("default_dtype")) return bind_object(object, &b.default_dtype);
    if (is("state_variable")) return bind_object(object, &b.state_variable);
    PyErr_Format(PyExc_TypeError, "bind: %s is unknown", name);
    return false;
}

bool is_plain_subclass(PyTypeObject* type) {
    // `Parameter` and a few classes of users; the others keep to Python.
    static PyTypeObject* known[8];
    for (PyTypeObject*& one : known) {
        if (one == type) return true;
        if (one != nullptr) continue;
        if (bound.tensor == nullptr || !PyType_IsSubtype(type, bound.tensor)) {
            return false;
        }
        Ref member(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "_array"));
        if (member.get() != bound.array_member) {
            PyErr_Clear();
            return false;
        }
        Py_INCREF(type);
        one = type;
        return true;
    }
    return false;
}

Ref tuple_of(PyObject* const* objects, Py_ssize_t count) {
    Ref tuple(PyTuple_New(count));
    for (Py_ssize_t i = 0; tuple && i < count; ++i) {
        Py_INCREF(objects[i]);
        PyTuple_SET_ITEM(tuple.get(), i, objects[i]);
    }
    return tuple;
}

Ref tuple_of_integers(const npy_intp* values, int count) {
    Ref tuple(PyTuple_New(count));
    for (int i = 0; tuple && i < count; ++i) {
        PyObject* value = PyLong_FromSsize_t(values[i]);
        if (value == nullptr) return {};
        PyTuple_SET_ITEM(tuple.get(), i, value);
    }
    return tuple;
}

PyObject* shape_of(const Array* a) {
    return tuple_of_integers(a->dimensions, a->nd).release();
}

Ref shapes_of(PyObject* const* arrays, Py_ssize_t count) {
    Ref shapes(PyTuple_New(count));
    for (Py_ssize_t i = 0; shapes && i < count; ++i) {
        PyObject* shape = arrays[i] == Py_None ? Ref::borrow(bound.nothing).release()
                                               : shape_of(fields(arrays[i]));
        if (shape == nullptr) return {};
        PyTuple_SET_ITEM(shapes.get(), i, shape);
    }
    return shapes;
}

Ref two_shapes(const Array* a, const Array* b) {
    const Ref first(shape_of(a));
    const bool same = a->nd == b->nd &&
                      std::equal(a->dimensions, a->dimensions + a->nd, b->dimensions);
    const Ref second = same ? Ref::borrow(first.get()) : Ref(shape_of(b));
    return first && second ? Ref(PyTuple_Pack(2, first.get(), second.get())) : Ref();
}

PyObject* new_tensor(Ref array, Ref edge) {
    if (!array) return nullptr;
    PyObject* tensor = bound.tensor->tp_alloc(bound.tensor, 0);
    if (tensor == nullptr) return nullptr;
    slot(tensor, bound.array) = array.release();
    slot(tensor, bound.edge) = edge ? edge.release() : new_none();
    slot(tensor, bound.version_cell) = new_none();
    slot(tensor, bound.view) = new_none();
    return tensor;
}

PyObject* new_version() {
    PyObject* cell = bound.version->tp_alloc(bound.version, 0);
    if (cell == nullptr) return nullptr;
    Py_INCREF(bound.zero);
    slot(cell, bound.count) = bound.zero;
    return cell;
}

PyObject* version_of(PyObject* tensor) {
    PyObject* cell = slot(tensor, bound.version_cell);
    if (cell != Py_None) return cell;
    cell = new_version();
    if (cell != nullptr) set_slot(tensor, bound.version_cell, cell);
    return cell;
}

// Counts the write, if the storage is shared.
bool bump(PyObject* x) {
    PyObject* cell = slot(x, bound.version_cell);
    if (cell == Py_None) return true;
    Ref one(PyLong_FromLong(1));
    Ref next(one ? PyNumber_Add(slot(cell, bound.count), one.get()) : nullptr);
    if (!next) return false;
    set_slot(cell, bound.count, next.release());
    return true;
}

PyObject* new_node(PyObject* op, Ref edges, Ref saved, Ref versions, Ref shapes,
                   PyObject* dtype, Ref attributes) {
    if (!edges || !saved || !versions || !shapes || !attributes) return nullptr;
    Ref serial(Py_TYPE(bound.serials)->tp_iternext(bound.serials));
    if (!serial) return nullptr;
    PyObject* node = bound.node->tp_alloc(bound.node, 0);
    if (node == nullptr) return nullptr;
    Py_INCREF(op);
    Py_INCREF(dtype);
    slot(node, bound.op) = op;
    slot(node, bound.edges) = edges.release();
    slot(node, bound.saved) = saved.release();
    slot(node, bound.versions) = versions.release();
    slot(node, bound.shapes) = shapes.release();
    slot(node, bound.dtype) = dtype;
    slot(node, bound.attributes) = attributes.release();
    slot(node, bound.serial) = serial.release();
    slot(node, bound.hooks) = new_none();
    return node;
}

Context::Context() {
    PyObject* state = nullptr;
    if (PyContextVar_Get(bound.state_variable, nullptr, &state) == 0) {
        state_ = Ref(state);
    }
}

Ref Context::decision(Py_ssize_t kernel, PyObject* key) const {
    PyObject* tables = slot(selection(), bound.tables);
    return Ref::borrow(PyDict_GetItemWithError(PyList_GET_ITEM(tables, kernel), key));
}

Ref Context::empty(PyObject* dtype, int nd, const npy_intp* dims) const {
    PyObject* own = slot(selection(), bound.empty);
    if (own == bound.own_empty) return Ref(new_array(dtype, nd, dims));
    const Ref shape = tuple_of_integers(dims, nd);
    if (!shape) return {};
    PyObject* args[] = {shape.get(), dtype};
    Ref keep = Ref::borrow(own);
    return Ref(PyObject_Vectorcall(own, args, 2, nullptr));
}

Ref Context::empty(PyObject* dtype, PyObject* shape) const {
    PyObject* own = slot(selection(), bound.empty);
    const Py_ssize_t nd = PyTuple_Check(shape) ? PyTuple_GET_SIZE(shape) : -1;
    if (own != bound.own_empty || nd < 0 || nd > 8 || !is_dtype(dtype)) {
        PyObject* args[] = {shape, dtype};
        Ref keep = Ref::borrow(own);
        return Ref(PyObject_Vectorcall(own, args, 2, nullptr));
    }
    npy_intp dims[8];
    for (Py_ssize_t d = 0; d < nd; ++d) {
        dims[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
        if (dims[d] == -1 && PyErr_Occurred()) return {};
    }
    return Ref(new_array(dtype, static_cast<int>(nd), dims));
}

Ref Context::key_of(PyObject* const* operands, Py_ssize_t count) const {
    PyObject* own = slot(selection(), bound.key_of);
    if (own == bound.own_key_of) return Ref(describe_arrays(operands, count));
    Ref keep = Ref::borrow(own);
    return Ref(
        PyObject_Vectorcall(own, operands, static_cast<std::size_t>(count), nullptr));
}

}  // namespace autocalc::python::eager
