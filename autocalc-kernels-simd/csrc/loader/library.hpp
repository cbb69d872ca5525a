// SPDX-License-Identifier: MIT
#pragma once

#include <Python.h>

#include <string>

namespace autocalc::loader {

// {kernel name: callable} of the set `<family>-<isa>` in the library for `isa`, a new
// reference, or null with an exception set.
PyObject* load_kernels(const std::string& isa, const std::string& family);

}  // namespace autocalc::loader
