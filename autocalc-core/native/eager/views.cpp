// SPDX-License-Identifier: MIT
//
// Views of tensors: other shapes, orders and parts of the same elements.  The kinds
// ``view_*`` take what is common, plain integers within their ranges, and have the
// attributes that the Python definition gives its node.
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

// The edge of a view: a node of its operator, or null without an exception.
Ref edge_of_view(PyObject* x, PyObject* shape, PyObject* array, PyObject* op,
                 PyObject* attributes) {
    PyObject* edge = slot(x, bound.edge);
    if (edge == Py_None) return {};
    const Context context;
    if (!context || !context.grad()) return {};
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
    Ref edge = edge_of_view(x, shape.get(), array, op, attributes);
    if (!edge && PyErr_Occurred()) return nullptr;
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

// ---- view operators

// A view of `given`: dimensions, strides and the attribute of its node, a tuple of the
// dimensions where it is null; or the array itself.
struct Layout {
    Shape shape;
    npy_intp strides[max_dims];
    bool writable = true;
    Ref attribute, array;
};

npy_intp elements(const Array* a) {
    npy_intp count = 1;
    for (int d = 0; d < a->nd; ++d) count *= a->dimensions[d];
    return count;
}

// A call without keywords on a tensor of at most `max_dims` dimensions.
struct Given {
    PyObject* tensor = nullptr;
    Ref array;
    const Array* a = nullptr;
    PyObject* const* rest = nullptr;
    Py_ssize_t count = 0;

    bool take(PyObject* const* args, std::size_t nargsf, PyObject* keywords) {
        count = PyVectorcall_NARGS(nargsf) - 1;
        if (keywords != nullptr || count < 0 || bound.paused) return false;
        PyObject* found = array_of(args[0]);
        if (found == nullptr || fields(found)->nd > max_dims) return false;
        tensor = args[0];
        array = Ref::borrow(found);
        a = fields(found);
        rest = args + 1;
        return elements(a) > 0;  // NumPy has strides of its own for none
    }
    // One tuple or list of integers, or they `one_by_one`; false for anything else.
    bool integers(bool one_by_one, npy_intp* to, int* n) const {
        PyObject* const* items = rest;
        Py_ssize_t size = count;
        if (count == 1 && (PyTuple_Check(rest[0]) || PyList_CheckExact(rest[0]))) {
            items = PySequence_Fast_ITEMS(rest[0]);
            size = PySequence_Fast_GET_SIZE(rest[0]);
        } else if (count == 0 || !one_by_one) {
            return false;
        }
        if (size > max_dims) return false;
        for (Py_ssize_t i = 0; i < size; ++i) {
            if (!read_integer(items[i], &to[i])) return false;
        }
        *n = static_cast<int>(size);
        return true;
    }
};

struct View;
// Fills the layout; false where the definition has to look, maybe with an exception.
using Rule = bool (*)(const View& k, const Given& given, Layout* to);

struct View : Kind {
    Ref name, op, detail;
    Rule rule = nullptr;
    bool one_by_one = false;  // takes ``x.view(2, 3)``, as methods do

    bool read(PyObject* args);
};

bool is_contiguous(const Array* a) { return (a->flags & NPY_ARRAY_C_CONTIGUOUS) != 0; }

// The same elements in rows of the shape. NumPy keeps the strides of sizes of 1 where
// it gets the same shape, and none as -1.
bool in_rows(const Given& given, Layout* to, bool told = true) {
    const Shape& shape = to->shape;
    npy_intp step = item_size(dtype_of(given.a));
    bool same = told && shape.nd == given.a->nd;
    for (int d = 0; same && d < shape.nd; ++d) {
        same = shape.at[d] == given.a->dimensions[d];
        to->strides[d] = given.a->strides[d];
    }
    for (int d = shape.nd - 1; !same && d >= 0; --d) {
        to->strides[d] = step;
        step *= shape.at[d] > 0 ? shape.at[d] : 1;
    }
    return true;
}

// Replaces one -1; false where the sizes do not multiply to `total`, or are none.
bool complete(Shape* shape, npy_intp total, bool* told) {
    npy_intp known = 1;
    int hole = -1;
    for (int d = 0; d < shape->nd; ++d) {
        if (shape->at[d] == -1 && hole < 0) {
            hole = d;
        } else if (shape->at[d] < 0 ||
                   __builtin_mul_overflow(known, shape->at[d], &known)) {
            return false;
        }
    }
    *told = hole < 0;
    if (hole < 0) return known == total;
    if (known == 0 || total % known != 0) return false;
    shape->at[hole] = total / known;
    return true;
}

bool reshape(const View& k, const Given& given, Layout* to) {
    bool told = true;
    return is_contiguous(given.a) &&
           given.integers(k.one_by_one, to->shape.at, &to->shape.nd) &&
           complete(&to->shape, elements(given.a), &told) && in_rows(given, to, told);
}

// A reshape that keeps strides: a dimension of size 1 comes or goes.  Where the array
// is not contiguous NumPy finds the strides.
bool unsqueeze(const View&, const Given& given, Layout* to) {
    npy_intp place;
    if (given.count != 1 || !is_contiguous(given.a) || given.a->nd == max_dims ||
        !read_axis(given.rest[0], given.a->nd + 1, &place)) {
        return false;
    }
    for (int d = 0; d <= given.a->nd; ++d) {
        to->shape.at[to->shape.nd++] =
            d == place ? 1 : given.a->dimensions[d - (d > place)];
    }
    return in_rows(given, to);
}

bool squeeze(const View&, const Given& given, Layout* to) {
    npy_intp only = -1;
    if (given.count > 1 || !is_contiguous(given.a) ||
        (given.count == 1 && !read_axis(given.rest[0], given.a->nd, &only))) {
        return false;
    }
    for (int d = 0; d < given.a->nd; ++d) {
        const bool goes = given.a->dimensions[d] == 1 && (only < 0 || d == only);
        if (!goes) to->shape.at[to->shape.nd++] = given.a->dimensions[d];
    }
    return in_rows(given, to);
}

bool flatten(const View&, const Given& given, Layout* to) {
    npy_intp start = 0, end = given.a->nd - 1;
    if (given.count > 2 || !is_contiguous(given.a) || given.a->nd == 0 ||
        (given.count > 0 && !read_axis(given.rest[0], given.a->nd, &start)) ||
        (given.count > 1 && !read_axis(given.rest[1], given.a->nd, &end)) ||
        start > end) {
        return false;
    }
    Shape& shape = to->shape;
    for (int d = 0; d < given.a->nd; ++d) {
        if (d > start && d <= end && shape.nd > 0) {
            shape.at[shape.nd - 1] *= given.a->dimensions[d];
        } else {
            shape.at[shape.nd++] = given.a->dimensions[d];
        }
    }
    return in_rows(given, to);
}

// The dimensions in the order of `axes`, which the node keeps.
bool in_order(const Given& given, const npy_intp* axes, Layout* to) {
    to->shape.nd = given.a->nd;
    for (int d = 0; d < to->shape.nd; ++d) {
        to->shape.at[d] = given.a->dimensions[axes[d]];
        to->strides[d] = given.a->strides[axes[d]];
    }
    to->attribute = tuple_of_integers(axes, given.a->nd);
    return static_cast<bool>(to->attribute);
}

bool permute(const View& k, const Given& given, Layout* to) {
    npy_intp axes[max_dims];
    int count = 0;
    unsigned seen = 0;
    bool known = given.integers(k.one_by_one, axes, &count) && count == given.a->nd;
    for (int i = 0; known && i < count; ++i) {
        if (axes[i] < 0) axes[i] += count;
        known = axes[i] >= 0 && axes[i] < count && (seen >> axes[i] & 1U) == 0;
        if (known) seen |= 1U << axes[i];
    }
    return known && in_order(given, axes, to);
}

bool transpose(const View&, const Given& given, Layout* to) {
    npy_intp i, j, axes[max_dims];
    if (given.count != 2 || !read_axis(given.rest[0], given.a->nd, &i) ||
        !read_axis(given.rest[1], given.a->nd, &j)) {
        return false;
    }
    for (int d = 0; d < given.a->nd; ++d) axes[d] = d;
    axes[i] = j;
    axes[j] = i;
    return in_order(given, axes, to);
}

bool t(const View&, const Given& given, Layout* to) {
    const npy_intp axes[] = {1, 0};
    return given.count == 0 && given.a->nd == 2 && in_order(given, axes, to);
}

bool expand(const View& k, const Given& given, Layout* to) {
    Shape& shape = to->shape;
    if (!is_contiguous(given.a) || !given.integers(k.one_by_one, shape.at, &shape.nd) ||
        shape.nd < given.a->nd) {
        return false;
    }
    const int lead = shape.nd - given.a->nd;
    for (int d = 0; d < shape.nd; ++d) {
        const npy_intp old = d < lead ? 1 : given.a->dimensions[d - lead];
        if (d >= lead && shape.at[d] == -1) shape.at[d] = old;
        if (shape.at[d] < 0 || (old != 1 && old != shape.at[d])) return false;
        to->strides[d] = d < lead || old == 1 ? 0 : given.a->strides[d - lead];
    }
    to->writable = false;
    return true;
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
Ref part_of(const Given& given, PyObject* index) {
    const Array* a = given.a;
    npy_intp offset = 0;
    int axis = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
        PyObject* part = PyTuple_GET_ITEM(index, i);
        npy_intp at;
        if (part == Py_Ellipsis && i == PyTuple_GET_SIZE(index) - 1) break;
        if (axis >= a->nd || !read_axis(part, a->dimensions[axis], &at)) {
            return Ref(PyObject_GetItem(given.array.get(), index));
        }
        offset += at * a->strides[axis++];
    }
    return Ref(new_array_view(given.array.get(), a->nd - axis, a->dimensions + axis,
                              a->strides + axis, offset, true));
}

bool slice(const View&, const Given& given, Layout* to) {
    if (given.count == 1) to->attribute = plain_index(given.rest[0]);
    if (!to->attribute) return false;
    to->array = part_of(given, to->attribute.get());
    if (!to->array && PyErr_ExceptionMatches(PyExc_IndexError)) PyErr_Clear();
    return to->array && Py_TYPE(to->array.get()) == bound.ndarray;
}

// ---- the call

const struct {
    const char* name;
    Rule rule;
} rules[] = {{"expand", expand},       {"flatten", flatten},
             {"permute", permute},     {"reshape", reshape},
             {"slice", slice},         {"squeeze", squeeze},
             {"transpose", transpose}, {"t", t},
             {"unsqueeze", unsqueeze}};

bool View::read(PyObject* args) {
    if (!read_fields(args, name, op, detail)) return false;
    for (const auto& one : rules) {
        if (PyUnicode_CompareWithASCIIString(name.get(), one.name) == 0)
            rule = one.rule;
    }
    one_by_one = detail.get() == Py_True;
    if (rule != nullptr ||
        PyUnicode_CompareWithASCIIString(name.get(), "function") == 0)
        return true;
    PyErr_Format(PyExc_TypeError, "view: there is no rule %R", name.get());
    return false;
}

PyObject* call_by_rule(PyObject* self, PyObject* const* args, std::size_t nargsf,
                       PyObject* keywords) {
    const View& k = kind_of<View>(self);
    Given given;
    Layout made;
    if (!given.take(args, nargsf, keywords) || !k.rule(k, given, &made)) {
        return define_or_raise(self, args, nargsf, keywords);
    }
    const Shape& shape = made.shape;
    if (!made.attribute) made.attribute = tuple_of_integers(shape.at, shape.nd);
    if (!made.array) {
        made.array = Ref(new_array_view(given.array.get(), shape.nd, shape.at,
                                        made.strides, 0, made.writable));
    }
    Ref attributes(made.attribute ? PyTuple_Pack(1, made.attribute.get()) : nullptr);
    if (!made.array || !attributes) return nullptr;
    return new_view(given.tensor, made.array.get(), k.op.get(), attributes.get());
}

// Any other operator: ``function(array, *attributes)``, seen as a view of the tensor.
PyObject* call_by_function(PyObject* self, PyObject* const* args, std::size_t nargsf,
                           PyObject* keywords) {
    const View& k = kind_of<View>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    PyObject* given[8];
    PyObject* array =
        keywords == nullptr && count >= 1 && count <= 8 ? array_of(args[0]) : nullptr;
    if (array == nullptr || bound.paused) return define(self, args, nargsf, keywords);
    const Ref held = Ref::borrow(array);
    const Ref attributes = tuple_of(args + 1, count - 1);
    if (!attributes) return nullptr;
    given[0] = array;
    for (Py_ssize_t i = 1; i < count; ++i) given[i] = args[i];
    Ref seen(PyObject_Vectorcall(k.detail.get(), given, static_cast<std::size_t>(count),
                                 nullptr));
    if (!seen) return nullptr;
    if (Py_TYPE(seen.get()) != bound.ndarray) {
        return define(self, args, nargsf, keywords);
    }
    return new_view(args[0], seen.get(), k.op.get(), attributes.get());
}

PyObject* make_view(PyObject*, PyObject* args) {
    auto kind = std::make_unique<View>();
    if (!kind->read(args)) return nullptr;
    const vectorcallfunc call = kind->rule ? call_by_rule : call_by_function;
    return new_callable(PyTuple_GET_ITEM(args, 0), call, kind.release());
}

}  // namespace

PyObject* new_view_by_steps(PyObject* x, Ref array, PyObject* steps) {
    PyObject *base, *before;
    family_of(x, &base, &before);
    Ref chain = Ref::borrow(before);
    for (Py_ssize_t i = 0; chain && i < PyTuple_GET_SIZE(steps); ++i) {
        PyObject* step = PyTuple_GET_ITEM(steps, i);
        chain = Ref(PyTuple_Pack(4, chain.get(), PyTuple_GET_ITEM(step, 0),
                                 PyTuple_GET_ITEM(step, 1), PyTuple_GET_ITEM(step, 2)));
    }
    return related(x, base, std::move(array), Ref(), std::move(chain));
}

PyMethodDef view_calls[] = {
    {"view_of", make<Plain, call_view_of>, METH_VARARGS, nullptr},
    {"view", make_view, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
