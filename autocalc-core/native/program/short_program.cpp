// SPDX-License-Identifier: MIT
#include "program/short_program.hpp"

#include "program/objects.hpp"

namespace autocalc::python::program {
namespace {

Step step_of(py::handle given) {
    auto [code, object, place, places, things, offset, writable] = given.cast<
        std::tuple<int, py::object, int, py::tuple, py::tuple, Py_ssize_t, bool>>();
    Step step;
    step.code = static_cast<Code>(code);
    step.object = ref(object);
    step.place = place;
    step.view.offset = offset;
    step.writable = writable;
    if (step.code != Code::run) {
        step.view.shape = places.cast<std::vector<Py_ssize_t>>();
        step.view.strides = things.cast<std::vector<Py_ssize_t>>();
        return step;
    }
    if (places.size() > max_operands) throw py::value_error("a call has 64 operands");
    for (std::size_t i = 0; i < places.size(); ++i) {
        step.operands.push_back({places[i].cast<int>(), ref(things[i])});
    }
    return step;
}

// A result around the array in its register.
Ref tensor_of(const Result& result, PyObject* const* registers,
              PyObject* const* tensors, bool grad) {
    Ref array = Ref::borrow(registers[result.place]);
    if (result.input < 0) {
        Ref made(eager::new_tensor(std::move(array)));
        if (made && result.has_version && !eager::version_of(made.get())) return {};
        return made;
    }
    PyObject* x = tensors[result.input];
    if (PyTuple_GET_SIZE(result.way.get()) == 0) return Ref::borrow(x);
    return Ref(eager::new_view_by_steps(x, std::move(array), result.way.get(), grad));
}

}  // namespace

std::unique_ptr<ShortProgram> ShortProgram::read(PyObject* given, int n_inputs) {
    try {
        auto program = std::make_unique<ShortProgram>();
        auto [steps, results, cls, counted, none] =
            py::handle(given)
                .cast<std::tuple<py::tuple, py::tuple, py::object, bool, bool>>();
        program->result_class = ref(cls);
        program->counted = counted;
        program->returns_none = none;
        for (const py::handle one : steps) {
            program->steps.push_back(step_of(one));
            program->n_made += program->steps.back().n_made();
            const Code code = program->steps.back().code;
            program->only_views &= code == Code::view || code == Code::release;
        }
        if (n_inputs + program->n_made > max_registers)
            throw py::value_error("a program has 64 registers");
        for (const py::handle one : results) {
            auto [place, has_version, input, way] =
                one.cast<std::tuple<int, bool, int, py::tuple>>();
            program->results.push_back({place, has_version, input, ref(way)});
            program->only_views &= input >= 0;
        }
        return program;
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    }
    return nullptr;
}

PyObject* ShortProgram::wrap(PyObject* const* registers, PyObject* const* tensors,
                             bool grad) const {
    if (result_class.get() == Py_None) {
        return tensor_of(results[0], registers, tensors, grad).release();
    }
    Ref all(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
    for (std::size_t i = 0; all && i < results.size(); ++i) {
        Ref one = tensor_of(results[i], registers, tensors, grad);
        if (!one) return nullptr;
        PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), one.release());
    }
    if (!all || result_class.get() == reinterpret_cast<PyObject*>(&PyTuple_Type)) {
        return all.release();
    }
    return PyObject_CallObject(result_class.get(), all.get());
}

}  // namespace autocalc::python::program
