// SPDX-License-Identifier: MIT
//
// Arrays whose places, sizes and strides grow with a number: `Operands` of core's
// `_compile/_moving.py`. One takes 0.1 us, where Python takes 1.7.
#include <cstdint>
#include <vector>

#include "eager/arrays.hpp"
#include "program/holder.hpp"

namespace autocalc::python::eager {
namespace {

// The integer slope * t + start.
struct Term {
    std::intptr_t slope, start;
    [[nodiscard]] std::intptr_t at(std::intptr_t t) const { return slope * t + start; }
};

bool read_term(PyObject* given, Term* to) {
    return PyArg_ParseTuple(given, "nn", &to->slope, &to->start) != 0;
}

// One array, made again where it moves or its memory is another.
class MovingArray {
  public:
    // A `Layout`; false with an exception set.
    bool read(PyObject* given) {
        PyObject *type, *first, *shape, *strides;
        if (PyArg_ParseTuple(given, "nOOO!O!", &place_, &type, &first, &PyTuple_Type,
                             &shape, &PyTuple_Type, &strides) == 0 ||
            !read_term(first, &offset_) || !read_terms(shape, &shape_) ||
            !read_terms(strides, &strides_))
            return false;
        dtype_ = Ref::borrow(type);
        moves_ |= offset_.slope != 0;
        return true;
    }

    // A new reference, or null with an exception set.
    PyObject* in(PyObject* memory, std::intptr_t t) {
        if (place_ >= PyTuple_GET_SIZE(memory)) {
            PyErr_SetString(PyExc_IndexError, "moving: too few pieces of memory");
            return nullptr;
        }
        PyObject* root = PyTuple_GET_ITEM(memory, place_);
        if (moves_ || root != memory_.get()) {
            memory_ = Ref::borrow(root);
            array_ = Ref(made(root, t));
        }
        Py_XINCREF(array_.get());
        return array_.get();
    }

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(memory_.get());
        Py_VISIT(array_.get());
        return 0;
    }

  private:
    bool read_terms(PyObject* given, std::vector<Term>* to) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); ++i) {
            to->emplace_back();
            if (!read_term(PyTuple_GET_ITEM(given, i), &to->back())) return false;
            moves_ |= to->back().slope != 0;
        }
        return true;
    }

    PyObject* made(PyObject* root, std::intptr_t t) {
        constexpr std::size_t most = 64;  // of NumPy's arrays
        std::intptr_t shape[most], strides[most];
        for (std::size_t i = 0; i < shape_.size(); ++i) {
            shape[i] = shape_[i].at(t);
            strides[i] = strides_[i].at(t);
        }
        return new_array_at(root, dtype_.get(), static_cast<int>(shape_.size()), shape,
                            strides, offset_.at(t));
    }

    Py_ssize_t place_ = 0;
    Ref dtype_;
    Term offset_ = {};
    std::vector<Term> shape_, strides_;
    bool moves_ = false;
    Ref memory_, array_;
};

// A list of what each answers for a value of the number, or null with an exception set.
template <class One>
PyObject* list_in(std::vector<One>* all, PyObject* memory, std::intptr_t t) {
    Ref list(PyList_New(static_cast<Py_ssize_t>(all->size())));
    for (std::size_t i = 0; list && i < all->size(); ++i) {
        PyObject* one = (*all)[i].in(memory, t);
        if (one == nullptr) return nullptr;
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), one);
    }
    return list.release();
}

// An array, a list of them, or none.
struct MovingOperand {
    std::vector<MovingArray> arrays;
    bool is_list = false;

    bool read(PyObject* given) {
        if (given == Py_None) return true;
        is_list = PyList_Check(given) != 0;
        if (is_list) return read_all(given, &arrays);
        arrays.emplace_back();
        return arrays.back().read(given);
    }

    PyObject* in(PyObject* memory, std::intptr_t t) {
        if (is_list) return list_in(&arrays, memory, t);
        if (!arrays.empty()) return arrays[0].in(memory, t);
        Py_RETURN_NONE;
    }
};

class Operands {
  public:
    bool read(PyObject* args) {
        PyObject* layouts;
        return PyArg_ParseTuple(args, "O!", &PyList_Type, &layouts) != 0 &&
               read_all(layouts, &operands_);
    }

    PyObject* arrays(PyObject* memory, std::intptr_t t) {
        return list_in(&operands_, memory, t);
    }

    int traverse(visitproc visit, void* arg) const {
        for (const MovingOperand& operand : operands_) {
            for (const MovingArray& array : operand.arrays) {
                if (const int stop = array.traverse(visit, arg)) return stop;
            }
        }
        return 0;
    }

  private:
    std::vector<MovingOperand> operands_;
};

// ---- the object

using Held = Holder<Operands>;

PyObject* arrays(PyObject* self, PyObject* args) {
    PyObject* memory;
    Py_ssize_t t;
    if (PyArg_ParseTuple(args, "O!n", &PyTuple_Type, &memory, &t) == 0) return nullptr;
    Operands* state = Held::state_of(self);
    if (state == nullptr) {  // after `clear`, which finalizers may see
        PyErr_SetString(PyExc_RuntimeError, "moving: the call is gone");
        return nullptr;
    }
    return state->arrays(memory, t);
}

PyMethodDef methods[] = {{"arrays", arrays, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyMethodDef constructor = {"moving", Held::construct, METH_VARARGS, nullptr};

PyObject* make_constructor(PyObject*, PyObject* args) {
    return Held::constructor_for(args, &constructor, "autocalc.moving", methods);
}

}  // namespace

PyMethodDef moving_calls[] = {{"moving", make_constructor, METH_VARARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

}  // namespace autocalc::python::eager
