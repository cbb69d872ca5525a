// SPDX-License-Identifier: MIT
//
// Tensors joined into one, along a dimension they have or along a new one.  The parts
// are copied by the kernel `copy` into views of the result.
#include "arrays.hpp"
#include "eager/calls.hpp"

namespace autocalc::python::eager {
namespace {

struct Join : Kind {
    Py_ssize_t copy;  // the kernel's index
    Ref op;

    bool read(PyObject* args) { return read_fields(args, copy, op); }
};

constexpr Py_ssize_t most_parts = 64;

struct Parts {
    // Held: another thread may change the list, or a tensor, while a kernel runs.
    Ref arrays[most_parts], edges[most_parts];
    Py_ssize_t count = 0;
    bool lead_back = false;

    const Array* at(Py_ssize_t i) const { return fields(arrays[i].get()); }

    // A list or tuple of tensors of one dtype and number of dimensions, and no number
    // of dimensions for which results may lie channels-last.
    bool take(PyObject* list) {
        if (!PyList_CheckExact(list) && !PyTuple_CheckExact(list)) return false;
        count = PySequence_Fast_GET_SIZE(list);
        if (count == 0 || count > most_parts) return false;
        for (Py_ssize_t i = 0; i < count; ++i) {
            PyObject* tensor = PySequence_Fast_GET_ITEM(list, i);
            PyObject* array = array_of(tensor);
            if (array == nullptr || fields(array)->nd >= max_dims) return false;
            arrays[i] = Ref::borrow(array);
            edges[i] = Ref::borrow(slot(tensor, bound.edge));
            lead_back |= edges[i].get() != Py_None;
            if (at(i)->nd != at(0)->nd || at(i)->descr != at(0)->descr ||
                !gives_rows(at(i))) {
                return false;
            }
        }
        return true;
    }
};

// ``cat(tensors, dim)``: by position, or `dim` by name; 0 by default.
bool take_dim(PyObject* const* args, Py_ssize_t count, PyObject* keywords, int nd,
              npy_intp* axis) {
    *axis = 0;
    PyObject* dim = nullptr;
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    if (count + named > 2) return false;
    if (count == 2) dim = args[1];
    if (named == 1) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "dim") !=
            0) {
            return false;
        }
        dim = args[count];
    }
    return dim == nullptr ? nd > 0 : read_axis(dim, nd, axis);
}

// Copies the parts into `out`, each where it belongs along `axis`, which is a dimension
// of their own unless they are `stacked`.
bool copy_parts(PyObject* kernel, const Parts& parts, PyObject* out, int axis,
                bool stacked) {
    const Array* o = fields(out);
    npy_intp start = 0;
    for (Py_ssize_t i = 0; i < parts.count; ++i) {
        const Array* a = parts.at(i);
        npy_intp strides[max_dims];
        for (int d = 0; d < a->nd; ++d)
            strides[d] = o->strides[d + (stacked && d >= axis)];
        Ref place(new_array_view(out, a->nd, a->dimensions, strides,
                                 start * o->strides[axis], true));
        PyObject* operands[] = {place.get(), parts.arrays[i].get()};
        if (!place || !run(kernel, operands, 2)) return false;
        start += stacked ? 1 : a->dimensions[axis];
    }
    return true;
}

Ref node_of(const Join& k, const Parts& parts, npy_intp axis, PyObject* dtype) {
    PyObject *edges[most_parts], *arrays[most_parts];
    for (Py_ssize_t i = 0; i < parts.count; ++i) {
        edges[i] = parts.edges[i].get();
        arrays[i] = parts.arrays[i].get();
    }
    const Ref dim(PyLong_FromSsize_t(axis));
    if (!dim) return {};
    return Ref(new_node(k.op.get(), tuple_of(edges, parts.count),
                        Ref::borrow(bound.nothing), Ref::borrow(bound.nothing),
                        shapes_of(arrays, parts.count), dtype,
                        Ref(PyTuple_Pack(1, dim.get()))));
}

PyObject* call_join(PyObject* self, PyObject* const* args, std::size_t nargsf,
                    PyObject* keywords, bool stacked) {
    const Join& k = kind_of<Join>(self);
    const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
    Parts parts;
    npy_intp axis = 0;
    if (count < 1 || bound.paused || !parts.take(args[0]) ||
        !take_dim(args, count, keywords, parts.at(0)->nd + stacked, &axis)) {
        return define(self, args, nargsf, keywords);
    }
    const Array* first = parts.at(0);
    Shape shape;
    for (int d = 0; d < first->nd; ++d) {
        if (stacked && d == axis) shape.at[shape.nd++] = parts.count;
        shape.at[shape.nd++] = first->dimensions[d];
    }
    if (stacked && axis == first->nd) shape.at[shape.nd++] = parts.count;
    for (Py_ssize_t i = 1; i < parts.count; ++i) {
        for (int d = 0; d < first->nd; ++d) {
            const npy_intp size = parts.at(i)->dimensions[d];
            if (!stacked && d == axis) {
                shape.at[d] += size;
            } else if (size != first->dimensions[d]) {
                return define(self, args, nargsf, keywords);
            }
        }
    }
    // The results of four dimensions may lie channels-last; [0] is left out.
    for (Py_ssize_t i = 0; stacked && shape.nd == 4 && i < parts.count; ++i) {
        if ((parts.at(i)->flags & NPY_ARRAY_C_CONTIGUOUS) == 0) {
            return define(self, args, nargsf, keywords);
        }
    }
    for (Py_ssize_t i = 0; !stacked && i < parts.count; ++i) {
        if (parts.at(i)->nd == 1 && parts.at(i)->dimensions[0] == 0) {
            return define(self, args, nargsf, keywords);
        }
    }
    const Context context;
    Ref dtype = Ref::borrow(dtype_of(first));
    Ref key(PyTuple_Pack(2, dtype.get(), dtype.get()));
    if (!context || !key) return nullptr;
    Ref kernel = context.decision(k.copy, key.get());
    if (!kernel) return define_or_raise(self, args, nargsf, keywords);
    Ref out = context.empty(dtype.get(), shape.nd, shape.at);
    if (!out || Py_TYPE(out.get()) != bound.ndarray ||
        !copy_parts(kernel.get(), parts, out.get(), static_cast<int>(axis), stacked))
        return define_or_raise(self, args, nargsf, keywords);
    if (!parts.lead_back || !context.grad()) return new_tensor(std::move(out));
    Ref node = node_of(k, parts, axis, dtype.get());
    return node ? new_tensor(std::move(out), std::move(node)) : nullptr;
}

PyObject* call_cat(PyObject* self, PyObject* const* args, std::size_t nargsf,
                   PyObject* keywords) {
    return call_join(self, args, nargsf, keywords, false);
}

PyObject* call_stack(PyObject* self, PyObject* const* args, std::size_t nargsf,
                     PyObject* keywords) {
    return call_join(self, args, nargsf, keywords, true);
}

}  // namespace

PyMethodDef join_calls[] = {{"cat", make<Join, call_cat>, METH_VARARGS, nullptr},
                            {"stack", make<Join, call_stack>, METH_VARARGS, nullptr},
                            {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
