// SPDX-License-Identifier: MIT
#include "program/steps.hpp"

#include "eager/callable.hpp"
#include "pool/pool.hpp"

namespace autocalc::python::program {
namespace {

// A list of the arrays in these registers.
Ref list_of(PyObject* places, PyObject* const* registers) {
    Ref list(PyList_New(PyTuple_GET_SIZE(places)));
    for (Py_ssize_t i = 0; list && i < PyTuple_GET_SIZE(places); ++i) {
        const long place = PyLong_AsLong(PyTuple_GET_ITEM(places, i));
        PyList_SET_ITEM(list.get(), i, Py_NewRef(registers[place]));
    }
    return list;
}

bool run_operands(const Step& step, PyObject* const* registers) {
    PyObject* all[max_operands];
    std::vector<Ref> lists;  // most calls have none
    Py_ssize_t count = 0;
    for (const auto& [place, object] : step.operands) {
        PyObject* operand = object.get();
        if (place == list_place) {
            lists.push_back(list_of(operand, registers));
            operand = lists.back().get();
            if (operand == nullptr) return false;
        }
        all[count++] = place >= 0 ? registers[place] : operand;
    }
    return eager::run(step.object.get(), all, count);
}

// The two arrays that a generator gives.
bool draw(const Step& step, PyObject** to) {
    const Ref words(PyLong_FromSsize_t(step.view.offset));
    const Ref pair(words ? PyObject_CallOneArg(step.object.get(), words.get())
                         : nullptr);
    if (!pair || !PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2) {
        return false;
    }
    for (int i = 0; i < 2; ++i) to[i] = Py_NewRef(PyTuple_GET_ITEM(pair.get(), i));
    return true;
}

PyObject* made(const Step& step, PyObject* const* registers,
               const eager::Context* context) {
    const View& view = step.view;
    if (step.code == Code::constant) return Py_NewRef(step.object.get());
    if (step.code == Code::make) {
        return context->empty(step.object.get(), view.dims(), view.shape.data())
            .release();
    }
    return new_array_view(registers[step.place], view.dims(), view.shape.data(),
                          view.strides.data(), view.offset, step.writable,
                          step.object.get());
}

bool run_stretch(const std::vector<Step>& steps, std::size_t begin) {
    const Step& first = steps[begin];
    PyThreadState* released = first.is_long ? PyEval_SaveThread() : nullptr;
    ac_context* context = runtime::kernel_context();
    ac_status status = {AC_DONE, 0, 0, 0};
    std::size_t i = begin;
    for (; i < first.end && status.code == AC_DONE; ++i) {
        steps[i].native->run(context, &status);
    }
    if (released != nullptr) PyEval_RestoreThread(released);
    if (status.code == AC_DONE) return true;
    steps[i - 1].native->raise(status);
    return false;
}

}  // namespace

bool execute(const std::vector<Step>& steps, PyObject** registers, int used,
             const eager::Context* context, bool* wrote) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        bool done = true;
        if (step.code <= Code::view || step.code == Code::constant) {
            registers[used] = made(step, registers, context);
            done = registers[used++] != nullptr;
        } else if (step.code == Code::run) {
            done = run_operands(step, registers);
            *wrote |= done && step.place != 0;
        } else if (step.code == Code::native) {
            done = run_stretch(steps, i);
            i = step.end - 1;
        } else if (step.code == Code::release) {
            Py_CLEAR(registers[step.place]);
        } else {
            *wrote = true;
            done = draw(step, registers + used);
            used += 2;
        }
        if (!done) return false;
    }
    return true;
}

void find_stretches(std::vector<Step>& steps) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step& first = steps[i];
        double cost = 0;
        for (first.end = i;
             first.end < steps.size() && steps[first.end].code == Code::native;
             ++first.end) {
            cost += steps[first.end].native->cost();
        }
        first.is_long = cost > AC_PYTHON_RELEASE_NS;
        if (first.end > i) i = first.end - 1;
    }
}

}  // namespace autocalc::python::program
