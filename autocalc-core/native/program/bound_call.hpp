// SPDX-License-Identifier: MIT
//
// A kernel call in its C form that owns all the kernel reads: descriptors of arrays,
// attributes.  It holds no array; its caller does.
#pragma once

#include <memory>

#include "autocalc_kernel_arguments.h"

namespace autocalc::python::program {

class BoundCall {
  public:
    // Reads arguments, a tuple, as the kernel's own entry does; null with that entry's
    // exception set where it refuses them.
    static std::unique_ptr<BoundCall> make(PyObject* native, PyObject* arguments);
    BoundCall(const BoundCall&) = delete;
    BoundCall& operator=(const BoundCall&) = delete;
    ~BoundCall();

    void run(ac_context* context, ac_status* status) const {
        callee_.entry->function(&call_, context, status);
    }
    // Raises what the kernel's own entry raises for this status.
    void raise(const ac_status& status) const { ac_py_raise(&callee_, &status); }

    // An estimate, in nanoseconds.
    double cost() const { return cost_; }
    int operands() const { return callee_.signature.n_operands; }
    bool is_output(int operand) const { return operand < callee_.signature.n_outputs; }
    // The descriptor of an array that is present.
    ac_array* array(int operand, Py_ssize_t element);
    // Whether the kernel's own entry takes this array; if not, with its exception.
    bool takes(int operand, PyObject* array) const;

  private:
    BoundCall() = default;
    bool read(PyObject* arguments);
    bool expand();
    int64_t largest() const;

    ac_py_callee callee_ = {};
    ac_py_lists lists_ = {};
    ac_py_attributes attributes_ = {};
    ac_call call_ = {};
    double cost_ = 0;
};

// 0, or -1 with an exception: to be called once, before all else.
int prepare_calls();

}  // namespace autocalc::python::program
