// SPDX-License-Identifier: MIT
//
// The layout of an array in a piece of memory.
#pragma once

#include <vector>

#include "eager/arrays.hpp"
#include "eager/objects.hpp"

namespace autocalc::python::program {

using eager::Ref;

struct View {
    Ref dtype;
    Py_ssize_t offset = 0;
    std::vector<Py_ssize_t> shape, strides;

    int dims() const { return static_cast<int>(shape.size()); }
    // That array, `start` bytes after the first element of `root`; null with an
    // exception set.
    Ref in(PyObject* root, Py_ssize_t start) const {
        return Ref(new_array_at(root, dtype.get(), dims(), shape.data(), strides.data(),
                                start + offset));
    }
};

}  // namespace autocalc::python::program
