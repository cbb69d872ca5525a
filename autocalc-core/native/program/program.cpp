// SPDX-License-Identifier: MIT
#include "program/program.hpp"

#include <string>

namespace autocalc::python::program {
namespace {

Py_ssize_t address_of(PyObject* array) {
    return reinterpret_cast<Py_ssize_t>(eager::fields(array)->data);
}

bool is_array(py::handle object) {
    return PyObject_TypeCheck(object.ptr(), eager::bound.ndarray) != 0;
}

bool is_sequence(py::handle object) {
    return PyTuple_Check(object.ptr()) || PyList_Check(object.ptr());
}

std::string text_of(py::handle object) { return py::repr(object).cast<std::string>(); }

}  // namespace

// ---- binding

Program::Program(const py::sequence& calls, const py::dict& places) {
    for (const auto& [number, where] : places) place(number, where);
    for (const auto& call : calls) add(py::reinterpret_borrow<py::object>(call));
    find_stretches(steps_);
}

void Program::place(py::handle number, py::handle where) {
    if (!PyTuple_Check(where.ptr()) || py::len(where) != 2 ||
        !is_array(PyTuple_GET_ITEM(where.ptr(), 0))) {
        throw py::type_error("executor: the place of slot " + text_of(number) + " is " +
                             text_of(where) +
                             ", but an array and an offset are needed");
    }
    Slot& slot = slots_[number.cast<Py_ssize_t>()];
    slot.root = Ref::borrow(PyTuple_GET_ITEM(where.ptr(), 0));
    slot.offset = py::handle(PyTuple_GET_ITEM(where.ptr(), 1)).cast<Py_ssize_t>();
}

void Program::add(const py::object& call) {
    if (!PyTuple_Check(call.ptr()) || py::len(call) != 4) {
        throw py::type_error("executor: a call is " + text_of(call) +
                             ", but (function, native, arguments, slots) is needed");
    }
    const py::object native = call[py::int_(1)];
    const py::tuple arguments = call[py::int_(2)], slots = call[py::int_(3)];
    Step step;
    step.code = native.is_none() ? Code::run : Code::native;
    step.object = Ref(py::object(call[py::int_(0)]).release().ptr());
    std::size_t expected = slots.size();
    if (!native.is_none()) {
        step.native = BoundCall::make(native.ptr(), arguments.ptr());
        if (step.native == nullptr) throw py::error_already_set();
        expected = static_cast<std::size_t>(step.native->operands());
    }
    if (slots.size() != expected || slots.size() > arguments.size()) {
        throw py::type_error(
            "executor: " + std::to_string(slots.size()) + " slots are given for " +
            std::to_string(std::min(expected, arguments.size())) + " operands");
    }
    if (native.is_none() && arguments.size() > max_operands) {
        throw py::type_error("executor: a call has more than 64 arguments");
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const py::object x = arguments[i];
        if (i < slots.size() && !x.is_none()) {
            const py::object number = slots[i];
            step.operands.push_back(operand(step, static_cast<int>(i), x, number));
        } else {
            step.operands.push_back({object_place, Ref::borrow(x.ptr())});
        }
    }
    if (step.native != nullptr) step.operands.clear();  // they are bound
    steps_.push_back(std::move(step));
}

Operand Program::operand(Step& step, int i, const py::object& x,
                         const py::object& number) {
    if (is_array(x)) return {use(step, i, 0, x, number), Ref()};
    if (!is_sequence(x)) throw py::type_error("executor: an operand is no array");
    const py::tuple arrays(x);
    if (!is_sequence(number) || py::len(number) < arrays.size()) {
        throw py::type_error("executor: a list of arrays has other slots");
    }
    py::tuple places(arrays.size());
    for (std::size_t j = 0; j < arrays.size(); ++j) {
        const py::object array = arrays[j], one = number[py::int_(j)];
        if (!is_array(array)) throw py::type_error("executor: an operand is no array");
        places[j] = use(step, i, static_cast<Py_ssize_t>(j), array, one);
    }
    return {list_place, Ref(places.release().ptr())};
}

// Returns the register of an array that a call of Python takes.
int Program::use(Step& step, int i, Py_ssize_t element, py::handle array,
                 py::handle number) {
    Slot& slot = find(number.cast<Py_ssize_t>());
    const eager::Array* a = eager::fields(array.ptr());
    Use use = {step.native.get(), i, nullptr, 1, -1, {}};
    use.view.dtype = Ref::borrow(eager::dtype_of(a));
    use.view.offset =
        address_of(array.ptr()) - address_of(slot.root.get()) - slot.offset;
    use.view.shape.assign(a->dimensions, a->dimensions + a->nd);
    use.view.strides.assign(a->strides, a->strides + a->nd);
    if (use.native != nullptr) {
        use.array = use.native->array(i, element);
        // Of these types a size is an alignment as well.
        use.alignment = static_cast<std::uintptr_t>(item_size(use.view.dtype.get()));
        slot.written |= use.native->is_output(i);
    } else {
        use.place = static_cast<int>(registers_.size());
        registers_.push_back(Py_NewRef(array.ptr()));
    }
    slot.uses.push_back(std::move(use));
    return slot.uses.back().place;
}

// ---- other memory

Slot& Program::find(Py_ssize_t number) {
    const auto found = slots_.find(number);
    if (found != slots_.end()) return found->second;
    throw py::key_error("executor: slot " + std::to_string(number) + " has no place");
}

void Program::move(Slot& slot, PyObject* root, Py_ssize_t offset) {
    char* begin = eager::fields(root)->data + offset;
    const bool writable = (eager::fields(root)->flags & NPY_ARRAY_WRITEABLE) != 0;
    for (const Use& use : slot.uses) {
        if (use.native == nullptr) continue;
        const auto at = reinterpret_cast<std::uintptr_t>(begin + use.view.offset);
        if (at % use.alignment == 0 && (writable || !slot.written)) continue;
        const Ref view = use.view.in(root, offset);
        if (!view || !use.native->takes(use.operand, view.get())) {
            throw py::error_already_set();
        }
    }
    for (const Use& use : slot.uses) {
        if (use.native != nullptr) continue;
        Ref view = use.view.in(root, offset);
        if (!view) throw py::error_already_set();
        Py_SETREF(registers_[static_cast<std::size_t>(use.place)], view.release());
    }
    for (const Use& use : slot.uses) {
        if (use.native != nullptr) use.array->data = begin + use.view.offset;
    }
    slot.offset = offset;
    slot.root = Ref::borrow(root);
}

// ---- running

Program::Turn::Turn(Program& program) : program_(program) {
    if (!std::exchange(program.running_, true)) return;
    PyErr_SetString(
        py::object(py::module_::import("autocalc.errors").attr("CompileError")).ptr(),
        "compile: this program is at work already, in another thread or further up in "
        "this one, and its memory is for one run at a time. Wait until that run has "
        "ended.");
    throw py::error_already_set();
}

void Program::run() {
    bool wrote = false;
    if (!execute(steps_, registers_.data(), 0, nullptr, &wrote)) {
        throw py::error_already_set();
    }
}

int Program::traverse(visitproc visit, void* arg) const {
    for (const Step& step : steps_) {
        Py_VISIT(step.object.get());
        for (const Operand& one : step.operands) Py_VISIT(one.object.get());
    }
    for (PyObject* array : registers_) Py_VISIT(array);
    for (const auto& slot : slots_) Py_VISIT(slot.second.root.get());
    return 0;
}

// What is freed may run code that asks for this program, and for its slots.
void Program::clear() {
    const auto steps = std::exchange(steps_, {});
    for (PyObject* array : std::exchange(registers_, {})) Py_DECREF(array);
    for (auto& [number, slot] : slots_) {
        const auto uses = std::exchange(slot.uses, {});
        const Ref root = std::move(slot.root);
    }
}

}  // namespace autocalc::python::program
