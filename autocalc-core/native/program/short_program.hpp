// SPDX-License-Identifier: MIT
//
// A short program with what a call returns: `ShortCall` of core's
// `_ops/_operator/short_calls.py`.
#pragma once

#include "program/steps.hpp"

namespace autocalc::python::program {

constexpr int max_inputs = 16, max_registers = 64;

struct Result {
    int place;
    bool has_version;
    int input;  // that it is a view of, or itself without steps; -1: it is new
    Ref way;
};

struct ShortProgram {
    std::vector<Step> steps;
    std::vector<Result> results;
    Ref result_class;      // of several results; None: one
    Ref held;              // what the key points to
    int n_made = 0;        // registers that the steps append
    bool counted = false;  // a write in place makes a version cell
    bool returns_none = false;
    bool only_views = true;  // of its inputs

    // Reads `ShortCall.native()` of a call of so many arrays; null with an exception
    // set.
    static std::unique_ptr<ShortProgram> read(PyObject* given, int n_inputs);
    // What the call returns, of the registers and the tensors among its arguments;
    // views are recorded if so.
    PyObject* wrap(PyObject* const* registers, PyObject* const* tensors,
                   bool grad) const;
};

}  // namespace autocalc::python::program
