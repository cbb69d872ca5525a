// SPDX-License-Identifier: MIT
//
// What may be written in place where nothing is recorded.
#include "eager/operands.hpp"

namespace autocalc::python::eager {
namespace {

bool has_history(PyObject* x) {
    if (slot(x, bound.edge) != Py_None) return true;
    PyObject* relation = slot(x, bound.view);
    return PyTuple_CheckExact(relation) &&
           slot(PyTuple_GET_ITEM(relation, 0), bound.edge) != Py_None;
}

// The end of an array's memory, or a place after it; strides are not negative.
const char* end_of(const Array* a) {
    npy_intp reach = item_size(dtype_of(a));
    for (int d = 0; d < a->nd; ++d) {
        if (a->dimensions[d] > 1) reach += (a->dimensions[d] - 1) * a->strides[d];
    }
    return a->data + reach;
}

}  // namespace

const Array* writable(PyObject* x, const Context& context) {
    PyObject* array = array_of(x);
    if (array == nullptr || (context.grad() && has_history(x))) {
        return nullptr;
    }
    constexpr int wanted = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_WRITEABLE;
    const Array* a = fields(array);
    return is_wide_float(a) && (a->flags & wanted) == wanted ? a : nullptr;
}

bool overlap(const Array* a, const Array* b) {
    return end_of(a) > b->data && end_of(b) > a->data;
}

Ref operand_beside(PyObject* other, const Array* a, const Context& context) {
    if (!is_tensor(other)) return number_beside(other, a);
    PyObject* array = array_of(other);
    if (array == nullptr || (context.grad() && slot(other, bound.edge) != Py_None)) {
        return {};
    }
    const Array* b = fields(array);
    if (b->descr != a->descr || b->nd > a->nd) return {};
    for (int d = 1; d <= b->nd; ++d) {
        const npy_intp size = b->dimensions[b->nd - d];
        if (size != 1 && size != a->dimensions[a->nd - d]) return {};
    }
    return a == b || !overlap(a, b) ? Ref::borrow(array) : Ref();
}

}  // namespace autocalc::python::eager
