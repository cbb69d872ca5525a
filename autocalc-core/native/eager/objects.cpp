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

const struct {
    const char* name;
    PyTypeObject** to;
} classes[] = {{"Decomposed", &bound.decomposed},
               {"Generator", &bound.generator},
               {"Leaf", &bound.leaf},
               {"Node", &bound.node},
               {"Output", &bound.output},
               {"Selection", &bound.selected},
               {"Size", &bound.size},
               {"State", &bound.state},
               {"Tensor", &bound.tensor},
               {"Version", &bound.version},
               {"ViewTracker", &bound.tracker},
               {"Walk", &bound.pass}};

const struct {
    const char *of, *name;
    Py_ssize_t* offset;
} slots[] = {{"Generator", "_seed_word", &bound.seed_word},
             {"Generator", "_offset", &bound.offset},
             {"Leaf", "grad", &bound.leaf_grad},
             {"Leaf", "hooks", &bound.leaf_hooks},
             {"Leaf", "accumulated", &bound.leaf_accumulated},
             {"Node", "attributes", &bound.attributes},
             {"Node", "dtype", &bound.dtype},
             {"Node", "edges", &bound.edges},
             {"Node", "hooks", &bound.hooks},
             {"Node", "op", &bound.op},
             {"Node", "saved", &bound.saved},
             {"Node", "serial", &bound.serial},
             {"Node", "shapes", &bound.shapes},
             {"Node", "versions", &bound.versions},
             {"Output", "node", &bound.output_node},
             {"Output", "slot", &bound.output_slot},
             {"Selection", "tables", &bound.tables},
             {"Selection", "empty", &bound.empty},
             {"Selection", "key_of", &bound.key_of},
             {"Selection", "remembered", &bound.remembered},
             {"State", "autocast", &bound.autocast},
             {"State", "grad", &bound.grad},
             {"State", "selection", &bound.selection},
             {"Tensor", "_array", &bound.array},
             {"Tensor", "_edge", &bound.edge},
             {"Tensor", "_version", &bound.version_cell},
             {"Tensor", "_view", &bound.view},
             {"Version", "count", &bound.count},
             {"ViewTracker", "limit", &bound.tracker_limit},
             {"ViewTracker", "views", &bound.tracker_views},
             {"Walk", "k", &bound.pass_k},
             {"Walk", "keep", &bound.pass_keep},
             {"Walk", "needed", &bound.pass_needed},
             {"Walk", "saved", &bound.pass_saved},
             {"Walk", "hooked", &bound.pass_hooked},
             {"Walk", "deliver", &bound.pass_deliver},
             {"Walk", "heap", &bound.pass_heap},
             {"Walk", "reached", &bound.pass_reached},
             {"Walk", "leaves", &bound.pass_leaves},
             {"Walk", "captured", &bound.pass_captured},
             {"Walk", "parted", &bound.pass_parted}};

const struct {
    const char* name;
    PyObject** to;
} objects[] = {{"default_dtype", &bound.default_dtype},
               {"serials", &bound.serials},
               {"key_of_others", &bound.key_of_others},
               {"state_variable", &bound.state_variable}};

}  // namespace

bool prepare(PyObject* native) {
    Ref numpy(PyImport_ImportModule("numpy"));
    if (!numpy) return false;
    const auto type = [&numpy](const char* name) {
        return reinterpret_cast<PyTypeObject*>(
            PyObject_GetAttrString(numpy.get(), name));
    };
    bound.ndarray = type("ndarray");
    bound.dtype_class = type("dtype");
    bound.own_empty = PyObject_GetAttrString(native, "empty");
    bound.own_key_of = PyObject_GetAttrString(native, "key_of");
    bound.zero = PyLong_FromLong(0);
    bound.nothing = PyTuple_New(0);
    return !PyErr_Occurred();
}

bool bind(const char* name, PyObject* object) {
    const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
    for (const auto& one : objects) {
        if (!is(one.name)) continue;
        *one.to = Py_NewRef(object);
        return true;
    }
    for (const auto& one : slots) {
        if (!is(one.of)) continue;
        *one.offset = offset_of(object, one.name);
        if (*one.offset < 0) return false;
    }
    for (const auto& one : classes) {
        if (!is(one.name) || !PyType_Check(object)) continue;
        *one.to = reinterpret_cast<PyTypeObject*>(Py_NewRef(object));
        return true;
    }
    PyErr_Format(PyExc_TypeError, "bind: %s is unknown, or %R is no class", name,
                 object);
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
        const Ref own(PyObject_GetAttrString(reinterpret_cast<PyObject*>(bound.tensor),
                                             "_array"));
        Ref member(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "_array"));
        if (member.get() != own.get()) {
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
