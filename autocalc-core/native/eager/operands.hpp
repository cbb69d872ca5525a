// SPDX-License-Identifier: MIT
//
// Operands of elementwise calls: shapes that broadcast, numbers with tensors, and
// what a backward rule saves.
#pragma once

#include <pybind11/pybind11.h>

#include <cstring>
#include <vector>

#include "eager/arrays.hpp"
#include "eager/objects.hpp"

namespace autocalc::python::eager {

// Calls on tensors of more dimensions run their definitions.
constexpr int max_dims = 8;

struct Shape {
    int nd = 0;
    npy_intp at[max_dims];
};

// Whether results of `a` are in row-major order for sure.  An array of four dimensions
// that is not contiguous may be channels-last, which its results follow.
inline bool gives_rows(const Array* a) {
    return a->nd <= max_dims &&
           (a->nd != 4 || (a->flags & NPY_ARRAY_C_CONTIGUOUS) != 0);
}

// The shape of an elementwise result; false where the shapes do not fit.
bool broadcast(const Array* const* arrays, int count, Shape* shape);

// A plain integer that fits, and a dimension counted from the left; false for anything
// else, without an exception.
bool read_integer(PyObject* object, npy_intp* to);
bool read_axis(PyObject* object, npy_intp nd, npy_intp* to);

// A number as an array without dimensions and of the dtype of `like`: a float, or an
// integer that a float holds exactly, with floats.  Null without an exception for
// anything else.
Ref number_beside(PyObject* number, const Array* like);

// A value as an array without dimensions and of this dtype, which must be the value's.
template <class T>
Ref holding(T value, PyObject* dtype) {
    Ref array(new_array(dtype, 0, nullptr));
    if (array) std::memcpy(fields(array.get())->data, &value, sizeof value);
    return array;
}

// `x` as an array that may be written at once: floats in one piece of memory, and
// nothing to record of it or of the tensor that it is a view of; else null.
const Array* writable(PyObject* x, const Context& context);

// The other operand of such an array in a call: a number, or the array of a tensor of
// the same dtype that shares no memory with `a`, or is `a`; else null.
Ref operand_beside(PyObject* other, const Array* a, const Context& context);

// Whether two arrays may share memory.
bool overlap(const Array* a, const Array* b);

// The same of a dtype: floats as above; of int64 any integer that fits.
Ref number_of(PyObject* number, PyArray_Descr* dtype);

// What a rule needs, and for which gradients: `Saves` of core's
// `_ops/_operator/rules.py`.
class Saves {
  public:
    // Reads ``saver.places`` and ``saver.first_input``; None saves nothing.
    void read(pybind11::handle saver);
    bool empty() const { return places_.empty(); }
    // The mask of outputs that are saved.
    long outputs() const { return outputs_; }
    // `tensors` are outputs and inputs, null where one is absent; `edges` the inputs'.
    // In place of an absent one `numbers`, if given, may have an array.
    bool keep(PyObject* const* edges, PyObject* const* tensors, Ref* saved,
              Ref* versions, PyObject* const* numbers = nullptr) const;

  private:
    struct Place {
        Py_ssize_t tensor;
        std::vector<Py_ssize_t> users;
    };
    std::vector<Place> places_;
    long outputs_ = 0;
};

}  // namespace autocalc::python::eager
