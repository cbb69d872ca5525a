// SPDX-License-Identifier: MIT
//
// Steps over registers that hold arrays, and what runs them: `execute` of core's
// `_program/_executor.py`.  Short programs (`short_program.hpp`) make their arrays as
// they run; programs that are bound to memory (`program.hpp`) have them before.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "program/bound_call.hpp"
#include "program/view.hpp"

namespace autocalc::python::program {

constexpr int max_operands = 64;

// A register, or `object_place` and an object, or `list_place` and the registers of a
// list, a tuple.
constexpr int object_place = -1, list_place = -2;
struct Operand {
    int place;
    Ref object;
};

// As `_program/_native_steps.py` numbers them, but for calls in the C form.
enum class Code { make, view, run, draw, release, constant, native };

struct Step {
    Code code;
    Ref object;  // a dtype, a kernel, what draws, or a constant
    int place =
        0;      // the register of a view or release; of a run: whether inputs change
    View view;  // of what is made
    bool writable = true;
    std::vector<Operand> operands;
    std::unique_ptr<BoundCall> native;
    // Of the first of consecutive calls in the C form: after the last, and whether
    // they run without the interpreter lock.
    std::size_t end = 0;
    bool is_long = false;

    // How many registers it appends.
    int n_made() const {
        if (code == Code::draw) return 2;
        return code == Code::make || code == Code::view || code == Code::constant;
    }
};

// Runs steps over registers and appends what they make; `context` may be null where
// they make nothing, `wrote` is set where an input or a generator changes.  False with
// an exception set.
bool execute(const std::vector<Step>& steps, PyObject** registers, int used,
             const eager::Context* context, bool* wrote);

// Finds consecutive calls in the C form.
void find_stretches(std::vector<Step>& steps);

}  // namespace autocalc::python::program
