// SPDX-License-Identifier: MIT
//
// A program bound to memory, and run: what `autocalc.plugin.Executor` asks for.
//
// Calls in the C form run one after another in one loop, without the interpreter lock
// where together they are long; the others, kernels of Python and what the host does,
// run in Python between them.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "eager/objects.hpp"
#include "program/bound_call.hpp"

namespace autocalc::python::replay {

using eager::Ref;

// A call that runs in Python.
struct PythonCall {
    Ref function;
    std::vector<Ref> arguments;

    bool run() const;
    // Puts an array in the place of another one.
    bool replace(Py_ssize_t position, Py_ssize_t element, Ref array);
};

// Either of them.
struct Step {
    std::unique_ptr<BoundCall> native;
    std::unique_ptr<PythonCall> python;
};

// The layout of an array in a slot.
struct Layout {
    Ref dtype;
    std::intptr_t offset = 0;
    std::vector<std::intptr_t> shape, strides;

    // That array, where the slot is `start` bytes after the beginning of `root`.
    Ref in(PyObject* root, std::intptr_t start) const;
};

// An operand in a slot.
struct Use {
    Step* step;
    int operand;
    Py_ssize_t element;  // -1: the operand is no list
    ac_array* array;     // of a call in the C form, else null
    std::uintptr_t alignment;
    Layout layout;
};

// A piece of memory, `offset` bytes after the first element of `root`.
struct Slot {
    Ref root;
    std::intptr_t offset = 0;
    bool written = false;
    std::vector<Use> uses;
};

// Consecutive steps of one form.
struct Stretch {
    std::size_t begin, end;
    bool native;
    bool is_long;
};

class Program {
  public:
    // Binds calls, a sequence of `ExecutorCall`, and places, a dict; false with an
    // exception set.
    bool bind(PyObject* calls, PyObject* places);

    // Null with an exception set where there is none; it stays where it is.
    Slot* find(Py_ssize_t number);
    // Lets every call use other memory for a slot. False with an exception set, and
    // every call in the C form as it was, if one cannot use it.
    static bool move(Slot& slot, PyObject* root, std::intptr_t offset);
    bool run();

    int traverse(visitproc visit, void* arg) const;
    void clear();

    // Keeps others out while it lives; false with an exception where it is kept out.
    class Turn {
      public:
        explicit Turn(Program& program);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        explicit operator bool() const { return taken_; }

      private:
        Program& program_;
        bool taken_;
    };

  private:
    bool add(PyObject* call);
    bool add_native(PyObject* native, PyObject* arguments, PyObject* slots);
    bool add_python(PyObject* function, PyObject* arguments, PyObject* slots);
    bool add_uses(PyObject* arguments, PyObject* slots);
    bool add_use(int operand, Py_ssize_t element, PyObject* array, PyObject* number);
    bool place(PyObject* places);
    void divide();
    bool run_native(const Stretch& stretch) const;
    bool run_python(const Stretch& stretch) const;
    std::vector<std::unique_ptr<Step>> steps_;
    std::vector<Stretch> stretches_;
    std::unordered_map<Py_ssize_t, Slot> slots_;
    bool running_ = false;
};

// The program of an executor of this module, null for any other object.
Program* program_of(PyObject* executor);

// Adds the class `Executor`; false with an exception set.
bool add_executor(PyObject* module);

}  // namespace autocalc::python::replay
