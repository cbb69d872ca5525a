// SPDX-License-Identifier: MIT
//
// A program bound to memory, and run: `Executor` of core's `_kernels/kernel_set.py`.
//
// Calls in the C form run one after another in one loop, without the interpreter lock
// where together they are long; the others, kernels of Python and what the host does,
// run in Python between them.
#pragma once

#include <pybind11/pybind11.h>

#include <unordered_map>

#include "program/steps.hpp"

namespace autocalc::python::program {

namespace py = pybind11;

// An operand in a slot: of a call in the C form, or else in a register.
struct Use {
    BoundCall* native;
    int operand;
    ac_array* array;
    std::uintptr_t alignment;
    int place;
    View view;
};

// A piece of memory, `offset` bytes after the first element of `root`.
struct Slot {
    Ref root;
    Py_ssize_t offset = 0;
    bool written = false;
    std::vector<Use> uses;
};

// What fails throws an exception of Python's.
class Program {
  public:
    // Binds calls, of `ExecutorCall`, and the places of slots: arrays and offsets.
    Program(const py::sequence& calls, const py::dict& places);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() { clear(); }

    // It stays where it is.
    Slot& find(Py_ssize_t number);
    // Lets every call use other memory for a slot.  Every call in the C form is as it
    // was if one cannot use it.
    void move(Slot& slot, PyObject* root, Py_ssize_t offset);
    void run();

    int traverse(visitproc visit, void* arg) const;
    void clear();

    // Keeps others out while it lives.
    class Turn {
      public:
        explicit Turn(Program& program);
        ~Turn() { program_.running_ = false; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

      private:
        Program& program_;
    };

  private:
    void place(py::handle number, py::handle where);
    void add(const py::object& call);
    Operand operand(Step& step, int i, const py::object& x, const py::object& number);
    int use(Step& step, int i, Py_ssize_t element, py::handle array, py::handle number);

    std::vector<Step> steps_;
    std::vector<PyObject*> registers_;
    std::unordered_map<Py_ssize_t, Slot> slots_;
    bool running_ = false;
};

}  // namespace autocalc::python::program
