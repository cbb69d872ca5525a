// SPDX-License-Identifier: MIT
#include "program/executor.hpp"

#include <algorithm>
#include <new>

#include "eager/arrays.hpp"
#include "pool/pool.hpp"

namespace autocalc::python::replay {
namespace {

std::uintptr_t address_of(PyObject* array) {
    return reinterpret_cast<std::uintptr_t>(eager::fields(array)->data);
}

bool is_array(PyObject* object) {
    return PyObject_TypeCheck(object, eager::bound.ndarray) != 0;
}

// `x` is None, a number, or a tuple or list of numbers.
PyObject* number_of(PyObject* x, Py_ssize_t element) {
    if (element < 0) return x;
    const bool fits =
        (PyTuple_Check(x) || PyList_Check(x)) && element < PySequence_Fast_GET_SIZE(x);
    return fits ? PySequence_Fast_GET_ITEM(x, element) : nullptr;
}

}  // namespace

Ref Layout::in(PyObject* root, std::intptr_t start) const {
    return Ref(new_array_at(root, dtype.get(), static_cast<int>(shape.size()),
                            shape.data(), strides.data(), start + offset));
}

// ---- calls that run in Python

bool PythonCall::run() const {
    constexpr std::size_t most = 64;
    PyObject* args[most];
    if (arguments.size() > most) {
        PyErr_SetString(PyExc_TypeError, "a call has more than 64 arguments");
        return false;
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) args[i] = arguments[i].get();
    const Ref result(
        PyObject_Vectorcall(function.get(), args, arguments.size(), nullptr));
    return static_cast<bool>(result);
}

bool PythonCall::replace(Py_ssize_t position, Py_ssize_t element, Ref array) {
    if (!array) return false;
    Ref& argument = arguments[static_cast<std::size_t>(position)];
    if (element >= 0)
        return PyList_SetItem(argument.get(), element, array.release()) == 0;
    argument = std::move(array);
    return true;
}

// ---- binding

bool Program::bind(PyObject* calls, PyObject* places) {
    if (!PyDict_Check(places)) {
        PyErr_SetString(PyExc_TypeError, "executor: `places` is no dict");
        return false;
    }
    if (!place(places)) return false;
    const Ref items(PySequence_Fast(calls, "executor: `calls` is no sequence"));
    if (!items) return false;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
        if (!add(PySequence_Fast_GET_ITEM(items.get(), i))) return false;
    }
    divide();
    return true;
}

bool Program::place(PyObject* places) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(places, &at, &key, &value)) {
        const Py_ssize_t number = PyLong_AsSsize_t(key);
        if (number == -1 && PyErr_Occurred()) return false;
        if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 2 ||
            !is_array(PyTuple_GET_ITEM(value, 0))) {
            PyErr_Format(PyExc_TypeError,
                         "executor: the place of slot %zd is %R, but an array and an "
                         "offset are needed",
                         number, value);
            return false;
        }
        Slot& slot = slots_[number];
        slot.root = Ref::borrow(PyTuple_GET_ITEM(value, 0));
        slot.offset = PyLong_AsSsize_t(PyTuple_GET_ITEM(value, 1));
        if (slot.offset == -1 && PyErr_Occurred()) return false;
    }
    return true;
}

bool Program::add(PyObject* call) {
    if (!PyTuple_Check(call) || PyTuple_GET_SIZE(call) != 4 ||
        !PyTuple_Check(PyTuple_GET_ITEM(call, 2)) ||
        !PyTuple_Check(PyTuple_GET_ITEM(call, 3)) ||
        PyTuple_GET_SIZE(PyTuple_GET_ITEM(call, 3)) >
            PyTuple_GET_SIZE(PyTuple_GET_ITEM(call, 2))) {
        PyErr_Format(PyExc_TypeError,
                     "executor: a call is %R, but (function, native, arguments, slots) "
                     "is needed",
                     call);
        return false;
    }
    PyObject* native = PyTuple_GET_ITEM(call, 1);
    PyObject* arguments = PyTuple_GET_ITEM(call, 2);
    PyObject* slots = PyTuple_GET_ITEM(call, 3);
    if (native != Py_None) return add_native(native, arguments, slots);
    return add_python(PyTuple_GET_ITEM(call, 0), arguments, slots);
}

bool Program::add_native(PyObject* native, PyObject* arguments, PyObject* slots) {
    auto step = std::make_unique<Step>();
    step->native = BoundCall::make(native, arguments);
    if (step->native == nullptr) return false;
    if (PyTuple_GET_SIZE(slots) != step->native->operands()) {
        PyErr_Format(PyExc_TypeError, "executor: %zd slots are given for %d operands",
                     PyTuple_GET_SIZE(slots), step->native->operands());
        return false;
    }
    steps_.push_back(std::move(step));
    return add_uses(arguments, slots);
}

bool Program::add_python(PyObject* function, PyObject* arguments, PyObject* slots) {
    auto step = std::make_unique<Step>();
    step->python = std::make_unique<PythonCall>();
    step->python->function = Ref::borrow(function);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i) {
        PyObject* x = PyTuple_GET_ITEM(arguments, i);
        // A list of its own, whose arrays are replaced.
        Ref own = PyList_Check(x) ? Ref(PySequence_List(x)) : Ref::borrow(x);
        if (!own) return false;
        step->python->arguments.push_back(std::move(own));
    }
    steps_.push_back(std::move(step));
    return add_uses(arguments, slots);
}

bool Program::add_uses(PyObject* arguments, PyObject* slots) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); ++i) {
        PyObject* argument = PyTuple_GET_ITEM(arguments, i);
        PyObject* number = PyTuple_GET_ITEM(slots, i);
        const int operand = static_cast<int>(i);
        if (argument == Py_None) continue;
        if (is_array(argument)) {
            if (!add_use(operand, -1, argument, number)) return false;
            continue;
        }
        const Ref items(PySequence_Fast(argument, "executor: an operand is no array"));
        if (!items) return false;
        for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(items.get()); ++j) {
            PyObject* array = PySequence_Fast_GET_ITEM(items.get(), j);
            PyObject* one = number_of(number, j);
            if (one == nullptr || !is_array(array)) {
                PyErr_SetString(PyExc_TypeError,
                                "executor: a list of arrays has other slots");
                return false;
            }
            if (!add_use(operand, j, array, one)) return false;
        }
    }
    return true;
}

bool Program::add_use(int operand, Py_ssize_t element, PyObject* array,
                      PyObject* number) {
    const Py_ssize_t index = PyLong_AsSsize_t(number);
    if (index == -1 && PyErr_Occurred()) return false;
    Slot* slot = find(index);
    if (slot == nullptr) return false;
    const eager::Array* a = eager::fields(array);
    Use use = {};
    use.step = steps_.back().get();
    use.operand = operand;
    use.element = element;
    use.layout.dtype = Ref::borrow(eager::dtype_of(a));
    use.layout.offset =
        static_cast<std::intptr_t>(address_of(array) - address_of(slot->root.get())) -
        slot->offset;
    use.layout.shape.assign(a->dimensions, a->dimensions + a->nd);
    use.layout.strides.assign(a->strides, a->strides + a->nd);
    BoundCall* native = use.step->native.get();
    if (native != nullptr) {
        use.array = native->array(operand, element < 0 ? 0 : element);
        // Of these types a size is an alignment as well.
        use.alignment = static_cast<std::uintptr_t>(item_size(eager::dtype_of(a)));
        slot->written |= native->is_output(operand);
    }
    slot->uses.push_back(std::move(use));
    return true;
}

void Program::divide() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const bool native = steps_[i]->native != nullptr;
        if (stretches_.empty() || stretches_.back().native != native) {
            stretches_.push_back({i, i, native, false});
        }
        stretches_.back().end = i + 1;
    }
    for (Stretch& stretch : stretches_) {
        double cost = 0;
        for (std::size_t i = stretch.begin; stretch.native && i < stretch.end; ++i) {
            cost += steps_[i]->native->cost();
        }
        stretch.is_long = cost > AC_PYTHON_RELEASE_NS;
    }
}

// ---- other memory

Slot* Program::find(Py_ssize_t number) {
    const auto found = slots_.find(number);
    if (found != slots_.end()) return &found->second;
    PyErr_Format(PyExc_KeyError, "executor: slot %zd has no place", number);
    return nullptr;
}

bool Program::move(Slot& slot, PyObject* root, std::intptr_t offset) {
    char* begin = eager::fields(root)->data + offset;
    const bool writable = (eager::fields(root)->flags & NPY_ARRAY_WRITEABLE) != 0;
    for (const Use& use : slot.uses) {
        if (use.array == nullptr) continue;
        const auto at = reinterpret_cast<std::uintptr_t>(begin + use.layout.offset);
        if (at % use.alignment == 0 && (writable || !slot.written)) continue;
        const Ref view = use.layout.in(root, offset);
        if (!view || !use.step->native->takes(use.operand, view.get())) return false;
    }
    for (const Use& use : slot.uses) {
        if (use.array != nullptr) continue;
        Ref view = use.layout.in(root, offset);
        if (!use.step->python->replace(use.operand, use.element, std::move(view))) {
            return false;
        }
    }
    for (const Use& use : slot.uses) {
        if (use.array != nullptr) use.array->data = begin + use.layout.offset;
    }
    slot.offset = offset;
    slot.root = Ref::borrow(root);
    return true;
}

// ---- running

Program::Turn::Turn(Program& program) : program_(program), taken_(!program.running_) {
    if (taken_) {
        program.running_ = true;
        return;
    }
    const Ref errors(PyImport_ImportModule("autocalc.errors"));
    const Ref error(errors ? PyObject_GetAttrString(errors.get(), "CompileError")
                           : nullptr);
    if (!error) return;
    PyErr_SetString(error.get(),
                    "compile: this program is at work already, in another thread or "
                    "further up in this one, and its memory is for one run at a time. "
                    "Wait until that run has ended.");
}

Program::Turn::~Turn() {
    if (taken_) program_.running_ = false;
}

bool Program::run() {
    return std::all_of(
        stretches_.begin(), stretches_.end(), [this](const Stretch& stretch) {
            return stretch.native ? run_native(stretch) : run_python(stretch);
        });
}

bool Program::run_native(const Stretch& stretch) const {
    PyThreadState* released = stretch.is_long ? PyEval_SaveThread() : nullptr;
    ac_context* context = runtime::kernel_context();
    ac_status status = {AC_DONE, 0, 0, 0};
    std::size_t i = stretch.begin;
    for (; i < stretch.end && status.code == AC_DONE; ++i) {
        steps_[i]->native->run(context, &status);
    }
    if (released != nullptr) PyEval_RestoreThread(released);
    if (status.code == AC_DONE) return true;
    steps_[i - 1]->native->raise(status);
    return false;
}

bool Program::run_python(const Stretch& stretch) const {
    for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
        if (!steps_[i]->python->run()) return false;
    }
    return true;
}

int Program::traverse(visitproc visit, void* arg) const {
    for (const auto& step : steps_) {
        if (step->python == nullptr) continue;
        Py_VISIT(step->python->function.get());
        for (const Ref& argument : step->python->arguments) Py_VISIT(argument.get());
    }
    for (const auto& slot : slots_) Py_VISIT(slot.second.root.get());
    return 0;
}

// What is freed may run code that asks for this program.
void Program::clear() {
    const auto slots = std::move(slots_);
    const auto steps = std::move(steps_);
    slots_.clear();
    steps_.clear();
    stretches_.clear();
}

// ---- the class

namespace {

struct Executor {
    PyObject_HEAD Program* program;
};

PyTypeObject type = {};

Program& own(PyObject* self) { return *reinterpret_cast<Executor*>(self)->program; }

PyObject* construct(PyTypeObject* of, PyObject* args, PyObject* keywords) {
    static const char* names[] = {"calls", "places", nullptr};
    PyObject *calls, *places;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO", const_cast<char**>(names),
                                     &calls, &places)) {
        return nullptr;
    }
    Ref self(of->tp_alloc(of, 0));
    if (!self) return nullptr;
    try {
        auto program = std::make_unique<Program>();
        if (!program->bind(calls, places)) return nullptr;
        reinterpret_cast<Executor*>(self.get())->program = program.release();
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
    return self.release();
}

void deallocate(PyObject* self) {
    PyObject_GC_UnTrack(self);
    delete reinterpret_cast<Executor*>(self)->program;
    Py_TYPE(self)->tp_free(self);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    const Program* program = reinterpret_cast<Executor*>(self)->program;
    return program == nullptr ? 0 : program->traverse(visit, arg);
}

int clear(PyObject* self) {
    if (reinterpret_cast<Executor*>(self)->program != nullptr) own(self).clear();
    return 0;
}

PyObject* move(PyObject* self, PyObject* const* args, Py_ssize_t count) {
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "move takes a slot, an array and an offset");
        return nullptr;
    }
    const Py_ssize_t slot = PyLong_AsSsize_t(args[0]);
    if (slot == -1 && PyErr_Occurred()) return nullptr;
    const Py_ssize_t offset = PyLong_AsSsize_t(args[2]);
    if (offset == -1 && PyErr_Occurred()) return nullptr;
    const Program::Turn turn(own(self));
    Slot* place = turn ? own(self).find(slot) : nullptr;
    if (place == nullptr) return nullptr;
    if (!is_array(args[1])) {
        return PyErr_Format(PyExc_TypeError,
                            "move: `root` is a %s, but an array is needed",
                            Py_TYPE(args[1])->tp_name);
    }
    if (!Program::move(*place, args[1], offset)) return nullptr;
    Py_RETURN_NONE;
}

PyObject* run(PyObject* self, PyObject*) {
    const Program::Turn turn(own(self));
    if (!turn || !own(self).run()) return nullptr;
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"move", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(move)),
     METH_FASTCALL,
     "move(slot: int, root: numpy.ndarray, offset: int) -> None\n\n"
     "Let every call use the memory at `offset` bytes of `root` for a slot."},
    {"run", run, METH_NOARGS, "run() -> None\n\nRun the program once."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

Program* program_of(PyObject* executor) {
    return Py_TYPE(executor) == &type ? &own(executor) : nullptr;
}

bool add_executor(PyObject* module) {
    if (prepare_calls() < 0) return false;
    Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
    type.tp_name = "autocalc._native.Executor";
    type.tp_doc = "Executor(calls, places)\n--\n\nA program bound to memory.";
    type.tp_basicsize = sizeof(Executor);
    type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
    type.tp_new = construct;
    type.tp_dealloc = deallocate;
    type.tp_traverse = traverse;
    type.tp_clear = clear;
    type.tp_methods = methods;
    if (PyType_Ready(&type) < 0) return false;
    return PyModule_AddObjectRef(module, "Executor",
                                 reinterpret_cast<PyObject*>(&type)) == 0;
}

}  // namespace autocalc::python::replay
