// SPDX-License-Identifier: MIT
#include "program/bound_call.hpp"

#include <algorithm>

namespace autocalc::python::program {

std::unique_ptr<BoundCall> BoundCall::make(PyObject* native, PyObject* arguments) {
    if (!PyCapsule_IsValid(native, AC_PYTHON_CAPSULE)) {
        PyErr_Format(PyExc_TypeError,
                     "a call's C form is %R, but a capsule named \"%s\" is needed",
                     native, AC_PYTHON_CAPSULE);
        return nullptr;
    }
    const void* entry = PyCapsule_GetPointer(native, AC_PYTHON_CAPSULE);
    std::unique_ptr<BoundCall> call(new BoundCall);
    const auto* known = static_cast<const ac_kernel_entry*>(entry);
    if (ac_py_read_signature(&call->callee_, known) < 0 || !call->read(arguments)) {
        return nullptr;
    }
    return call;
}

BoundCall::~BoundCall() {
    if (lists_.arrays != nullptr) ac_py_lists_free(&lists_);
    ac_py_clear_signature(&callee_.signature);
}

bool BoundCall::read(PyObject* arguments) {
    const ac_py_signature& s = callee_.signature;
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    if (count != s.n_operands + s.n_attributes) {
        PyErr_Format(PyExc_TypeError, "%s takes %d arguments (%s), %zd were given",
                     callee_.entry->name, s.n_operands + s.n_attributes,
                     callee_.entry->signature, count);
        return false;
    }
    PyObject* const* args = &PyTuple_GET_ITEM(arguments, 0);
    // The attributes come first: `__float__` of one may change a list.
    if (ac_py_read_attributes(&callee_, args + s.n_operands, &attributes_) < 0 ||
        ac_py_lists_make(&callee_, args, &lists_) < 0 ||
        ac_py_lists_fill(&callee_, args, &lists_) < 0 || !expand() ||
        (callee_.entry->dtypes != 0 &&
         ac_py_check_dtype(&callee_, lists_.operands) < 0)) {
        return false;
    }
    ac_py_make_call(&callee_, lists_.operands, &attributes_, &call_);
    cost_ = ac_py_cost(&callee_, &call_, largest());
    return true;
}

// Inputs of an elementwise kernel have the output's shape.
bool BoundCall::expand() {
    const ac_py_signature& s = callee_.signature;
    if (!s.elementwise || s.has_lists) return true;
    for (int i = s.n_outputs; i < s.n_operands; ++i) {
        if (lists_.arrays[i].present &&
            !ac_py_same_shape(&lists_.arrays[i], lists_.arrays) &&
            ac_py_expand(&callee_, i, &lists_.arrays[i], lists_.arrays) < 0) {
            return false;
        }
    }
    return true;
}

// The elements that the entry counts: of the largest operand, or of all lists.
int64_t BoundCall::largest() const {
    if (callee_.signature.has_lists) return lists_.elements;
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < lists_.used; ++i) {
        const ac_array& a = lists_.arrays[i];
        int64_t size = a.present;
        for (int d = 0; d < a.ndim; ++d) size *= a.shape[d];
        most = std::max(most, size);
    }
    return most;
}

ac_array* BoundCall::array(int operand, Py_ssize_t element) {
    const ac_operand& whole = lists_.operands[operand];
    return lists_.arrays + (whole.arrays - lists_.arrays) + element;
}

bool BoundCall::takes(int operand, PyObject* array) const {
    ac_array unused;
    return ac_py_array(&callee_, operand, array, &unused, is_output(operand)) >= 0;
}

int prepare_calls() { return ac_py_prepare(); }

}  // namespace autocalc::python::program
